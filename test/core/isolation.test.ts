/** TEN-1: in an isolated queue, a task is neither found by, nor a duplicate of, nor blocked by, nor cancelled with a task of another tenant. */
import { type Command, decide, eventCodecs, fork, headOf, isUnder, listTasks, mark, type PreparedTask, rollback, type SettingsPatch, statuses, summaryForTenants, under } from '@daybook/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { differenceOf, textOf } from '../support/states/index.js'
import { Queue, task } from './queue.js'

const isolated = (): Queue => new Queue().configure({ tenants: 'isolated' })
const of = (tenant: string, name: string, more: Partial<PreparedTask> = {}): PreparedTask => task(under(tenant, name), { tenant, ...more })
const hash = 'a1'.repeat(32)
const refusal = (q: Queue, tasks: ReadonlyArray<PreparedTask>): string => {
  const decision = decide({ type: 'Enqueue', tasks }, { at: q.at, random: 0 })(q.state)
  return decision._tag === 'Right' ? 'accepted' : `${decision.left.code}: ${decision.left.detail}`
}
const keysOf = (q: Queue): ReadonlyArray<string> => q.log.flatMap((event) => (event.type === 'TaskEnqueued' ? [event.data.idempotencyKey] : []))

describe('names', () => {
  const rows: ReadonlyArray<readonly [string, PreparedTask, string]> = [
    ['no tenant', task('a'), 'tasks[0].tenant: is required'],
    ['a tenant with a space', task('a', { tenant: 'Acme Inc' }), 'tasks[0].tenant: must be another'],
    ['a tenant with a colon', task('a:b:c', { tenant: 'a:b' }), 'tasks[0].tenant: must be another'],
    ['a tenant that begins keys of limits', of('type', 'a'), 'tasks[0].tenant: must be another'],
    ['an id of another tenant', of('globex', 'a', { tenant: 'acme' }), 'tasks[0].id: is one of tenant globex'],
    ['a key that would be too long', of('acme', 'a', { idempotencyKey: 'k'.repeat(124) }), 'tasks[0].idempotencyKey: must have at most 123 characters'],
    ['an ordering key that would be too long', of('acme', 'a', { orderingKey: 'k'.repeat(124) }), 'tasks[0].orderingKey: must have at most 123'],
  ]
  test.each(rows)('TEN-1: %s is refused', (_, given, why) => {
    expect(refusal(isolated(), [given])).toContain(why)
    expect(refusal(new Queue(), [given])).toBe('accepted')
  })

  test('TEN-1: keys and made ids are kept under the tenant, and the reply has them', () => {
    const q = isolated()
    const given = task('0192', { tenant: 'acme', isMadeId: true, idempotencyKey: hash, isContentKey: true, orderingKey: 'line', concurrencyKey: 'smtp', concurrencyLimit: 2 })
    expect(q.ask({ type: 'Enqueue', tasks: [given] })).toMatchObject([{ id: 'acme:0192', duplicate: false }])
    expect(q.ask({ type: 'Enqueue', tasks: [given] })).toMatchObject([{ id: 'acme:0192', duplicate: true, duplicateBy: 'id' }])
    expect(q.ask({ type: 'Enqueue', tasks: [{ ...given, id: '0193' }] })).toMatchObject([{ id: 'acme:0192', duplicate: true, duplicateBy: 'content' }])
    expect(q.log).toContainEqual(expect.objectContaining({ data: expect.objectContaining({ task: 'acme:0192', idempotencyKey: `acme:${hash}`, orderingKey: 'acme:line', concurrencyKey: 'acme:smtp' }) }))
    expect(q.log).toContainEqual(expect.objectContaining({ type: 'LimitSet', data: { limit: 'acme:smtp', concurrency: 2 } }))
  })

  test('TEN-1: ids without a tenant, as the queue itself makes them, are taken: no token for tenants can give them', () => {
    expect(refusal(isolated(), [task('nightly@2026-01-05T02:00:00.000Z', { tenant: 'acme' })])).toBe('accepted')
  })

  test('TEN-1: a key that is under the tenant already stays as it is', () => {
    const q = isolated()
    q.enqueue(of('acme', 'a', { idempotencyKey: 'acme:k' }))
    expect(keysOf(q)).toEqual(['acme:k'])
  })
})

