/** Records one run from what the simulation tells its observer, and makes figures of it. */
import { type DataOf, matchesType, type QueueEvent } from '@daybook/core'
import { Fairness, jainIndex } from './fairness.js'
import { type Figures, type GroupFigures, waitsOf } from './figures.js'
import type { Observer } from './observer.js'
import { indexOfTask } from './run.js'
import { StepSeries } from './step-series.js'
import type { AgentPool, Arrival } from './workload.js'

const pieces = 96

const enum Now {
  absent,
  ready,
  /** Waits for a retry. */
  delayed,
  running,
  completed,
  dead,
  /** Cancelled or discarded. */
  gone,
}

/** What the ledger records. */
export interface Accounted {
  readonly from: number
  readonly until: number
  readonly arrivals: ReadonlyArray<Omit<Arrival, 'outcome'>>
  readonly pools: ReadonlyArray<AgentPool>
  readonly agents: ReadonlyArray<{ readonly pool: number }>
}

/** Finds the arrival of a task. An id may be given again; it then means the next arrival with that id. */
export interface TaskPlaces {
  /** A task with this id has come. Returns the index of its arrival. */
  readonly enter: (id: string) => number | undefined
  /** The index of the arrival; `undefined` if the ledger is not about it. */
  readonly of: (id: string) => number | undefined
}

/** A task at the beginning of the record. `isBegun`: it was claimed before, so its wait is over. */
export interface Before {
  readonly isBegun: boolean
  readonly now: 'ready' | 'delayed' | 'running' | 'dead'
}

/** The indexes of a task in all figures by group. */
interface Group {
  readonly kind: number
  readonly tenant: number
}

export interface LedgerRules {
  /** The weight of a tenant; `null` for tasks without one. */
  readonly weightOf: (tenant: string | null) => number
  readonly starvationLimit: number
  /** Default: those of a simulation. */
  readonly places?: TaskPlaces
}

/** The weights of the settings. A tenant may have the name of something that every object has, such as `constructor`. */
export const weightIn = (weights: Readonly<Record<string, number>>): LedgerRules['weightOf'] => {
  const byTenant = new Map(Object.entries(weights))
  const others = byTenant.get('default') ?? 1
  return (tenant) => (tenant === null ? undefined : byTenant.get(tenant)) ?? others
}

const simulated: TaskPlaces = { enter: indexOfTask, of: indexOfTask }

export class Ledger implements Observer {
  private readonly now: Uint8Array
  /** NaN until the task arrives. */
  private readonly arrivedAt: Float64Array
  private readonly startedAt: Float64Array
  private readonly endedAt: Float64Array
  /** NaN for none. */
  private readonly deadlineAt: Float64Array
  private readonly groupOf: ReadonlyArray<Group>
  private readonly tenants: ReadonlyArray<string | null>
  private readonly priorities: ReadonlyArray<number>
  private readonly kinds: ReadonlyArray<Omit<Arrival, 'outcome'>>
  private readonly waitingByTenant: ReadonlyArray<StepSeries>
  private readonly waitingByPriority: ReadonlyArray<StepSeries>
  private readonly busy: StepSeries
  private readonly capacity: StepSeries
  private readonly pools: ReadonlyArray<{ readonly busy: StepSeries; readonly places: StepSeries; crashes: number }>
  private readonly fairness: Fairness
  private readonly deadLetters = new Map<string, number>()
  private readonly breakers = new Map<string, { opened: number; heldMs: number; since: number | undefined }>()
  private readonly indexes: TaskPlaces
  /** Tasks that were claimed before the record begins. */
  private readonly begunBefore = new Set<number>()
  private readonly attempts = { started: 0, failed: 0, leasesExpired: 0, rateLimited: 0, retries: 0 }

