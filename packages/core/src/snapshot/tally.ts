/**
 * Counts the tasks of a snapshot that need no record: finished ones, and those that are merely ready. To count one task by itself, its group and its
 * list by status would be read and written, and these lie anywhere in memory. So tasks are counted under the numbers that the snapshot has for groups,
 * and their own numbers are added to the lists together.
 */
import { type NamesOf, priorityIn, statusIn } from '../rows/task-bytes.js'
import type { Group } from '../state/group.js'
import type { ListsByStatus } from '../state/state.js'
import type { StatusList } from '../state/status-lists.js'
import type { Tables } from '../state/tables.js'
import type { Status } from '../model/task.js'

/** The smallest and the largest number of tasks for which a list has room before they are added to it. */
const roomMin = 32
const roomMax = 8_192

/** Tasks on their way to one list. */
class Listing {
  private numbers = new Float64Array(roomMin)
  private count = 0

  constructor(
    private readonly tables: Tables,
    private readonly list: StatusList,
    private readonly status: Status,
  ) {}

  add(number: number): void {
    if (this.count === this.numbers.length) this.makeRoom()
    this.numbers[this.count++] = number
  }

  flush(): void {
    this.tables.addListed(this.list, this.status, this.numbers.subarray(0, this.count))
    this.count = 0
  }

  private makeRoom(): void {
    if (this.count === roomMax) return this.flush()
    const { numbers } = this
    this.numbers = new Float64Array(4 * numbers.length)
    this.numbers.set(numbers)
  }
}

/** Tasks on their way to the lists of one phase. */
class PhaseListings {
  /** By band (`rows/task-bytes.ts`). */
  private readonly byBand: Array<Listing | undefined> = []

  constructor(
    private readonly tables: Tables,
    private readonly lists: ListsByStatus,
  ) {}

  /** Throws if there is no such band. */
  add(number: number, band: number): void {
    ;(this.byBand[band] ?? this.begin(band)).add(number)
  }

  flush(): void {
    for (const listing of this.byBand) listing?.flush()
  }

  private begin(band: number): Listing {
    const status = statusIn(band)
    const list = this.lists[status][priorityIn(band)]
    if (list === undefined) throw new Error(`a task has the priority ${priorityIn(band)}`)
    return (this.byBand[band] = new Listing(this.tables, list, status))
  }
}

/** Tasks on their way to the lists by status. */
export class Listings {
  private readonly byPhase = new Map<ListsByStatus, PhaseListings>()

  constructor(private readonly tables: Tables) {}

  of(lists: ListsByStatus): PhaseListings {
    const known = this.byPhase.get(lists)
    if (known !== undefined) return known
    const listings = new PhaseListings(this.tables, lists)
    this.byPhase.set(lists, listings)
    return listings
  }

  /** Must be called after the last task. */
  flush(): void {
    for (const listings of this.byPhase.values()) listings.flush()
  }
}

/** Tasks by the numbers of their groups. A group is made with its first task, because making one has effects on the state. */
export class Tally {
  private readonly made: Array<Group | undefined> = []
  /** The groups that were made. Rows keep it, so it refers to nothing else. */
  readonly groups: NamesOf<Group> = namesOf(this.made)
  /** Of each group that has a task: the lists of its phase, and how many tasks have not joined it yet. */
  private readonly phases: Array<PhaseListings | undefined> = []
  private readonly waiting: Array<number> = []

  /** `groupOf`: the group with a number; `undefined` if the snapshot does not name it. `join` counts tasks in their group. */
  constructor(
    private readonly listings: Listings,
    private readonly groupOf: (number: number) => Group | undefined,
    private readonly join: (group: Group, tasks: number) => void,
  ) {}

  /** The group with a number, which is made if need be. Throws if the snapshot does not name it. */
  group(number: number): Group {
    const known = this.made[number]
    if (known !== undefined) return known
    const group = this.groupOf(number)
    if (group === undefined) throw new Error(`no page names the group ${number}`)
    return (this.made[number] = group)
  }

  /** Counts a task. `group`: the number of its group. `band`: see `rows/task-bytes.ts`. */
  add(number: number, group: number, band: number): void {
    const phase = this.phases[group] ?? this.begin(group)
    ;(this.waiting[group] as number)++
    phase.add(number, band)
  }

  /** The first task joins its group at once, so that the state finds the group. */
  private begin(number: number): PhaseListings {
    const group = this.group(number)
    this.join(group, 1)
    this.waiting[number] = -1
    return (this.phases[number] = this.listings.of(group.kind.byStatus))
  }

  /** The other tasks join their groups. Must be called after the last task. */
  end(): void {
    this.waiting.forEach((tasks, number) => {
      if (tasks > 0) this.join(this.group(number), tasks)
    })
  }
}

const namesOf = (made: ReadonlyArray<Group | undefined>): NamesOf<Group> => ({ get: (number) => made[number] as Group })
