/**
 * Chooses the tasks of a claim (LK-06): whose turn it is among the tenants (TQM-ASSIGN-004), then the first task among
 * the heads of that tenant's groups. Only the open groups that match the claim are looked at (INV-28).
 */
import * as E from 'fp-ts/lib/Either.js'
import type { CommandOf, Envelope } from '../commands.js'
import type { QueueEvent } from '../events.js'
import { Heap } from '../heap.js'
import { byName, type ShapeOf, type ShapeTurn } from '../ready/claim-shape.js'
import { turnCost } from '../ready/fair-share.js'
import type { Rejection } from '../rejections.js'
import { toInstant } from '../scalars.js'
import type { Cursor } from '../sorted-list.js'
import { type Group, rankOf, type TaskRecord } from '../state.js'
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
    pickTasks(tables, command, command.max).map(({ task, probe }) => {
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

/** The tasks that this agent would get now, in order. Changes nothing. */
export const pickTasks = (tables: Tables, request: ClaimRequest, max: number): ReadonlyArray<Picked> => {
  const picked: Array<Picked> = []
  if (tables.head.paused !== null || tables.counts.pending === 0) return picked
  const { maxQueueScanBatch, tenants } = tables.head.settings.assignment
  const turns = new Turns(tables.ready.shapeOf(request).turns.cursor(), tables)
  let passedOver = 0
  while (picked.length < max) {
    const tenant = turns.first
    if (tenant === undefined) break
    const next = tenant.take()
    if (next === undefined) turns.drop()
    else if (next.task.extras.claimants?.includes(request.agent) === true) {
      if (++passedOver > maxQueueScanBatch) break
    } else {
      picked.push(next)
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
    private readonly tables: Tables,
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
    begun.add(new TenantTasks(other, this.tables, this.probed))
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

interface GroupHead {
  readonly group: Group
  readonly cursor: Cursor<TaskRecord>
  readonly probe: boolean
}

/** A tenant's tasks that match the claim, best first, and its turn. */
class TenantTasks {
  turn: number
  private readonly heads = new Heap<GroupHead>((a, b) => rankOf(a.cursor.item as TaskRecord) < rankOf(b.cursor.item as TaskRecord))

  constructor(
    private readonly place: ShapeTurn,
    tables: Tables,
    private readonly probed: ReadonlySet<string>,
  ) {
    this.turn = place.share.turn
    for (const group of place.groups) {
      this.heads.add({ group, cursor: group.ready.cursor(), probe: tables.breakers.get(group.type)?.state === 'half-open' })
    }
  }

  get share(): ShapeTurn['share'] {
    return this.place.share
  }

  take(): Picked | undefined {
    const { heads } = this
    for (;;) {
      const head = heads.first
      if (head === undefined) return undefined
      const task = head.cursor.item as TaskRecord
      if (head.probe && this.probed.has(head.group.type)) {
        heads.removeFirst()
        continue
      }
      head.cursor.advance()
      if (head.cursor.item === undefined) heads.removeFirst()
      else heads.sinkFirst()
      return { task, probe: head.probe }
    }
  }
}
