/**
 * All tasks of the queue by phase, status and priority; each list is ordered by number. Tasks change their status in any order, and only people ask
 * for these lists. So a list is a set of numbers, and a task moves from one to another in O(1).
 */
import { NumberSet } from '../structures/number-set.js'
import { firstRankOf, type ListsByStatus, type TaskRecord } from '../records/records.js'
import { type Phase, phases, statuses } from '../model/task.js'

/** A place in a list of tasks. `item` is `undefined` past the end. */
export interface TaskCursor {
  readonly item: TaskRecord | undefined
  readonly advance: () => void
}

/** The tasks of one phase, status and priority. */
export class StatusList {
  private readonly numbers = new NumberSet()

  constructor(
    private readonly priority: number,
    private readonly byNumber: (number: number) => TaskRecord | undefined,
  ) {}

  get size(): number {
    return this.numbers.size
  }

  add({ number }: TaskRecord): void {
    this.numbers.add(number)
  }

  /** Adds tasks by their numbers, in any order. */
  addAll(numbers: Float64Array): void {
    this.numbers.addAll(numbers)
  }

  remove({ number }: TaskRecord): void {
    this.numbers.remove(number)
  }

  first(): TaskRecord | undefined {
    return this.atLeast(0)
  }

  /** In order, from the first task whose rank is at least `rank`. The list must not change while a cursor is in use. */
  seek(rank: number): TaskCursor {
    return new StatusCursor(Math.max(0, rank - firstRankOf(this.priority)), (number) => this.atLeast(number))
  }

  *[Symbol.iterator](): IterableIterator<TaskRecord> {
    for (const number of this.numbers) yield this.byNumber(number) as TaskRecord
  }

  private atLeast(number: number): TaskRecord | undefined {
    const found = this.numbers.from(number)
    return found === undefined ? undefined : this.byNumber(found)
  }
}

class StatusCursor implements TaskCursor {
  item: TaskRecord | undefined

  constructor(
    number: number,
    private readonly atLeast: (number: number) => TaskRecord | undefined,
  ) {
    this.item = atLeast(number)
  }

  advance(): void {
    if (this.item !== undefined) this.item = this.atLeast(this.item.number + 1)
  }
}

export const newStatusLists = (byNumber: (number: number) => TaskRecord | undefined): ReadonlyMap<Phase | undefined, ListsByStatus> =>
  new Map([undefined, ...phases].map((phase) => [phase, newLists(byNumber)]))

const newLists = (byNumber: (number: number) => TaskRecord | undefined): ListsByStatus => {
  // The index is the priority: 1 to 10.
  const byPriority = (): ReadonlyArray<StatusList> => Array.from({ length: 11 }, (_, priority) => new StatusList(priority, byNumber))
  return Object.fromEntries(statuses.map((status) => [status, byPriority()])) as ListsByStatus
}

/** The list that contains this task. */
export const listOf = ({ group, status, priority }: TaskRecord): StatusList => group.kind.byStatus[status][priority] as StatusList
