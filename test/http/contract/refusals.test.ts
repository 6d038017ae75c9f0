/** Requests that violate the contract are refused as it says. They are generated for each operation from its schemas. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { examples } from '@daybook/adapters/http'
import type { Body } from '../support.js'
import { misfits } from '../schema.js'
import { type Playground, type Received, startPlayground, token } from './play.js'

let ground: Playground
let contract: Body
beforeAll(async () => {
  ground = await startPlayground()
  contract = JSON.parse((await ground.send('GET', '/api/openapi.json')).text)
  await ground.send('POST', '/api/queues/builds/tasks', { id: 'fix-login', type: 'eng-backend' })
})
afterAll(() => ground.close())

interface Operation {
  readonly method: string
  readonly path: string
  readonly documented: Body
  /** The path of its first example. */
  readonly sample: string
  readonly body: unknown
}

const operations = (): ReadonlyArray<Operation> =>
  Object.entries(examples).map(([key, [first]]) => {
    const [method = '', path = ''] = key.split(' ')
    return { method, path, documented: contract.paths[path][method.toLowerCase()], sample: (first?.path ?? '').replace(/\{\{\w+\}\}/, 'none'), body: first?.body }
  })

/** Why an answer is not the refusal that the contract documents. */
const wrong = ({ method, path, documented }: Pick<Operation, 'method' | 'path' | 'documented'>, { status, type, headers, text }: Received, codes: ReadonlyArray<string>, what: string): ReadonlyArray<string> => {
  const where = `${method} ${path} ${what}: ${status} ${text.slice(0, 200)}`
  const reference = documented.responses[status]?.$ref as string | undefined
  if (type !== 'application/problem+json' || reference === undefined) return [`${where} is not a documented problem`]
  const response = contract.components.responses[reference.split('/').pop() ?? '']
  const { schema } = response.content[type]
  const problem = JSON.parse(text)
  const unsaid = Object.keys(contract.components.headers).filter((name) => headers.has(name) && !(name in response.headers))
  return [...unsaid.map((name) => `${where}: has ${name}, which is not documented`), ...misfits(schema, problem, contract.components.schemas).map((why) => `${where}: ${why}`), ...(codes.includes(problem.code) ? [] : [`${where} is not ${codes.join(' or ')}`])]
}

const each = async (ask: (operation: Operation) => Promise<ReadonlyArray<string>>): Promise<void> => {
  const found: Array<string> = []
  for (const operation of operations()) found.push(...(await ask(operation)))
  expect(found).toEqual([])
}

const isOpen = ({ documented }: Operation): boolean => documented.security.length === 0

test('without a token, or with another one', () =>
  each(async (operation) => {
    if (isOpen(operation)) return []
    const { method, sample, body } = operation
    const none = await ground.send(method, sample, body, { authorization: '' })
    const other = await ground.send(method, sample, body, { authorization: 'Bearer dbk_other' })
    return [...wrong(operation, none, ['unauthorized'], 'without a token'), ...wrong(operation, other, ['unauthorized'], 'with another token')]
  }))

test('with the token of another role', async () => {
  const tokens = new Map<string, string>()
  for (const role of ['producer', 'worker', 'operator', 'guardian', 'auditor']) {
    const { text } = await ground.send('POST', '/api/tokens', { name: role, roles: [role] })
    tokens.set(role, JSON.parse(text).token)
  }
  await each(async (operation) => {
    const { method, sample, body, documented } = operation
    const found: Array<string> = []
    for (const [role, made] of tokens) {
      if (isOpen(operation) || documented['x-daybook-roles'].includes(role)) continue
      found.push(...wrong(operation, await ground.send(method, sample, body, { authorization: `Bearer ${made}` }), ['forbidden'], `as ${role}`))
    }
    return found
  })
})

test('with a member that is not documented', () =>
  each(async (operation) => {
    const { method, sample, body } = operation
    const inQuery = await ground.send(method, `${sample}${sample.includes('?') ? '&' : '?'}nonsense=1`, body)
    const found = [...wrong(operation, inQuery, ['invalid'], 'with a parameter')]
    if (body === undefined) return found
    return [...found, ...wrong(operation, await ground.send(method, sample, { ...(body as object), nonsense: 1 }), ['invalid'], 'with a member')]
  }))

