/** Reads a log and verifies its chain. */
import type { LogAddress, RecordedEvent } from '../store/index.js'
import { ChainVerifier, type Verdict } from './verify.js'

/** A log to be verified, as it lies there: also one that is not whole. */
export interface Scan {
  /** The last revision that the log claims to have, -1 for none. */
  readonly head: number
  /** All its events, in the order in which they lie. */
  readonly pages: AsyncIterable<ReadonlyArray<RecordedEvent>>
}

export interface VerifyOptions {
  readonly signal?: AbortSignal
  readonly progress?: (events: number, of: number) => void
}

/** @throws the signal's reason when it is aborted, StoreError if the log cannot be read. */
export const verifyScan = async (stream: string, { head, pages }: Scan, { signal, progress }: VerifyOptions = {}): Promise<Verdict> => {
  const verifier = new ChainVerifier(stream)
  let done = 0
  for await (const page of pages) {
    signal?.throwIfAborted()
    done += page.length
    progress?.(done, head + 1)
    if (!verifier.take(page)) break
  }
  return verifier.end(head)
}

/** Opens the log, verifies the chain of a stream, and closes it. A server may be running. */
export const verifyAt = async (address: LogAddress, stream: string, options: VerifyOptions = {}): Promise<Verdict> => {
  switch (address.kind) {
    case 'sqlite': {
      const { scanSqlite } = await import('../sqlite/index.js')
      const { scan, close } = scanSqlite(address.file, stream)
      try {
        return await verifyScan(stream, scan, options)
      } finally {
        await close()
      }
    }
    case 'eventstoredb': {
      const { openEventStoreDb } = await import('../eventstoredb/index.js')
      const log = await openEventStoreDb({ url: address.url })
      try {
        const head = await log.head(stream)
        return await verifyScan(stream, { head, pages: log.read(stream, { limit: head + 1 }) }, options)
      } finally {
        await log.close()
      }
    }
  }
}
