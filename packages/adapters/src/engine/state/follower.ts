/**
 * Follows what other processes append to the queue. While this process appends, the expected revision is enough: if an append succeeds, there are no
 * unknown events before it. So the follower subscribes only after a time without appends, and unsubscribes when it receives only events of its own
 * process.
 */
import type { Observable, Subscription } from 'rxjs'
import { errorText } from '../../error-text.js'
import { type Delivered, isDestroyed, type RecordedEvent } from '../../store/index.js'

export interface FollowerParts {
  readonly subscribe: (from: number) => Observable<Delivered>
  /** Revision of the last known event, -1 for none. */
  readonly revision: () => number
  /** Whether nothing is being appended or about to be. */
  readonly isIdle: () => boolean
  readonly onHeard: () => void
  readonly warn: (message: string) => void
}

/** Idle time before it subscribes, in milliseconds. */
const idleMs = 20
/** Pause after a failed subscription, in milliseconds. It doubles while nothing is delivered. */
const retryMsMin = 1_000
const retryMsMax = 60_000
/** Number of own events in a row after which it unsubscribes. */
const ownMax = 1_000
/** The largest number of events that wait to be folded. Beyond it they are dropped and read again later. */
const heldMax = 10_000

export class Follower {
  private held: Array<RecordedEvent> = []
  private own = 0
  private subscription: Subscription | undefined
  private timer: NodeJS.Timeout | undefined
  private retryMs = retryMsMin
  private isStopped = false

  constructor(private readonly parts: FollowerParts) {}

  /** The engine is idle: subscribes after this time. */
  rest(afterMs = idleMs): void {
    if (this.isStopped || this.subscription !== undefined || this.timer !== undefined) return
    this.timer = setTimeout(() => {
      this.timer = undefined
      if (this.parts.isIdle()) this.listen()
      else this.rest()
    }, afterMs)
    this.timer.unref()
  }

  /** Removes and returns the received events after this revision. */
  take(revision: number): ReadonlyArray<RecordedEvent> {
    if (this.held.length === 0) return this.held
    const known = this.held.filter((event) => event.revision <= revision).length
    const heard = this.held.slice(known)
    this.held = []
    this.own = heard.length > 0 ? 0 : this.own + known
    if (this.own > ownMax) this.leave()
    return heard
  }

  /** Unsubscribes. When the engine is idle, it subscribes again from the last revision at that time. */
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
        // A deleted or truncated stream does not come back by itself.
        const isGone = isDestroyed(error)
        if (isGone) this.retryMs = retryMsMax
        warn(`what other processes append is not heard of${isGone ? '' : ' for now'}: ${errorText(error)}`)
        this.rest(this.retryMs)
        this.retryMs = Math.min(2 * this.retryMs, retryMsMax)
      },
    })
  }
}
