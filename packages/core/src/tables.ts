/**
 * The state of one queue: its records, and the indexes over them. It is the fold of the queue's events and
 * nothing else, owned by exactly one holder and updated in place (`evolve` consumes it).
 *
 * Which index a record stands in follows from its fields alone: a change takes the record out (`unlink`),
 * alters it and puts it back (`link`). Rollback and loading a snapshot use the same two functions, so an
 * index cannot drift from its records.
 */
import { Journal } from './journal.js'
import { settingsDefault } from './settings.js'
import { SortedList, sortedByKey } from './sorted-list.js'
import {
  blocksDuplicates,
  type Breaker,
  type Group,
  type Head,
  isHeld,
  newBreaker,
  noTasks,
  rankOf,
  type TaskRecord,
} from './state.js'
import { TaskNumbers } from './task-numbers.js'
import { isFinal, type Phase, type Status, statuses } from './task.js'

const byNumber = (a: TaskRecord, b: TaskRecord): number => a.number - b.number
export const byType = (a: Breaker, b: Breaker): number => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0)

/** Where an unfinished snapshot keeps what changes before it gets there (see `snapshot.ts`). */
export interface Cut {
  readonly beforeChange: (task: TaskRecord) => void
}

export class Tables {
  readonly journal = new Journal()
  readonly head: Head = {
    savedFor: 0,
    revision: -1,
    at: 0,
    lastNumber: 0,
    lastToken: 0,
    settings: settingsDefault,
    paused: null,
    unreadable: {},
    misfits: 0,
  }
  readonly byId = new Map<string, TaskRecord>()
  readonly byNumber = new TaskNumbers()
  /** The task that a new one with the same idempotency key would duplicate. */
  readonly byKey = new Map<string, TaskRecord>()
  readonly byTicket = new Map<string, Set<TaskRecord>>()
  readonly groups = new Map<string, Group>()
  readonly leases = new Map<string, Set<TaskRecord>>()
  readonly timers = new SortedList<TaskRecord>((task) => task.dueAt, byNumber)
  readonly finished = new SortedList<TaskRecord>((task) => task.finishedAt, byNumber)
  readonly breakers = new Map<string, Breaker>()
  /** Open breakers that turn half-open by themselves. */
  readonly cooling = new SortedList<Breaker>((breaker) => breaker.halfOpenAt, byType)
  readonly counts = Object.fromEntries(statuses.map((status) => [status, 0])) as Record<Status, number>
  cut: Cut | null = null

  constructor(readonly queue: string) {}

  touchHead(): Head {
    const { head, journal } = this
    if (journal.mustSave(head)) {
      const before = { ...head }
      journal.note(() => Object.assign(head, before))
    }
    return head
  }

  insert(task: TaskRecord): void {
    this.journal.mustSave(task)
    this.enter(task)
    if (this.journal.isRecording) this.journal.note(() => this.leave(task))
  }

  /** Takes in all tasks of a snapshot, in the order of their numbers. The tables must be empty. */
  fill(tasks: ReadonlyArray<TaskRecord>): void {
    const ranked = new Map<SortedList<TaskRecord>, Array<Array<TaskRecord>>>()
    const timed: Array<TaskRecord> = []
    const finished: Array<TaskRecord> = []
    for (const task of tasks) {
      const { status } = task
      this.register(task)
      this.counts[status]++
      const list = task.group.byStatus[status]
      let bands = ranked.get(list)
      if (bands === undefined) ranked.set(list, (bands = Array.from({ length: 10 }, () => [])))
      // Ranks are by priority, then by number: what is put by priority is in their order.
      ;(bands[10 - task.priority] as Array<TaskRecord>).push(task)
      if (task.dueAt !== 0) timed.push(task)
      if (isFinal(status)) finished.push(task)
      if (task.lease !== null && isHeld(task)) addTo(this.leases, task.lease.agent, task)
    }
    for (const [list, bands] of ranked) list.fill(bands.flat())
    this.timers.fill(sortedByKey(timed, (task) => task.dueAt))
    this.finished.fill(sortedByKey(finished, (task) => task.finishedAt))
  }

  update(task: TaskRecord, change: (task: TaskRecord) => void): void {
    if (this.cut !== null) this.cut.beforeChange(task)
    if (this.journal.mustSave(task)) {
      const before = changeable(task)
      this.journal.note(() => this.relink(task, () => Object.assign(task, before)))
    }
    this.relink(task, change)
  }

  /** The task leaves the state; its history stays in the log. */
  evict(task: TaskRecord): void {
    if (this.cut !== null) this.cut.beforeChange(task)
    if (task.status !== 'completed') this.leaveDependencies(task)
    this.leave(task)
    if (this.journal.isRecording) this.journal.note(() => this.enter(task))
  }

