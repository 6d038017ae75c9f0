/**
 * INV-12, judged by the log alone: who had ready tasks, and who got the leases. Nothing here knows of turns or pools. So these laws would hold for any
 * right implementation.
 */
import { type Command, type CommandOf, fork, keepShape, mark, type QueueEvent, rollback } from '@daybook/core'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { textOf } from '../support/states/index.js'
import { Queue, task } from '../core/queue.js'
import { runs } from './settings.js'
import { holds } from './world.js'

const weights: Readonly<Record<string, number>> = { a: 1, b: 2, c: 3, d: 0.5 }
const tenants = ['none', ...Object.keys(weights)]
const weightOf = (tenant: string): number => weights[tenant] ?? 1
const types = ['x', 'y', 'z']

type Fleet = Pick<CommandOf<'Claim'>, 'types' | 'tenant'>
/** The agents of each fleet have its name. None of these takes tasks of type x, except the first. */
const others: Readonly<Record<string, Fleet>> = {
  x: { types: ['x'] },
  y: { types: ['y'] },
  'y and z': { types: ['y', 'z'] },
  'all z': { types: ['z*'] },
  'z of a': { types: ['z'], tenant: 'a' },
}
const fleets: Readonly<Record<string, Fleet>> = { ...others, all: {}, 'x and y': { types: ['x', 'y'] }, 'x of b': { types: ['x'], tenant: 'b' }, 'all of c': { tenant: 'c' } }

type Step =
  | { readonly kind: 'enqueue'; readonly tenant: string; readonly type: string; readonly count: number }
  | { readonly kind: 'claim'; readonly fleet: string; readonly max: number }
  | { readonly kind: 'complete'; readonly pick: number }
  | { readonly kind: 'limit'; readonly key: string; readonly concurrency: number }
  | { readonly kind: 'breaker'; readonly type: string; readonly isOpened: boolean }
  /** These change no decision. */
  | { readonly kind: 'fork' }
  | { readonly kind: 'keep'; readonly fleet: string }
  | { readonly kind: 'undo'; readonly steps: ReadonlyArray<Step> }

const work = (of: Readonly<Record<string, Fleet>>) => [
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('enqueue' as const), tenant: fc.constantFrom(...tenants), type: fc.constantFrom('x', ...types), count: fc.constantFrom(1, 1, 2, 8) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('claim' as const), fleet: fc.constantFrom('x', 'x', ...Object.keys(of)), max: fc.constantFrom(1, 1, 1, 4) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('complete' as const), pick: fc.nat({ max: 50 }) }) },
]
const limitKeys = ['type:x', 'type:*', 'tenant:a', 'tenant:c', 'tenant:*']
const gates = [
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('limit' as const), key: fc.constantFrom(...limitKeys), concurrency: fc.constantFrom(0, 1, 2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('breaker' as const), type: fc.constantFrom(...types), isOpened: fc.boolean() }) },
]
const asides = (of: Readonly<Record<string, Fleet>>, undone: fc.Arbitrary<Step>) => [
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fork' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('keep' as const), fleet: fc.constantFrom(...Object.keys(of)) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('undo' as const), steps: fc.array(undone, { minLength: 1, maxLength: 8, size: 'max' }) }) },
]
const stepsOf = (...kinds: ReadonlyArray<fc.WeightedArbitrary<Step>>): fc.Arbitrary<ReadonlyArray<Step>> =>
  fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 150, size: 'max' })

/** Runs the steps on a queue. */
class Run {
  readonly q = new Queue().configure({ retentionSeconds: 0, assignment: { tenants: weights } })
  private held: Array<{ readonly task: string; readonly agent: string; readonly token: number }> = []
  private lastId = 0

  static of(steps: ReadonlyArray<Step>): Run {
    const run = new Run()
    for (const step of steps) run.take(step)
    return run
  }

