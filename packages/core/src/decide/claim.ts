/**
 * Chooses the tasks of a claim (LK-06): whose turn it is among the tenants (TQM-ASSIGN-004), then, by the queue's
 * policy, the best among the first tasks of the lanes of that tenant's groups. Only the open groups that match the claim are looked at (INV-28).
 */
import * as E from 'fp-ts/lib/Either.js'
import { lastUntil, roomOf, takeOver } from '../assignment.js'
import { isBumped } from '../capacity.js'
import type { CommandOf, Envelope } from '../commands.js'
import type { QueueEvent } from '../events.js'
import { type Asker, isAgentShut, isAskerShut, isGroupShut, isLastShut, isQueueShut } from '../gates.js'
import { Heap } from '../heap.js'
import { OtherAgents } from '../other-agents.js'
import { Room } from '../limits/room.js'
import { byName, type ShapeOf } from '../ready/claim-shape.js'
import { turnCost } from '../ready/fair-share.js'
import type { Lane } from '../ready/lane.js'
import type { ShapeTurn } from '../ready/shape-turn.js'
import type { Rejection } from '../rejections.js'
import { toInstant } from '../scalars.js'
import type { Cursor } from '../sorted-list.js'
import type { TaskRecord } from '../state.js'
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
export const pickTasks = (tables: Tables, asker: Asker | undefined, max: number, at: number, last?: TaskRecord): ReadonlyArray<Picked> =>
  tables.counts.pending === 0 || isQueueShut(tables) ? nothing : scan(tables, asker, max, at, last).picked
const nothing: ReadonlyArray<Picked> = []

/** What a claim finds, and what it passes over. */
export interface Scan {
  readonly picked: ReadonlyArray<Picked>
  /** It ended early, because it passed over more than `maxQueueScanBatch` tasks. */
  readonly isCut: boolean
  /** Tasks that it does not take, because the agent comes last for them and others can take them. */
  readonly left: ReadonlyArray<TaskRecord>
}