  constructor(
    private readonly workload: Accounted,
    private readonly rules: LedgerRules,
  ) {
    const { arrivals, from, until, pools } = workload
    const series = (count = 1): StepSeries => new StepSeries(from, until, count)
    const kinds = new Map<string, Omit<Arrival, 'outcome'>>()
    const [tenants, priorities] = [new Set<string | null>(), new Set<number>()]
    for (const arrival of arrivals) {
      tenants.add(arrival.tenant ?? null)
      priorities.add(arrival.priority)
      const key = kindKey(arrival)
      if (!kinds.has(key)) kinds.set(key, arrival)
    }
    this.tenants = [...tenants].sort(byTenant)
    this.priorities = [...priorities].sort((a, b) => b - a)
    this.kinds = [...kinds.values()]
    const kindIndex = new Map([...kinds.keys()].map((key, i) => [key, i]))
    const tenantIndex = new Map(this.tenants.map((tenant, i) => [tenant, i]))
    this.groupOf = arrivals.map((arrival) => ({ kind: kindIndex.get(kindKey(arrival)) ?? 0, tenant: tenantIndex.get(arrival.tenant ?? null) ?? 0 }))
    this.now = new Uint8Array(arrivals.length)
    this.arrivedAt = new Float64Array(arrivals.length).fill(Number.NaN)
    this.startedAt = new Float64Array(arrivals.length).fill(Number.NaN)
    this.indexes = rules.places ?? simulated
    this.endedAt = new Float64Array(arrivals.length).fill(Number.NaN)
    this.deadlineAt = Float64Array.from(arrivals, ({ deadlineAt }) => deadlineAt ?? Number.NaN)
    this.waitingByTenant = this.tenants.map(() => series(pieces))
    this.waitingByPriority = this.priorities.map(() => series(pieces))
    ;[this.busy, this.capacity] = [series(pieces), series(pieces)]
    this.pools = pools.map(() => ({ busy: series(), places: series(), crashes: 0 }))
    const poolsOf = this.kinds.map((kind) => [...pools.entries()].flatMap(([i, pool]) => (mayTake(pool, kind) ? [i] : [])))
    this.fairness = new Fairness(this.tenants.map((tenant) => ({ tenant, weight: rules.weightOf(tenant) })), poolsOf, pools.map(({ claim }) => claim.tenant), from)
  }

  // -------------------------------------------------------------------------------------- what is told

  /** At the beginning of the record: the task of this arrival is in the queue already. */
  begin(index: number, { isBegun, now }: Before): void {
    this.arrivedAt[index] = this.workload.arrivals[index]?.at ?? Number.NaN
    if (isBegun) this.begunBefore.add(index)
    this.moveIndex(index, { ready: Now.ready, delayed: Now.delayed, running: Now.running, dead: Now.dead }[now], this.workload.from)
  }

  /** At the beginning of the record: the breaker of this type is open. */
  beginOpen(type: string): void {
    this.breakerMoved(type, true, this.workload.from, 0)
  }

  /** At the beginning of the record: an agent of this pool has a task. */
  beginRunning(pool: number): void {
    this.busy.change(this.workload.from, 1)
    this.pools[pool]?.busy.change(this.workload.from, 1)
  }

  readonly event = (event: QueueEvent): void => {
    const { at } = event
    switch (event.type) {
      case 'TaskEnqueued':
        return this.arrive(event.data.task, event.data.availableAt ?? 0, at)
      // An imported task did not arrive here, so it counts only among those that wait. A finished one has no place.
      case 'TaskImported':
        return event.data.status === 'dead-letter' ? void this.indexes.enter(event.data.task) : undefined
      case 'TaskAmended':
        return this.amend(event.data, at)
      case 'TaskDue':
      case 'Released':
      case 'ClaimReturned':
      case 'ClaimRevoked':
      case 'CallbackReceived':
      case 'ParkTimedOut':
      case 'Requeued':
        return this.move(event.data.task, Now.ready, at)
      case 'Completed':
        return this.finish(event.data.task, Now.completed, at)
      case 'Failed':
        this.attempts.failed++
        return this.move(event.data.task, Now.ready, at)
      case 'ClaimExpired':
        this.attempts.leasesExpired++
        return this.move(event.data.task, Now.ready, at)
      case 'RateLimited':
        this.attempts.rateLimited++
        return this.move(event.data.task, Now.delayed, at)
      case 'RetryScheduled':
      case 'TaskParked':
        return this.move(event.data.task, Now.delayed, at)
      case 'DeadLettered':
        this.deadLetters.set(event.data.reason, (this.deadLetters.get(event.data.reason) ?? 0) + 1)
        return this.finish(event.data.task, Now.dead, at)
      case 'Cancelled':
      case 'Discarded':
        return this.finish(event.data.task, Now.gone, at)
      case 'BreakerOpened':
      case 'BreakerClosed':
        return this.breakerMoved(event.data.taskType, event.type === 'BreakerOpened', at)
    }
  }

