/**
 * Counts tasks of a snapshot that have no record. One by one, each would read and write its group and its list by status, which lie anywhere in
 * memory: half of a load. So tasks are counted under the numbers that the snapshot has for groups, and their own numbers are added to the lists
 * together.
 */
import { bands, type NamesOf, priorityIn, statusIn } from '../rows/task-bytes.js'
import type { Group } from '../state/group.js'
import type { ListsByStatus } from '../state/state.js'
import type { StatusList } from '../state/status-lists.js'
import type { Tables } from '../state/tables.js'
import type { Status } from '../model/task.js'

/** The largest number of tasks that wait for one list. */
const gatheredMax = 65_536

/** Tasks on their way to a list. */
class Gathered {
  private numbers: Array<number> = []

  constructor(
    private readonly tables: Tables,
    private readonly list: StatusList,
    private readonly status: Status,
  ) {}

  add(number: number): void {
    if (this.numbers.push(number) === gatheredMax) this.flush()
  }

  flush(): void {
    if (this.numbers.length === 0) return
    this.tables.addListed(this.list, this.status, this.numbers)
    this.numbers = []
  }
}

/** Tasks on their way to the lists by status. */
export class GatheredTasks {
  /** By the lists of a phase; then by band (`rows/task-bytes.ts`). */
  private readonly byPhase = new Map<ListsByStatus, ReadonlyArray<Gathered | undefined>>()

  constructor(private readonly tables: Tables) {}

  of(lists: ListsByStatus): ReadonlyArray<Gathered | undefined> {
    const known = this.byPhase.get(lists)
    if (known !== undefined) return known
    const gathered = Array.from({ length: bands }, (_, band) => {
      const list = lists[statusIn(band)][priorityIn(band)]
      return list === undefined ? undefined : new Gathered(this.tables, list, statusIn(band))
    })
    this.byPhase.set(lists, gathered)
    return gathered
  }

  /** Must be called after the last task. */
  flush(): void {
    for (const gathered of this.byPhase.values()) for (const each of gathered) each?.flush()
  }
}

/** Tasks by the numbers of their groups. A group is made with its first task, because making one has effects on the state. */
export class Tally implements NamesOf<Group> {
  private readonly groups: Array<Group | undefined> = []
  /** Of each group that has a task: where its tasks are gathered, and how many have not joined it yet. */
  private readonly gathered: Array<ReadonlyArray<Gathered | undefined> | undefined> = []
  private readonly waiting: Array<number> = []

  /** `groupOf`: the group with a number; `undefined` if the snapshot does not name it. `join` counts tasks in their group. */
  constructor(
    private readonly tasks: GatheredTasks,
    private readonly groupOf: (number: number) => Group | undefined,
    private readonly join: (group: Group, tasks: number) => void,
  ) {}

  /** Throws if the snapshot does not name it. */
  get(number: number): Group {
    const known = this.groups[number]
    if (known !== undefined) return known
    const group = this.groupOf(number)
    if (group === undefined) throw new Error(`no page names the group ${number}`)
    return (this.groups[number] = group)
  }

  /** Counts a task. `group`: the number of its group. `band`: see `rows/task-bytes.ts`. */
  add(number: number, group: number, band: number): void {
    const gathered = this.gathered[group] ?? this.begin(group)
    ;(this.waiting[group] as number)++
    const to = gathered[band]
    if (to === undefined) throw new Error(`a task has the status and priority ${band}`)
    to.add(number)
  }

  /** The first task joins its group at once, so that the state finds the group. */
  private begin(number: number): ReadonlyArray<Gathered | undefined> {
    const group = this.get(number)
    this.join(group, 1)
    this.waiting[number] = -1
    return (this.gathered[number] = this.tasks.of(group.kind.byStatus))
  }

  /** The other tasks join their groups. Must be called after the last task. */
  joinOthers(): void {
    this.waiting.forEach((tasks, number) => {
      if (tasks > 0) this.join(this.get(number), tasks)
    })
  }
}
