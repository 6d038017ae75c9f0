/**
 * The ready tasks by group, and which groups are open. A group is open if it has a ready task and no gate of its type or limits is shut. Groups
 * without ready tasks cost nothing here.
 */
import { isTakeable, sectionOf } from '../limits/section.js'
import type { Group } from '../records/group.js'
import { addTo, removeFrom } from '../structures/by-key.js'
import { type Head, isBumped, type TaskRecord, type TenantShare } from '../records/records.js'
import type { UndoLog } from '../structures/undo-log.js'
import { ClaimShape, shapeKey, type ShapeOf } from './claim-shape.js'
import { countReady } from './fair-share.js'
import { addToGroup, readyIn, removeFromGroup } from './group-tasks.js'
import type { Heads } from './heads.js'
import { Placements } from './placements.js'
import type { Policy } from './policy.js'
import { ReadyKinds } from './ready-kinds.js'
import { OrderAt } from './runs.js'
import { groupsIn, ManyGroups } from './tenant-groups.js'
import { type AllReady, UnsortedTasks } from './unsorted-tasks.js'

/** While the order is put aside, this many questions go over all ready tasks. The next one makes the order, which takes about as long as three of them. */
const passesMax = 3

/** The largest number of kept shapes. Beyond it, the least recently used shape that no claim waits for is dropped. */
const shapesMax = 1_024

export class ReadyIndex {
  /** The kinds of the groups with ready tasks. */
  readonly kinds = new ReadyKinds()
  private readonly shapes = new Map<string, ClaimShape>()
  /** The kept shapes by tenant; those without a tenant by type; and those with neither. */
  private readonly shapesByTenant = new Map<string, Set<ClaimShape>>()
  private readonly shapesByType = new Map<string, Set<ClaimShape>>()
  private readonly shapesForAll = new Set<ClaimShape>()
  /** Changes with the set of shapes, so that a kind of groups notices that its list of shapes is out of date. */
  private shapesVersion = 0
  /** For each group, as of this version: the shapes that name its tenant. */
  private shapesOfGroup = new WeakMap<Group, ReadonlyArray<ClaimShape>>()
  /** A shape that matches everything, kept from the first question about everything on. */
  private ofAll: ClaimShape | undefined
  private uses = 0
  private woken: Array<ClaimShape> = []
  private readonly heldBack = new Set<ClaimShape>()
  /** The bumped ready tasks. They are in their lanes as well. */
  readonly bumped = new Set<TaskRecord>()
  readonly places: Placements
  /** False from {@link putAside} to {@link order}: groups then only have the number of their tasks. */
  isOrdered = true
  /** Number of questions that were answered without the order. */
  private passes = 0

  /** `isShut`: whether no task of this group is claimed now. */
  constructor(
    private readonly isShut: (group: Group) => boolean,
    private readonly shareOf: (tenant: string) => TenantShare | undefined,
    private readonly head: Readonly<Head>,
    undoLog: UndoLog,
    policy: Policy,
    private readonly all: AllReady,
  ) {
    this.places = new Placements(head, undoLog, policy)
  }

  get policy(): Policy {
    return this.places.policy
  }

  /** Adds a task that has become ready. */
  add(task: TaskRecord): void {
    this.place(task)
    if (isBumped(task)) this.bumped.add(task)
    this.join(task.group)
  }

  /** Counts ready tasks of this group. Without {@link add}, only while the order is put aside. */
  join(group: Group, tasks = 1): void {
    const { ready } = group
    group.ready += tasks
    if (ready === 0) {
      const { kind } = group
      countReady(group, 1)
      if (kind.ready.length === 0) this.kinds.add(kind)
      kind.addReady(group)
      this.refresh(group)
    } else if (isTakeable(group)) {
      for (const shape of this.shapesOf(group)) this.wake(shape)
    }
  }

  remove(task: TaskRecord): void {
    const { group } = task
    this.takeOut(task)
    if (this.bumped.size > 0) this.bumped.delete(task)
    if (--group.ready > 0) return
    const { kind } = group
    countReady(group, -1)
    kind.removeReady(group)
    if (kind.ready.length === 0) this.kinds.remove(kind)
    this.refresh(group)
  }

  /** Moves tasks to their lanes at the time of the last event, or at `at`; at most `max`. No decision depends on this. */
  settle(max: number, at = this.head.at): void {
    for (let moved = 0; moved < max; moved++) {
      const task = this.places.firstMisplaced(at)
      if (task === undefined) return
      this.takeOut(task)
      this.place(task, at)
    }
  }

  /** After a rollback: places anew the tasks that were placed for a later time than the last event. */
  rolledBack(): void {
    for (const task of this.places.takeUntimely()) {
      this.takeOut(task)
      this.place(task)
    }
  }

