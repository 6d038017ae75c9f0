/** A memory behind HTTP: see docs/memory.md for what it has to answer. */
import { type Memory, type MemoryBank, MemoryRefused } from './memory-bank.js'

export interface HttpBankOptions {
  /** Its base address, without a slash at the end. */
  readonly url: string
  /** Sent as a bearer token. */
  readonly token?: string
  /** How long it may take to keep memories, in milliseconds. */
  readonly timeoutMs: number
}

/** Statuses with which the same request may succeed later; also all from 500 on. */
const passing = new Set([401, 403, 404, 408, 425, 429])

export const openHttpBank = ({ url, token, timeoutMs }: HttpBankOptions): MemoryBank => {
  const closing = new AbortController()
  const post = async (path: string, body: object, signal: AbortSignal): Promise<unknown> => {
    const answer = await fetch(`${url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, closing.signal]),
      redirect: 'error',
    })
    // The body is read in any case, so that the connection can be used again.
    const text = await answer.text()
    if (answer.ok) return text === '' ? undefined : (JSON.parse(text) as unknown)
    const why = `the memory ${url} answers ${answer.status}`
    throw answer.status < 500 && !passing.has(answer.status) ? new MemoryRefused(why) : new Error(why)
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

/** What it gives is passed on to agents, so only objects are taken, and no more than were asked for. */
const memoriesIn = (value: unknown, limit: number): ReadonlyArray<Memory> =>
  Array.isArray(value) ? (value.filter((each) => typeof each === 'object' && each !== null && !Array.isArray(each)).slice(0, limit) as ReadonlyArray<Memory>) : []
