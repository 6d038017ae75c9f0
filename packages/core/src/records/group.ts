/** Groups of tasks. The same claims may take all tasks of a group, and the same limits count them. */
import type { Meter } from '../limits/meter.js'
import type { ClaimShape } from '../ready/claim-shape.js'
import type { ReadyTasks } from '../ready/group-tasks.js'
import type { Account, ListsByStatus, TenantShare } from './records.js'
import type { Phase } from '../model/task.js'

/** What groups share that differ only in their tenant. A queue may have a million tenants, but has few kinds of tasks. */
export class GroupKind {
  /** Number of groups with tasks. A kind without any is not in the state (INV-22). */
  size = 0
  /** Groups with ready tasks, in no order. */
  readonly ready: Array<Group> = []
  /** The kept shapes of claims that match this kind and name no tenant, as of a version of the set of all shapes. */
  shapes: ReadonlyArray<ClaimShape> = noShapes
  shapesVersion = -1

  constructor(
    /** Unique: made of all other fields. */
    readonly key: string,
    readonly type: string,
    readonly phase: Phase | undefined,
    readonly skills: ReadonlyArray<string>,
    readonly concurrencyKey: string | undefined,
    /** The lists of all tasks of the queue with this phase. */
    readonly byStatus: ListsByStatus,
  ) {}

  /** Adds a group that has its first ready task. */
  addReady(group: Group): void {
    group.place = this.ready.push(group) - 1
  }

  /** Removes a group that has no more ready tasks. The last group takes its place. */
  removeReady({ place }: Group): void {
    const last = this.ready.pop() as Group
    if (last.place === place) return
    this.ready[place] = last
    last.place = place
  }
}
const noShapes: ReadonlyArray<never> = []

/** The tasks of one kind and one tenant. */
export class Group {
  /** The meters that count its leases: see `limits/limits.ts`. */
  meters: ReadonlyArray<Meter> = noMeters
  /** Number of its tasks. A group without any is not in the state (INV-22). */
  size = 0
  /** Number of its ready tasks, and the tasks (see `ready/group-tasks.ts`). */
  ready = 0
  readyTasks: ReadyTasks = undefined
  /** Its index in {@link GroupKind.ready}, while it has ready tasks. */
  place = 0
  /** Whether it has ready tasks, and no gate of its type or limits closes it: see `ready/ready-index.ts`. */
  isOpen = false

  constructor(
    readonly kind: GroupKind,
    readonly share: TenantShare,
    /** The tenant's account in the pool of this type. */
    readonly account: Account,
  ) {}

  get type(): string {
    return this.kind.type
  }
  get phase(): Phase | undefined {
    return this.kind.phase
  }
  get skills(): ReadonlyArray<string> {
    return this.kind.skills
  }
  get concurrencyKey(): string | undefined {
    return this.kind.concurrencyKey
  }
  get tenant(): string | undefined {
    return this.share.name
  }
}
const noMeters: ReadonlyArray<never> = []