describe('what tasks have in common', () => {
  test('TEN-1: equal keys and equal contents of two tenants are two tasks', () => {
    const q = isolated()
    for (const shared of [{ idempotencyKey: 'k' }, { idempotencyKey: hash, isContentKey: true as const }]) {
      const tasks = ['acme', 'globex'].map((tenant) => of(tenant, `a ${shared.idempotencyKey.length}`, shared))
      expect(q.ask({ type: 'Enqueue', tasks }).map(({ duplicate }) => duplicate)).toEqual([false, false])
    }
    expect(new Set(keysOf(q)).size).toBe(4)
  })

  test("TEN-1: a dependency on another tenant's task is answered like one on a task that does not exist", () => {
    const q = isolated()
    q.enqueue(of('globex', 'there'))
    const asked = (dependency: string): string => refusal(q, [of('acme', 'a', { dependencies: [dependency] })]).replaceAll(dependency, 'D')
    expect(asked('globex:there')).toBe(asked('globex:nowhere'))
    // Also in the same request.
    expect(refusal(q, [of('globex', 'new'), of('acme', 'a', { dependencies: ['globex:new'] })])).toContain('unknown-dependency')
    expect(refusal(q, [of('globex', 'new'), of('globex', 'a', { dependencies: ['globex:new'] })])).toBe('accepted')
  })

  test('TEN-1: tasks of the same ordering key of two tenants do not wait for each other', () => {
    const q = isolated()
    q.enqueue(of('globex', 'first', { orderingKey: 'line' }), of('acme', 'second', { orderingKey: 'line' }), of('acme', 'third', { orderingKey: 'line' }))
    expect(['globex:first', 'acme:second', 'acme:third'].map((id) => q.task(id).status)).toEqual(['pending', 'pending', 'blocked'])
  })

  test('TEN-1: a callback is kept under the tenant of the task that waits', () => {
    const q = isolated()
    q.enqueue(of('acme', 'a'), of('globex', 'a'))
    for (const tenant of ['acme', 'globex']) {
      const [claimed] = q.ask({ type: 'Claim', agent: 'w', max: 1, tenant })
      q.do({ type: 'Park', task: claimed?.task ?? '', agent: 'w', token: claimed?.token ?? 0, callbackKey: 'paid', timeoutSeconds: 60 })
    }
    expect(q.accepts({ type: 'Callback', callbackKey: 'paid', content: '{}' })).toBe(false)
    expect(q.ask({ type: 'Callback', callbackKey: 'acme:paid', content: '{}' })).toMatchObject({ task: 'acme:a' })
    expect(q.task('globex:a').status).toBe('waiting')
  })

  test('TEN-1: an agent under a tenant claims and registers for it alone', () => {
    const q = isolated()
    const accepts = (agent: string, tenant?: string): ReadonlyArray<boolean> => {
      const where = tenant === undefined ? { agent } : { agent, tenant }
      return [q.accepts({ type: 'Claim', max: 1, ...where }), q.accepts({ type: 'RegisterAgent', ...where })]
    }
    expect(accepts('acme:w', 'acme')).toEqual([true, true])
    expect(accepts('w')).toEqual([true, true])
    for (const tenant of [undefined, 'globex']) expect(accepts('acme:w', tenant)).toEqual([false, false])
    expect(new Queue().accepts({ type: 'Claim', agent: 'acme:w', max: 1 })).toBe(true)
  })

  test('TEN-1: a schedule of an isolated queue names its tenant, and its runs are kept apart like other tasks', () => {
    const q = isolated()
    const schedule = (more: object) => ({ type: 'CreateSchedule' as const, name: 'nightly', every: 60, task: { type: 't', orderingKey: 'line', ...more } })
    expect(q.accepts(schedule({}))).toBe(false)
    q.do(schedule({ tenant: 'acme' }))
    q.wait(61)
    const runs = q.log.flatMap((event) => (event.type === 'TaskEnqueued' ? [event.data] : []))
    expect(runs).toMatchObject([{ orderingKey: 'acme:line' }])
    expect(isUnder('acme', runs[0]?.idempotencyKey ?? '')).toBe(true)
  })

  test.each(['orderingKey', 'concurrencyKey'])('TEN-1 INV-24: a schedule, or the callback of a batch, whose %s would be too long is refused, because the event of its task could not be read', (name) => {
    const given = (length: number) => ({ type: 't', tenant: 'acme', [name]: 'k'.repeat(length) })
    const schedule = (length: number): Command => ({ type: 'CreateSchedule', name: 'nightly', every: 60, task: given(length) })
    const batch = (length: number): Command => ({ type: 'CreateBatch', id: 'acme:b', tenant: 'acme', tasks: [], callback: given(length) })
    const q = isolated()
    expect(q.refuse(schedule(124)).detail).toContain(`task.${name}: must have at most 123 characters`)
    expect(q.refuse(batch(124)).detail).toContain(`callback.${name}: must have at most 123 characters`)
    expect([new Queue().accepts(schedule(124)), new Queue().accepts(batch(124))]).toEqual([true, true])
    q.do(schedule(123))
    expect(q.refuse({ type: 'ChangeSchedule', name: 'nightly', task: given(124) }).code).toBe('invalid')
    q.do(batch(123))
    q.wait(61)
    const added = q.log.flatMap((event) => (event.type === 'TaskEnqueued' ? [event.data] : []))
    expect(added).toHaveLength(2)
    for (const data of added) expect(eventCodecs.TaskEnqueued.is(data)).toBe(true)
  })
})

