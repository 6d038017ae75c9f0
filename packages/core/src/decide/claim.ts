/**
 * Chooses the tasks of a claim (LK-06): whose turn it is among the tenants (TQM-ASSIGN-004), then, by the queue's
 * policy, the best among the first tasks of the lanes of that tenant's groups. Only the open groups that match the claim are looked at (INV-28).
 */
import * as E from 'fp-ts/lib/Either.js'
import type { CommandOf, Envelope } from '../commands.js'
import type { QueueEvent } from '../events.js'
import { type Asker, isAgentShut, isQueueShut } from '../gates.js'
import { Heap } from '../heap.js'
import { byName, type ShapeOf, type ShapeTurn } from '../ready/claim-shape.js'
import { turnCost } from '../ready/fair-share.js'
import type { Lane } from '../ready/lane.js'
import type { Rejection } from '../rejections.js'
import { toInstant } from '../scalars.js'
import type { Cursor } from '../sorted-list.js'
import type { Group, TaskRecord } from '../state.js'
import type { Tables } from '../tables.js'

export type ClaimRequest = ShapeOf & Pick<CommandOf<'Claim'>, 'agent'>

export const decideClaim = (
  command: CommandOf<'Claim'>,
  tables: Tables,
  envelope: Envelope,
): E.Either<Rejection, ReadonlyArray<QueueEvent>> => {
  const { at } = envelope
  const { agent, leaseSeconds } = command
  let token = tables.head.lastToken
  return E.right(
    pickTasks(tables, command, command.max, at).map(({ task, probe }) => {
      const claim = { task: task.id, agent, token: ++token, expiresAt: toInstant(at + leaseMsOf(task, leaseSeconds)) }
      return { type: 'Claimed', at, data: probe ? { ...claim, probe: true } : claim }
    }),
  )
}

/** A task allows leases of `timeout` seconds (LK-08). A claim may ask for shorter ones. */
const leaseMsOf = ({ timeout }: TaskRecord, leaseSeconds = timeout): number => Math.ceil(Math.min(timeout, leaseSeconds) * 1_000)

export interface Picked {
  readonly task: TaskRecord
  /** The claim is a half-open breaker's test. */
  readonly probe: boolean
}

/**
 * The tasks that this agent would get at `at`, in order; those of an agent that asks for everything if `asker` is `undefined`.
 * With `last`, no tasks after that one. Changes nothing.
 */
export const pickTasks = (tables: Tables, asker: Asker | undefined, max: number, at: number, last?: TaskRecord): ReadonlyArray<Picked> => {
  const picked: Array<Picked> = []
  if (tables.counts.pending === 0 || isQueueShut(tables)) return picked
  const agent = asker?.agent
  const { maxQueueScanBatch, tenants } = tables.head.settings.assignment
  const turns = new Turns(tables.ready.shapeOf(asker).turns.cursor(), new Heads(tables, at))
  let passedOver = 0
  while (picked.length < max) {
    const tenant = turns.first
    if (tenant === undefined) break
    const next = tenant.take()
    if (next === undefined) turns.drop()
    else if (agent !== undefined && isAgentShut(next.task, agent)) {
      if (++passedOver > maxQueueScanBatch) break
    } else {
      picked.push(next)
      if (next.task === last) break
      // A half-open breaker admits exactly one test task (LK-15).
      if (next.probe) turns.probed.add(next.task.group.type)
      if (tables.head.hasTenants) turns.charge(turnCost(tenant.share.name, tenants))
    }
  }
  return picked
}

/** The tenants in the order of their turns, those included that grow with the picks of this claim. */
class Turns {
  /** Types whose breaker has got its test task. */
  readonly probed = new Set<string>()
  private readonly begun = new Heap<TenantTasks>((a, b) => a.turn < b.turn || (a.turn === b.turn && byName(a.share, b.share) < 0))

  constructor(
    private readonly others: Cursor<ShapeTurn>,
    private readonly heads: Heads,
  ) {}

  get first(): TenantTasks | undefined {
    const { begun, others } = this
    const other = others.item
    if (other === undefined) return begun.first
    const known = begun.first
    if (known !== undefined && (known.turn < other.share.turn || (known.turn === other.share.turn && byName(known.share, other.share) < 0))) {
      return known
    }
    others.advance()
    begun.add(new TenantTasks(other, this.heads, this.probed))
    return begun.first
  }

  /** The first tenant got a lease. */
  charge(cost: number): void {
    const tenant = this.begun.first
    if (tenant === undefined) return
    tenant.turn += cost
    this.begun.sinkFirst()
  }

  /** The first tenant has no more tasks. */
  drop(): void {
    this.begun.removeFirst()
  }
}

