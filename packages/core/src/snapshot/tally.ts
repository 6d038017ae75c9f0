/**
 * Counts the tasks of a snapshot that need no record: finished ones, and those that are merely ready. To count one task by itself, its group and its
 * list by status would be read and written, and these lie anywhere in memory. So tasks are gathered in arrays, counted under the numbers that the
 * snapshot has for groups, and sorted by their lists.
 */
import { type NamesOf, priorityIn, statusIn } from '../rows/task-bytes.js'
import type { Group } from '../records/group.js'
import type { ListsByStatus } from '../records/records.js'
import type { Status } from '../model/task.js'

/** More than there are standings (`rows/task-bytes.ts`). */
const standingsMax = 256
/** The largest number of tasks that are gathered before they are counted: 3.4 MB. */
const roomMax = 2 ** 18

export interface TallyTo {
  /** The group with a number; `undefined` if the snapshot does not name it. */
  readonly groupOf: (number: number) => Group | undefined
  /** Counts this many tasks in their group. */
  readonly join: (group: Group, tasks: number) => void
  /** Adds tasks, by their numbers, to one of the lists of their phase. Throws if there is no such list. `numbers` must not be kept. */
  readonly list: (lists: ListsByStatus, status: Status, priority: number, numbers: Float64Array) => void
}

export class Tally {
  /** The groups that were made, by the numbers that the snapshot has for them. */
  private made: Array<Group | undefined> = []
  /** Whether the first task of a group has joined it. */
  private begun: Array<boolean | undefined> = []
  /** Of each gathered task: its number, that of its group, and its standing. */
  private readonly numbers: Float64Array<ArrayBuffer>
  private readonly groupNumbers: Uint32Array<ArrayBuffer>
  private readonly standings: Uint8Array<ArrayBuffer>
  private length = 0
  /** The groups whose first task is among the gathered ones: this task has joined already. */
  private ahead: Array<number> = []

  /** `tasks`: about how many there will be. */
  constructor(
    tasks: number,
    private readonly to: TallyTo,
  ) {
    const room = Math.max(1, Math.min(roomMax, tasks))
    this.numbers = new Float64Array(room)
    this.groupNumbers = new Uint32Array(room)
    this.standings = new Uint8Array(room)
  }

  /** The groups that were made. Rows keep it, so it refers to nothing else. */
  get groups(): NamesOf<Group> {
    const { made } = this
    return { get: (number) => made[number] as Group }
  }

  /** The group with a number, which is made if need be. Throws if the snapshot does not name it. */
  group(number: number): Group {
    const known = this.made[number]
    if (known !== undefined) return known
    const group = this.to.groupOf(number)
    if (group === undefined) throw new Error(`no page names the group ${number}`)
    return (this.made[number] = group)
  }

  /**
   * Gathers a task. `group`: the number of its group. `standing`: one that has a status (`rows/task-bytes.ts`). The first task of a group joins it at once, so
   * that the state finds the group.
   */
  add(number: number, group: number, standing: number): void {
    if (this.length === this.numbers.length) this.count()
    if (this.begun[group] !== true) {
      this.to.join(this.group(group), 1)
      this.begun[group] = true
      this.ahead.push(group)
    }
    const at = this.length++
    this.numbers[at] = number
    this.groupNumbers[at] = group
    this.standings[at] = standing
  }

  /** Must be called after the last task of a snapshot. The numbers of groups may mean others in the next one. */
  end(): void {
    this.count()
    this.made = []
    this.begun = []
  }

  /** Counts what was gathered. */
  private count(): void {
    this.joinGroups()
    this.list()
    this.length = 0
    this.ahead = []
  }

  private joinGroups(): void {
    const counts = new Uint32Array(this.made.length)
    for (let i = 0; i < this.length; i++) (counts[this.groupNumbers[i] as number] as number)++
    for (const number of this.ahead) (counts[number] as number)--
    counts.forEach((tasks, number) => {
      if (tasks > 0) this.to.join(this.group(number), tasks)
    })
  }

  /** Adds the tasks to the lists by status. Throws if there is no list for a standing. */
  private list(): void {
    const { numbers, groupNumbers, standings, length } = this
    const phases: Array<ListsByStatus> = []
    // Of each group, the number of its first list: it has one for each standing.
    const firsts = Uint32Array.from(this.made, (group) => (group === undefined ? 0 : standingsMax * indexIn(phases, group.kind.byStatus)))
    const lists = new Uint32Array(length)
    const ends = new Uint32Array(standingsMax * phases.length + 1)
    for (let i = 0; i < length; i++) {
      const list = (firsts[groupNumbers[i] as number] as number) + (standings[i] as number)
      lists[i] = list
      ;(ends[list + 1] as number)++
    }
    for (let list = 0; list < ends.length - 1; list++) (ends[list + 1] as number) += ends[list] as number
    const next = ends.slice()
    const sorted = new Float64Array(length)
    for (let i = 0; i < length; i++) sorted[(next[lists[i] as number] as number)++] = numbers[i] as number
    for (let list = 0; list < ends.length - 1; list++) {
      const part = sorted.subarray(ends[list], ends[list + 1])
      if (part.length > 0) this.to.list(phases[Math.floor(list / standingsMax)] as ListsByStatus, statusIn(list % standingsMax), priorityIn(list % standingsMax), part)
    }
  }
}

/** The index of a value, which is added if need be. */
const indexIn = <T>(values: Array<T>, value: T): number => {
  const known = values.indexOf(value)
  return known >= 0 ? known : values.push(value) - 1
}