  /** Places all ready tasks anew, because the settings of their order have changed. Cost: O(ready tasks). */
  reorder(policy: Policy): void {
    const tasks = [...this.groupsWithTasks()].flatMap((group) => [...readyIn(group)])
    for (const task of tasks) this.takeOut(task)
    this.places.policy = policy
    for (const task of tasks) this.place(task)
  }

  /**
   * From now on ready tasks are only counted, and their order is not kept, until {@link order}. Nobody claims while a log is replayed, and most of
   * its tasks are finished by the end. A claim makes the order, and so does the fourth question that needs it. Must be called before any task is ready or claimed.
   */
  putAside(): void {
    if (this.kinds.size > 0 || this.shapes.size > 0) throw new Error('the order of ready tasks can be put aside only before there are any')
    this.isOrdered = false
  }

  /** Puts all ready tasks in order, unless they are. */
  order(): void {
    if (this.isOrdered) return
    const tasks = this.all.records()
    this.isOrdered = true
    this.places.fill(tasks)
    for (const task of tasks) addToGroup(task, this.places, none)
    for (const { share: { groups } } of this.groupsWithTasks()) if (groups instanceof ManyGroups) groups.sort(this.places)
  }

  groupsWithTasks(): Iterable<Group> {
    return this.kinds.groups()
  }

  /** The groups, open or not, in which a claim of these types, or for this tenant, may find ready tasks. One by one, because there may be a million. */
  *candidates({ types = allTypes, tenant }: { readonly types?: ReadonlyArray<string> | undefined; readonly tenant?: string | undefined }): Generator<Group, void> {
    if (tenant === undefined) for (const type of types) for (const { ready } of this.kinds.ofType(type)) yield* ready
    else yield* groupsIn(this.shareOf(tenant)?.groups)
  }

  /** Must be called when a breaker may have begun or ceased to hold back this type. */
  breakerMoved(type: string): void {
    this.refreshAll(this.candidates({ types: [type] }))
  }

  /** Opens and closes groups whose gates may have moved. */
  refreshAll(groups: Iterable<Group>): void {
    for (const group of groups) this.refresh(group)
  }

  /** Takes groups out of all shapes before the limits that count them change. {@link refreshAll} must follow. */
  closeAll(groups: Iterable<Group>): void {
    for (const group of groups) if (group.isOpen) this.set(group, false)
  }

  /** A limit that stands apart admits tasks again. */
  wakeAllIn(shapes: Iterable<ClaimShape>): void {
    for (const shape of shapes) this.wake(shape)
  }

  /**
   * The kept shape of this claim, or a shape made for this question. Without `asked`: a shape that matches everything. It is kept once the ready
   * tasks are in order. No answer depends on whether a shape is kept.
   */
  shapeOf(asked: ShapeOf | undefined): ClaimShape {
    if (asked !== undefined) return this.shapes.get(shapeKey(asked)) ?? this.make(asked, false)
    if (this.isOrdered && this.ofAll === undefined) {
      this.ofAll = this.make(asked, true)
      this.index(this.ofAll)
    }
    return this.ofAll ?? this.make(asked, false)
  }

  /**
   * Where a question or a claim with this shape finds the tasks of tenants at `at`, best first. While the order is put aside, it goes over all ready
   * tasks, and with the fourth call it makes the order. A claim must make the order before.
   */
  orderAt(shape: ClaimShape, at: number): OrderAt {
    if (!this.isOrdered && ++this.passes > passesMax) this.order()
    if (this.isOrdered) return new OrderAt(this.places, at)
    return new OrderAt(this.places, at, new UnsortedTasks(this.all, this.groupsWithTasks(), shape, this.policy, at))
  }

  /** Keeps the shape of this claim from now on, so that the next such claim costs less. No decision depends on it. */
  keepShape(asked: ShapeOf & { readonly max?: number }): ClaimShape {
    this.order()
    const key = shapeKey(asked)
    let shape = this.shapes.get(key)
    if (shape === undefined) {
      if (this.shapes.size >= shapesMax) this.dropOldest()
      this.shapes.set(key, (shape = this.make(asked, true)))
      this.index(shape)
    }
    shape.lastUse = ++this.uses
    shape.sortFirst(asked.max ?? 1)
    return shape
  }

  get shapesKept(): number {
    return this.shapes.size
  }

  /** Something has changed for all claims, such as the end of a pause. */
  wakeAll(): void {
    for (const shape of this.shapes.values()) this.wake(shape)
  }

  /** A waiting claim of this shape finds only tasks that it must leave to other agents. The shape is woken when that may have changed. */
  holdBack(shape: ClaimShape): void {
    this.heldBack.add(shape)
  }

  /** Wakes the shapes that were held back, because an agent can take more or fewer tasks than before. */
  wakeHeldBack(): void {
    if (this.heldBack.size === 0) return
    for (const shape of this.heldBack) this.wake(shape)
    this.heldBack.clear()
  }

