/** The breakers of a queue: one for each task type whose tasks ever failed, or whose breaker an operator ever opened. */
import type { Alerts } from './alerts.js'
import { type Breaker, newBreaker } from '../records/records.js'
import { SortedList } from '../structures/sorted-list.js'
import type { UndoLog } from '../structures/undo-log.js'
import { UndoMap } from '../structures/undo-map.js'

export const byType = (a: Breaker, b: Breaker): number => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0)

export class Breakers extends UndoMap<Breaker> {
  /** Open breakers that turn half-open by themselves. */
  readonly cooling = new SortedList<Breaker>((breaker) => breaker.halfOpenAt, byType)

  /** `moved`: called when the breaker of a type may have begun or ceased to hold back its tasks. */
  constructor(
    undoLog: UndoLog,
    private readonly alerts: Alerts,
    private readonly moved: (type: string) => void,
  ) {
    super(undoLog)
  }

  protected override replaced(from: Breaker | undefined, to: Breaker | undefined): void {
    if (from !== undefined) this.unlink(from)
    if (to !== undefined) this.link(to)
  }

  /** The breaker of this type. It is made if there is none. */
  of(type: string): Breaker {
    const breaker = this.get(type) ?? newBreaker(type)
    this.set(type, breaker)
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

  private link(breaker: Breaker): void {
    if (breaker.state === 'open' && breaker.halfOpenAt !== 0) this.cooling.add(breaker)
    this.alerts.countBreaker(breaker, 1)
  }

  private unlink(breaker: Breaker): void {
    if (breaker.state === 'open' && breaker.halfOpenAt !== 0) this.cooling.remove(breaker)
    this.alerts.countBreaker(breaker, -1)
  }
}