test('with a member of another type, and without one that is required', () =>
  each(async (operation) => {
    const { method, sample, documented } = operation
    const body = operation.body as Readonly<Record<string, unknown>> | undefined
    if (body === undefined) return []
    const { schema } = documented.requestBody.content['application/json']
    const fits = (changed: object): boolean => misfits(schema, changed, contract.components.schemas).length === 0
    const found: Array<string> = []
    for (const key of Object.keys(body)) {
      const { [key]: _, ...without } = body
      // Booleans are nowhere allowed where text, numbers and objects are, and text is nowhere allowed where numbers are.
      for (const changed of [{ ...body, [key]: typeof body[key] === 'boolean' ? 'yes' : true }, without]) {
        if (fits(changed)) continue
        found.push(...wrong(operation, await ground.send(method, sample, changed), ['invalid'], `with ${JSON.stringify(changed)}`))
      }
    }
    return found
  }))

/** The example of a claim waits for tasks. An empty queue has none, however long it waits. */
const withoutWaiting = (body: unknown): unknown => (typeof body === 'object' && body !== null && 'wait' in body ? { ...body, wait: 0 } : body)

let queues = 0
test('of a queue that there is not', () =>
  each(async (operation) => {
    const { method, sample, path, body, documented } = operation
    if (!path.includes('{queue}')) return []
    const received = await ground.send(method, sample.replace('/builds', `/nowhere-${++queues}`).replace(/&?atLeast=0/, ''), withoutWaiting(body))
    // Requests that open a queue, or that may be about an empty one, are answered.
    if (received.status < 300) return documented.responses[received.status] === undefined ? [`${method} ${path}: ${received.status} is not documented`] : []
    return wrong(operation, received, ['not-found', 'invalid', 'unknown-dependency', 'wrong-state'], 'of another queue')
  }))

test('with what does not fit the queue as it is', async () => {
  const of = '/api/queues/unfit'
  const task = (id: string, more: object = {}) => ({ id, type: 'eng-backend', ...more })
  for (const batch of ['shut', 'done', 'gone']) await ground.send('POST', `${of}/batches`, { id: batch, open: batch === 'gone', tasks: batch === 'done' ? [] : [task(`of-${batch}`, { payload: batch })] })
  await ground.send('POST', `${of}/batches/gone/cancel`, { reason: 'the wrong file' })
  const cases: ReadonlyArray<readonly [method: string, path: string, at: string, body: object, code: string]> = [
    ...['shut', 'done', 'gone'].map((batchId) => ['POST', '/tasks', '/tasks', task('late', { batchId }), 'wrong-state'] as const),
    ['POST', '/tasks', '/tasks', task('late', { batchId: 'none' }), 'not-found'],
    ['POST', '/imports', '/imports', { tasks: [task('late', { batchId: 'shut' })] }, 'invalid'],
    ['PATCH', '/settings', '/settings', { tenants: 'isolated' }, 'wrong-state'],
    ['POST', '/batches/{batch}/cancel', '/batches/done/cancel', { reason: 'too late' }, 'wrong-state'],
    ['PATCH', '/tasks/{id}', '/tasks/of-gone', { priority: 1, reason: 'too late' }, 'wrong-state'],
    ['POST', '/batches', '/batches', { id: 'new', tasks: [task('x', { dependencies: ['none'] })] }, 'unknown-dependency'],
    ['POST', '/batches', '/batches', { id: 'new', tasks: [task('x', { payload: 'other', batchId: 'shut' })] }, 'invalid'],
  ]
  const found: Array<string> = []
  for (const [method, path, at, body, code] of cases) {
    const template = `/api/queues/{queue}${path}`
    found.push(...wrong({ method, path: template, documented: contract.paths[template][method.toLowerCase()] }, await ground.send(method, `${of}${at}`, body), [code], JSON.stringify(body)))
  }
  expect(found).toEqual([])
})

