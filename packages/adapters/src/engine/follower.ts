/**
 * Hears what other processes append to the queue. While this one appends, its expected revision tells it all: an
 * append that went through had nothing unknown before it. So it listens when there was nothing to append for a
 * while, and stops when it hears nothing but its own.
 */
import type { Observable, Subscription } from 'rxjs'
import { type Delivered, isDestroyed, type RecordedEvent } from '../store/index.js'
import { describe } from './refusals.js'

export interface FollowerParts {
  readonly subscribe: (from: number) => Observable<Delivered>
  /** Of the last event known, -1 for none. */
  readonly revision: () => number
  /** Nothing is being appended, nor about to be. */
  readonly isIdle: () => boolean
  readonly onHeard: () => void
  readonly warn: (message: string) => void
}

/** How long nothing is appended before it listens, in milliseconds. */
const idleMs = 20
/** How long it leaves a subscription alone that failed, in milliseconds: doubles as long as nothing is delivered. */
const retryMsMin = 1_000
const retryMsMax = 60_000
/** So many of its own events in a row, and it stops listening. */
const ownMax = 1_000
/** Events kept until they can be folded; beyond, they are read again later. */
const heldMax = 10_000

export class Follower {
  private held: Array<RecordedEvent> = []
  private own = 0
  private subscription: Subscription | undefined
  private timer: NodeJS.Timeout | undefined
  private retryMs = retryMsMin
  private isStopped = false

  constructor(private readonly parts: FollowerParts) {}

  /** There is nothing to do: soon it listens. */
  rest(afterMs = idleMs): void {
    if (this.isStopped || this.subscription !== undefined || this.timer !== undefined) return
    this.timer = setTimeout(() => {
      this.timer = undefined
      if (this.parts.isIdle()) this.listen()
      else this.rest()
    }, afterMs)
    this.timer.unref()
  }

  /** What was heard of behind this revision. */
  take(revision: number): ReadonlyArray<RecordedEvent> {
    if (this.held.length === 0) return this.held
    const known = this.held.filter((event) => event.revision <= revision).length
    const heard = this.held.slice(known)
    this.held = []
    this.own = heard.length > 0 ? 0 : this.own + known
    if (this.own > ownMax) this.leave()
    return heard
  }

  /** Stops listening; it starts again, behind the revision there is then, when there is nothing else to do. */
  leave(): void {
    this.subscription?.unsubscribe()
    this.subscription = undefined
    this.held = []
    this.own = 0
  }

  stop(): void {
    this.isStopped = true
    clearTimeout(this.timer)
    this.leave()
  }

  private listen(): void {
    const { subscribe, revision, onHeard, warn } = this.parts
    this.subscription = subscribe(revision() + 1).subscribe({
      next: (delivered) => {
        this.retryMs = retryMsMin
        if ('_tag' in delivered) return
        if (this.held.length + delivered.length > heldMax) this.leave()
        else for (const event of delivered) this.held.push(event)
        onHeard()
      },
      error: (error: unknown) => {
        this.leave()
        if (this.isStopped) return
        // What was deleted or cut does not come back by itself.
        const isGone = isDestroyed(error)
        if (isGone) this.retryMs = retryMsMax
        warn(`what other processes append is not heard of${isGone ? '' : ' for now'}: ${describe(error)}`)
        this.rest(this.retryMs)
        this.retryMs = Math.min(2 * this.retryMs, retryMsMax)
      },
    })
  }
}
