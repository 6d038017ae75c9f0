/** A memory over HTTP: see docs/memory.md for its API. */
import { joined } from '@daybook/client/common'
import { onAbort } from '@daybook/client/internal'
import { type Memory, type MemoryBank, MemoryRefused } from './memory-bank.js'

export interface HttpBankOptions {
  /** The base address, without a trailing slash. */
  readonly url: string
  /** Sent as a bearer token. */
  readonly token?: string
  /** How long keeping memories may take, in milliseconds. */
  readonly timeoutMs: number
}

/** Statuses after which the same request may succeed later. So may all from 500 on. */
const passing = new Set([401, 403, 404, 408, 425, 429])

/** An answer with more bytes than this is broken off. */
const answerBytesMax = 16 * 2 ** 20

/** Not by `answer.text()`: that knows no limit, and does not hear of the signal after a garbage collection (undici has only a weak reference to it). */
const textOf = async ({ body, url }: Response, signal: AbortSignal): Promise<string> => {
  if (body === null) return ''
  const reader = body.getReader()
  const breakOff = (): void => void reader.cancel().catch(() => undefined)
  if (signal.aborted) breakOff()
  const forget = onAbort(signal, breakOff)
  const chunks: Array<Uint8Array> = []
  try {
    for (let bytes = 0; ; ) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return Buffer.concat(chunks).toString('utf8')
      bytes += value.length
      if (bytes > answerBytesMax) throw new Error(`${url} answers with more than ${answerBytesMax} bytes`)
      chunks.push(value)
    }
  } finally {
    forget()
    breakOff()
  }
}

export const openHttpBank = ({ url, token, timeoutMs }: HttpBankOptions): MemoryBank => {
  const closing = new AbortController()
  const send = async (path: string, body: object, signal: AbortSignal): Promise<unknown> => {
    const answer = await fetch(`${url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      signal,
      redirect: 'error',
    })
    // The body is read in any case, so that the connection can be used again.
    const text = await textOf(answer, signal)
    if (answer.ok) return text === '' ? undefined : (JSON.parse(text) as unknown)
    const why = `the memory ${url} answers ${answer.status}`
    throw answer.status < 500 && !passing.has(answer.status) ? new MemoryRefused(why) : new Error(why)
  }
  const post = async (path: string, body: object, given: AbortSignal): Promise<unknown> => {
    const { signal, forget } = joined(given, closing.signal)
    try {
      return await send(path, body, signal)
    } finally {
      forget()
    }
  }
  return {
    name: url,
    identity: () => Promise.resolve(url),
    mayHaveMemories: () => true,
    remember: async (memories) => void (await post('memories', { memories }, AbortSignal.timeout(timeoutMs))),
    recall: async (queue, requests, signal) => {
      const answer = (await post('recall', { queue, requests }, signal)) as { readonly results?: unknown } | undefined
      const results = answer?.results
      if (!Array.isArray(results)) throw new Error(`the memory ${url} answers without results`)
      return requests.map(({ limit }, i) => memoriesIn(results[i], limit))
    },
    interrupt: () => closing.abort(new Error('the server is stopping')),
    close: () => Promise.resolve(),
  }
}

/** The memories are passed on to agents, so only objects are accepted, and no more than requested. */
const memoriesIn = (value: unknown, limit: number): ReadonlyArray<Memory> =>
  Array.isArray(value) ? (value.filter((each) => typeof each === 'object' && each !== null && !Array.isArray(each)).slice(0, limit) as ReadonlyArray<Memory>) : []
