/**
 * Names with a deadline each, such as the agents that sleep after a rate limit. The list stays small, because a name is removed when its deadline has
 * passed.
 */
import { SortedList } from '../structures/sorted-list.js'
import type { UndoLog } from '../structures/undo-log.js'
import { UndoMap } from '../structures/undo-map.js'

export interface Deadline {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly until: number
}

export class Deadlines {
  private readonly byName: UndoMap<Deadline>
  private readonly byTime = new SortedList<Deadline>((deadline) => deadline.until, (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))

  /** `moved`: called when a name gets its first deadline, or has none any more. */
  constructor(undoLog: UndoLog, moved: (name: string) => void = () => undefined) {
    this.byName = new UndoMap(undoLog, (from, to, name) => {
      if (from !== undefined) this.byTime.remove(from)
      if (to !== undefined) this.byTime.add(to)
      // A longer wait begins and ends nothing.
      if (from === undefined || to === undefined) moved(name)
    })
  }

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
    if (this.until(name) !== until) this.byName.replace(name, until === 0 ? undefined : { name, until })
  }

  clear(): void {
    this.byName.clear()
  }
}