  /** The shapes that claims wait for and that may have got tasks since the last call. */
  takeWoken(): ReadonlyArray<ClaimShape> {
    const { woken } = this
    if (woken.length === 0) return none
    this.woken = []
    for (const shape of woken) shape.isWoken = false
    return woken
  }

  private place(task: TaskRecord, at = this.head.at): void {
    if (!this.isOrdered) return
    this.places.add(task, at)
    addToGroup(task, this.places, this.ordersOf(task.group))
  }

  private takeOut(task: TaskRecord): void {
    if (!this.isOrdered) return
    removeFromGroup(task, this.places, this.ordersOf(task.group))
    this.places.remove(task)
  }

  /** The orders of first tasks that have those of this group. */
  private ordersOf(group: Group): ReadonlyArray<Heads> {
    const { isOpen, share: { groups } } = group
    if (!isOpen || !(groups instanceof ManyGroups)) return none
    const ofTenant = sectionOf(group) === undefined ? groups.heads : undefined
    if (groups.sorted === 0) return ofTenant?.alone ?? none
    const ofShapes = this.shapesOf(group).flatMap((shape) => shape.headsOf(group) ?? none)
    return ofTenant === undefined ? ofShapes : [...ofShapes, ofTenant]
  }

  private refresh(group: Group): void {
    const isOpen = group.ready > 0 && !this.isShut(group)
    if (isOpen !== group.isOpen) this.set(group, isOpen)
  }

  private set(group: Group, isOpen: boolean): void {
    group.isOpen = isOpen
    // A tenant's order of first tasks has none of a section.
    const many = group.share.groups instanceof ManyGroups && sectionOf(group) === undefined ? group.share.groups : undefined
    const shapes = this.shapesOf(group)
    if (isOpen) {
      many?.opened(group)
      if (this.isOrdered) many?.sort(this.places)
      const isWaking = isTakeable(group)
      for (const shape of shapes) {
        shape.open(group)
        if (isWaking) this.wake(shape)
      }
    } else {
      many?.closed(group)
      for (const shape of shapes) shape.close(group)
    }
  }

  private wake(shape: ClaimShape): void {
    if (shape.waiting === 0 || shape.isWoken) return
    shape.isWoken = true
    this.woken.push(shape)
  }

  private make(asked: ShapeOf | undefined, isKept: boolean): ClaimShape {
    const shape = new ClaimShape(asked, isKept, this.places)
    const types = shape.types === undefined ? undefined : [...shape.types]
    for (const group of this.candidates({ types, tenant: shape.tenant })) if (group.isOpen && shape.matches(group)) shape.open(group)
    return shape
  }

  private index(shape: ClaimShape): void {
    if (shape.tenant !== undefined) addTo(this.shapesByTenant, shape.tenant, shape)
    else if (shape.types === undefined) this.shapesForAll.add(shape)
    else for (const type of shape.types) addTo(this.shapesByType, type, shape)
    this.shapesVersion++
    this.shapesOfGroup = new WeakMap()
  }

  /** The kept shapes that match this group. */
  private shapesOf(group: Group): ReadonlyArray<ClaimShape> {
    const shapes = this.shapesOfKind(group)
    const { tenant } = group
    const ofTenant = tenant === undefined || this.shapesByTenant.size === 0 ? undefined : this.shapesByTenant.get(tenant)
    if (ofTenant === undefined) return shapes
    let all = this.shapesOfGroup.get(group)
    if (all === undefined) this.shapesOfGroup.set(group, (all = [...shapes, ...[...ofTenant].filter((shape) => shape.matches(group))]))
    return all
  }

  /** The matching shapes that name no tenant: the same for all groups of a kind. */
  private shapesOfKind(group: Group): ReadonlyArray<ClaimShape> {
    const { kind } = group
    if (kind.shapesVersion !== this.shapesVersion) {
      const candidates = [...(this.shapesByType.get(kind.type) ?? none), ...this.shapesForAll]
      const shapes = candidates.filter((shape) => shape.matches(group))
      kind.shapes = shapes.length === 0 ? none : shapes
      kind.shapesVersion = this.shapesVersion
    }
    return kind.shapes
  }

  private dropOldest(): void {
    let oldest: [string, ClaimShape] | undefined
    for (const entry of this.shapes) {
      const [, { waiting, lastUse }] = entry
      if (waiting === 0 && lastUse < (oldest?.[1].lastUse ?? Number.POSITIVE_INFINITY)) oldest = entry
    }
    if (oldest === undefined) return
    const [key, shape] = oldest
    this.shapes.delete(key)
    this.heldBack.delete(shape)
    if (shape.tenant !== undefined) removeFrom(this.shapesByTenant, shape.tenant, shape)
    else if (shape.types === undefined) this.shapesForAll.delete(shape)
    else for (const type of shape.types) removeFrom(this.shapesByType, type, shape)
    shape.drop()
  }
}
const allTypes: ReadonlyArray<string> = ['*']
const none: ReadonlyArray<never> = []