  readonly started = (at: number, pool: number, arrival: number): void => {
    this.fairness.claimed(at, pool, (this.groupOf[arrival] as Group).tenant)
    this.attempts.started++
    if (Number.isNaN(this.startedAt[arrival]) && !this.begunBefore.has(arrival)) this.startedAt[arrival] = at
    else this.attempts.retries++
    this.moveIndex(arrival, Now.running, at)
    this.busy.change(at, 1)
    this.pools[pool]?.busy.change(at, 1)
  }

  readonly ended = (at: number, pool: number): void => {
    this.busy.change(at, -1)
    this.pools[pool]?.busy.change(at, -1)
  }

  readonly places = (at: number, pool: number, change: number): void => {
    this.capacity.change(at, change)
    this.pools[pool]?.places.change(at, change)
  }

  readonly crashed = (_at: number, pool: number): void => {
    const found = this.pools[pool]
    if (found !== undefined) found.crashes++
  }

  private breakerMoved(type: string, isOpened: boolean, at: number, count = 1): void {
    const known = this.breakers.get(type) ?? { opened: 0, heldMs: 0, since: undefined }
    this.breakers.set(type, known)
    if (isOpened) known.opened += count
    if (isOpened === (known.since !== undefined)) return
    if (known.since !== undefined) known.heldMs += at - known.since
    known.since = isOpened ? at : undefined
    for (const [i, kind] of this.kinds.entries()) if (kind.type === type) this.fairness.hold(at, i, isOpened)
  }

  private arrive(task: string, availableAt: number, at: number): void {
    const index = this.indexes.enter(task)
    if (index === undefined) return
    this.arrivedAt[index] = Math.max(at, availableAt)
    this.moveIndex(index, availableAt > at ? Now.delayed : Now.ready, at)
  }

  /** Its wait is from its last `availableAt`, and its deadline is the last one. Its priority stays that with which it arrived, so that groups stay the same. */
  private amend({ task, deadlineAt, availableAt }: DataOf<'TaskAmended'>, at: number): void {
    const index = this.indexes.of(task)
    if (index === undefined) return
    if (deadlineAt !== undefined) this.deadlineAt[index] = deadlineAt ?? Number.NaN
    if (availableAt === undefined) return
    // After the first claim, the wait is over.
    if (Number.isNaN(this.startedAt[index])) this.arrivedAt[index] = availableAt ?? at
    this.moveIndex(index, availableAt === null ? Now.ready : Now.delayed, at)
  }

  private finish(task: string, to: Now, at: number): void {
    const index = this.indexes.of(task)
    if (index !== undefined) this.endedAt[index] = at
    this.move(task, to, at)
  }

  private move(task: string, to: Now, at: number): void {
    const index = this.indexes.of(task)
    if (index !== undefined) this.moveIndex(index, to, at)
  }

  private moveIndex(index: number, to: Now, at: number): void {
    const before = this.now[index] as Now
    this.now[index] = to
    const { kind, tenant } = this.groupOf[index] as Group
    const { type, priority } = this.workload.arrivals[index] as Accounted['arrivals'][number]
    const waiting = (isWaiting(to) ? 1 : 0) - (isWaiting(before) ? 1 : 0)
    if (waiting !== 0) {
      this.waitingByTenant[tenant]?.change(at, waiting)
      this.waitingByPriority[this.priorities.indexOf(priority)]?.change(at, waiting)
    }
    const ready = (to === Now.ready ? 1 : 0) - (before === Now.ready ? 1 : 0)
    if (ready !== 0) this.fairness.change(at, kind, tenant, ready, this.breakers.get(type)?.since !== undefined)
  }

  // -------------------------------------------------------------------------------------------- figures

