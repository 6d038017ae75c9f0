/** Reads a log, verifies its chain, and compares it with its signed checkpoints. */
import { type LogAddress, LostEvents, type RecordedEvent } from '../store/index.js'
import { CheckpointCheck, type CheckpointProof } from './checkpoint-check.js'
import type { SignedCheckpoints } from './checkpoint-files.js'
import { type Broken, ChainVerifier, type Verdict } from './verify.js'

/** A log to be verified, as it is stored, even if it is not whole. */
export interface Scan {
  /** The last revision that the log claims to have, -1 for none. */
  readonly head: number
  /** All its events, in the order in which they are stored. */
  readonly pages: AsyncIterable<ReadonlyArray<RecordedEvent>>
}

export interface VerifyOptions {
  readonly signal?: AbortSignal
  /** Signed checkpoints of this log, from wherever they were kept. */
  readonly checkpoints?: SignedCheckpoints | undefined
  readonly progress?: (events: number, of: number) => void
}

export interface Verified extends Verdict {
  /** `null` without checkpoints. */
  readonly checkpoint: CheckpointProof | null
}

/** @throws the signal's reason when it is aborted, StoreError if the log cannot be read. */
export const verifyScan = async (stream: string, { head, pages }: Scan, { signal, progress, checkpoints }: VerifyOptions = {}): Promise<Verified> => {
  const check = checkpoints === undefined ? undefined : new CheckpointCheck(checkpoints)
  const verifier = check === undefined ? new ChainVerifier(stream) : new ChainVerifier(stream, (leaf) => check.add(leaf), undefined, () => check.proof?.size ?? 0)
  let done = 0
  let lost: LostEvents | undefined
  try {
    for await (const page of pages) {
      signal?.throwIfAborted()
      done += page.length
      progress?.(done, head + 1)
      if (!verifier.take(page)) break
    }
  } catch (error) {
    if (!(error instanceof LostEvents)) throw error
    lost = error
  }
  const found = verifier.end(lost === undefined || verifier.isBroken ? head : undefined)
  const verdict = lost === undefined || found.broken !== null ? found : { ...found, broken: brokenBy(lost) }
  // If the chain is broken, the rest of the log was not read, and checkpoints of that part tell nothing.
  const fault = verdict.broken === null || check?.fault()?.kind === 'rewritten' ? check?.fault() : undefined
  const broken = earlier(verdict.broken, fault)
  return { ...verdict, ok: broken === null, broken, checkpoint: check?.proof ?? null }
}

/** A part of the log that cannot be read counts as altered. */
const brokenBy = ({ code, from, to, reason }: LostEvents): Broken => ({ kind: code === 'damaged' ? 'altered' : 'missing', revision: from, ...(from < to ? { to } : {}), reason })

/** The chain mostly names the event more exactly. */
const earlier = (chain: Broken | null, signed: Broken | undefined): Broken | null => {
  if (chain === null || signed === undefined) return chain ?? signed ?? null
  return (signed.to ?? signed.revision) < (chain.to ?? chain.revision) ? signed : chain
}

/** The verdict as it is shown, without the members that report no fault. */
export const shownVerdict = ({ ok, events, head, begins, unsealed, sealedLater, checkpoint, broken }: Verified): object => ({
  ok, events, head, begins, ...(checkpoint === null ? {} : { checkpoint }), ...(unsealed === null ? {} : { unsealed }), ...(sealedLater === null ? {} : { sealedLater }), ...(broken === null ? {} : { broken }),
})

/** Opens the log, verifies the chain of a stream, and closes it. A server may be running. */
export const verifyAt = (address: LogAddress, stream: string, options: VerifyOptions = {}): Promise<Verified> => withScan(address, stream, (scan) => verifyScan(stream, scan, options))

/** Opens the log for a reader of all events of a stream, including archived ones, and closes it afterwards. */
export const withScan = async <A>(address: LogAddress, stream: string, use: (scan: Scan) => Promise<A>): Promise<A> => {
  switch (address.kind) {
    case 'sqlite': {
      const [{ scanSqlite }, { archiveBeside, SegmentFolder }] = await Promise.all([import('../sqlite/index.js'), import('../segments/index.js')])
      const { scan, close } = scanSqlite(address.file, stream)
      const { first, head, pages } = scan
      const all = async function* (): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
        if (first > 0) yield* new SegmentFolder(archiveBeside(address.file)).pages(stream, 0, first - 1)
        yield* pages
      }
      try {
        return await use({ head, pages: all() })
      } finally {
        await close()
      }
    }
    case 'eventstoredb': {
      const { openLog } = await import('../open-log.js')
      const log = await openLog(address)
      try {
        const head = await log.head(stream)
        return await use({ head, pages: log.read(stream, { limit: head + 1 }) })
      } finally {
        await log.close()
      }
    }
  }
}
