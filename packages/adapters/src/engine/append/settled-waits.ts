/** Callers that wait until a task is settled, that is finished or a dead letter. While nobody waits, an event costs nothing here. */
import type { QueueEvent, Unreadable } from '@daybook/core'
import type { Observable, Subscription } from 'rxjs'
import type { Timers } from '../time/timers.js'
import type { Committed } from '../types.js'

export class SettledWaits {
  /** By task id. */
  private readonly waits = new Map<string, Set<() => void>>()
  private subscription: Subscription | undefined

  constructor(
    private readonly committed: Observable<Committed>,
    private readonly timers: Timers,
  ) {}

  /** Number of tasks that are waited for. */
  get size(): number {
    return this.waits.size
  }

  /** Resolves when the task becomes settled, when the time is over, when the signal aborts, or when the engine closes. */
  next(task: string, waitMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        stopTimer()
        signal?.removeEventListener('abort', end)
        this.remove(task, end)
        resolve()
      }
      const stopTimer = this.timers(waitMs, end)
      signal?.addEventListener('abort', end)
      this.add(task, end)
    })
  }

  private add(task: string, end: () => void): void {
    const waits = this.waits.get(task)
    if (waits === undefined) this.waits.set(task, new Set([end]))
    else waits.add(end)
    if (this.subscription !== undefined) return
    const subscription = this.committed.subscribe({
      next: ({ events }) => events.forEach((event) => this.settled(event)),
      complete: () => [...this.waits.keys()].forEach((each) => this.wake(each)),
    })
    // It is closed at once after the engine was closed. If it were kept, later waits would not end with it.
    if (!subscription.closed) this.subscription = subscription
  }

  private remove(task: string, end: () => void): void {
    const waits = this.waits.get(task)
    waits?.delete(end)
    if (waits?.size === 0) this.waits.delete(task)
    if (this.waits.size > 0) return
    this.subscription?.unsubscribe()
    this.subscription = undefined
  }

  private settled(event: QueueEvent | Unreadable): void {
    if (!('type' in event)) return
    switch (event.type) {
      case 'Completed':
      case 'Cancelled':
      case 'Discarded':
      case 'DeadLettered':
        this.wake(event.data.task)
    }
  }

  private wake(task: string): void {
    for (const end of [...(this.waits.get(task) ?? [])]) end()
  }
}