  figures(): Figures {
    const { workload: { arrivals, until, from, pools, agents }, now, priorities, tenants, rules } = this
    const indexes = Array.from(arrivals.keys()).filter((i) => !Number.isNaN(this.arrivedAt[i]))
    const all = this.groupFigures(indexes)
    const ofPriority = grouped(indexes, (i) => arrivals[i]?.priority ?? 0)
    const ofTenant = grouped(indexes, (i) => arrivals[i]?.tenant ?? null)
    const [busy, places] = [this.busy.means(), this.capacity.means()]
    const shares = this.fairness.shares(until)
    const longestWait = all.waits.max
    return {
      arrived: indexes.length,
      completed: all.completed,
      deadLetters: Object.fromEntries([...this.deadLetters].sort()),
      waitingAtEnd: indexes.filter((i) => isWaiting(now[i] as Now)).length,
      runningAtEnd: indexes.filter((i) => now[i] === Now.running).length,
      attempts: { ...this.attempts },
      all,
      byPriority: priorities.map((priority) => ({ priority, ...this.groupFigures(ofPriority.get(priority) ?? []) })),
      byTenant: tenants.map((tenant) => ({ tenant, ...this.groupFigures(ofTenant.get(tenant) ?? []) })),
      fairness: { tenants: shares, jain: jainIndex(shares) },
      utilisation: ratio(sum(busy), sum(places)),
      pools: pools.map(({ name }, i) => {
        const { busy: worked, places: could, crashes } = this.pools[i] as (typeof this.pools)[number]
        return { name, agents: agents.filter(({ pool }) => pool === i).length, utilisation: ratio(sum(worked.means()), sum(could.means())), crashes }
      }),
      breakers: [...this.breakers]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([type, { opened, heldMs, since }]) => ({ type, opened, heldSeconds: (heldMs + (since === undefined ? 0 : until - since)) / 1_000 })),
      starvation: { limit: rules.starvationLimit, longestWait, starved: indexes.filter((i) => !this.begunBefore.has(i) && this.waitOf(i) > rules.starvationLimit).length },
      series: {
        pieceSeconds: (until - from) / pieces / 1_000,
        waitingByPriority: priorities.map((priority, i) => ({ priority, tasks: (this.waitingByPriority[i] as StepSeries).means() })),
        waitingByTenant: tenants.map((tenant, i) => ({ tenant, tasks: (this.waitingByTenant[i] as StepSeries).means() })),
        busy,
        places,
      },
    }
  }

  private groupFigures(indexes: ReadonlyArray<number>): GroupFigures {
    const { now, startedAt, endedAt, deadlineAt: deadlines, workload: { until } } = this
    const waited = indexes.filter((i) => !this.begunBefore.has(i))
    let [decided, met] = [0, 0]
    for (const i of indexes) {
      const deadlineAt = deadlines[i] as number
      if (Number.isNaN(deadlineAt)) continue
      const isCompleted = now[i] === Now.completed
      if (!isCompleted && now[i] !== Now.dead && now[i] !== Now.gone && deadlineAt >= until) continue
      decided++
      if (isCompleted && (endedAt[i] as number) <= deadlineAt) met++
    }
    return {
      waits: waitsOf(waited.map((i) => this.waitOf(i)), waited.filter((i) => Number.isNaN(startedAt[i])).length),
      deadlines: { decided, met },
      completed: indexes.filter((i) => now[i] === Now.completed).length,
      deadLetters: indexes.filter((i) => now[i] === Now.dead).length,
    }
  }

  /** The wait in seconds; the wait so far if the task has not begun. */
  private waitOf(index: number): number {
    const [arrived, started, ended] = [this.arrivedAt[index] as number, this.startedAt[index] as number, this.endedAt[index] as number]
    const until = !Number.isNaN(started) ? started : Number.isNaN(ended) ? this.workload.until : ended
    return Math.max(0, until - arrived) / 1_000
  }
}

const isWaiting = (now: Now): boolean => now === Now.ready || now === Now.delayed
const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)
const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
const byTenant = (a: string | null, b: string | null): number => (a === b ? 0 : a === null ? 1 : b === null || a < b ? -1 : 1)
const kindKey = ({ type, phase, skills }: Omit<Arrival, 'outcome'>): string => JSON.stringify([type, phase, skills])

const grouped = <K>(indexes: ReadonlyArray<number>, keyOf: (index: number) => K): ReadonlyMap<K, ReadonlyArray<number>> => {
  const groups = new Map<K, Array<number>>()
  for (const index of indexes) {
    const key = keyOf(index)
    const known = groups.get(key)
    if (known === undefined) groups.set(key, [index])
    else known.push(index)
  }
  return groups
}

/** The fields that decide who may take a task. */
export interface TaskKind {
  readonly type: string
  readonly phase?: Arrival['phase'] | undefined
  readonly skills?: ReadonlyArray<string> | undefined
}

/** Whether agents of this pool may take such tasks, of whichever tenant. The rules are the gates of the core, see `gates.ts`. */
export const mayTake = ({ claim: { types, phases, skills } }: AgentPool, { type, phase, skills: wanted = [] }: TaskKind): boolean =>
  (types === undefined || types.some((pattern) => matchesType(pattern, type))) &&
  (phases === undefined || phase === undefined || phases.includes(phase)) &&
  wanted.every((skill) => skills?.includes(skill) === true)
