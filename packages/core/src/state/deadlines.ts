/**
 * Names with a deadline each, such as the agents that sleep after a rate limit. The list stays small, because a name is removed when its deadline has
 * passed.
 */
import { SortedList } from '../structures/sorted-list.js'
import type { UndoLog } from '../structures/undo-log.js'

export interface Deadline {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly until: number
}

export class Deadlines {
  private readonly byName = new Map<string, Deadline>()
  private readonly byTime = new SortedList<Deadline>((deadline) => deadline.until, (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))

  /** `moved`: called when a name gets its first deadline, or has none any more. */
  constructor(
    private readonly undoLog: UndoLog,
    private readonly moved: (name: string) => void = () => undefined,
  ) {}

  get size(): number {
    return this.byName.size
  }
  has(name: string): boolean {
    return this.byName.has(name)
  }
  /** The deadline of this name; 0 if it has none. */
  until(name: string): number {
    return this.byName.get(name)?.until ?? 0
  }
  /** The earliest deadline. */
  first(): Deadline | undefined {
    return this.byTime.first()
  }
  /** All deadlines, the earliest first. */
  [Symbol.iterator](): Iterator<Deadline> {
    return this.byTime[Symbol.iterator]()
  }

  /** Sets the deadline of a name; 0 removes it. */
  set(name: string, until: number): void {
    const before = this.until(name)
    if (before === until) return
    this.undoLog.note(() => this.set(name, before))
    const known = this.byName.get(name)
    if (known !== undefined) this.byTime.remove(known)
    this.byName.delete(name)
    if (until !== 0) {
      const deadline = { name, until }
      this.byName.set(name, deadline)
      this.byTime.add(deadline)
    }
    // A longer wait begins and ends nothing.
    if (before === 0 || until === 0) this.moved(name)
  }

  clear(): void {
    for (const { name } of [...this]) this.set(name, 0)
  }
}
