/**
 * States of queues at past revisions. A state is made from the newest snapshot that is not later, and a replay of the events after it. A few states
 * are kept: queries about one moment come together, and moments close to it cost only the events between.
 */
import { foldVersion, type QueueState } from '@daybook/core'
import { emptyState, loadSnapshot, streamOf } from '../engine/state/replay.js'
import { type LogReader, type SnapshotStore, StoreError } from '../store/index.js'
import { type OnEvent, PastState } from './past-state.js'

export interface PastLimits {
  /** The largest number of kept states. */
  readonly statesMax: number
  /** The largest number of tasks in all of them, including their undo logs. One state is kept however large it is. */
  readonly tasksMax: number
  /** How long a state is kept after its last use, in milliseconds. */
  readonly idleMs: number
  /** Number of events that can be undone in each state, at about 200 bytes each. At least 1. */
  readonly backEvents: number
}

export const pastLimitsDefault: PastLimits = { statesMax: 8, tasksMax: 1_000_000, idleMs: 600_000, backEvents: 131_072 }

export interface PastOptions {
  readonly log: LogReader
  /** Without snapshots, every state is replayed from the first event. */
  readonly snapshots?: Pick<SnapshotStore, 'list'> | undefined
  readonly limits?: PastLimits
  /** Called for a snapshot that cannot be used. */
  readonly skipped?: (name: string, reason: string) => void
  /** Called while events are replayed. */
  readonly progress?: (events: number, of: number) => void
}

export interface Steps<A> {
  readonly begin: (state: QueueState) => void
  readonly event: OnEvent
  readonly end: (state: QueueState) => A
}

/** Loading a task of a snapshot takes this share of the time of folding an event. */
const eventsPerTask = 0.2

export class PastStates {
  /** The most recently used comes last. */
  private kept: ReadonlyArray<PastState> = []
  private turn: Promise<unknown> = Promise.resolve()
  private idle: NodeJS.Timeout | undefined
  private readonly limits: PastLimits

  constructor(private readonly options: PastOptions) {
    this.limits = options.limits ?? pastLimitsDefault
  }

  /**
   * Calls `body` with the state of a queue when `revision` was the last; -1: before its first event. Calls run one at a time, so the state does not
   * move meanwhile. `body` must not keep it.
   *
   * @throws the signal's reason if it is aborted before the state is ready; StoreError if the log cannot be read that far.
   */
  use<A>(queue: string, revision: number, body: (state: QueueState) => Promise<A>, signal?: AbortSignal): Promise<A> {
    return this.inTurn(async () => body((await this.reach(queue, revision, signal)).state), signal)
  }

  /** Walks from one revision to a later one, event by event. Otherwise as {@link use}. */
  walk<A>(queue: string, from: number, to: number, steps: Steps<A>, signal?: AbortSignal): Promise<A> {
    return this.inTurn(async () => {
      const kept = await this.reach(queue, from, signal)
      steps.begin(kept.state)
      await this.move(kept, to, signal, steps.event)
      return steps.end(kept.state)
    }, signal)
  }

  private inTurn<A>(body: () => Promise<A>, signal: AbortSignal | undefined): Promise<A> {
    const run = async (): Promise<A> => {
      clearTimeout(this.idle)
      try {
        signal?.throwIfAborted()
        return await body()
      } finally {
        this.idle = setTimeout(() => this.forget(), this.limits.idleMs)
        this.idle.unref()
      }
    }
    const result = this.turn.then(run)
    this.turn = result.catch(() => undefined)
    return result
  }

  /** Drops all states. */
  forget(): void {
    clearTimeout(this.idle)
    this.kept = []
  }

  private async reach(queue: string, revision: number, signal: AbortSignal | undefined): Promise<PastState> {
    const kept = await this.nearest(queue, revision)
    await this.move(kept, revision, signal)
    return kept
  }

  private async move(kept: PastState, revision: number, signal: AbortSignal | undefined, onEvent?: OnEvent): Promise<void> {
    const others = this.kept.filter((other) => other !== kept)
    const keep = (): void => {
      this.kept = [...this.fitting(others, kept.size), kept]
    }
    this.kept = others
    try {
      kept.back(revision)
      await this.replayTo(kept, revision, signal, onEvent)
    } catch (error) {
      // Aborted between two pages: the state is kept, so that the next query need not begin anew. Any other failure may be within a page, and then
      // the state is of no use.
      if (signal?.aborted === true) keep()
      throw error
    }
    keep()
  }

  /** The cheapest start: a kept state, which moves, or a new one. */
  private async nearest(queue: string, revision: number): Promise<PastState> {
    const { log, snapshots, skipped = () => undefined } = this.options
    const stream = streamOf(queue)
    const ofQueue = this.kept.filter((kept) => kept.queue === queue)
    const base = ofQueue.reduce<PastState | undefined>((best, kept) => (best === undefined || kept.distanceTo(revision) < best.distanceTo(revision) ? kept : best), undefined)
    const distance = base?.distanceTo(revision) ?? Number.POSITIVE_INFINITY
    if (base !== undefined && distance === 0) return base
    if (base !== undefined && distance < Number.POSITIVE_INFINITY) {
      const { usable } = snapshots === undefined ? { usable: [] } : await snapshots.list(stream, foldVersion, revision)
      const snapshotAt = usable[0]?.header.revision ?? -1
      const anew = revision - snapshotAt + (snapshotAt < 0 ? 0 : base.size * eventsPerTask)
      if (distance < anew) return base
    }
    const expected = Math.max(0, ...ofQueue.map(({ size }) => size))
    this.kept = [...this.fitting(this.kept, expected)]
    const loaded = snapshots === undefined ? undefined : await loadSnapshot(log, snapshots, stream, revision, { skipped })
    return new PastState(queue, loaded?.state ?? emptyState(queue), this.limits.backEvents)
  }

  /** The states that may be kept besides one with this many tasks: the least recently used are dropped. */
  private fitting(kept: ReadonlyArray<PastState>, tasks: number): ReadonlyArray<PastState> {
    const { statesMax, tasksMax } = this.limits
    const counts = kept.map(({ size }) => size)
    let sum = counts.reduce((total, count) => total + count, tasks)
    let from = Math.max(0, kept.length + 1 - statesMax)
    counts.slice(0, from).forEach((count) => (sum -= count))
    for (; from < kept.length && sum > tasksMax; from++) sum -= counts[from] as number
    return kept.slice(from)
  }

  private async replayTo(kept: PastState, revision: number, signal: AbortSignal | undefined, onEvent: OnEvent = () => undefined): Promise<void> {
    const { log, progress = () => undefined } = this.options
    const from = kept.revision
    const of = revision - from
    if (of <= 0) return
    let done = 0
    progress(done, of)
    for await (const page of log.read(streamOf(kept.queue), { from: from + 1, limit: of })) {
      done += page.length
      kept.fold(page, of - done, onEvent)
      progress(done, of)
      // Yields to others. On the thread of a memory store these include the deciding engine.
      await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
    }
    if (done < of) throw new StoreError('truncated', `The log of queue ${kept.queue} ends before revision ${revision}: was it replaced?`)
  }
}
