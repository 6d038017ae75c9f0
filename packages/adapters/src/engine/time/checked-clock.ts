/**
 * The wall clock of this process. It is compared with other clocks before it is used for decisions, because a wrong time in the log stays there. A
 * clock that has jumped ahead is refused; a clock that is behind does no harm (`queue-clock.ts`).
 */
import { uptime } from 'node:os'
import { longTimer } from '@daybook/client/common'
import type { StoreTime } from '../../store/index.js'
import type { Timers } from './timers.js'

export interface ClockOptions {
  /** The wall clock: milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number
  /** A monotonic clock, in milliseconds. Default `performance.now`. */
  readonly monotonic?: () => number
  /** Like `monotonic`, but includes the time that the machine sleeps. Default: the machine's uptime. */
  readonly uptime?: () => number
  /** Timers for leases, delays, schedules and long polls. Default: Node's. */
  readonly timers?: Timers
  /** How far the wall clock may jump ahead of the monotonic clock, or be ahead of the store's, in milliseconds. Default 300,000; `Infinity` for no limit. */
  readonly clockJumpMs?: number
}

const clockJumpMsDefault = 300_000

export class CheckedClock {
  private readonly wall: () => number
  private readonly uptime: () => number
  private readonly jumpMsMax: number
  readonly monotonic: () => number
  readonly timers: Timers
  /** Wall clock minus monotonic clock at readings that were accepted: the last value, and the maximum. A return to an earlier offset is not a jump. */
  private offset: number
  private offsetMost: number
  /** How long the machine had slept since its start, as of the last check. */
  private slept: number
  private problem: string | undefined
  /** The monotonic time of the last reading. */
  readAt: number

  constructor(
    { clock = Date.now, monotonic = () => performance.now(), uptime: up = () => uptime() * 1_000, timers = longTimer, clockJumpMs = clockJumpMsDefault }: ClockOptions,
    /** The time of the store's own clock, if it has one. */
    private readonly storeTime: () => StoreTime | undefined = () => undefined,
  ) {
    this.wall = clock
    this.monotonic = monotonic
    this.timers = timers
    this.uptime = up
    this.jumpMsMax = clockJumpMs
    this.offset = this.offsetMost = clock() - monotonic()
    this.readAt = monotonic()
    this.slept = up() - this.readAt
  }

  /** Milliseconds since 1970. This is the wall clock; while it is refused, the time by the other clock. */
  now(): number {
    const wall = this.wall()
    const monotonic = (this.readAt = this.monotonic())
    const offset = wall - monotonic
    if (offset - this.offsetMost > this.jumpMsMax) {
      // While the machine slept, the wall clock went on, but the monotonic clock did not.
      const slept = this.uptime() - monotonic
      const asleep = Math.max(0, slept - this.slept)
      const jumped = offset - this.offsetMost - asleep
      if (jumped > this.jumpMsMax) return this.refuse(this.offset + monotonic + asleep, `jumped ahead by ${seconds(jumped)} s`, jumpRemedy)
      this.slept = slept
    }
    const store = this.storeTime()
    if (store !== undefined) {
      const theirs = store.time + monotonic - store.heardAt
      if (wall - theirs > this.jumpMsMax) return this.refuse(theirs, `is ${seconds(wall - theirs)} s ahead of the store's`, storeRemedy)
    }
    this.offset = offset
    if (offset > this.offsetMost) this.offsetMost = offset
    this.problem = undefined
    return wall
  }

  /** Why the wall clock was refused at the last reading; `undefined` if it was accepted. */
  get refusal(): string | undefined {
    return this.problem
  }

  private refuse(time: number, what: string, remedy: string): number {
    this.problem = `this server's clock ${what}, to ${timeText(this.wall())}: commands are refused, so that no wrong time gets into the log. ${remedy}`
    return time
  }
}

const off = 'or start it with --clock-jump off'
const jumpRemedy = `If the clock is wrong, set it right: the server then goes on by itself. If it was wrong before and is right now, restart the server, ${off}`
const storeRemedy = `Set the one right that is wrong: the server then goes on by itself. If that cannot be, restart it with a greater --clock-jump, ${off}`

const seconds = (ms: number): number => Math.round(ms / 1_000)
/** A wrong clock may be beyond the range of dates. */
const timeText = (ms: number): string => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms} ms`)
