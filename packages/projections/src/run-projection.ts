/**
 * Feeds a projection from a queue's log, and goes on as the log grows.
 *
 *     load checkpoint ──usable──▶ read the log from there ──▶ wait until it has grown
 *            └──other version, beyond the log, not decodable──▶ read from zero
 *
 * An event reaches a projection only through the log, so a live state and a rebuilt one cannot differ. Events are taken in a plain awaited loop,
 * because rxjs has no back-pressure. Only the result is an Observable.
 */
import { isUnreadable } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { Observable, Subject } from 'rxjs'
import type { Checkpoint, CheckpointStore, EventSource, Page } from './ports.js'
import type { Projection, Shown } from './projection.js'

export interface RunOptions {
  /** Number of events between two checkpoints. `stop` saves one as well. Default 10,000. */
  readonly checkpointEvery?: number
}

export interface RunningProjection<R> {
  /** Emits the current result at once and then each new one. Errors if the log or the fold fails. */
  readonly results: Observable<Shown<R>>
  readonly current: () => Shown<R>
  /** Resolves when the projection has folded the log as it was at the start; rejects if that fails. */
  readonly caughtUp: Promise<void>
  /** Stops folding, saves a checkpoint, and completes `results`. */
  readonly stop: () => Promise<void>
}

export const runProjection = <S, R>(
  projection: Projection<S, R>,
  source: EventSource,
  checkpoints: CheckpointStore,
  { checkpointEvery = 10_000 }: RunOptions = {},
): RunningProjection<R> => {
  let state = projection.initial()
  let revision = -1
  let saved = -1
  let head = -1
  let isOver = false
  let wake: () => void = () => undefined
  /** Whether an event could not be read. A later version may be able to read it, so the checkpoint must be before that event. */
  let hasUnread = false
  let failure: { readonly error: unknown } | undefined
  const subject = new Subject<Shown<R>>()

  const end = (): void => {
    isOver = true
    wake()
  }

  const current = (): Shown<R> => ({ revision, value: projection.result(state) })

  const checkpoint = async (): Promise<void> => {
    if (revision === saved || hasUnread) return
    const { name, version } = projection
    const taken: Checkpoint = { projection: name, version, revision, state: JSON.stringify(projection.encode(state)) }
    await checkpoints.save(taken)
    saved = taken.revision
  }

  const take = async ({ from, events }: Page): Promise<void> => {
    for (let i = 0; i < events.length; i++) {
      const logged = events[i]
      if (logged === undefined) continue
      if (isUnreadable(logged)) {
        await checkpoint()
        hasUnread = true
      } else state = projection.fold(state, logged)
      revision = from + i
    }
    if (subject.observed) subject.next(current())
    if (revision - saved >= checkpointEvery) await checkpoint()
  }

  const readLog = async (): Promise<void> => {
    for await (const page of source.read(revision + 1)) {
      if (isOver) return
      if (page.from !== revision + 1) throw new Error(`asked the log for events from ${revision + 1}, but got them from ${page.from}`)
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

  // Subscribe before reading, so that no event is missed in between.
  const growing = source.grown.subscribe({
    next: (revision) => {
      head = revision
      wake()
    },
    error: (error: unknown) => {
      failure = { error }
      end()
    },
    complete: end,
  })

  const caughtUp = resume().then(readLog)
  // A caller that does not await it learns of a failure from `results`.
  caughtUp.catch(() => undefined)

  const run = async (): Promise<void> => {
    try {
      await caughtUp
      while (!isOver) {
        const grownTo = head
        if (grownTo > revision) {
          await readLog()
          if (revision < grownTo && !isOver) throw new Error(`the log has grown to revision ${grownTo}, but ends at ${revision}`)
        } else await new Promise<void>((resolve) => (wake = resolve))
      }
      if (failure !== undefined) throw failure.error
      await checkpoint()
      subject.complete()
    } catch (error) {
      failure = { error }
      subject.error(error)
    } finally {
      growing.unsubscribe()
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
      end()
      return ended
    },
  }
}

/** The state of a checkpoint, if it can be used: its version is the current one, the log reaches its revision, and it can be decoded. */
const usable = <S, R>(
  projection: Projection<S, R>,
  checkpoint: Checkpoint | undefined,
  head: number,
): { readonly state: S; readonly revision: number } | undefined => {
  if (checkpoint === undefined || checkpoint.version !== projection.version || checkpoint.revision > head) return undefined
  const state = E.chain(projection.decode)(E.tryCatch((): unknown => JSON.parse(checkpoint.state), String))
  return E.isRight(state) ? { state: state.right, revision: checkpoint.revision } : undefined
}