test('names, keys and objects that the server refuses do not fit the contract either', async () => {
  const task = { type: 'eng-backend' }
  const cases: ReadonlyArray<readonly [path: string, body: object]> = [
    ['/api/queues/{queue}/schedules', { name: 'nightly', every: 60, task: { ...task, metadata: 'x' } }],
    ['/api/queues/{queue}/schedules', { name: 'every night', every: 60, task }],
    ['/api/queues/{queue}/tasks', { ...task, batchId: '#1' }],
    ['/api/queues/{queue}/tasks', { ...task, batchId: 'b'.repeat(101) }],
    ...['*', 'type:mail', 'tenant:acme', ''].map((concurrencyKey) => ['/api/queues/{queue}/tasks', { ...task, concurrencyKey }] as const),
    ['/api/queues/{queue}/tasks/cancel', { filter: { status: [] }, reason: 'none' }],
    ...['#0', '#a', ''].map((task_id) => ['/api/bump_task_priority', { task_id, reason: 'now', queue: 'builds' }] as const),
    ['/api/bump_task_priority', { task_id: 'fix-login', reason: 'now', queue: 'two words' }],
    ['/api/bump_task_priority', { task_id: 'fix-login', reason: ' ', queue: 'builds' }],
    ['/api/queues/{queue}/dead-letters/retry', { reviewer: '', reason: 'now', filter: {} }],
    ...['00-abc', `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`].map((traceparent) => ['/api/queues/{queue}/tasks', { ...task, traceparent }] as const),
    ...['admin', 'two words', ''].map((name) => ['/api/tokens', { name, roles: ['worker'] }] as const),
    ...[[], ['worker', 'worker']].map((roles) => ['/api/tokens', { name: 'ci', roles }] as const),
    ...[[], ['tenant'], ['a:b']].map((tenants) => ['/api/tokens', { name: 'ci', roles: ['worker'], tenants }] as const),
  ]
  for (const [path, body] of cases) {
    const { status } = await ground.send('POST', path.replace('{queue}', 'builds'), body)
    const { schema } = contract.paths[path].post.requestBody.content['application/json']
    expect([status, misfits(schema, body, contract.components.schemas).length > 0], JSON.stringify(body)).toEqual([400, true])
  }
  // What looks like them and is accepted fits as well.
  for (const concurrencyKey of ['**', 'types:mail', 'a*']) expect(misfits(contract.paths['/api/queues/{queue}/tasks'].post.requestBody.content['application/json'].schema, { ...task, concurrencyKey }, contract.components.schemas)).toEqual([])
  const accepted = { name: 'daybook-ci@home', roles: ['worker'], tenants: ['tenants'], queues: ['builds'] }
  expect(misfits(contract.paths['/api/tokens'].post.requestBody.content['application/json'].schema, accepted, contract.components.schemas)).toEqual([])
  for (const task_id of ['#42', 'fix-login', 'a#0']) expect(misfits(contract.paths['/api/bump_task_priority'].post.requestBody.content['application/json'].schema, { task_id, reason: 'now' }, contract.components.schemas)).toEqual([])
})

