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

/** The first of the tasks of a lane that are left. */
class Head {
  /** Never `undefined` while the head is in use. */
  task: TaskRecord | undefined

  /** Without a cursor: one task by itself. `misplaced`: tasks that are passed over in the lane. */
  constructor(
    task: TaskRecord | undefined,
    readonly probe: boolean,
    private readonly cursor?: Cursor<TaskRecord>,
    private readonly misplaced?: ReadonlySet<TaskRecord>,
  ) {
    this.task = task
    this.skip()
  }

  advance(): void {
    this.cursor?.advance()
    this.task = this.cursor?.item
    this.skip()
  }

  private skip(): void {
    const { cursor, misplaced } = this
    if (cursor === undefined || misplaced === undefined) return
    while (cursor.item !== undefined && misplaced.has(cursor.item)) cursor.advance()
    this.task = cursor.item
  }
}

/** Where the tasks of groups begin at an instant. */
class Heads {
  readonly isBefore: (a: Head, b: Head) => boolean
  /** Tasks whose lanes are not right at this instant. Each is a head of its own. */
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

  of(groups: ReadonlyArray<Group>): Heap<Head> {
    const heap = new Heap(this.isBefore)
    const add = (head: Head): void => void (head.task !== undefined && heap.add(head))
    for (const { lanes, type } of groups) {
      const probe = this.tables.breakers.get(type)?.state === 'half-open'
      for (const lane of lanes) {
        const cursor = lane.cursor()
        add(new Head(cursor.item, probe, cursor, this.misplaced))
      }
    }
    if (this.misplaced === undefined) return heap
    const all = new Set(groups)
    for (const task of this.misplaced) {
      if (all.has(task.group)) add(new Head(task, this.tables.breakers.get(task.group.type)?.state === 'half-open'))
    }
    return heap
  }
}

/** A tenant's tasks that match the claim, best first, and its turn. */
class TenantTasks {
  turn: number
  readonly share: ShapeTurn['share']
  private readonly heads: Heap<Head>

  constructor({ share, groups }: ShapeTurn, heads: Heads, private readonly probed: ReadonlySet<string>) {
    this.share = share
    this.turn = share.turn
    this.heads = heads.of(groups)
  }

  /** The next task, which is taken out. */
  take(): Picked | undefined {
    const { heads, probed } = this
    for (let head = heads.first; head !== undefined; head = heads.first) {
      const task = head.task as TaskRecord
      const { probe } = head
      if (probe && probed.has(task.group.type)) {
        heads.removeFirst()
        continue
      }
      head.advance()
      if (head.task === undefined) heads.removeFirst()
      else heads.sinkFirst()
      return { task, probe }
    }
    return undefined
  }
}
