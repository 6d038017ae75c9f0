import assert from 'node:assert/strict'
import type { CaughtUp, EventStore, RecordedEvent } from '@daybook/adapters/store'

/** Records what a subscription delivers, and lets a check wait for it. */
export interface SubscriptionLog {
  readonly events: ReadonlyArray<RecordedEvent>
  /** With the number of events that were delivered before. */
  readonly caughtUp: ReadonlyArray<CaughtUp & { readonly after: number }>
  readonly errors: ReadonlyArray<unknown>
  readonly until: (what: string, isSo: (log: SubscriptionLog) => boolean) => Promise<void>
  readonly unsubscribe: () => void
}

let waitMsMax = 30_000

/** For stores that are broken on purpose, where most waits are in vain. */
export const waitAtMost = (ms: number): void => {
  waitMsMax = ms
}

export const follow = (store: EventStore, stream: string, from: number): SubscriptionLog => {
  const events: Array<RecordedEvent> = []
  const caughtUp: Array<CaughtUp & { after: number }> = []
  const errors: Array<unknown> = []
  const waiting = new Set<() => void>()
  const subscription = store.subscribe(stream, from).subscribe({
    next: (delivered) => {
      if ('_tag' in delivered) caughtUp.push({ ...delivered, after: events.length })
      else events.push(...delivered)
      waiting.forEach((look) => look())
    },
    error: (error) => {
      errors.push(error)
      waiting.forEach((look) => look())
    },
  })
  const log: SubscriptionLog = {
    events,
    caughtUp,
    errors,
    unsubscribe: () => subscription.unsubscribe(),
    until: (what, isSo) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void): void => {
          clearTimeout(timer)
          waiting.delete(look)
          settle()
        }
        const look = (): void => (isSo(log) ? end(resolve) : undefined)
        const failure = new assert.AssertionError({ message: `not delivered in time: ${what}` })
        const timer = setTimeout(() => end(() => reject(failure)), waitMsMax)
        waiting.add(look)
        look()
      }),
  }
  return log
}
