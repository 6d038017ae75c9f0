/** The count of a limit: live leases and the last starts under one concurrency key, type or tenant. */
import type { Group } from '../records/group.js'
import type { SmallSet } from '../structures/small-set.js'
import type { Limit, Rate } from '../model/limit.js'
import type { Apart } from './section.js'

export interface Meter {
  /** The concurrency key, `type:TYPE` or `tenant:TENANT`. */
  readonly key: string
  /** The limit that holds for this key. `undefined` only for a concurrency key. */
  limit: Limit | undefined
  /** Number of live leases. */
  live: number
  /** The last starts; only with a rate. */
  starts: Starts | undefined
  /** The first instant at which its rate admits a start again; 0 if it admits one now. An event sets it back to 0. */
  shutUntil: number
  /** Groups with tasks that this meter counts. */
  readonly groups: SmallSet<Group>
  /** Set if the limit stands apart: see `section.ts`. */
  apart: Apart | undefined
}


export const periodMs = ({ perSeconds }: Rate): number => Math.ceil(perSeconds * 1_000)

export const isFull = ({ limit, live }: Meter): boolean => limit?.concurrency !== undefined && live >= limit.concurrency
/** Whether no task that it counts may start. */
export const isShut = (meter: Meter): boolean => meter.shutUntil > 0 || isFull(meter)

/**
 * The instants of the last starts, as many as a rate allows in its period. A start is allowed when the oldest of them is a whole period ago, so no
 * period of that length ever has more. A token bucket would allow twice as many: all at the end of one period, and all again in the next.
 */
export class Starts {
  /** A ring buffer: once it is full, `next` is the index of the oldest instant. */
  private readonly times: Array<number>
  private next = 0

  /** `times`: in order, at most `max` of them. */
  constructor(
    readonly max: number,
    times: ReadonlyArray<number> = [],
  ) {
    this.times = [...times]
  }

  get last(): number {
    const { times, next } = this
    return times[next === 0 ? times.length - 1 : next - 1] ?? 0
  }

  get isEmpty(): boolean {
    return this.times.length === 0
  }

  /** The instants in order. */
  list(): ReadonlyArray<number> {
    const { times, next } = this
    return [...times.slice(next), ...times.slice(0, next)]
  }

  /** Adds a start. Returns the instant that it replaces, for {@link takeBack}. */
  add(at: number): number | undefined {
    const { times, max, next } = this
    if (times.length < max) {
      times.push(at)
      return undefined
    }
    const replaced = times[next]
    times[next] = at
    this.next = (next + 1) % max
    return replaced
  }

  /** Undoes the last `add`. */
  takeBack(replaced: number | undefined): void {
    const { times, max, next } = this
    if (replaced === undefined) times.pop()
    else times[(this.next = (next + max - 1) % max)] = replaced
  }

  /** When the next start is allowed, if that is after `at`; otherwise 0. */
  shutUntil(at: number, period: number): number {
    const { times, max, next } = this
    const until = times.length < max ? 0 : (times[next] as number) + period
    return until > at ? until : 0
  }

  /** How many starts are allowed at `at`, at most `most`. */
  free(at: number, period: number, most: number): number {
    const { times, max, next } = this
    let free = max - times.length
    for (let i = 0; i < times.length && free < most; i++) {
      if ((times[(next + i) % times.length] as number) + period > at) break
      free++
    }
    return Math.min(free, most)
  }
}
