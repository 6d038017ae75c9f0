/** The breakers of a queue: one for each task type whose tasks ever failed, or whose breaker an operator ever opened. */
import type { Alerts } from './alerts.js'
import { type Breaker, newBreaker } from '../records/records.js'
import { SortedList } from '../structures/sorted-list.js'
import type { UndoLog } from '../structures/undo-log.js'

export const byType = (a: Breaker, b: Breaker): number => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0)

export class Breakers {
  private readonly byType = new Map<string, Breaker>()
  /** Open breakers that turn half-open by themselves. */
  readonly cooling = new SortedList<Breaker>((breaker) => breaker.halfOpenAt, byType)

  /** `moved`: called when the breaker of a type may have begun or ceased to hold back its tasks. */
  constructor(
    private readonly undoLog: UndoLog,
    private readonly alerts: Alerts,
    private readonly moved: (type: string) => void,
  ) {}

  get size(): number {
    return this.byType.size
  }

  get(type: string): Breaker | undefined {
    return this.byType.get(type)
  }

  values(): IterableIterator<Breaker> {
    return this.byType.values()
  }

  /** The breaker of this type. It is made if there is none. */
  of(type: string): Breaker {
    const known = this.byType.get(type)
    if (known !== undefined) return known
    const breaker = newBreaker(type)
    this.byType.set(type, breaker)
    this.undoLog.note(() => this.byType.delete(type))
    return breaker
  }

  update(breaker: Breaker, change: (breaker: Breaker) => void): void {
    if (this.undoLog.mustSave(breaker)) {
      const before = { ...breaker }
      this.undoLog.note(() => this.update(breaker, () => Object.assign(breaker, before)))
    }
    const { state, probe } = breaker
    this.unlink(breaker)
    change(breaker)
    this.link(breaker)
    // Only these two hold tasks back. Most changes count a failure, and a type may have a group for each of a million tenants.
    if (breaker.state !== state || breaker.probe !== probe) this.moved(breaker.type)
  }

  clear(): void {
    for (const breaker of [...this.byType.values()]) {
      this.unlink(breaker)
      this.byType.delete(breaker.type)
      this.undoLog.note(() => {
        this.byType.set(breaker.type, breaker)
        this.link(breaker)
      })
    }
  }

  private link(breaker: Breaker): void {
    if (breaker.state === 'open' && breaker.halfOpenAt !== 0) this.cooling.add(breaker)
    this.alerts.countBreaker(breaker, 1)
  }

  private unlink(breaker: Breaker): void {
    if (breaker.state === 'open' && breaker.halfOpenAt !== 0) this.cooling.remove(breaker)
    this.alerts.countBreaker(breaker, -1)
  }
}
