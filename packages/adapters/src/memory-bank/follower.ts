/**
 * Remembers the completions of one queue, from its log.
 *
 *     load checkpoint ──▶ read the log from there ──▶ live: completions that become durable
 *                                  ▲                          │ too many wait
 *                                  └──────────────────────────┘
 *
 * What a memory does not take now is tried again until it does; the checkpoint stays before it. So nothing is lost while a memory cannot be
 * reached, over restarts too, and nobody who is served waits for it.
 */
import { isUnreadable } from '@daybook/core'
import type { CheckpointStore } from '@daybook/projections'
import { backoff } from '../backoff.js'
import { type Committed, type Daybook, eventsBehind, type QueueEngine, streamOf } from '../engine/index.js'
import { type RecordedEvent, StoreError } from '../store/index.js'
import { type Memory, type MemoryBank, MemoryRefused } from './memory-bank.js'
import { mayMatter, memoryOf } from './memory-of.js'

export interface FollowerOptions {
  readonly engine: QueueEngine
  readonly log: Daybook['log']
  readonly bank: MemoryBank
  readonly checkpoints: CheckpointStore
  readonly warn: (message: string) => void
  /** Default: a second, doubled up to a minute. */
  readonly retryMs?: { readonly first: number; readonly most: number }
}

export interface MemoryProblem {
  readonly reason: string
  readonly since: number
}

export interface Follower {
  /** Revision up to which everything is remembered; -1 for nothing. */
  readonly done: () => number
  readonly problem: () => MemoryProblem | undefined
  /** Stops at once, and saves the checkpoint. What is not remembered is at the next start. */
  readonly stop: () => Promise<void>
}

const projection = 'memory'
/** Completions that may wait. If there are more, they are read from the log. */
const waitingMax = 10_000
const batchMax = 50
/** Revisions without anything to remember between two checkpoints. */
const checkpointEvery = 10_000

class Stopped extends Error {}

