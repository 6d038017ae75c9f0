/**
 * The state of one queue: its records and the indexes over them. It is the fold of the queue's events and nothing else. It has one owner and is
 * updated in place (`evolve` consumes it).
 *
 * All changes of tasks go through `insert`, `update` and `evict`, which keep the indexes (`linking.ts`) and note how to undo the change.
 */
import { AgentRegister } from './agent-register.js'
import { TasksByNumber, TasksByText } from './all-tasks.js'
import { type Approval, type Chain, dropEndedChain } from './approvals.js'
import { Alerts } from './alerts.js'
import { Batches } from './batches.js'
import { Breakers } from './breakers.js'
import { CallbackKeys } from './callback-keys.js'
import { DeadLetterIndex } from './dead-letter-index.js'
import { Deadlines } from './deadlines.js'
import { leaveDependencies } from './dependents.js'
import { FinishedTasks } from '../finished/finished-tasks.js'
import type { RowStore } from '../rows/row-store.js'
import { Group } from '../records/group.js'
import { GroupKinds } from './group-kinds.js'
import { isLimited, isTypeShut } from '../gates/gates.js'
import { Limits } from '../limits/limits.js'
import { byToken, delayOf, leaseEndOf, link, numberOf, type Timers, unlink } from './linking.js'
import type { LoadedTasks, RowList } from '../rows/loaded-tasks.js'
import { FairShare } from '../ready/fair-share.js'
import { policyOf } from '../ready/policy.js'
import { ReadyIndex } from '../ready/ready-index.js'
import { groupIn } from '../ready/tenant-groups.js'
import { Schedules } from './schedules.js'
import type { NumberSet } from '../structures/number-set.js'
import { UndoLog } from '../structures/undo-log.js'
import { UndoMap } from '../structures/undo-map.js'
import { settingsDefault } from '../model/settings.js'
import { SortedList, sortedByKey } from '../structures/sorted-list.js'
import { blocksDuplicates, type Head, isHeld, type ListsByStatus, type TaskRecord } from '../records/records.js'
import { addTo, removeFrom } from '../structures/by-key.js'
import { newStatusLists } from './status-lists.js'
import { TaskBefore } from './task-before.js'
import { TaskNumbers } from './task-numbers.js'
import type { TaskWalk } from './task-walk.js'
import { isFinal, type Phase, priorityOf, type Status, statuses } from '../model/task.js'
import { TenantCounts } from './tenant-counts.js'
import { TextIndex } from '../structures/text-index.js'

/** Whether the task is CRITICAL and ready: alerts count such tasks. */
const isCritical = ({ priority, status }: TaskRecord): boolean => priority === priorityOf.CRITICAL && status === 'pending'

