/** Queues that have failed lately, so that their rows do not stand before those of others. */
import { backoffMs } from '../transport/retry.js'

export class RestingQueues {
  private readonly queues = new Map<string, { readonly failures: number; readonly until: number }>()

  constructor(private readonly backoffMsMax: number) {}

  /** Returns how long it rests, in milliseconds. */
  failed(queue: string, error: unknown): number {
    const failures = (this.queues.get(queue)?.failures ?? 0) + 1
    const ms = backoffMs(failures, error, this.backoffMsMax)
    this.queues.set(queue, { failures, until: performance.now() + ms })
    return ms
  }

  recovered(queue: string): void {
    this.queues.delete(queue)
  }

  names(): ReadonlyArray<string> {
    const now = performance.now()
    return [...this.queues].filter(([, { until }]) => until > now).map(([queue]) => queue)
  }

  /** Until the first of them may be tried again. */
  msLeft(): number {
    const now = performance.now()
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.queues.values()].flatMap(({ until }) => (until > now ? [until - now] : [])))
  }
}
