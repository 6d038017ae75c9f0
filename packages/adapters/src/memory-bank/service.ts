/** The memory of a server: followers of all queues, and the memories that come with claims. */
import { headOf } from '@daybook/core'
import type { CheckpointStore } from '@daybook/projections'
import * as E from 'fp-ts/lib/Either.js'
import type { Claim, Daybook } from '../engine/index.js'
import { errorText } from '../error-text.js'
import { forEachQueue, type LogFollower, type Problem } from '../log-follower/index.js'
import { followQueue, type FollowerOptions } from './follower.js'
import type { Memory, MemoryBank, RecallRequest } from './memory-bank.js'

export interface MemoryOptions {
  readonly daybook: Daybook
  readonly bank: MemoryBank
  readonly checkpoints: (queue: string) => CheckpointStore
  readonly warn?: (message: string) => void
  /** How long an answer to a claim may wait for its memories, in milliseconds. */
  readonly recallMs: number
  /** The largest number of memories with each task. */
  readonly limit: number
  readonly retryMs?: FollowerOptions['retryMs']
}

/** The memories that come with a claim. */
export interface Recalled {
  /** For each claimed task. */
  readonly memories: ReadonlyArray<ReadonlyArray<Memory>>
  /** Why some memories may be missing. */
  readonly missing?: string
}

export interface MemoryStatus {
  readonly queue: string
  /** Revision up to which everything is remembered. */
  readonly revision: number
  readonly problem: Problem | undefined
}

export interface MemoryService {
  /** Never rejects, and takes no longer than `recallMs`. */
  readonly recallFor: (queue: string, claims: ReadonlyArray<Claim>) => Promise<Recalled>
  /** For people: waits for the memory for some seconds at most. */
  readonly search: (queue: string, request: RecallRequest) => Promise<ReadonlyArray<Memory>>
  readonly status: () => ReadonlyArray<MemoryStatus>
  readonly close: () => Promise<void>
}

/** The largest number of tasks in one answer for which memories are looked up. */
const tasksMax = 50
/** The largest number of answers that wait at the same time. */
const waitingMax = 8
/** If a memory has not answered in time, it is not asked for a while, doubled with each time in a row. */
const restMs = { first: 1_000, most: 60_000 }
const searchMs = 10_000
/** Longer contents are not searched for a description. */
const contentMax = 64 * 1024

export const startMemory = ({ daybook, bank, checkpoints, warn = () => undefined, recallMs, limit, retryMs }: MemoryOptions): MemoryService => {
  const followers = new Map<string, LogFollower>()
  const stopFollowing = forEachQueue(daybook, (engine) => {
    const follower = followQueue({ engine, log: daybook.log, bank, checkpoints: checkpoints(engine.name), warn, ...(retryMs === undefined ? {} : { retryMs }) })
    followers.set(engine.name, follower)
    return () => follower.stop()
  })

  let waiting = 0
  let failures = 0
  let restsUntil = 0

  const ask = async (queue: string, requests: ReadonlyArray<RecallRequest>): Promise<ReadonlyArray<ReadonlyArray<Memory>>> => {
    const controller = new AbortController()
    let isOver: (error: Error) => void
    const over = new Promise<never>((_, reject) => (isOver = reject))
    const clock = setTimeout(() => {
      isOver(new Error(`the memory did not answer within ${recallMs} ms`))
      controller.abort()
    }, recallMs)
    waiting++
    try {
      const asked = bank.recall(queue, requests, controller.signal)
      asked.catch(() => undefined)
      const memories = await Promise.race([asked, over])
      failures = 0
      return memories
    } catch (error) {
      restsUntil = performance.now() + Math.min(restMs.most, restMs.first * 2 ** failures++)
      throw error
    } finally {
      waiting--
      clearTimeout(clock)
    }
  }

  const isIsolated = async (queue: string): Promise<boolean> => {
    const read = await daybook.queue(queue)?.read((state) => headOf(state).settings.tenants === 'isolated')
    return read !== undefined && (E.isLeft(read) || read.right.value)
  }

  const recallFor = async (queue: string, claims: ReadonlyArray<Claim>): Promise<Recalled> => {
    if (claims.length === 0 || !bank.mayHaveMemories()) return nothing
    // A memory does not say whose it is, so it may be another tenant's.
    if (await isIsolated(queue)) return nothing
    const requests = claims.slice(0, tasksMax).map((claim) => requestOf(claim, limit))
    const asked = requests.flatMap((request, index) => (request === undefined ? [] : [{ request, index }]))
    if (asked.length === 0) return nothing
    if (performance.now() < restsUntil) return missing('the memory did not answer lately')
    if (waiting >= waitingMax) return missing('the memory has too much to do')
    try {
      const found = await ask(queue, asked.map(({ request }) => request))
      const memories: Array<ReadonlyArray<Memory>> = []
      asked.forEach(({ index }, i) => (memories[index] = found[i] ?? []))
      return claims.length <= tasksMax ? { memories } : { memories, missing: `only for the first ${tasksMax} tasks of an answer` }
    } catch (error) {
      return missing(errorText(error))
    }
  }

  return {
    recallFor,
    search: async (queue, request) => (bank.mayHaveMemories() ? ((await bank.recall(queue, [request], AbortSignal.timeout(searchMs)))[0] ?? []) : []),
    status: () => [...followers].map(([queue, follower]) => ({ queue, revision: follower.done(), problem: follower.problem() })),
    close: async () => {
      const stopped = stopFollowing()
      bank.interrupt()
      await stopped
      await bank.close()
    },
  }
}

const nothing: Recalled = { memories: [] }
const missing = (why: string): Recalled => ({ memories: [], missing: why })

/** The search for a task; `undefined` for a task with neither ticket nor description. */
const requestOf = ({ ticketId, type, content }: Claim, limit: number): RecallRequest | undefined => {
  const description = descriptionIn(content)
  if (ticketId === undefined && description === undefined) return undefined
  return { type, limit, ...(ticketId === undefined ? {} : { ticketId }), ...(description === undefined ? {} : { description }) }
}

const descriptionIn = (content: string): string | undefined => {
  if (content.length > contentMax || !content.includes('"description":')) return undefined
  const { description } = JSON.parse(content) as { readonly description?: unknown }
  return typeof description === 'string' && description !== '' ? description : undefined
}
