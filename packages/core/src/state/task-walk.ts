/**
 * Walks over all tasks as they are at one moment, in small steps, while the state goes on changing: a task is copied
 * before it changes. Several walks may be in progress at a time.
 */
import type { FinishedWalk } from '../finished/finished-walk.js'
import type { TaskRecord } from '../records/records.js'
import type { NumberSet } from '../structures/number-set.js'
import type { Tables } from './tables.js'
import { isFinal } from '../model/task.js'

/** To pass over a number without a task costs about this much of what a task costs. */
const absentCost = 1 / 16

export class TaskWalk {
  /** The finished tasks. They come before the others, and can be read as records or as pages. */
  readonly finished: FinishedWalk
  private readonly lastNumber: number
  /** Unfinished tasks up to this number have been returned or copied. */
  private passed = 0
  /** The copies of unfinished tasks beyond `passed`. */
  private readonly copied = new Set<TaskRecord>()
  private copies: Array<TaskRecord> = []

  /** `among`: the numbers of the unfinished tasks to return. Default: all. */
  constructor(
    private readonly tables: Tables,
    private readonly among?: NumberSet,
  ) {
    this.finished = tables.finished.walk()
    this.lastNumber = tables.head.lastNumber
    tables.walks.push(this)
  }

  /** Called by the tables before this finished task is removed. */
  beforeLeaving(task: TaskRecord): void {
    this.finished.beforeLeaving(this.tables.finished.rowOf(task.number))
  }

  /** Called by the tables before this task changes. */
  beforeChange(task: TaskRecord): void {
    if (isFinal(task.status)) {
      this.finished.beforeChange(this.tables.finished.rowOf(task.number))
      return
    }
    if (task.number <= this.passed || task.number > this.lastNumber || this.copied.has(task) || this.among?.has(task.number) === false) return
    this.copied.add(task)
    this.copies.push({ ...task })
  }

  /**
   * The next tasks, at least `tasksMin` except at the end; empty after the end. Fewer where few of the numbers are unfinished tasks. The finished tasks come in the order in which they finished, then the
   * others by number. Unfinished tasks that changed meanwhile come before all.
   *
   * Gotchas: these may be the state's own records, so use them before it changes.
   */
  next(tasksMin: number): Array<TaskRecord> {
    const { copied, lastNumber, tables } = this
    const tasks = this.copies
    this.copies = []
    let taken = 0
    for (; taken < tasksMin; taken++) {
      const task = this.finished.nextTask()
      if (task === undefined) break
      tasks.push(task)
    }
    while (taken < tasksMin && !this.isOver) {
      const number = this.numberAfter(this.passed)
      if (number === undefined || number > lastNumber) {
        this.end()
        break
      }
      this.passed = number
      const task = tables.unfinished.get(number)
      if (task === undefined) taken += absentCost
      else if (!copied.delete(task)) {
        tasks.push(task)
        taken++
      }
    }
    return tasks
  }

  /** The next number at which there may be an unfinished task. */
  private numberAfter(number: number): number | undefined {
    return this.among === undefined ? this.tables.unfinished.after(number)?.number : this.among.from(number + 1)
  }

  get isOver(): boolean {
    return !this.tables.walks.includes(this)
  }

  /** Stops copying tasks. Needed only if the walk is not taken to its end. */
  end(): void {
    const { walks } = this.tables
    if (this.isOver) return
    walks.splice(walks.indexOf(this), 1)
    this.copied.clear()
    this.finished.end()
    this.copies = []
  }
}
