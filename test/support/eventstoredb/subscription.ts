/** The common part of subscriptions to a stream and to the whole log. */
import { randomUUID } from 'node:crypto'
import type { Outbox } from './outbox.js'
import { caughtUp, confirmation } from './read-responses.js'
import { timedOut } from './rpc-errors.js'
import type { LogEvent } from './log-event.js'

/** A consumer counts as slow only if it has taken nothing for this long, and not because of a burst. */
const blockedMsMax = 100

export class Subscription {
  private confirmed = false

  constructor(readonly out: Outbox, readonly encode: (event: LogEvent) => Buffer) {}

  readonly confirm = (): void => {
    if (this.confirmed) return
    this.confirmed = true
    this.out.push(confirmation(randomUUID()))
  }

  readonly send = (event: LogEvent): void => this.out.event(this.encode(event))

  /** From now on, events are delivered as they are published. */
  readonly goLive = (listen: (listener: (event: LogEvent) => void) => () => void, unreadMax: number, listener: (event: LogEvent) => void): void => {
    this.confirm()
    this.out.push(caughtUp())
    if (this.out.over) return
    this.out.onOver = listen((event) => {
      if (this.out.over) return
      listener(event)
      if (this.out.unsent > unreadMax && this.out.blockedMs() > blockedMsMax) {
        this.out.fail(timedOut('Consumer too slow to handle event while live. Client resubscription required.'))
      }
    })
  }
}