  private take(step: Step): void {
    const { q } = this
    switch (step.kind) {
      case 'enqueue': {
        const { tenant, type, count } = step
        return void q.enqueue(...Array.from({ length: count }, () => task(`t${++this.lastId}`, { type, ...(tenant === 'none' ? {} : { tenant }) })))
      }
      case 'claim':
        for (const { task: id, token } of q.ask({ type: 'Claim', agent: step.fleet, max: step.max, ...fleets[step.fleet] })) this.held.push({ task: id, agent: step.fleet, token })
        return
      case 'complete': {
        const [done] = this.held.splice(step.pick % Math.max(1, this.held.length), 1)
        if (done !== undefined) q.complete(done.task, done.token, true, done.agent)
        return
      }
      case 'limit':
        return this.tried(step.concurrency === 0 ? { type: 'RemoveLimit', key: step.key } : { type: 'SetLimit', key: step.key, concurrency: step.concurrency })
      case 'breaker':
        return this.tried({ type: step.isOpened ? 'OpenBreaker' : 'CloseBreaker', taskType: step.type, reason: 'r' })
      case 'fork':
        q.state = fork(q.state)
        return
      case 'keep':
        return void keepShape(q.state, fleets[step.fleet] ?? {})
      case 'undo': {
        const [point, events, held, id] = [mark(q.state), q.log.length, [...this.held], this.lastId]
        for (const each of step.steps) this.take(each)
        q.state = rollback(q.state, point)
        q.log.length = events
        this.held = held
        this.lastId = id
      }
    }
  }

  private tried(command: Command): void {
    if (this.q.accepts(command)) this.q.do(command)
  }
}

/** Who has ready tasks, and what may start, by the log. */
class Known {
  private readonly tasks = new Map<string, { readonly tenant: string; readonly type: string }>()
  private readonly ready = new Map<string, number>()
  private readonly live = new Map<string, number>()
  private readonly limits = new Map<string, number>()
  private readonly open = new Set<string>()

  of(id: string): { readonly tenant: string; readonly type: string } {
    const known = this.tasks.get(id)
    if (known === undefined) throw new Error(`no task ${id}`)
    return known
  }

  /** Whether the tenant has a ready task of a type; without a type, any. */
  isReady(tenant: string, type?: string): boolean {
    return type === undefined ? types.some((each) => this.isReady(tenant, each)) : (this.ready.get(`${tenant} ${type}`) ?? 0) > 0
  }

  /** Whether the fleet may take a task of the tenant now. */
  mayTake({ types: asked, tenant: named }: Fleet, tenant: string): boolean {
    const isAsked = (type: string): boolean => asked === undefined || asked.some((pattern) => pattern === type || pattern === `${type}*`)
    const isFree = (key: string): boolean => (this.live.get(key) ?? 0) < (this.limits.get(key) ?? this.limits.get(`${key.slice(0, key.indexOf(':'))}:*`) ?? Number.POSITIVE_INFINITY)
    return (named === undefined || named === tenant) &&
      types.some((type) => isAsked(type) && this.isReady(tenant, type) && !this.open.has(type) && isFree(`type:${type}`) && (tenant === 'none' || isFree(`tenant:${tenant}`)))
  }

  fold(event: QueueEvent): void {
    const add = (counts: Map<string, number>, key: string, by: number): void => void counts.set(key, (counts.get(key) ?? 0) + by)
    const live = (id: string, by: number): void => {
      const { tenant, type } = this.of(id)
      for (const key of [`type:${type}`, `tenant:${tenant}`]) add(this.live, key, by)
    }
    switch (event.type) {
      case 'TaskEnqueued': {
        const { task: id, type, tenant = 'none' } = event.data
        this.tasks.set(id, { tenant, type })
        return add(this.ready, `${tenant} ${type}`, 1)
      }
      case 'Claimed': {
        const { tenant, type } = this.of(event.data.task)
        live(event.data.task, 1)
        return add(this.ready, `${tenant} ${type}`, -1)
      }
      case 'Completed':
        return live(event.data.task, -1)
      case 'LimitSet':
        return void this.limits.set(event.data.limit, event.data.concurrency ?? 0)
      case 'LimitRemoved':
        return void this.limits.delete(event.data.limit)
      case 'BreakerOpened':
        return void this.open.add(event.data.taskType)
      case 'BreakerClosed':
        return void this.open.delete(event.data.taskType)
      default:
    }
  }
}

/** By two tenants. */
class Pairs<T> extends Map<string, T> {
  private constructor(private readonly start: () => T) {
    super()
  }

  static from<T>(start: () => T): Pairs<T> {
    return new Pairs(start)
  }

  at(one: string, other: string): T {
    const known = this.get(`${one} ${other}`) ?? this.start()
    this.set(`${one} ${other}`, known)
    return known
  }

  forget(one: string, other: string): void {
    this.delete(`${one} ${other}`)
  }
}