/** A claim, unless the queue is shut: first the bumped tasks, then the others by turns, last those that the agent failed lately. */
export const scan = (tables: Tables, asking: Asker | undefined, max: number, at: number, last?: TaskRecord): Scan => {
  const asker = asking === undefined ? undefined : takeOver(tables, asking, at)
  const agent = asker?.agent
  const { ready, head } = tables
  const picks = new Picks(tables, agent, Math.min(max, roomOf(tables, agent, at)), at, last, new Room(at))
  const heads = new Heads(tables, at)
  if (ready.bumped.size > 0 && !isAskerShut(tables, agent, at, true)) {
    for (const task of bumpedFor(tables, asker, at)) {
      if (picks.isOver) break
      picks.offer({ task, probe: heads.isProbe(task.group.type) })
    }
  }
  if (!picks.isOver && !isAskerShut(tables, agent, at, false)) {
    const turns = new Turns(ready.shapeOf(asker).turns.cursor(), heads, picks.probed, picks.room)
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

/** The bumped tasks of the groups from which the claim may take, in the policy's order. There are {@link bumpedMax} at most. */
const bumpedFor = ({ ready }: Tables, asker: Asker | undefined, at: number): ReadonlyArray<TaskRecord> =>
  [...ready.bumped]
    .filter(({ group }) => group.isOpen && (asker === undefined || !isGroupShut(asker, group)))
    .sort((a, b) => (ready.policy.isBefore(a, b, at) ? -1 : 1))

/** What a claim takes of the tasks that it is offered, and what it passes over. */
class Picks {
  /** Types whose breaker has got its test task. */
  readonly probed = new Set<string>()
  private readonly picked: Array<Picked> = []
  /** For which the agent comes last. */
  private readonly deferred: Array<Picked> = []
  private passedOver = 0
  private isFound = false

  constructor(
    private readonly tables: Tables,
    private readonly agent: string | undefined,
    private readonly max: number,
    private readonly at: number,
    private readonly last: TaskRecord | undefined,
    /** What limits leave. */
    readonly room: Room,
  ) {}

  private get isCut(): boolean {
    return this.passedOver > this.tables.head.settings.assignment.maxQueueScanBatch
  }

  get isOver(): boolean {
    return this.picked.length >= this.max || this.isFound || this.isCut
  }

  /** Whether it takes the task now. */
  offer(next: Picked): boolean {
    const { tables, agent, at } = this
    if (!this.mayStart(next)) return false
    const isBarred = agent !== undefined && isAgentShut(next.task, agent)
    const isLast = !isBarred && agent !== undefined && lastUntil(tables, next.task, agent, at) > 0
    if (isLast) this.deferred.push(next)
    if (isBarred || isLast) this.passedOver++
    else this.take(next)
    return !isBarred && !isLast
  }

  /** When there is nothing else: takes tasks for which the agent comes last, and that no other agent could take. */
  finish(): Scan {
    const { tables, agent, deferred, picked, isCut } = this
    const left: Array<TaskRecord> = []
    if (agent === undefined || deferred.length === 0 || this.isFound) return { picked, isCut, left }
    const others = new OtherAgents(tables, agent, this.at)
    for (const next of deferred) {
      if (picked.length >= this.max || this.isFound) break
      if (!this.mayStart(next)) continue
      if (isLastShut(next.task, others)) left.push(next.task)
      else this.take(next)
    }
    return { picked, isCut, left }
  }

  private take(next: Picked): void {
    this.picked.push(next)
    this.isFound = next.task === this.last
    if (next.probe) this.probed.add(next.task.group.type)
    if (next.task.group.meters.length > 0) this.room.take(next.task.group)
  }

  /** Whether it may start after those that were taken. A half-open breaker admits exactly one test task (LK-15). */
  private mayStart({ task: { group }, probe }: Picked): boolean {
    return !(probe && this.probed.has(group.type)) && (group.meters.length === 0 || this.room.hasRoom(group))
  }
}

/** The tenants in the order of their turns, those included that grow with the picks of this claim. */
class Turns {
  private readonly begun = new Heap<TenantTasks>((a, b) => a.turn < b.turn || (a.turn === b.turn && byName(a.share, b.share) < 0))

  constructor(
    private readonly others: Cursor<ShapeTurn>,
    private readonly heads: Heads,
    /** Types whose breaker has got its test task. */
    private readonly probed: ReadonlySet<string>,
    /** What limits leave for this claim. */
    private readonly room: Room,
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
    begun.add(new TenantTasks(other, this.heads, this.probed, this.room))
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
    return passOver(cursor, this.misplaced)
  }
}

const passOver = (cursor: Cursor<TaskRecord>, tasks: ReadonlySet<TaskRecord> | undefined): Cursor<TaskRecord> => {
  if (tasks !== undefined) while (cursor.item !== undefined && tasks.has(cursor.item)) cursor.advance()
  return cursor
}

/** The same for lanes whose first tasks are kept in order: a cursor is made only for a lane from which a task is taken. */
class SortedLanes {
  task: TaskRecord | undefined
  private readonly untouched: Cursor<TaskRecord>
  private touched: Heap<Cursor<TaskRecord>> | undefined
  private isUntouched = true

  /** `heads`: the first tasks. */
  constructor(
    private readonly heads: Lane,
    private readonly misplaced: ReadonlySet<TaskRecord> | undefined,
  ) {
    this.untouched = heads.cursor()
    this.find()
  }

  advance(): void {
    const { untouched, touched } = this
    if (this.isUntouched) {
      this.touch(untouched.item as TaskRecord)
      untouched.advance()
    } else {
      const first = touched?.first
      first?.advance()
      if (first === undefined || this.skip(first).item === undefined) touched?.removeFirst()
      else touched?.sinkFirst()
    }
    this.find()
  }

  /** Leaves out the rest of the lane that has the first task. */
  dropFirst(): void {
    if (this.isUntouched) this.untouched.advance()
    else this.touched?.removeFirst()
    this.find()
  }

  private find(): void {
    const { untouched, misplaced, heads } = this
    while (untouched.item !== undefined && misplaced?.has(untouched.item) === true) {
      this.touch(untouched.item)
      untouched.advance()
    }
    const [head, next] = [untouched.item, this.touched?.first?.item]
    this.isUntouched = next === undefined || (head !== undefined && heads.isFirst(head, next))
    this.task = this.isUntouched ? head : next
  }

  /** The lane of this first task goes on after it. */
  private touch(task: TaskRecord): void {
    const { heads } = this
    const lane = task.group.lanes.find(({ id }) => id === heads.id)
    if (lane === undefined || lane.size === 1) return
    const cursor = lane.cursor()
    cursor.advance()
    if (this.skip(cursor).item === undefined) return
    this.touched ??= new Heap((a, b) => heads.isFirst(a.item as TaskRecord, b.item as TaskRecord))
    this.touched.add(cursor)
  }

  private skip(cursor: Cursor<TaskRecord>): Cursor<TaskRecord> {
    return passOver(cursor, this.misplaced)
  }
}

const none: ReadonlyArray<never> = []

/** Tasks in an order that holds at any time. */
type Run = Lanes | SortedLanes
/** Where the tasks of groups begin at an instant. */
class Heads {
  private readonly isBefore: (a: Run, b: Run) => boolean
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

  of(turn: ShapeTurn): Heap<Run> {
    const heap = new Heap(this.isBefore)
    for (const run of turn.heads === undefined ? this.looked(turn) : this.sorted(turn.heads)) if (run.task !== undefined) heap.add(run)
    for (const task of this.misplaced ?? none) {
      if (!turn.has(task.group)) continue
      const alone = new Lanes()
      alone.task = task
      heap.add(alone)
    }
    return heap
  }

  private looked(turn: ShapeTurn): Iterable<Run> {
    const byId = new Map<number, Lanes>()
    for (const group of turn) {
      for (const lane of group.lanes) {
        let lanes = byId.get(lane.id)
        if (lanes === undefined) byId.set(lane.id, (lanes = new Lanes(this.misplaced)))
        lanes.add(lane)
      }
    }
    return byId.values()
  }

  private *sorted(heads: ReadonlyMap<number, Lane>): Iterable<Run> {
    for (const lane of heads.values()) yield new SortedLanes(lane, this.misplaced)
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
  private readonly lanes: Heap<Run>

  constructor(turn: ShapeTurn, private readonly heads: Heads, private readonly probed: ReadonlySet<string>, private readonly room: Room) {
    this.share = turn.share
    this.turn = turn.share.turn
    this.lanes = heads.of(turn)
  }

  /** The next task, which is taken out. */
  take(): Picked | undefined {
    const { heads, lanes, probed, room } = this
    for (let first = lanes.first; first !== undefined; first = lanes.first) {
      const task = first.task as TaskRecord
      const { group } = task
      const { type, meters } = group
      const probe = heads.isProbe(type)
      const isTaken = (probe && probed.has(type)) || (meters.length > 0 && !room.hasRoom(group))
      if (isTaken) first.dropFirst()
      else first.advance()
      if (first.task === undefined) lanes.removeFirst()
      else lanes.sinkFirst()
      if (!isTaken) return { task, probe }
    }
    return undefined
  }
}
