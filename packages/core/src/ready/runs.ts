/**
 * Where a claim finds a tenant's tasks, best first. A run is a sequence of tasks whose order holds at any time, such as a lane;
 * while the order is put aside, that of all of the tenant's tasks at the instant. At the instant of the claim, the best task is the best of the first
 * tasks of the runs.
 */
import { Heap } from '../structures/heap.js'
import { itemsOf } from '../structures/small-set.js'
import type { Cursor } from '../structures/sorted-list.js'
import type { TaskRecord } from '../records/records.js'
import type { Group } from '../records/group.js'
import { GroupLanes, lanesIn } from './group-tasks.js'
import type { Lane } from './lane.js'
import type { UnsortedTasks } from './unsorted-tasks.js'
import type { Placements } from './placements.js'
import { byStanding, type Policy, standingIn, standingOf, type Standing } from './policy.js'
import type { ShapeTurn } from './shape-turn.js'

/** How the ready tasks stand at the time of a claim. */
export class OrderAt {
  readonly policy: Policy
  /** Tasks that are in a wrong lane at this instant. Each is compared by itself. Mostly none. */
  readonly misplaced: ReadonlySet<TaskRecord> | undefined

  /** `unsorted`: all ready tasks, while their order is put aside. */
  constructor(
    places: Placements,
    readonly at: number,
    readonly unsorted?: UnsortedTasks,
  ) {
    this.policy = places.policy
    const misplaced = places.misplacedAt(at)
    this.misplaced = misplaced.length === 0 ? undefined : new Set(misplaced)
  }
}

/** The first task of a run, and its standing. */
export abstract class Run {
  /** `undefined` at the end. */
  first: Standing | undefined

  constructor(protected readonly order: OrderAt) {}

  /** Passes over the first task. */
  abstract advance(): void
  /** Passes over the first task and all others of its group, as far as they are in this run. */
  abstract dropGroup(): void

  protected begin(task: TaskRecord | undefined): void {
    const { policy, at } = this.order
    this.first = task === undefined ? undefined : standingOf(policy, task, at)
  }

  /** Begins with a task that has this key in a lane. */
  protected beginIn(lane: number, task: TaskRecord | undefined, key: number): void {
    const { policy, at } = this.order
    this.first = task === undefined ? undefined : standingIn(policy, lane, key, task, at)
  }

  protected skip(cursor: Cursor<TaskRecord>): Cursor<TaskRecord> {
    const { misplaced } = this.order
    if (misplaced !== undefined) while (cursor.item !== undefined && misplaced.has(cursor.item)) cursor.advance()
    return cursor
  }
}
/** Whether the first task of run `a` comes before that of run `b`. */
export const isBetter = (a: Run, b: Run): boolean => byStanding(a.first as Standing, b.first as Standing) < 0

/** Adds the runs of open groups of a tenant that match a claim. */
export const addRuns = (heap: Heap<Run>, turn: ShapeTurn, order: OrderAt): void => {
  const add = (run: Run): void => void (run.first !== undefined && heap.add(run))
  if (order.unsorted !== undefined) {
    add(new UnsortedRun(order.unsorted, turn, order))
    return
  }
  const { heads } = turn
  if (heads === undefined) addLooked(turn, order, add)
  else for (const lane of heads.lanes()) add(new SortedLanes(lane, order))
  for (const task of order.misplaced ?? none) {
    const isLooked = heads === undefined && lanesIn(task.group).length === 0
    if (!isLooked && turn.has(task.group)) add(new OneTask(task, order))
  }
}
const none: ReadonlyArray<never> = []

const addLooked = (turn: ShapeTurn, order: OrderAt, add: (run: Run) => void): void => {
  for (const { readyTasks } of turn) {
    if (readyTasks instanceof GroupLanes) for (const lane of readyTasks.all) add(new LaneRun(lane, order))
    else for (const task of itemsOf(readyTasks)) add(new OneTask(task, order))
  }
}

/** All tasks of these groups of the tenant, while the order is put aside. */
class UnsortedRun extends Run {
  private readonly heap: Heap<number>
  /** Groups that were passed over. */
  private readonly dropped = new Set<Group>()

  constructor(
    private readonly tasks: UnsortedTasks,
    turn: ShapeTurn,
    order: OrderAt,
  ) {
    super(order)
    this.heap = tasks.heapOf(turn)
    this.find()
  }

