/**
 * Passes the events of some types from one queue's log to a consumer, each at least once and in order.
 *
 *     load checkpoint ──▶ read the log from there ──▶ live: events that become durable
 *                                  ▲                          │ too many wait
 *                                  └──────────────────────────┘
 *
 * The checkpoint stays before the events that the consumer has not taken yet. So nothing is lost while it cannot take events, even over restarts, and
 * no request waits for it.
 */
import { isUnreadable, type QueueEvent } from '@daybook/core'
import type { CheckpointStore } from '@daybook/projections'
import { backoff, pause } from '@daybook/client/common'
import { type Committed, type Daybook, type QueueEngine, streamOf } from '../engine/index.js'
import { errorText } from '../error-text.js'
import { type RecordedEvent, StoreError } from '../store/index.js'

export interface FollowOptions {
  readonly engine: QueueEngine
  readonly log: Daybook['log']
  readonly checkpoints: CheckpointStore
  /** The name of its checkpoint. */
  readonly name: string
  readonly types: ReadonlySet<string>
  /** Whether an event of these types that this server decided matters. Must be fast. Default: all matter. */
  readonly matters?: (event: QueueEvent) => boolean
  /** Whether an event of these types, found in the log, matters. Default: all matter. */
  readonly mattersInLog?: (event: RecordedEvent) => boolean
  /** Takes these events; it has taken all when it resolves. It may reject only with {@link Stopped}, if it was stopped before. */
  readonly take: (events: ReadonlyArray<RecordedEvent>, tools: Tools) => Promise<void>
  /** The largest number of events that are passed together. */
  readonly batchMax: number
  /** While it reads the log: number of revisions between two checkpoints, if there were events to pass. */
  readonly checkpointEvery: number
  /**
   * The identity of the consumer, as JSON. It is saved with the checkpoint. If it has changed, the log is read from its beginning. `null` for no
   * consumer. Default: always the same.
   */
  readonly identity?: () => Promise<unknown>
  /** Whether an error is permanent. */
  readonly isFinal?: (error: unknown) => boolean
  readonly warn: (message: string) => void
  /** The parts of a warning that say what does not happen while something fails. */
  readonly words: { readonly forNow: string; readonly untilStart: string }
  /** Default: one second, doubled up to a minute. While the store is away, at most five seconds. */
  readonly retryMs?: RetryMs | undefined
}

export interface RetryMs {
  readonly first: number
  readonly most: number
}

export interface Tools {
  /** Repeats until it succeeds. Rejects with {@link Stopped}, and with permanent errors. */
  readonly untilDone: <A>(what: () => Promise<A>) => Promise<A>
  readonly signal: AbortSignal
}

export interface Problem {
  readonly reason: string
  readonly since: number
}

export interface LogFollower {
  /** Revision up to which all events were taken; -1 for none. */
  readonly done: () => number
  /** Number of known events that are not taken yet. */
  readonly waiting: () => number
  readonly problem: () => Problem | undefined
  /** Stops at once, and saves the checkpoint. The remaining events are passed after the next start. */
  readonly stop: () => Promise<void>
}

export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** With its cause, such as `fetch failed: ECONNREFUSED`, unless the message says that already. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  return cause instanceof Error && !message.includes(cause.message) ? `${message}: ${cause.message}` : message
}

/** Whether the error means that events of the log are damaged or gone. */
export const isLost = (error: unknown): error is StoreError => error instanceof StoreError && (error.code === 'damaged' || error.code === 'deleted' || error.code === 'truncated')

/** The longest pause while the store is away, in milliseconds. It fails slowly by itself, and what follows it should be up to date soon when it is back. */
const storeRetryMsMax = 5_000
/** The largest number of waiting events. Beyond it, they are read from the log. */
const waitingMax = 10_000
/** Number of revisions between two checkpoints, if there was nothing to pass. */
const idleEvery = 10_000

