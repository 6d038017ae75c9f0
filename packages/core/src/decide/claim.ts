/**
 * Chooses the tasks of a claim (LK-06). First it picks the tenant whose turn it is (TQM-ASSIGN-004). Then it picks, by the queue's policy, the best
 * among the first tasks of the lanes of that tenant's groups. Only open groups that match the claim are looked at (INV-28).
 */
import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from './decision.js'
import { runMs } from './run-time.js'
import { lastUntil, roomOf, takeOver } from '../gates/assignment.js'
import type { CommandOf } from '../model/commands.js'
import type { Asker } from '../gates/reason.js'
import { isAgentShut, isAskerShut, isGroupShut, isLastShut, isQueueShut } from '../gates/gates.js'
import { Heap } from '../structures/heap.js'
import { OtherAgents } from '../gates/other-agents.js'
import { refusalOfAgent } from '../model/isolation.js'
import { isShut } from '../limits/meter.js'
import { Room } from '../limits/room.js'
import { isTakeable } from '../limits/section.js'
import type { ShapeOf } from '../ready/claim-shape.js'
import { turnCost } from '../ready/fair-share.js'
import { inOrder } from '../ready/policy.js'
import { addRuns, isBetter, type OrderAt, type Run } from '../ready/runs.js'
import type { ShapeTurn } from '../ready/shape-turn.js'
import { byName } from '../ready/turn-list.js'
import type { TurnWalk } from '../ready/turn-walk.js'
import { toInstant } from '../model/scalars.js'
import { isBumped, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'

export type ClaimRequest = ShapeOf & Pick<CommandOf<'Claim'>, 'agent'>

export const decideClaim: Decider<'Claim'> = (command, tables, envelope) => {
  const { at } = envelope
  const { agent, tenant, leaseSeconds } = command
  const refused = refusalOfAgent(agent, tenant, tables)
  if (refused !== undefined) return E.left(refused)
  // After a load or a replay without `endReplay`. Many claims will follow, so the order is worth making.
  tables.ready.order()
  let token = tables.head.lastToken
  return E.right(
    pickTasks(tables, command, command.max, at).map(({ task, probe }) => {
      const claim = { task: task.id, agent, token: ++token, expiresAt: toInstant(at + leaseMsOf(task, leaseSeconds)) }
      return { type: 'Claimed', at, data: probe ? { ...claim, probe: true } : claim }
    }),
  )
}

/** A lease lasts at most `timeout` seconds (LK-08). A claim may ask for less, and no attempt may take longer than `maxRunSeconds`. */
const leaseMsOf = ({ timeout, extras: { maxRunSeconds } }: TaskRecord, leaseSeconds = timeout): number => {
  const ms = Math.ceil(Math.min(timeout, leaseSeconds) * 1_000)
  return maxRunSeconds === undefined ? ms : Math.min(ms, runMs(maxRunSeconds))
}

export interface Picked {
  readonly task: TaskRecord
  /** The claim is the test of a half-open breaker. */
  readonly probe: boolean
}

/**
 * The tasks that this agent would get at `at`, in order. Without `asker`: those of an agent that asks for everything. With `last`: no tasks after
 * that one. Changes nothing.
 */
export const pickTasks = (tables: Tables, asker: Asker | undefined, max: number, at: number, last?: TaskRecord): ReadonlyArray<Picked> =>
  tables.counts.pending === 0 || isQueueShut(tables) ? nothing : scan(tables, asker, max, at, last).picked
const nothing: ReadonlyArray<Picked> = []

/** What a claim finds, and what it passes over. */
export interface Scan {
  readonly picked: ReadonlyArray<Picked>
  /** The scan ended early, because it passed over more than `maxQueueScanBatch` tasks. */
  readonly isCut: boolean
  /** Tasks that are left to other agents, because this agent comes last for them. */
  readonly left: ReadonlyArray<TaskRecord>
  /** Whether it passed over a task that this agent gave back. */
  readonly hasBarred: boolean
}

/**
 * Scans for a claim, unless the queue is shut: first the bumped tasks, then the others by the tenants' turns, and last the tasks that the agent
 * failed lately.
 */
export const scan = (tables: Tables, asking: Asker | undefined, max: number, at: number, last?: TaskRecord): Scan => {
  const asker = asking === undefined ? undefined : takeOver(tables, asking, at)
  const agent = asker?.agent
  const { ready, head } = tables
  const picks = new Picks(tables, agent, Math.min(max, roomOf(tables, agent, at)), at, last, new Room(at))
  if (ready.bumped.size > 0 && !isAskerShut(tables, agent, at, true)) {
    for (const task of bumpedFor(tables, asker, at)) {
      if (picks.isOver) break
      picks.offer({ task, probe: isProbe(tables, task.group.type) })
    }
  }
  if (!picks.isOver && !isAskerShut(tables, agent, at, false)) {
    const shape = ready.shapeOf(asker)
    const turns = new Turns(shape.walk((meter) => !isShut(meter) && picks.room.hasRoomFor(meter)), ready.orderAt(shape, at), tables, picks)
    while (!picks.isOver) {
      const tenant = turns.first
      if (tenant === undefined) break
      const next = tenant.take()
      if (next === undefined) turns.drop()
      else if (isBumped(next.task)) continue
      else if (picks.offer(next) && head.hasTenants) turns.charge(turnCost(tenant.share.name, head.settings.assignment.tenants))
    }
  }
  return picks.finish()
}

/** The bumped tasks of the groups from which the claim may take, in the policy's order. At most {@link bumpedMax}. */
const bumpedFor = ({ ready }: Tables, asker: Asker | undefined, at: number): ReadonlyArray<TaskRecord> =>
  inOrder(ready.policy, [...ready.bumped].filter(({ group }) => isTakeable(group) && (asker === undefined || !isGroupShut(asker, group))), at)

/** Which of the offered tasks a claim takes, and which it passes over. */
class Picks {
  /** Types whose half-open breaker has its test task already. */
  private readonly probed = new Set<string>()
  private readonly picked: Array<Picked> = []
  /** Tasks for which the agent comes last. */
  private readonly deferred: Array<Picked> = []
  private passedOver = 0
  private hasBarred = false
  private isFound = false

  constructor(
    private readonly tables: Tables,
    private readonly agent: string | undefined,
    private readonly max: number,
    private readonly at: number,
    private readonly last: TaskRecord | undefined,
    /** The room that limits leave. */
    readonly room: Room,
  ) {}

  private get isCut(): boolean {
    return this.passedOver > this.tables.head.settings.assignment.maxQueueScanBatch
  }

  get isOver(): boolean {
    return this.picked.length >= this.max || this.isFound || this.isCut
  }

  /** Offers a task. Returns whether the claim takes it now. */
  offer(next: Picked): boolean {
    const { tables, agent, at } = this
    if (!this.mayStart(next)) return false
    const isBarred = agent !== undefined && isAgentShut(next.task, agent)
    const isLast = !isBarred && agent !== undefined && lastUntil(tables, next.task, agent, at) > 0
    if (isLast) this.deferred.push(next)
    if (isBarred) this.hasBarred = true
    if (isBarred || isLast) this.passedOver++
    else this.take(next)
    return !isBarred && !isLast
  }

  /** Called when there is nothing else: takes the tasks for which the agent comes last and that no other agent could take. */
  finish(): Scan {
    const { tables, agent, deferred, picked, isCut, hasBarred } = this
    const left: Array<TaskRecord> = []
    if (agent === undefined || deferred.length === 0 || this.isFound) return { picked, isCut, left, hasBarred }
    const others = new OtherAgents(tables, agent, this.at)
    for (const next of deferred) {
      if (picked.length >= this.max || this.isFound) break
      if (!this.mayStart(next)) continue
      if (isLastShut(next.task, others)) left.push(next.task)
      else this.take(next)
    }
    return { picked, isCut, left, hasBarred }
  }

  private take(next: Picked): void {
    this.picked.push(next)
    this.isFound = next.task === this.last
    if (next.probe) this.probed.add(next.task.group.type)
    if (next.task.group.meters.length > 0) this.room.take(next.task.group)
  }

  /** Whether the task may start in addition to those that were taken. A half-open breaker admits exactly one test task (LK-15). */
  mayStart({ task: { group }, probe }: Picked): boolean {
    return !(probe && this.probed.has(group.type)) && (group.meters.length === 0 || this.room.hasRoom(group))
  }
}

/** The tenants in the order of their turns. The picks of this claim count already. */
class Turns {
  private readonly begun = new Heap<TenantTasks>((a, b) => a.turn < b.turn || (a.turn === b.turn && byName(a.share, b.share) < 0))
  /** The virtual time of the pool, with the picks. */
  private poolTurn = 0

  constructor(
    private readonly others: TurnWalk,
    private readonly order: OrderAt,
    private readonly tables: Tables,
    private readonly picks: Picks,
  ) {}

  get first(): TenantTasks | undefined {
    const { begun, others } = this
    const other = others.item
    if (other === undefined) return begun.first
    const known = begun.first
    if (known !== undefined && (known.turn < other.account.turn || (known.turn === other.account.turn && byName(known.share, other.share) < 0))) {
      return known
    }
    this.poolTurn = Math.max(this.poolTurn, other.account.pool.turn)
    const tenant = new TenantTasks(other, this.order, this.tables, this.picks)
    for (others.advance(); others.item?.share === other.share; others.advance()) addRuns(tenant.runs, others.item, this.order)
    begun.add(tenant)
    return begun.first
  }

  /** Charges the first tenant for a lease. */
  charge(cost: number): void {
    const tenant = this.begun.first
    if (tenant === undefined) return
    this.poolTurn = Math.max(this.poolTurn, tenant.turn)
    tenant.turn = this.poolTurn + cost
    this.begun.sinkFirst()
  }

  /** Removes the first tenant, which has no more tasks. */
  drop(): void {
    this.begun.removeFirst()
  }
}

/** A tenant's tasks that match the claim, best first, and its turn. */
class TenantTasks {
  turn: number
  readonly share: ShapeTurn['share']
  readonly runs = new Heap<Run>(isBetter)

  constructor(turn: ShapeTurn, order: OrderAt, private readonly tables: Tables, private readonly picks: Picks) {
    this.share = turn.share
    this.turn = turn.account.turn
    addRuns(this.runs, turn, order)
  }

  /** Takes out the next task that may start. */
  take(): Picked | undefined {
    const { tables, picks, runs } = this
    for (let run = runs.first; run?.first !== undefined; run = runs.first) {
      const { task } = run.first
      const next = { task, probe: isProbe(tables, task.group.type) }
      const isTaken = picks.mayStart(next)
      if (isTaken) run.advance()
      else run.dropGroup()
      if (run.first === undefined) runs.removeFirst()
      else runs.sinkFirst()
      if (isTaken) return next
    }
    return undefined
  }
}

/** Whether a claimed task of this type would be the test of a half-open breaker. */
const isProbe = ({ breakers }: Tables, type: string): boolean => breakers.get(type)?.state === 'half-open'