export class Tables {
  readonly undoLog = new UndoLog()
  readonly head: Head = {
    savedFor: 0,
    revision: -1,
    at: 0,
    forgottenUntil: 0,
    lastNumber: 0,
    lastToken: 0,
    hasTenants: false,
    settings: settingsDefault,
    paused: null,
    redrive: null,
    deleted: null,
    unreadable: {},
    lastUnreadable: null,
    misfits: 0,
  }
  /** The records of unfinished tasks. */
  readonly unfinished = new TaskNumbers()
  private readonly ids: TextIndex<TaskRecord>
  private readonly keys: TextIndex<TaskRecord>
  /** Finished tasks have no records. One is made for each call: compare numbers, not records. */
  readonly finished: FinishedTasks
  /** All tasks, finished and unfinished. */
  readonly byNumber: TasksByNumber
  readonly byId: TasksByText
  readonly byKey: TasksByText
  /** Numbers of the tasks of each ticket. */
  readonly byTicket = new Map<string, Set<number>>()
  readonly callbackKeys = new CallbackKeys()
  /** Numbers of spawned tasks, by the first task of their chain. */
  readonly byRoot = new Map<string, Set<number>>()
  /** See `approvals.ts`. */
  readonly chains = new UndoMap<Chain>(this.undoLog)
  readonly approvals = new UndoMap<Approval>(this.undoLog, (from, to) => {
    if (from !== undefined) this.batches.awaits(from, false)
    if (to !== undefined) this.batches.awaits(to, true)
  })
  /** All tasks by phase, status and priority. */
  readonly lists = newStatusLists((number) => this.byNumber.get(number))
  readonly ready = new ReadyIndex((group) => isTypeShut(this, group.type) || isLimited(group), (tenant) => this.shares.byTenant.get(tenant), this.head, this.undoLog, policyOf(settingsDefault), {
    records: () => this.readyTasks(),
    each: (visit) => this.unfinished.eachReady(visit),
    get: (number) => this.unfinished.get(number) as TaskRecord,
  })
  readonly limits = new Limits(this.head, this.undoLog, {
    groups: () => this.shares.groups(),
    held: () => this.leaseEnds,
    refresh: (groups) => this.ready.refreshAll(groups),
    close: (groups) => this.ready.closeAll(groups),
    wake: (shapes) => this.ready.wakeAllIn(shapes),
  })
  /** The unfinished tasks of each ordering key, first in, first out: only the first may run. */
  readonly lines = new Map<string, SortedList<TaskRecord>>()
  readonly kinds = new GroupKinds(this.lists)
  readonly shares = new FairShare(this.head, this.undoLog)
  readonly agents = new AgentRegister(this.undoLog)
  /** After a rate limit (LK-16): types of which other agents get no task for a while, and agents that get no task at all. */
  readonly slowdowns = new Deadlines(this.undoLog, (type) => this.ready.breakerMoved(type))
  readonly sleepers = new Deadlines(this.undoLog)
  /** The tasks that each agent holds, by token. */
  readonly leases = new Map<string, SortedList<TaskRecord>>()
  /** Scheduled tasks by the end of their delay, waiting tasks by the end of their wait, and dead letters by the end of their snooze. */
  readonly delays = new SortedList<TaskRecord>(delayOf, byToken)
  /** Held tasks, by the end of their lease. */
  readonly leaseEnds = new SortedList<TaskRecord>(leaseEndOf, byToken)
  readonly deadLetters = new DeadLetterIndex()
  readonly schedules = new Schedules(this.undoLog)
  readonly batches = new Batches(this.undoLog)
  readonly alerts = new Alerts(this.undoLog)
  readonly breakers = new Breakers(this.undoLog, this.alerts, (type) => this.ready.breakerMoved(type))
  readonly counts = Object.fromEntries(statuses.map((status) => [status, 0])) as Record<Status, number>
  readonly tenantCounts = new TenantCounts()
  /** Walks in progress. Each is told before a task changes. */
  readonly walks: Array<TaskWalk> = []
  /** Numbers of the tasks that were added, changed or finished since the last snapshot. `undefined` if no increment is wanted. */
  changed: NumberSet | undefined
  /** `seed`: see `text-index.ts`. `store`: where rows of finished tasks may be kept. */
  constructor(
    readonly queue: string,
    readonly seed: number,
    store?: RowStore,
  ) {
    const unfinished = (number: number): TaskRecord | undefined => this.unfinished.get(number)
    this.ids = new TextIndex(unfinished, (task) => task.id, seed)
    this.keys = new TextIndex(unfinished, (task) => task.key, seed)
    this.finished = new FinishedTasks(seed, store)
    this.byNumber = new TasksByNumber(this.unfinished, this.finished)
    this.byId = new TasksByText(this.ids, this.finished.byId)
    this.byKey = new TasksByText(this.keys, this.finished.byKey)
  }

  touchHead(): Head {
    this.undoLog.save(this.head)
    return this.head
  }

  /**
   * The task, if this agent holds it with this token. It is looked up by token: an agent mostly finishes its tasks in the order of their tokens, so
   * the search stays in the processor's cache. A search by id would not.
   */
  held({ task: id, agent, token }: { readonly task: string; readonly agent: string; readonly token: number }): TaskRecord | undefined {
    const task = this.leases.get(agent)?.at(token)
    return task?.id === id ? task : undefined
  }

  unfinishedById(id: string): TaskRecord | undefined {
    return this.ids.get(id)
  }

  /** The task that waits for a callback with this key, or has got it. */
  ownerOfCallback(key: string): TaskRecord | undefined {
    const number = this.callbackKeys.numberOf(key)
    return number === undefined ? undefined : this.byNumber.get(number)
  }

  insert(task: TaskRecord): void {
    const { group } = task
    const idle = this.shares.withoutReady(group)
    this.changed?.add(task.number)
    this.undoLog.mustSave(task)
    if (isCritical(task)) task.extras = { ...task.extras, readySince: this.head.at }
    this.enter(task)
    this.shares.comeBack(idle)
    this.undoLog.note(() => this.leave(task))
    if (isFinal(task.status)) this.retire(task)
  }