export const followLog = (options: FollowOptions): LogFollower => {
  const { engine, log, checkpoints, name, types, matters, mattersInLog, take, batchMax, checkpointEvery, identity, isFinal, warn, words, retryMs = { first: 1_000, most: 60_000 } } = options
  const stream = streamOf(engine.name)
  const stopping = new AbortController()
  const { signal } = stopping
  let done = -1
  let saved = -1
  let problem: Problem | undefined
  let wake: () => void = () => undefined
  /** Revisions of events that are not taken yet: those announced, and those found in the log. And the last revision that was announced. */
  let waiting: Array<number> = []
  let found: ReadonlyArray<number> = []
  let heard = -1
  let isBehind = false

  const hear = ({ from, events, isOwn }: Committed): void => {
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as Committed['events'][number]
      if (isUnreadable(event) || !types.has(event.type) || (isOwn && matters?.(event) === false)) continue
      waiting.push(from + i)
    }
    heard = from + events.length - 1
    if (waiting.length > waitingMax) {
      waiting = []
      isBehind = true
    }
    if (waiting.length > 0 || isBehind || heard - saved >= idleEvery) wake()
  }

  const untilDone = async <A>(what: () => Promise<A>): Promise<A> => {
    const delays = backoff({ firstMs: retryMs.first, mostMs: retryMs.most, random: Math.random })
    for (;;) {
      if (signal.aborted) throw new Stopped()
      try {
        const value = await what()
        problem = undefined
        return value
      } catch (error) {
        if (error instanceof Stopped || isFinal?.(error) === true || isLost(error)) throw error
        const reason = reasonOf(error)
        if (problem === undefined) warn(`queue ${engine.name}: ${words.forNow}: ${reason}`)
        problem = { reason, since: problem?.since ?? Date.now() }
        const ms = delays.next()
        await pause(error instanceof StoreError ? Math.min(ms, storeRetryMsMax) : ms, signal, { unref: true })
      }
    }
  }

  const save = async (): Promise<void> => {
    if (done === saved) return
    await checkpoints.save({ projection: name, version: 1, revision: done, state: JSON.stringify((await identity?.()) ?? null) })
    saved = done
  }

  const resume = async (): Promise<void> => {
    const checkpoint = await checkpoints.load(name)
    const taker = (await identity?.()) ?? null
    if (checkpoint === undefined || checkpoint.version !== 1 || checkpoint.revision > (await log.head(stream))) return
    const known: unknown = JSON.parse(checkpoint.state)
    // A consumer that was exchanged or removed gets everything again. One that had nothing before does not lack anything.
    if (known !== null && known !== taker) return
    done = saved = checkpoint.revision
  }

  const takeInBatches = async (events: ReadonlyArray<RecordedEvent>, saveEvery: number): Promise<void> => {
    for (let i = 0; i < events.length; i += batchMax) {
      const batch = events.slice(i, i + batchMax)
      await take(batch, { untilDone, signal })
      done = batch[batch.length - 1]?.revision ?? done
      if (done - saved >= saveEvery) await untilDone(save)
      if (signal.aborted) throw new Stopped()
    }
  }

  const readLog = async (): Promise<void> => {
    isBehind = false
    for await (const page of log.read(stream, { from: done + 1 })) {
      const wanted = page.filter((event) => types.has(event.type) && mattersInLog?.(event) !== false)
      found = wanted.map(({ revision }) => revision)
      await takeInBatches(wanted, checkpointEvery)
      done = page[page.length - 1]?.revision ?? done
      if (done - saved >= idleEvery) await untilDone(save)
      if (signal.aborted) throw new Stopped()
    }
  }

  /** The events at these revisions, which are known to exist. A store may have nothing to show for one that was removed: a read says why. */
  const pickAll = async (revisions: ReadonlyArray<number>): Promise<ReadonlyArray<RecordedEvent>> => {
    const events = await log.pick(stream, revisions)
    const there = events.filter((event) => event !== undefined)
    if (there.length === revisions.length) return there
    const from = revisions[events.indexOf(undefined)] as number
    for await (const _ of log.read(stream, { from, limit: 1 })) break
    throw new StoreError('unavailable', `event ${from} cannot be read now`)
  }

  const live = async (): Promise<void> => {
    const upTo = heard
    const wanted = waiting.filter((revision) => revision > done).slice(0, batchMax)
    const isAll = waiting.length <= batchMax
    if (wanted.length > 0) await takeInBatches(await untilDone(() => pickAll(wanted)), 1)
    const last = isAll ? upTo : (wanted[wanted.length - 1] ?? done)
    done = Math.max(done, last)
    waiting = waiting.filter((revision) => revision > done)
    if (wanted.length > 0 || done - saved >= idleEvery) await untilDone(save)
  }

  const nothingToDo = (): boolean => waiting.length === 0 && !isBehind && heard - saved < idleEvery

  const run = async (): Promise<void> => {
    const subscription = engine.committed.subscribe(hear)
    try {
      await untilDone(resume)
      await untilDone(readLog)
      for (;;) {
        while (!signal.aborted && nothingToDo()) await new Promise<void>((resolve) => (wake = resolve))
        if (signal.aborted) break
        if (isBehind) await untilDone(readLog)
        else await live()
      }
      // Of too many that waited, none is known here: the log has them.
      if (waiting.length === 0 && !isBehind) done = Math.max(done, heard)
    } catch (error) {
      if (!(error instanceof Stopped)) {
        problem = { reason: errorText(error), since: Date.now() }
        warn(`queue ${engine.name}: ${words.untilStart}: ${String(error)}`)
      }
    } finally {
      subscription.unsubscribe()
      // If a checkpoint cannot be saved, the next start reads more.
      await save().catch(() => undefined)
    }
  }
  const ended = run()

  return {
    done: () => done,
    waiting: () => new Set([...found, ...waiting].filter((revision) => revision > done)).size,
    problem: () => problem,
    stop: () => {
      stopping.abort()
      wake()
      return ended
    },
  }
}