  /** Groups in an order that does not depend on how they came about. */
  sortedGroups(): ReadonlyArray<Group> {
    return [...this.groups.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  /** A live task must not keep those that no longer wait for it, or the state grows with history (INV-22). */
  private leaveDependencies(task: TaskRecord): void {
    for (const id of task.dependencies) {
      const dependents = this.byId.get(id)?.dependents
      const index = dependents?.indexOf(task) ?? -1
      if (dependents === undefined || index < 0) continue
      dependents.splice(index, 1)
      if (this.journal.isRecording) this.journal.note(() => dependents.splice(index, 0, task))
    }
  }

  addDependent(dependency: TaskRecord, task: TaskRecord): void {
    const { journal } = this
    if (dependency.dependents === noTasks) {
      dependency.dependents = [task]
      if (journal.isRecording) journal.note(() => (dependency.dependents = noTasks))
      return
    }
    const { dependents } = dependency
    dependents.push(task)
    if (journal.isRecording) journal.note(() => dependents.pop())
  }

  breaker(type: string): Breaker {
    const known = this.breakers.get(type)
    if (known !== undefined) return known
    const breaker = newBreaker(type)
    this.breakers.set(type, breaker)
    if (this.journal.isRecording) this.journal.note(() => this.breakers.delete(type))
    return breaker
  }

  updateBreaker(breaker: Breaker, change: (breaker: Breaker) => void): void {
    if (this.journal.mustSave(breaker)) {
      const before = { ...breaker }
      this.journal.note(() => {
        this.unlinkBreaker(breaker)
        Object.assign(breaker, before)
        this.linkBreaker(breaker)
      })
    }
    this.unlinkBreaker(breaker)
    change(breaker)
    this.linkBreaker(breaker)
  }

  /** Known, or a new one, which is in the state once it has a task. */
  group(type: string, phase: Phase | undefined, skills: ReadonlyArray<string>, tenant: string | undefined): Group {
    const key =
      phase === undefined && tenant === undefined && skills.length === 0 && !type.startsWith('[')
        ? type
        : JSON.stringify([type, phase ?? null, [...skills].sort(), tenant ?? null])
    const known = this.groups.get(key)
    if (known !== undefined) return known
    const byStatus = Object.fromEntries(
      statuses.map((status) => [status, new SortedList<TaskRecord>(rankOf, byNumber)]),
    ) as Record<Status, SortedList<TaskRecord>>
    return { key, type, phase, skills: [...skills].sort(), tenant, byStatus, size: 0 }
  }

  private enter(task: TaskRecord): void {
    this.register(task)
    this.link(task)
  }

  private register(task: TaskRecord): void {
    this.byId.set(task.id, task)
    this.byNumber.set(task.number, task)
    if (task.group.size++ === 0) this.groups.set(task.group.key, task.group)
    if (blocksDuplicates(task.status)) this.byKey.set(task.key, task)
    const { ticketId } = task.rare
    if (ticketId !== undefined) addTo(this.byTicket, ticketId, task)
  }

  private leave(task: TaskRecord): void {
    this.unlink(task)
    this.byId.delete(task.id)
    this.byNumber.delete(task.number)
    if (--task.group.size === 0) this.groups.delete(task.group.key)
    if (this.byKey.get(task.key) === task) this.byKey.delete(task.key)
    const { ticketId } = task.rare
    if (ticketId !== undefined) removeFrom(this.byTicket, ticketId, task)
  }

  private relink(task: TaskRecord, change: (task: TaskRecord) => void): void {
    const blocked = blocksDuplicates(task.status)
    this.unlink(task)
    change(task)
    this.link(task)
    if (blocked === blocksDuplicates(task.status)) return
    if (!blocked) this.byKey.set(task.key, task)
    else if (this.byKey.get(task.key) === task) this.byKey.delete(task.key)
  }

  private link(task: TaskRecord): void {
    const { status } = task
    task.group.byStatus[status].add(task)
    this.counts[status]++
    if (task.dueAt !== 0) this.timers.add(task)
    if (isFinal(status)) this.finished.add(task)
    if (task.lease !== null && isHeld(task)) addTo(this.leases, task.lease.agent, task)
  }

  private unlink(task: TaskRecord): void {
    const { status } = task
    task.group.byStatus[status].remove(task)
    this.counts[status]--
    if (task.dueAt !== 0) this.timers.remove(task)
    if (isFinal(status)) this.finished.remove(task)
    if (task.lease !== null && isHeld(task)) removeFrom(this.leases, task.lease.agent, task)
  }

  private linkBreaker(breaker: Breaker): void {
    if (breaker.state === 'open' && breaker.halfOpenAt !== 0) this.cooling.add(breaker)
  }

  private unlinkBreaker(breaker: Breaker): void {
    if (breaker.state === 'open' && breaker.halfOpenAt !== 0) this.cooling.remove(breaker)
  }
}

/** A copy of what may change in a task's record. */
const changeable = (task: TaskRecord): Partial<TaskRecord> => ({
  savedFor: task.savedFor,
  status: task.status,
  retries: task.retries,
  attempts: task.attempts,
  missing: task.missing,
  dependents: task.dependents,
  lease: task.lease,
  dueAt: task.dueAt,
  finishedAt: task.finishedAt,
  lastRevision: task.lastRevision,
  rare: task.rare,
})

const addTo = (index: Map<string, Set<TaskRecord>>, key: string, task: TaskRecord): void => {
  const known = index.get(key)
  if (known === undefined) index.set(key, new Set([task]))
  else known.add(task)
}

const removeFrom = (index: Map<string, Set<TaskRecord>>, key: string, task: TaskRecord): void => {
  const known = index.get(key)
  if (known === undefined) return
  known.delete(task)
  if (known.size === 0) index.delete(key)
}
