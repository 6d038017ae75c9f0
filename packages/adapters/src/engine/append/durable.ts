/** The durable end of the log, and its subscribers. */
import { Subject } from 'rxjs'
import type { QueueClock } from '../time/queue-clock.js'
import type { CommittedEvents, Committed } from '../types.js'

export class Durable {
  readonly committed = new Subject<Committed>()
  private readonly watchers = new Set<() => void>()

  constructor(
    private last: number,
    private id: string | undefined,
    private why: string | null,
    private readonly clock: QueueClock,
  ) {}

  /** Revision of the last event, -1 for none. */
  get revision(): number {
    return this.last
  }

  /** Id of the last event, `undefined` for none. */
  get lastId(): string | undefined {
    return this.id
  }

  /** Why the queue was deleted; `null` after the next event. */
  get deleted(): string | null {
    return this.why
  }

  /** Advances by these events; `lastId` is the id of the last one. */
  advance(appended: CommittedEvents, lastId: string | undefined): void {
    const from = this.last + 1
    this.last += appended.events.length
    this.id = lastId
    const newest = appended.events[appended.events.length - 1]
    this.why = newest !== undefined && 'type' in newest && newest.type === 'QueueDeleted' ? newest.data.reason : null
    if (newest !== undefined && 'at' in newest) this.clock.saw(newest.at)
    this.committed.next({ from, ...appended })
  }

  /** Resolves the waits for revisions that are now durable. Separate from `advance`, because the callers of the commands are answered first. */
  wake(): void {
    for (const check of this.watchers) check()
  }

  reached(revision: number, waitMs: number): Promise<boolean> {
    if (this.last >= revision) return Promise.resolve(true)
    return new Promise((resolve) => {
      const stopWaiting = this.clock.timers(waitMs, () => end(false))
      const check = (): void => {
        if (this.last >= revision) end(true)
      }
      const end = (reached: boolean): void => {
        stopWaiting()
        this.watchers.delete(check)
        resolve(reached)
      }
      this.watchers.add(check)
    })
  }
}