/** The bound of start-time fair queueing, over every interval in which both tenants have ready tasks of type x. Only fleet x takes these, without gates. */
const sharesOfX = (log: ReadonlyArray<QueueEvent>): void => {
  const known = new Known()
  /** For two tenants that both have ready tasks: how far one is ahead of the other by leases per weight, and the least and the most since they have. */
  const leads = Pairs.from(() => ({ now: 0, least: 0, most: 0 }))
  for (const event of log) {
    if (event.type === 'Claimed') {
      const { tenant, type } = known.of(event.data.task)
      for (const other of type === 'x' ? tenants : []) {
        if (other === tenant || !known.isReady(other, 'x')) continue
        for (const [one, two, by] of [[tenant, other, 1], [other, tenant, -1]] as const) {
          const lead = leads.at(one, two)
          lead.now += by / weightOf(tenant)
          lead.least = Math.min(lead.least, lead.now)
          lead.most = Math.max(lead.most, lead.now)
          holds(lead.most - lead.least <= 1 / weightOf(one) + 1 / weightOf(two) + 1e-9, () => `${one} is ${lead.now} leases per weight ahead of ${two}, and was ${lead.least} and ${lead.most}`)
        }
      }
    }
    known.fold(event)
    for (const one of tenants) for (const two of tenants) if (!known.isReady(one, 'x') || !known.isReady(two, 'x')) leads.forget(one, two)
  }
}

/**
 * A tenant waits for at most wB/wA + 1 leases of each other tenant B, in each fleet by itself, whatever the other fleets do. Leases during which the
 * fleet may not take its tasks are not counted. So a tenant that comes back, or was kept from its tasks, has saved no credit either: more than that
 * the others never wait for it.
 */
const nobodyStarves = (log: ReadonlyArray<QueueEvent>): void => {
  for (const [name, fleet] of Object.entries(fleets)) {
    // By whose leases this fleet chooses: those of its type, or all.
    const only = fleet.types?.length === 1 && fleet.types[0]?.endsWith('*') === false ? fleet.types[0] : undefined
    starvesNobody(log, name, fleet, only)
  }
}

const starvesNobody = (log: ReadonlyArray<QueueEvent>, name: string, fleet: Fleet, only: string | undefined): void => {
  const known = new Known()
  const waits = Pairs.from(() => ({ leases: 0 }))
  for (const event of log) {
    if (event.type === 'Claimed') {
      const { tenant, type } = known.of(event.data.task)
      if (event.data.agent === name) {
        for (const waiting of tenants) {
          if (waiting === tenant || !known.mayTake(fleet, waiting)) continue
          const wait = waits.at(waiting, tenant)
          holds(++wait.leases <= Math.floor(weightOf(tenant) / weightOf(waiting)) + 1, () => `fleet ${name} grants ${tenant} ${wait.leases} leases, and ${waiting} waits`)
        }
      }
      if (only === undefined || only === type) for (const other of tenants) waits.forget(tenant, other)
    }
    known.fold(event)
    for (const tenant of tenants) if (!known.isReady(tenant, only)) for (const other of tenants) waits.forget(tenant, other)
  }
}

test('INV-12: while two tenants have ready tasks of a type, their leases per weight in the fleet for it differ by at most one of each', () => {
  fc.assert(fc.property(stepsOf(...work(others), ...asides(others, fc.oneof(...work(others)))), (steps) => sharesOfX(Run.of(steps).q.log)), runs(300))
})

test('INV-12: in no fleet a tenant waits for more than its share of the leases of another one, whatever other fleets do and whatever was shut', () => {
  fc.assert(fc.property(stepsOf(...work(fleets), ...gates, ...asides(fleets, fc.oneof(...work(fleets), ...gates))), (steps) => nobodyStarves(Run.of(steps).q.log)), runs(300))
})

test('INV-12: whose turn it is depends neither on snapshots, nor on what was undone, nor on which shapes of claims are kept', () => {
  fc.assert(
    fc.property(stepsOf(...work(fleets), ...gates, ...asides(fleets, fc.oneof(...work(fleets), ...gates))), (steps) => {
      const plain = Run.of(steps.filter(({ kind }) => kind !== 'fork' && kind !== 'keep' && kind !== 'undo'))
      const run = Run.of(steps)
      expect(run.q.log).toEqual(plain.q.log)
      expect(textOf(run.q.state)).toBe(textOf(plain.q.state))
    }),
    runs(200),
  )
})
