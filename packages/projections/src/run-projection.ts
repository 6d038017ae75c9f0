/**
 * Feeds a projection from a queue's log, then from what becomes durable.
 *
 *     load checkpoint ──usable──▶ read the log from there ──▶ live
 *            └──other version, beyond the log, not decodable──▶ read from zero
 *     live ──fell behind──▶ read the log from the revision reached ──▶ live
 *
 * The intake is a plain awaited loop, because rxjs knows no back-pressure; only the result is an Observable.
 */
import { isUnreadable } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { Observable, Subject } from 'rxjs'
import { inbox } from './inbox.js'
import type { Checkpoint, CheckpointStore, EventSource, Page } from './ports.js'
import type { Projection, Shown } from './projection.js'

export interface RunOptions {
  /** A checkpoint is left after so many events, and by `stop`. Default 10,000. */
  readonly checkpointEvery?: number
  /** Live events that may wait; beyond, the log is read instead. Default 10,000. */
  readonly liveEventsMax?: number
}

export interface RunningProjection<R> {
  /** The current result at once, then each new one; errors when the log or the fold fails. */
  readonly results: Observable<Shown<R>>
  readonly current: () => Shown<R>
  /** Resolves when all that was in the log at the start has been folded; rejects when it cannot be. */
  readonly caughtUp: Promise<void>
  /** Folds no more, leaves a checkpoint, and completes `results`. */
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
      if (page.from > revision + 1) throw new Error(`the log was to be read from ${revision + 1} and gave ${page.from}`)
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
  // Whoever does not wait for it learns of a failure from `results`.
  caughtUp.catch(() => undefined)

  const run = async (): Promise<void> => {
    // Listening comes before reading, so that nothing falls between the two.
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

/** A checkpoint of this very projection and version that the log still goes beyond, or reaches. */
const usable = <S, R>(
  projection: Projection<S, R>,
  checkpoint: Checkpoint | undefined,
  head: number,
): { readonly state: S; readonly revision: number } | undefined => {
  if (checkpoint === undefined || checkpoint.version !== projection.version || checkpoint.revision > head) return undefined
  const state = E.chain(projection.decode)(E.tryCatch((): unknown => JSON.parse(checkpoint.state), String))
  return E.isRight(state) ? { state: state.right, revision: checkpoint.revision } : undefined
}