  /** Adds tasks of a snapshot to one of the lists of their phase, and counts them by status. They must join their groups, too. Throws if there is no such list. */
  addListed(lists: ListsByStatus, status: Status, priority: number, numbers: Float64Array): void {
    const list = lists[status][priority]
    if (list === undefined) throw new Error(`a task has the priority ${priority}`)
    list.addAll(numbers)
    this.counts[status] += numbers.length
  }

  /** Counts this many tasks in their group. */
  joinGroup(group: Group, tasks: number): void {
    const { size } = group
    group.size += tasks
    if (size > 0) return
    this.kinds.join(group.kind)
    this.shares.join(group)
    this.limits.join(group)
  }

  /** The same for ready tasks, without records. {@link fill} must follow. */
  joinReady(group: Group, tasks: number): void {
    this.joinGroup(group, tasks)
    this.tenantCounts.add(group.tenant, 'pending', tasks)
    this.ready.join(group, tasks)
  }

  /** Adds a finished task of a snapshot to the indexes that few tasks are in. */
  joinFinished(task: TaskRecord): void {
    this.joinOthers(task)
    if (task.extras.parking !== undefined) this.callbackKeys.add(task, task.extras.parking)
  }

  /**
   * Adds all unfinished tasks of a snapshot. There must be none yet. `rows`: those that are rows of `loaded`. All must have been counted before, records
   * by {@link join} and rows by {@link joinReady} and {@link addListed}. Returns the records, by number.
   */
  fill(records: ReadonlyArray<TaskRecord>, rows: RowList, loaded: LoadedTasks): ReadonlyArray<TaskRecord> {
    // Before the indexes by text, which refer to tasks by their numbers.
    this.unfinished.fill(records, rows, loaded)
    this.ids.addAll(rows.idHashes, rows.numbers, rows.length)
    this.keys.addAll(rows.keyHashes, rows.numbers, rows.length)
    const sorted = sortedByKey(records, numberOf)
    const delayed: Array<TaskRecord> = []
    const leased: Array<TaskRecord> = []
    const timers: Timers = { delays: { add: (task) => delayed.push(task) }, leaseEnds: { add: (task) => leased.push(task) } }
    for (const task of sorted) {
      this.ids.set(task.id, task.number)
      if (blocksDuplicates(task.status)) this.keys.set(task.key, task.number)
      link(this, task, timers)
      this.batches.enlist(task)
      if (isHeld(task)) this.limits.moved(task.group, 1)
    }
    this.delays.fill(sortedByKey(delayed, delayOf))
    this.leaseEnds.fill(sortedByKey(leased, leaseEndOf))
    return sorted
  }

  /** All ready tasks, by number. */
  private readyTasks(): ReadonlyArray<TaskRecord> {
    return [...this.unfinished.values()].filter(({ status }) => status === 'pending')
  }

  /** Changes a task. `revision`: that of the event, if the event is about this task. By default the task keeps its last revision. */
  update<T extends TaskRecord>(task: T, change: (task: T) => void, revision = task.lastRevision): void {
    for (const walk of this.walks) walk.beforeChange(task)
    this.changed?.add(task.number)
    if (this.undoLog.mustSave(task)) this.undoLog.add(new TaskBefore(this, task))
    const idle = this.shares.withoutReady(task.group)
    const wasHeld = this.agents.size > 0 && isHeld(task)
    const wasFinal = isFinal(task.status)
    const active = this.leases.size
    this.relink(task, change, revision)
    this.shares.comeBack(idle)
    // An agent has become inactive, so other agents may start (TQM-CAP-003).
    if (this.leases.size < active && active >= this.head.settings.capacity.maxConcurrentAgents) this.ready.wakeAll()
    // An agent has more or less room than before.
    if (this.agents.size > 0 && wasHeld !== isHeld(task)) this.ready.wakeHeldBack()
    if (wasFinal) this.rewrite(task)
    else if (isFinal(task.status)) this.retire(task)
  }

  /** Undoes a change. */
  restore(task: TaskRecord, before: TaskBefore): void {
    this.relink(task, () => before.putBack(), before.lastRevision)
    // Another task may have had the key since.
    if (blocksDuplicates(task.status) && !isFinal(task.status)) this.keys.set(task.key, task.number)
  }

  /** The task is finished: from now on only its bytes are kept. */
  private retire(task: TaskRecord): void {
    if (task.status !== 'completed') leaveDependencies(this, task)
    const isKeyed = this.leaveUnfinished(task)
    this.finished.push(task, isKeyed)
    this.undoLog.note(() => {
      this.finished.pop()
      this.enterUnfinished(task, isKeyed)
    })
  }