test('the details of problems that are shown are those that a server sends', async () => {
  const own = await startPlayground()
  try {
    const of = '/api/queues/builds'
    const send = async (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => own.send(method, `${path.startsWith('/api') ? '' : of}${path}`, body, headers)
    const task = (id: string, more: object = {}) => ({ id, type: 'eng-backend', payload: id, ...more })
    const ci = JSON.parse((await send('POST', '/api/tokens', { name: 'ci', roles: ['producer'], rate: { perSecond: 0.001, burst: 1 } })).text)
    const gone = JSON.parse((await send('POST', '/api/tokens', { name: 'gone', roles: ['producer'] })).text)
    await send('DELETE', `/api/tokens/${gone.id}`)
    const as = (made: string) => ({ authorization: `Bearer ${made}` })
    const claims = async (agentId: string) => JSON.parse((await send('POST', '/claims', { agentId })).text).claims[0].task.id as string
    const bump = (id: string) => send('POST', `/tasks/${id}/bump`, { reason: 'now' })

    await send('POST', '/tasks', task('first'))
    const provoked: Record<string, Received> = {
      invalid: await send('POST', '/tasks', task('x', { timeout: 'soon' })),
      unauthorized: await send('POST', '/tasks', task('x'), as(gone.token)),
      forbidden: await send('POST', '/pause', {}, as(ci.token)),
      'too-many-requests': await send('POST', '/tasks', task('x'), as(ci.token)),
      'not-found': await send('GET', '/tasks/fix-login'),
      'too-large': await send('POST', '/tasks', task('x', { payload: 'x'.repeat(4 * 2 ** 20) })),
      'unsupported-media-type': await send('POST', '/tasks', task('x'), { 'content-type': 'text/plain' }),
      'unknown-dependency': await send('POST', '/tasks', task('deploy', { dependencies: ['test'] })),
      'dependency-cycle': await send('POST', '/tasks', { tasks: [task('a', { dependencies: ['b'] }), task('b', { dependencies: ['a'] })] }),
    }
    await send('POST', '/tasks/first/cancel', { reason: 'only to make the queue' })
    await send('POST', '/tasks', task('fix-login'))
    provoked.conflict = await send('POST', '/tasks', task('fix-login', { payload: 'other' }))
    await claims('builder-1')
    await send('POST', '/tasks/fix-login/release', { agentId: 'builder-1', token: 1, reason: 'it stops', stopping: true })
    await claims('builder-2')
    provoked['lease-lost'] = await send('POST', '/tasks/fix-login/heartbeat', { agentId: 'builder-1', token: 1 })
    await send('POST', '/tasks/fix-login/complete', { agentId: 'builder-2', token: 2, result: { decisionReport: 'done' } })
    provoked['wrong-state'] = await send('POST', '/tasks/fix-login/cancel', { reason: 'too late' })
    await send('POST', '/tasks', { tasks: Array.from({ length: 12 }, (_, i) => task(`t${i}`)) })
    for (let i = 0; i < 10; i++) await claims(`agent-${i}`)
    await bump('t10')
    await claims('agent-10')
    provoked['capacity-exceeded'] = await bump('t11')
    await send('PATCH', '/settings', { capacity: { bumpAndStart: false } })
    provoked.disabled = await bump('t11')

    const shown = new Map<string, string>()
    for (const { content } of Object.values<Body>(contract.components.responses)) {
      for (const { value } of Object.values<Body>(content['application/problem+json'].examples)) shown.set(value.code, value.detail)
    }
    const sent = Object.fromEntries(Object.entries(provoked).map(([code, { text }]) => [code, [JSON.parse(text).code, JSON.parse(text).detail]]))
    expect(sent).toEqual(Object.fromEntries(Object.keys(provoked).map((code) => [code, [code, shown.get(code)]])))
  } finally {
    await own.close()
  }
})

test('an empty list of statuses is refused by its own name', async () => {
  const { text } = await ground.send('POST', '/api/queues/builds/tasks/cancel', { filter: { status: [] }, reason: 'none of them' })
  expect(JSON.parse(text)).toMatchObject({ code: 'invalid', errors: [{ path: 'filter.status', message: expect.stringContaining('at least one') }] })
})

test('with what is no JSON', () =>
  each(async (operation) => {
    const { method, sample, body } = operation
    if (body === undefined) return []
    const broken = await fetch(new URL(sample, ground.url), { method, headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' }, body: 'hello' })
    const received = { status: broken.status, type: (broken.headers.get('content-type') ?? '').split(';')[0] ?? '', headers: broken.headers, text: await broken.text() }
    return wrong(operation, received, ['unsupported-media-type'], 'as plain text')
  }))

test('teeth: another code, another status and another form are noticed', () => {
  const operation = { method: 'POST', path: '/api/queues/{queue}/pause', documented: contract.paths['/api/queues/{queue}/pause'].post }
  const problem = { type: 'urn:daybook:problem:invalid', title: 'x', status: 400, code: 'invalid', detail: 'x' }
  const said = (status: number, body: object, type = 'application/problem+json') => wrong(operation, { status, type, headers: new Headers(), text: JSON.stringify(body) }, ['invalid'], '').length
  expect(said(400, problem)).toBe(0)
  expect(said(400, { ...problem, code: 'lease-lost' })).toBeGreaterThan(0)
  expect(said(400, { ...problem, status: 401 })).toBeGreaterThan(0)
  expect(said(418, { ...problem, status: 418 })).toBeGreaterThan(0)
  expect(said(400, problem, 'application/json')).toBeGreaterThan(0)
  expect(said(400, { ...problem, more: 1 })).toBeGreaterThan(0)
})