test('TEN-1: whether tenants are isolated can be set only while the queue is empty', () => {
  const q = new Queue()
  const accepts = (tenants: SettingsPatch['tenants'] & string): boolean => q.accepts({ type: 'Configure', patch: { tenants } })
  expect(headOf(q.state).settings.tenants).toBe('shared')
  expect(accepts('isolated')).toBe(true)
  q.enqueue(task('a'))
  expect(accepts('shared')).toBe(true)
  expect(accepts('isolated')).toBe(false)
  // A finished task is still known.
  q.do({ type: 'Cancel', task: 'a', reason: 'r' })
  expect(accepts('isolated')).toBe(false)
  q.wait(604_801)
  expect(accepts('isolated')).toBe(true)
  const other = isolated()
  other.enqueue(of('acme', 'a'))
  expect(other.accepts({ type: 'Configure', patch: { tenants: 'shared' } })).toBe(false)
})

// ------------------------------------------------------------------------------------ any requests

const tenants = ['acme', 'globex'] as const
const name = fc.constantFrom('a', 'b', 'c')
const anyTask = fc.record({
  tenant: fc.constantFrom(...tenants), over: fc.constantFrom(...tenants), name, key: name, line: fc.option(name),
  isMade: fc.boolean(), dependency: fc.option(fc.record({ tenant: fc.constantFrom(...tenants), name })),
})
const requests = fc.array(fc.array(anyTask, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 })
type Spec = typeof anyTask extends fc.Arbitrary<infer A> ? A : never
const taskOfSpec = ({ tenant, over, name: id, key, line, isMade, dependency }: Spec): PreparedTask =>
  task(isMade ? id : under(over, id), {
    tenant,
    idempotencyKey: key,
    ...(isMade ? { isMadeId: true as const } : {}),
    ...(line === null ? {} : { orderingKey: line }),
    ...(dependency === null ? {} : { dependencies: [under(dependency.tenant, dependency.name)] }),
  })