export const followQueue = ({ engine, log, bank, checkpoints, warn, retryMs = { first: 1_000, most: 60_000 } }: FollowerOptions): Follower => {
  const stream = streamOf(engine.name)
  let done = -1
  let saved = -1
  let problem: MemoryProblem | undefined
  let isStopped = false
  let wake: () => void = () => undefined
  /** Revisions of completions that are not remembered yet, and the last revision that was heard of. */
  let waiting: Array<number> = []
  let heard = -1
  let isBehind = false

  const hear = ({ from, events, isOwn }: Committed): void => {
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as Committed['events'][number]
      if (isUnreadable(event) || event.type !== 'Completed' || (isOwn && !mayMatter(event.content ?? ''))) continue
      waiting.push(from + i)
    }
    heard = from + events.length - 1
    if (waiting.length > waitingMax) {
      waiting = []
      isBehind = true
    }
    if (waiting.length > 0 || isBehind || heard - saved >= checkpointEvery) wake()
  }

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (isStopped) return resolve()
      const timer = setTimeout(resolve, ms)
      timer.unref()
      wake = () => {
        if (!isStopped) return
        clearTimeout(timer)
        resolve()
      }
    })

  /** Does it until it succeeds. */
  const untilDone = async <A>(what: () => Promise<A>): Promise<A> => {
    const delays = backoff({ firstMs: retryMs.first, mostMs: retryMs.most, random: Math.random })
    for (;;) {
      if (isStopped) throw new Stopped()
      try {
        const value = await what()
        problem = undefined
        return value
      } catch (error) {
        if (error instanceof MemoryRefused || isLost(error)) throw error
        const reason = error instanceof Error ? `${error.message}${error.cause instanceof Error ? `: ${error.cause.message}` : ''}` : String(error)
        if (problem === undefined) warn(`queue ${engine.name}: nothing is remembered for now, and all of it later: ${reason}`)
        problem = { reason, since: problem?.since ?? Date.now() }
        await pause(delays.next())
      }
    }
  }

  const save = async (): Promise<void> => {
    if (done === saved) return
    const state = JSON.stringify((await bank.identity()) ?? null)
    await checkpoints.save({ projection, version: 1, revision: done, state })
    saved = done
  }

  const resume = async (): Promise<void> => {
    const checkpoint = await checkpoints.load(projection)
    const identity = (await bank.identity()) ?? null
    if (checkpoint === undefined || checkpoint.version !== 1 || checkpoint.revision > (await log.head(stream))) return
    const known: unknown = JSON.parse(checkpoint.state)
    // A memory that was exchanged or removed gets everything again. One that had nothing then lacks nothing before.
    if (known !== null && known !== identity) return
    done = saved = checkpoint.revision
  }

  /** The memory of a completion. What is damaged in the log cannot be remembered. */
  const memoryAt = async (completed: RecordedEvent): Promise<ReadonlyArray<Memory>> => {
    if (!mayMatter(completed.data)) return []
    try {
      const [first] = await untilDone(() => eventsBehind(log, stream, completed.revision))
      return [memoryOf(engine.name, completed, first) ?? []].flat()
    } catch (error) {
      if (!isLost(error)) throw error
      warn(`queue ${engine.name}: the completion at revision ${completed.revision} cannot be remembered: ${error.message}`)
      return []
    }
  }

  const remember = async (memories: ReadonlyArray<Memory>): Promise<void> => {
    try {
      await untilDone(() => bank.remember(memories))
    } catch (error) {
      if (!(error instanceof MemoryRefused)) throw error
      // One of them, perhaps. The others must not be lost with it.
      if (memories.length > 1) for (const memory of memories) await remember([memory])
      else warn(`queue ${engine.name}: ${memories[0]?.id ?? ''} is not remembered: ${error.message}`)
    }
  }

  const take = async (events: ReadonlyArray<RecordedEvent | undefined>): Promise<void> => {
    let memories: Array<Memory> = []
    for (const event of events) {
      if (event?.type !== 'Completed') continue
      memories.push(...(await memoryAt(event)))
      if (memories.length < batchMax) continue
      await remember(memories)
      memories = []
    }
    if (memories.length > 0) await remember(memories)
  }

  const readLog = async (): Promise<void> => {
    isBehind = false
    for await (const page of log.read(stream, { from: done + 1 })) {
      const before = done
      await take(page)
      done = page[page.length - 1]?.revision ?? before
      if (done - saved >= checkpointEvery) await untilDone(save)
      if (isStopped) throw new Stopped()
    }
  }

  const live = async (): Promise<void> => {
    const upTo = heard
    const wanted = waiting.filter((revision) => revision > done).slice(0, batchMax)
    const isAll = waiting.length <= batchMax
    if (wanted.length > 0) await take(await untilDone(() => log.pick(stream, wanted)))
    const last = isAll ? upTo : (wanted[wanted.length - 1] ?? done)
    done = Math.max(done, last)
    waiting = waiting.filter((revision) => revision > done)
    if (wanted.length > 0 || done - saved >= checkpointEvery) await untilDone(save)
  }

  const nothingToDo = (): boolean => waiting.length === 0 && !isBehind && heard - saved < checkpointEvery

  const run = async (): Promise<void> => {
    const subscription = engine.committed.subscribe(hear)
    try {
      await untilDone(resume)
      await untilDone(readLog)
      for (;;) {
        while (!isStopped && nothingToDo()) await new Promise<void>((resolve) => (wake = resolve))
        if (isStopped) break
        if (isBehind) await untilDone(readLog)
        else await live()
      }
      done = Math.max(done, waiting.length === 0 ? heard : done)
    } catch (error) {
      if (!(error instanceof Stopped)) warn(`queue ${engine.name}: nothing is remembered until the next start: ${String(error)}`)
    } finally {
      subscription.unsubscribe()
      // A checkpoint that cannot be saved makes the next start read more.
      await save().catch(() => undefined)
    }
  }
  const ended = run()

  return {
    done: () => done,
    problem: () => problem,
    stop: () => {
      isStopped = true
      wake()
      return ended
    },
  }
}

const isLost = (error: unknown): error is StoreError => error instanceof StoreError && (error.code === 'damaged' || error.code === 'deleted' || error.code === 'truncated')