  advance(): void {
    this.heap.removeFirst()
    this.find()
  }

  dropGroup(): void {
    if (this.first !== undefined) this.dropped.add(this.first.task.group)
    this.advance()
  }

  private find(): void {
    const { heap, dropped, tasks } = this
    while (heap.first !== undefined && dropped.has(tasks.groupAt(heap.first))) heap.removeFirst()
    this.begin(heap.first === undefined ? undefined : tasks.recordAt(heap.first))
  }
}

/** A task that is compared by itself. */
class OneTask extends Run {
  constructor(task: TaskRecord, order: OrderAt) {
    super(order)
    this.begin(task)
  }

  advance(): void {
    this.first = undefined
  }

  dropGroup(): void {
    this.first = undefined
  }
}

/** One lane of a group. A cursor is made only when a task is taken: most claims take one task, and only look at the first ones of most lanes. */
class LaneRun extends Run {
  private cursor: Cursor<TaskRecord> | undefined

  constructor(
    private readonly lane: Lane,
    order: OrderAt,
  ) {
    super(order)
    if (order.misplaced === undefined) this.beginIn(lane.id, lane.first(), lane.firstKey())
    else this.find(this.opened())
  }

  advance(): void {
    const cursor = this.opened()
    cursor.advance()
    this.find(cursor)
  }

  dropGroup(): void {
    this.first = undefined
  }

  private opened(): Cursor<TaskRecord> {
    return (this.cursor ??= this.lane.cursor())
  }

  private find(cursor: Cursor<TaskRecord>): void {
    this.skip(cursor)
    this.beginIn(this.lane.id, cursor.item, cursor.key)
  }
}

/**
 * All lanes with the same id of groups whose first tasks are kept in order (`shape-turn.ts`), as one run: a policy orders the tasks of such lanes alike
 * at any time. A cursor is made only for a lane from which a task is taken.
 */
class SortedLanes extends Run {
  /** The first tasks that were not passed over yet. Made when one is passed over: of most runs a claim only looks at the first task. */
  private untouched: Cursor<TaskRecord> | undefined
  private touched: Heap<Cursor<TaskRecord>> | undefined
  private isUntouched = true

  /** `heads`: the tasks that may be the first of their groups. */
  constructor(
    private readonly heads: Lane,
    order: OrderAt,
  ) {
    super(order)
    if (order.misplaced === undefined) this.beginIn(heads.id, heads.first(), heads.firstKey())
    else this.find(this.opened())
  }

  advance(): void {
    const untouched = this.opened()
    if (this.isUntouched) {
      this.touch(untouched.item as TaskRecord)
      untouched.advance()
    } else {
      const { touched } = this
      const first = touched?.first
      first?.advance()
      if (first === undefined || this.skip(first).item === undefined) touched?.removeFirst()
      else touched?.sinkFirst()
    }
    this.find(untouched)
  }

  dropGroup(): void {
    const untouched = this.opened()
    if (this.isUntouched) untouched.advance()
    else this.touched?.removeFirst()
    this.find(untouched)
  }

  private opened(): Cursor<TaskRecord> {
    return (this.untouched ??= this.heads.cursor())
  }

  private find(untouched: Cursor<TaskRecord>): void {
    const { heads } = this
    const { misplaced } = this.order
    while (untouched.item !== undefined && misplaced?.has(untouched.item) === true) {
      this.touch(untouched.item)
      untouched.advance()
    }
    const [head, next] = [untouched.item, this.touched?.first?.item]
    this.isUntouched = next === undefined || (head !== undefined && heads.isFirst(head, next))
    const cursor = this.isUntouched ? untouched : (this.touched?.first ?? untouched)
    this.beginIn(heads.id, cursor.item, cursor.key)
  }

  /** Goes on with the lane of this first task. A group with a few tasks has no lanes: all of its tasks are among the first. */
  private touch(task: TaskRecord): void {
    const { heads } = this
    const lane = lanesIn(task.group).find(({ id }) => id === heads.id)
    if (lane === undefined || lane.size === 1) return
    const cursor = lane.cursor()
    cursor.advance()
    if (this.skip(cursor).item === undefined) return
    this.touched ??= new Heap((a, b) => heads.isFirst(a.item as TaskRecord, b.item as TaskRecord))
    this.touched.add(cursor)
  }
}