/**
 * The lanes with the same id of a tenant's groups, as one: a policy orders the tasks of such lanes alike at any time. Cursors
 * are made only when its first task is taken, because most claims take one task and have hundreds of lanes to compare.
 */
class Lanes {
  /** The first of the tasks that are left. Never `undefined` while it is in use. */
  task: TaskRecord | undefined
  private readonly lanes: Array<Lane> = []
  private cursors: Heap<Cursor<TaskRecord>> | undefined

  /** `misplaced`: tasks that are passed over. */
  constructor(private readonly misplaced?: ReadonlySet<TaskRecord>) {}

  add(lane: Lane): void {
    this.lanes.push(lane)
    const first = this.misplaced === undefined ? lane.first() : this.skip(lane.cursor()).item
    if (first !== undefined && (this.task === undefined || lane.isFirst(first, this.task))) this.task = first
  }

  advance(): void {
    const cursors = this.opened()
    const { first } = cursors
    first?.advance()
    if (first === undefined || this.skip(first).item === undefined) cursors.removeFirst()
    else cursors.sinkFirst()
    this.task = cursors.first?.item
  }

  /** Leaves out the rest of the lane that has the first task. */
  dropFirst(): void {
    const cursors = this.opened()
    cursors.removeFirst()
    this.task = cursors.first?.item
  }

  private opened(): Heap<Cursor<TaskRecord>> {
    if (this.cursors !== undefined) return this.cursors
    const [lane] = this.lanes
    const cursors = (this.cursors = new Heap((a, b) => lane!.isFirst(a.item as TaskRecord, b.item as TaskRecord)))
    for (const each of this.lanes) {
      const cursor = this.skip(each.cursor())
      if (cursor.item !== undefined) cursors.add(cursor)
    }
    return cursors
  }

  private skip(cursor: Cursor<TaskRecord>): Cursor<TaskRecord> {
    const { misplaced } = this
    if (misplaced !== undefined) while (cursor.item !== undefined && misplaced.has(cursor.item)) cursor.advance()
    return cursor
  }
}

/** Where the tasks of groups begin at an instant. */
class Heads {
  private readonly isBefore: (a: Lanes, b: Lanes) => boolean
  /** Tasks whose lanes are not right at this instant. Each is by itself. */
  private readonly misplaced: ReadonlySet<TaskRecord> | undefined

  constructor(
    private readonly tables: Tables,
    at: number,
  ) {
    const { policy } = tables.ready
    this.isBefore = (a, b) => policy.isBefore(a.task as TaskRecord, b.task as TaskRecord, at)
    const misplaced = tables.ready.misplacedAt(at)
    this.misplaced = misplaced.length === 0 ? undefined : new Set(misplaced)
  }

  of(groups: ReadonlyArray<Group>): Heap<Lanes> {
    const byId = new Map<number, Lanes>()
    for (const group of groups) {
      for (const lane of group.lanes) {
        let lanes = byId.get(lane.id)
        if (lanes === undefined) byId.set(lane.id, (lanes = new Lanes(this.misplaced)))
        lanes.add(lane)
      }
    }
    const heap = new Heap(this.isBefore)
    for (const lanes of byId.values()) if (lanes.task !== undefined) heap.add(lanes)
    if (this.misplaced === undefined) return heap
    const all = new Set(groups)
    for (const task of this.misplaced) {
      if (!all.has(task.group)) continue
      const alone = new Lanes()
      alone.task = task
      heap.add(alone)
    }
    return heap
  }

  /** Whether a task of this type would be a half-open breaker's test. */
  isProbe(type: string): boolean {
    return this.tables.breakers.get(type)?.state === 'half-open'
  }
}

/** A tenant's tasks that match the claim, best first, and its turn. */
class TenantTasks {
  turn: number
  readonly share: ShapeTurn['share']
  private readonly lanes: Heap<Lanes>

  constructor({ share, groups }: ShapeTurn, private readonly heads: Heads, private readonly probed: ReadonlySet<string>) {
    this.share = share
    this.turn = share.turn
    this.lanes = heads.of(groups)
  }

  /** The next task, which is taken out. */
  take(): Picked | undefined {
    const { heads, lanes, probed } = this
    for (let first = lanes.first; first !== undefined; first = lanes.first) {
      const task = first.task as TaskRecord
      const { type } = task.group
      const probe = heads.isProbe(type)
      const isTaken = probe && probed.has(type)
      if (isTaken) first.dropFirst()
      else first.advance()
      if (first.task === undefined) lanes.removeFirst()
      else lanes.sinkFirst()
      if (!isTaken) return { task, probe }
    }
    return undefined
  }
}
