/**
 * The ready tasks by group, and which groups are open: they have a ready task, and no breaker holds their type back.
 * Groups without ready tasks cost nothing here.
 */
import type { Group, TaskRecord, TenantShare } from '../state.js'
import { ClaimShape, shapeKey, type ShapeOf } from './claim-shape.js'

/** Shapes that are kept. Beyond it, the one that was used longest ago and that no claim waits for is dropped. */
export const shapesMax = 1_024

export class ReadyIndex {
  /** Groups with ready tasks. */
  private readonly groups = new Set<Group>()
  private readonly shapes = new Map<string, ClaimShape>()
  /** Changes with the set of shapes, so that a group notices that its list of shapes is old. */
  private shapesVersion = 0
  private uses = 0
  private woken: Array<ClaimShape> = []

  /** `isShut`: whether a breaker holds this type back. */
  constructor(private readonly isShut: (type: string) => boolean) {}

  add(task: TaskRecord): void {
    const { group } = task
    group.ready.add(task)
    if (group.ready.size === 1) {
      this.groups.add(group)
      this.refresh(group)
    } else if (group.isOpen) {
      for (const shape of this.shapesOf(group)) this.wake(shape)
    }
  }

  remove(task: TaskRecord): void {
    const { group } = task
    group.ready.remove(task)
    if (group.ready.size > 0) return
    this.groups.delete(group)
    this.refresh(group)
  }

  get groupsWithTasks(): ReadonlySet<Group> {
    return this.groups
  }

  /** To be called when it may have changed whether a breaker holds this type back. Returns the tenants that have open groups again. */
  breakerMoved(type: string): ReadonlyArray<TenantShare> {
    const back: Array<TenantShare> = []
    for (const group of this.groups) {
      if (group.type !== type) continue
      const { share } = group
      const hadWork = share.open > 0
      this.refresh(group)
      if (!hadWork && share.open > 0) back.push(share)
    }
    return back
  }

  /** The shape of this claim: the one that is kept, or one made for this question. Changes nothing. */
  shapeOf(asked: ShapeOf): ClaimShape {
    return this.shapes.get(shapeKey(asked)) ?? this.make(asked, false)
  }

  /** Keeps the shape of this claim from now on, so that the next such claim costs less. No decision depends on it. */
  keepShape(asked: ShapeOf): ClaimShape {
    const key = shapeKey(asked)
    let shape = this.shapes.get(key)
    if (shape === undefined) {
      if (this.shapes.size >= shapesMax) this.dropOldest()
      this.shapes.set(key, (shape = this.make(asked, true)))
      this.shapesVersion++
    }
    shape.lastUse = ++this.uses
    return shape
  }

  /** Something has changed for all claims, such as the end of a pause. */
  wakeAll(): void {
    for (const shape of this.shapes.values()) this.wake(shape)
  }

  /** The shapes for which claims wait, and for which there may be more to take since the last call. */
  takeWoken(): ReadonlyArray<ClaimShape> {
    const { woken } = this
    if (woken.length === 0) return none
    this.woken = []
    for (const shape of woken) shape.isWoken = false
    return woken
  }

  private refresh(group: Group): void {
    const isOpen = group.ready.size > 0 && !this.isShut(group.type)
    if (isOpen === group.isOpen) return
    group.isOpen = isOpen
    const { share } = group
    const shapes = this.shapesOf(group)
    if (isOpen) {
      share.open++
      for (const shape of shapes) {
        shape.open(group)
        this.wake(shape)
      }
    } else {
      share.open--
      for (const shape of shapes) shape.close(group)
    }
  }

  private wake(shape: ClaimShape): void {
    if (shape.waiting === 0 || shape.isWoken) return
    shape.isWoken = true
    this.woken.push(shape)
  }

  private make(asked: ShapeOf, isKept: boolean): ClaimShape {
    const shape = new ClaimShape(asked, isKept)
    for (const group of this.groups) if (group.isOpen && shape.matches(group)) shape.open(group)
    return shape
  }

  private shapesOf(group: Group): ReadonlyArray<ClaimShape> {
    if (group.shapesVersion !== this.shapesVersion) {
      const shapes = [...this.shapes.values()].filter((shape) => shape.matches(group))
      group.shapes = shapes.length === 0 ? none : shapes
      group.shapesVersion = this.shapesVersion
    }
    return group.shapes
  }

  private dropOldest(): void {
    let oldest: [string, ClaimShape] | undefined
    for (const entry of this.shapes) {
      const [, { waiting, lastUse }] = entry
      if (waiting === 0 && lastUse < (oldest?.[1].lastUse ?? Number.POSITIVE_INFINITY)) oldest = entry
    }
    if (oldest === undefined) return
    this.shapes.delete(oldest[0])
    oldest[1].drop()
  }
}
const none: ReadonlyArray<never> = []
