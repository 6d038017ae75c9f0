/**
 * Feeds a projection from a queue's log, and then from the events that become durable.
 *
 *     load checkpoint ──usable──▶ read the log from there ──▶ live
 *            └──other version, beyond the log, not decodable──▶ read from zero
 *     live ──fell behind──▶ read the log from the revision reached ──▶ live
 *
 * Events are taken in a plain awaited loop, because rxjs has no back-pressure. Only the result is an Observable.
 */
import { isUnreadable } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { Observable, Subject } from 'rxjs'
import { inbox } from './inbox.js'
import type { Checkpoint, CheckpointStore, EventSource, Page } from './ports.js'
import type { Projection, Shown } from './projection.js'

export interface RunOptions {
  /** Events between two checkpoints. `stop` also saves one. Default 10,000. */
  readonly checkpointEvery?: number
  /** Live events that may wait. If there are more, they are dropped and read from the log. Default 10,000. */
  readonly liveEventsMax?: number
}

export interface RunningProjection<R> {
  /** Emits the current result at once and then each new one. Errors if the log or the fold fails. */
  readonly results: Observable<Shown<R>>
  readonly current: () => Shown<R>
  /** Resolves when the log as it was at the start has been folded; rejects if that fails. */
  readonly caughtUp: Promise<void>
  /** Stops folding, saves a checkpoint, and completes `results`. */
  readonly stop: () => Promise<void>
}

export const runProjection = <S, R>(
  projection: Projection<S, R>,
  source: EventSource,
  checkpoints: CheckpointStore,
  { checkpointEvery = 10_000, liveEventsMax = 10_000 }: RunOptions = {},
): RunningProjection<R> => {
  let state = projection.initial()
  let revision = -1
  let saved = -1
  let stopping = false
  let failure: { readonly error: unknown } | undefined
  const subject = new Subject<Shown<R>>()
  const waiting = inbox(liveEventsMax)

  const current = (): Shown<R> => ({ revision, value: projection.result(state) })

  const checkpoint = async (): Promise<void> => {
    if (revision === saved) return
    const { name, version } = projection
    const taken: Checkpoint = { projection: name, version, revision, state: JSON.stringify(projection.encode(state)) }
    await checkpoints.save(taken)
    saved = taken.revision
  }

  const take = async ({ from, events }: Page): Promise<void> => {
    const before = revision
    for (let i = Math.max(0, revision + 1 - from); i < events.length; i++) {
      const event = events[i]
      if (event !== undefined && !isUnreadable(event)) state = projection.fold(state, event, from + i)
      revision = from + i
    }
    if (revision === before) return
    if (subject.observed) subject.next(current())
    if (revision - saved >= checkpointEvery) await checkpoint()
  }

  const readLog = async (): Promise<void> => {
    for await (const page of source.read(revision + 1)) {
      if (stopping) return
      if (page.from > revision + 1) throw new Error(`asked the log for events from ${revision + 1}, but got them from ${page.from}`)
      await take(page)
    }
  }

  const resume = async (): Promise<void> => {
    const found = usable(projection, await checkpoints.load(projection.name), await source.head())
    if (found === undefined) return
    state = found.state
    revision = found.revision
    saved = revision
  }

  let tellCaughtUp: () => void = () => undefined
  let tellFailed: (error: unknown) => void = () => undefined
  const caughtUp = new Promise<void>((resolve, reject) => {
    tellCaughtUp = resolve
    tellFailed = reject
  })
  // A caller that does not wait for it learns of a failure from `results`.
  caughtUp.catch(() => undefined)

  const run = async (): Promise<void> => {
    // Subscribe before reading, so that no event is missed in between.
    const live = source.committed.subscribe({
      next: (page) => waiting.put(page),
      error: (error: unknown) => {
        failure = { error }
        waiting.end()
      },
      complete: () => waiting.end(),
    })
    try {
      await resume()
      await readLog()
      tellCaughtUp()
      for (let next = await waiting.take(); next !== 'over'; next = await waiting.take()) {
        if (next === 'behind' || next.from > revision + 1) await readLog()
        else await take(next)
      }
      if (failure !== undefined) throw failure.error
      await checkpoint()
      subject.complete()
    } catch (error) {
      failure = { error }
      tellFailed(error)
      subject.error(error)
    } finally {
      live.unsubscribe()
    }
  }
  const ended = run()

  return {
    results: new Observable((subscriber) => {
      if (failure === undefined) subscriber.next(current())
      return subject.subscribe(subscriber)
    }),
    current,
    caughtUp,
    stop: () => {
      stopping = true
      waiting.end()
      return ended
    },
  }
}

/** The state of a checkpoint, if its version is this one, the log reaches its revision, and it can be decoded. */
const usable = <S, R>(
  projection: Projection<S, R>,
  checkpoint: Checkpoint | undefined,
  head: number,
): { readonly state: S; readonly revision: number } | undefined => {
  if (checkpoint === undefined || checkpoint.version !== projection.version || checkpoint.revision > head) return undefined
  const state = E.chain(projection.decode)(E.tryCatch((): unknown => JSON.parse(checkpoint.state), String))
  return E.isRight(state) ? { state: state.right, revision: checkpoint.revision } : undefined
}