/** The queue's answers to the requests of one tenant alone. */
const saidTo = (tenant: string, all: ReadonlyArray<ReadonlyArray<Spec>>, mixed: boolean, settings: SettingsPatch = { tenants: 'isolated' }): ReadonlyArray<string> => {
  const q = new Queue().configure(settings)
  const said: Array<string> = []
  for (const request of all) {
    for (const spec of request) {
      const isOwn = spec.tenant === tenant
      if (!isOwn && !mixed) continue
      const command = { type: 'Enqueue' as const, tasks: [taskOfSpec(spec)] }
      const decision = decide(command, { at: q.at, random: 0 })(q.state)
      const answer = decision._tag === 'Left' ? decision.left : q.ask(command).map(({ number: _, ...rest }) => rest)
      if (isOwn) said.push(JSON.stringify(answer).replace(/ \(#\d+\)/g, ''))
    }
  }
  return said
}

test('TEN-1: what a tenant is told about its tasks does not depend on what the other one enqueues', () => {
  fc.assert(fc.property(requests, (all) => void expect(saidTo('acme', all, true)).toEqual(saidTo('acme', all, false))), { numRuns: 200 })
})

test('TEN-1: teeth: in a queue that is not isolated it does', () => {
  const shared = fc.property(requests, (all) => JSON.stringify(saidTo('acme', all, true, {})) === JSON.stringify(saidTo('acme', all, false, {})))
  expect(fc.check(shared, { seed: 65, numRuns: 200 }).failed).toBe(true)
})

describe('figures of a tenant', () => {
  const figures = ({ state, at }: Pick<Queue, 'state' | 'at'>, tenants: ReadonlyArray<string>) => summaryForTenants(state, new Set(tenants), at)
  /** The same figures, counted over the list of tasks. */
  const counted = ({ state, at }: Pick<Queue, 'state' | 'at'>, tenants: ReadonlyArray<string>) => {
    const found = tenants.flatMap((tenant) => listTasks(state, { tenant }, 1_000, undefined, at).tasks)
    return { paused: null, total: found.length, byStatus: Object.fromEntries(statuses.map((status) => [status, found.filter((each) => each.status === status).length])) }
  }
  type Step = (q: Queue, n: number) => void
  const one = fc.constantFrom(...tenants)
  const agentOf = (tenant: string): string => `${tenant}:w`
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.tuple(one, fc.constantFrom('plain', 'later', 'in line')).map(([tenant, kind]): Step => (q, n) =>
      void q.enqueue(of(tenant, `t${n}`, kind === 'later' ? { availableAt: q.at + 30_000 } : kind === 'in line' ? { orderingKey: 'line' } : {}))),
    fc.tuple(one, fc.constantFrom('complete', 'kill', 'hold')).map(([tenant, end]): Step => (q) => {
      const { ids: [id], token } = q.claim(agentOf(tenant), { tenant })
      if (id !== undefined && end === 'complete') q.complete(id, token, true, agentOf(tenant))
      if (id !== undefined && end === 'kill') q.fail(id, token, false, agentOf(tenant))
    }),
    one.map((tenant): Step => (q) => {
      const [first] = listTasks(q.state, { tenant, statuses: ['pending', 'blocked', 'scheduled', 'in-progress'] }, 1, undefined, q.at).tasks
      if (first !== undefined) q.do({ type: 'Cancel', task: first.id, reason: 'r' })
    }),
    fc.constant<Step>((q) => void q.wait(40)),
  )

  test('TEN-4: its tasks by status are those that the list of its tasks has, also after a rollback and from a snapshot', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(fc.array(step, { minLength: 8, maxLength: 25, size: 'max' }), fc.nat(7), (steps, from) => {
        const q = isolated().configure({ retentionSeconds: 60 })
        const check = (now: Pick<Queue, 'state' | 'at'> = q): void => {
          for (const asked of [['acme'], ['globex'], [...tenants]]) {
            expect(figures(now, asked)).toEqual(counted(now, asked))
            for (const [status, count] of Object.entries(figures(now, asked)?.byStatus ?? {})) if (count > 0) seen.add(status)
          }
        }
        steps.slice(0, from).forEach((each, n) => each(q, n))
        const [text, before, { at }] = [textOf(q.state), mark(q.state), q]
        steps.slice(from).forEach((each, n) => {
          each(q, from + n)
          check()
        })
        const copy = fork(q.state)
        check({ state: copy, at: q.at })
        expect(differenceOf(textOf(copy), textOf(q.state))).toBe('')
        q.state = rollback(q.state, before)
        q.at = at
        check()
        expect(differenceOf(text, textOf(q.state))).toBe('')
      }),
      { numRuns: 40 },
    )
    for (const status of ['pending', 'scheduled', 'blocked', 'in-progress', 'completed', 'dead-letter', 'cancelled']) expect(seen).toContain(status)
  })

  test('TEN-4: at capacity, ready tasks are queued, and a pause is told without its reason', () => {
    const q = isolated().configure({ capacity: { maxConcurrentAgents: 1 } })
    q.enqueue(of('acme', 'a'), of('acme', 'b'), of('globex', 'c'))
    q.claim('acme:w', { tenant: 'acme' })
    q.do({ type: 'Pause', reason: 'globex floods us' })
    expect(figures(q, ['acme'])).toMatchObject({ paused: '', total: 2, byStatus: { pending: 0, queued: 1, 'in-progress': 1 } })
    expect(figures(q, ['nobody'])).toMatchObject({ total: 0 })
  })

  test('TEN-4: a queue that is not isolated has none, and one that becomes so begins with what is left in it', () => {
    const q = new Queue()
    q.enqueue(task('old', { tenant: 'acme' }))
    q.do({ type: 'Cancel', task: 'old', reason: 'r' })
    expect(figures(q, ['acme'])).toBeUndefined()
    // Forgotten, and not evicted yet.
    q.at += 604_801_000
    const [text, before] = [textOf(q.state), mark(q.state)]
    q.configure({ tenants: 'isolated' })
    expect(figures(q, ['acme'])).toMatchObject({ total: 0 })
    q.enqueue(of('acme', 'new'))
    expect(figures(q, ['acme'])).toMatchObject({ total: 1, byStatus: { pending: 1, cancelled: 0 } })
    q.state = rollback(q.state, before)
    expect(figures(q, ['acme'])).toBeUndefined()
    expect(differenceOf(text, textOf(q.state))).toBe('')
    q.configure({ tenants: 'isolated' })
    expect(figures(q, ['acme'])).toMatchObject({ total: 0 })
  })

  test('INV-22: nothing is counted of a tenant whose tasks are all gone', () => {
    const q = isolated().configure({ retentionSeconds: 60 })
    q.enqueue(of('acme', 'a'), of('globex', 'b'))
    q.do({ type: 'Cancel', task: 'acme:a', reason: 'r' })
    expect(textOf(q.state)).toContain('acme')
    // With the next event, what is forgotten is evicted.
    q.wait(61)
    q.enqueue(of('globex', 'c'))
    expect(textOf(q.state)).not.toContain('acme')
    expect(textOf(q.state)).toContain('globex')
  })
})