  /** Rewrites a finished task. The record was made for this change. */
  private rewrite(task: TaskRecord): void {
    this.undoLog.note(this.finished.rewrite(task))
  }

  /** Evicts a finished task from the state. Its history stays in the log. */
  evict(task: TaskRecord): void {
    for (const walk of this.walks) walk.beforeLeaving(task)
    const removed = this.finished.remove(task)
    unlink(this, task)
    this.depart(task)
    this.undoLog.note(() => {
      this.finished.putBack(removed)
      this.join(task)
      link(this, task)
    })
    const { rootTaskId } = task.extras
    if (rootTaskId !== undefined) dropEndedChain(this, rootTaskId)
  }

  /** The group with these fields. A new group is not in the state until it has a task. */
  group(type: string, phase: Phase | undefined, skills: ReadonlyArray<string>, tenant: string | undefined, concurrencyKey: string | undefined): Group {
    const kind = this.kinds.of(type, phase, skills, concurrencyKey)
    const share = this.shares.of(tenant)
    return groupIn(share.groups, kind) ?? new Group(kind, share, this.shares.ofType(tenant, type))
  }

  private enter(task: TaskRecord): void {
    // First, because the other indexes refer to the task by its number.
    this.enterUnfinished(task, blocksDuplicates(task.status))
    this.join(task)
    link(this, task)
    if (this.batches.size > 0) this.batches.moved(task, undefined, task.status)
  }

  private enterUnfinished(task: TaskRecord, isKeyed: boolean): void {
    this.unfinished.set(task.number, task)
    this.ids.set(task.id, task.number)
    if (isKeyed) this.keys.set(task.key, task.number)
  }

  /** Returns whether the task blocked new tasks with its key as duplicates. */
  private leaveUnfinished({ id, key, number }: TaskRecord): boolean {
    this.ids.delete(id, number)
    const isKeyed = this.keys.delete(key, number)
    this.unfinished.delete(number)
    return isKeyed
  }

  /** Counts the task in its group, ticket and chain, whether it is finished or not. */
  join(task: TaskRecord): void {
    this.joinGroup(task.group, 1)
    this.joinOthers(task)
  }

  private joinOthers(task: TaskRecord): void {
    const { ticketId, rootTaskId } = task.extras
    if (ticketId !== undefined) addTo(this.byTicket, ticketId, task.number)
    if (rootTaskId !== undefined) addTo(this.byRoot, rootTaskId, task.number)
  }

  private depart(task: TaskRecord): void {
    if (--task.group.size === 0) {
      this.kinds.part(task.group.kind)
      this.shares.part(task.group)
      this.limits.part(task.group)
      if (task.group.share.groups === undefined) this.tenantCounts.drop(task.group.tenant)
    }
    const { ticketId, rootTaskId } = task.extras
    if (ticketId !== undefined) removeFrom(this.byTicket, ticketId, task.number)
    if (rootTaskId !== undefined) removeFrom(this.byRoot, rootTaskId, task.number)
  }

  /** Undoes an insertion. */
  private leave(task: TaskRecord): void {
    unlink(this, task)
    if (this.batches.size > 0) this.batches.moved(task, task.status, undefined)
    // A new task is undone with its present fields, and it may have been claimed since.
    if (task.group.meters.length > 0 && isHeld(task)) this.limits.moved(task.group, -1)
    this.leaveUnfinished(task)
    this.depart(task)
  }

  private relink<T extends TaskRecord>(task: T, change: (task: T) => void, revision: number): void {
    const { status } = task
    const [blocked, held] = [blocksDuplicates(status), isHeld(task)]
    const wasCritical = isCritical(task)
    unlink(this, task)
    task.lastRevision = revision
    change(task)
    if (!wasCritical && isCritical(task) && !this.undoLog.isUndoing) {
      task.extras = { ...task.extras, readySince: this.head.at }
    }
    link(this, task)
    if (status !== task.status && this.batches.size > 0) this.batches.moved(task, status, task.status)
    const { meters } = task.group
    if (meters.length > 0 && held !== isHeld(task)) this.limits.moved(task.group, held ? -1 : 1)
    if (blocked === blocksDuplicates(task.status)) return
    if (!blocked) this.keys.set(task.key, task.number)
    else this.keys.delete(task.key, task.number)
  }
}
