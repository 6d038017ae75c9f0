/**
 * Counts the tasks of a snapshot that need no record: finished ones, and those that are merely ready. To count one task by itself, its group and its
 * list by status would be read and written, and these lie anywhere in memory. So tasks are gathered in arrays, counted under the numbers that the
 * snapshot has for groups, and sorted by their lists.
 */
import { type NamesOf, priorityIn, statusIn } from '../rows/task-bytes.js'
import type { Group } from '../state/group.js'
import type { ListsByStatus } from '../state/state.js'
import type { Tables } from '../state/tables.js'

/** More than there are bands (`rows/task-bytes.ts`). */
const bandsMax = 256

export class Tally {
  /** The groups that were made, by the numbers that the snapshot has for them. */
  private made: Array<Group | undefined> = []
  /** Whether a group was counted for its first task. */
  private begun: Array<boolean | undefined> = []
  /** Of each gathered task: its number, that of its group, and its band. */
  private readonly numbers: Float64Array<ArrayBuffer>
  private readonly groupNumbers: Uint32Array<ArrayBuffer>
  private readonly bands: Uint8Array<ArrayBuffer>
  private length = 0

  /**
   * `room`: the largest number of tasks that are gathered; more are ignored. `groupOf`: the group with a number; `undefined` if the snapshot does not
   * name it. `join` counts tasks in their group.
   */
  constructor(
    private readonly tables: Tables,
    room: number,
    private readonly groupOf: (number: number) => Group | undefined,
    private readonly join: (group: Group, tasks: number) => void,
  ) {
    this.numbers = new Float64Array(room)
    this.groupNumbers = new Uint32Array(room)
    this.bands = new Uint8Array(room)
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
    const group = this.groupOf(number)
    if (group === undefined) throw new Error(`no page names the group ${number}`)
    return (this.made[number] = group)
  }

  /** Gathers a task. `group`: the number of its group. `band`: see `rows/task-bytes.ts`. The first task of a group joins it at once, so that the state finds the group. */
  add(number: number, group: number, band: number): void {
    if (band >= bandsMax) throw new Error(`a task has the band ${band}`)
    if (this.begun[group] !== true) {
      this.join(this.group(group), 1)
      this.begun[group] = true
    }
    const at = this.length++
    this.numbers[at] = number
    this.groupNumbers[at] = group
    this.bands[at] = band
  }

  /** Counts what was gathered. After that, the numbers of groups may mean others. */
  end(): void {
    this.joinGroups()
    this.list()
    this.length = 0
    this.made = []
    this.begun = []
  }

  /** All but the first task of each group join it. */
  private joinGroups(): void {
    const counts = new Uint32Array(this.made.length)
    for (let i = 0; i < this.length; i++) (counts[this.groupNumbers[i] as number] as number)++
    counts.forEach((tasks, number) => {
      if (tasks > 1) this.join(this.group(number), tasks - 1)
    })
  }

  /** Adds the tasks to the lists by status. Throws if there is no list for a band. */
  private list(): void {
    const { numbers, groupNumbers, bands } = this
    const length = Math.min(this.length, numbers.length)
    const phases: Array<ListsByStatus> = []
    // Of each group, the number of its first list: it has one for each band.
    const firsts = Uint32Array.from(this.made, (group) => (group === undefined ? 0 : bandsMax * indexIn(phases, group.kind.byStatus)))
    const lists = new Uint32Array(length)
    const ends = new Uint32Array(bandsMax * phases.length + 1)
    for (let i = 0; i < length; i++) {
      const list = (firsts[groupNumbers[i] as number] as number) + (bands[i] as number)
      lists[i] = list
      ;(ends[list + 1] as number)++
    }
    for (let list = 0; list < ends.length - 1; list++) (ends[list + 1] as number) += ends[list] as number
    const next = ends.slice()
    const sorted = new Float64Array(length)
    for (let i = 0; i < length; i++) sorted[(next[lists[i] as number] as number)++] = numbers[i] as number
    for (let list = 0; list < ends.length - 1; list++) {
      const part = sorted.subarray(ends[list], ends[list + 1])
      if (part.length > 0) this.tables.addListed(phases[Math.floor(list / bandsMax)] as ListsByStatus, statusIn(list % bandsMax), priorityIn(list % bandsMax), part)
    }
  }
}

/** The index of a value, which is added if need be. */
const indexIn = <T>(values: Array<T>, value: T): number => {
  const known = values.indexOf(value)
  return known >= 0 ? known : values.push(value) - 1
}
