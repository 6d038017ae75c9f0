/**
 * TEN-4: the answers to one tenant do not depend on what another tenant does (non-interference). The same requests of tenant acme are sent to two
 * isolated queues. In one of them, tenant globex sends any requests that it may send in between, with the same names wherever possible. The answers
 * are compared, without what tenants share: numbers, revisions, lease tokens, times, and generated ids.
 */
import { isRight } from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTokens, type Role, type Tokens } from '@daybook/adapters/auth'
import { openMemoryStore } from '@daybook/adapters/memory'
import { adminToken, type Body, startTestServer, type TestServer } from './support.js'

let server: TestServer
let tokens: Tokens
const made = new Map<string, string>()
const may: ReadonlyArray<Role> = ['producer', 'worker', 'operator', 'guardian', 'auditor']

beforeAll(async () => {
  const store = openMemoryStore()
  tokens = openTokens({ dir: 'memory', adminToken, store }).tokens
  for (const tenant of ['acme', 'globex']) {
    const done = await tokens.create({ name: `of-${tenant}`, roles: may, tenants: [tenant] }, { actor: 'admin' })
    if (!isRight(done)) throw new Error(done.left.detail)
    made.set(tenant, done.right.token)
  }
  made.set('everybody', adminToken)
  server = await startTestServer({ tokens }, store)
})
afterAll(async () => {
  await server.stop()
  await tokens.close()
})

/** A request of a tenant. `hold`: the claims of its agents so far, by task. */
type Hold = Map<string, number>
type Act = readonly [method: string, path: string, body?: object]
type Step = (tenant: string, hold: Hold) => Act

const report = { success: true, output: 1, decisionReport: 'd' }
const held = (tenant: string, hold: Hold, name: string) => ({ agentId: `${tenant}:w`, token: hold.get(`${tenant}:${name}`) ?? 1 })
const task = (name: string, more: object = {}): Step => (tenant) => ['POST', '/tasks', { type: 't', id: `${tenant}:${name}`, payload: { name }, backoffSeconds: 0, ...more }]
const about = (name: string, verb: string, body: object): Step => (tenant) => ['POST', `/tasks/${tenant}:${name}/${verb}`, body]
const ofHolder = (name: string, verb: string, body: object = {}): Step => (tenant, hold) => ['POST', `/tasks/${tenant}:${name}/${verb}`, { ...held(tenant, hold, name), ...body }]
const see = (path: string): Step => (tenant) => ['GET', path.replaceAll('TENANT', tenant)]
const review = { reviewer: 'r', reason: 'r' }
const failed = { error: { message: 'boom', code: 'E1' }, retryable: false }
const claim = (max = 1): Step => (tenant) => ['POST', '/claims', { agentId: `${tenant}:w`, max }]

/** What each of them may do, by names that both use. */
const names = ['a', 'b', 'c'] as const
const anyStep: fc.Arbitrary<Step> = fc.constantFrom(...names).chain((name) =>
  fc.constantFrom<Step>(
    task(name),
    task(name, { idempotencyKey: 'key' }),
    task(name, { orderingKey: 'line' }),
    task(name, { concurrencyKey: 'smtp', concurrencyLimit: 1 }),
    task(name, { ticketId: 'T-1', phase: 'VALIDATION' }),
    () => ['POST', '/tasks', { type: 't', payload: { name } }],
    (tenant) => ['POST', '/tasks', { tasks: [{ type: 't', payload: { name } }, { type: 't', id: `${tenant}:${name}`, dependencies: ['acme:a'] }], atomic: false }],
    task(name, { dependencies: ['acme:b'] }),
    task(name, { dependencies: ['globex:b'] }),
    claim(),
    claim(3),
    ofHolder(name, 'complete', { result: report }),
    ofHolder(name, 'complete', { result: { ...report, discoveries: [{ type: 'security_issue', description: 'd' }] } }),
    ofHolder(name, 'fail', failed),
    ofHolder(name, 'fail', { error: 'again' }),
    ofHolder(name, 'release', { reason: 'r' }),
    ofHolder(name, 'heartbeat', { progress: { done: 1 } }),
    ofHolder(name, 'park', { callbackKey: 'paid', timeoutSeconds: 600 }),
    () => ['POST', '/callbacks/paid', { payload: 1 }],
    () => ['POST', '/callbacks/acme:paid', {}],
    (tenant, hold) => ['POST', '/outcomes', { outcomes: ['acme:a', `${tenant}:${name}`].map((taskId) => ({ taskId, ...held(tenant, hold, name), kind: 'complete', result: report })) }],
    (tenant) => ['POST', '/agents', { agentId: `${tenant}:w`, maxTasks: 2 }],
    () => ['POST', '/agents', { agentId: 'acme:w', maxTasks: 1 }],
    () => ['POST', '/claims', { agentId: 'acme:w', tenant: 'acme' }],
    about(name, 'cancel', { reason: 'r' }),
    () => ['POST', '/tasks/acme:a/cancel', { reason: 'r' }],
    () => ['POST', '/tasks/cancel', { filter: {}, reason: 'r' }],
    (tenant) => ['PATCH', `/tasks/${tenant}:${name}`, { priority: 9, reason: 'r' }],
    () => ['PATCH', '/tasks/acme:b', { priority: 9, reason: 'r' }],
    (tenant) => ['POST', `/dead-letters/${tenant}:${name}/retry`, review],
    (tenant) => ['POST', `/dead-letters/${tenant}:${name}/discard`, review],
    () => ['POST', '/dead-letters/acme:b/retry', review],
    () => ['POST', '/dead-letters/retry', { filter: {}, ...review }],
  ),
)

/** Stands for `GET /api/queues`, of which only the entry of this queue is compared: the server has those of all runs. */
const inList = '(in the list of queues)'

/** Requests of acme in every run. Together they reach each route that is limited to tenants. */
const looks: ReadonlyArray<Step> = [
  see(''), see(inList),
  see('/tasks?limit=2'), see('/tasks?q=b'), see('/tasks?status=completed,cancelled'), see('/dead-letters'), see('/dead-letters/patterns'),
  ...['a', 'b', 'c'].flatMap((name) => ['', '/explain', '/result', '/history'].map((part) => see(`/tasks/TENANT:${name}${part}`))),
  see('/tasks/TENANT:a/explain?agentId=TENANT:w'), see('/tasks/globex:a'), see('/tasks/globex:b/history'), see('/tasks/globex:c/explain'),
]
const probes: ReadonlyArray<Step> = [
  task('a'), task('b', { idempotencyKey: 'key', orderingKey: 'line' }), task('c', { dependencies: ['acme:a'], concurrencyKey: 'smtp' }), () => ['POST', '/tasks', { type: 't', payload: { name: 'a' }, description: 'made' }],
  task('d', { dependencies: ['globex:b'] }), claim(2), ...looks,
  ofHolder('a', 'complete', { result: { ...report, discoveries: [{ type: 'security_issue', description: 'd' }] } }), ofHolder('b', 'fail', failed), claim(3), ...looks,
  ofHolder('c', 'park', { callbackKey: 'paid', timeoutSeconds: 600 }), () => ['POST', '/callbacks/paid', { payload: 2 }], (tenant, hold) => ['POST', '/outcomes', { outcomes: ['globex:a', 'acme:c'].map((taskId) => ({ taskId, ...held(tenant, hold, 'c'), kind: 'heartbeat' })) }],
  about('c', 'cancel', { reason: 'r' }), () => ['POST', '/dead-letters/acme:b/retry', review], () => ['POST', '/tasks/globex:a/cancel', { reason: 'r' }], ...looks,
  () => ['POST', '/tasks/cancel', { filter: {}, reason: 'all' }], ...looks,
]

/** Everything that tenants share is blanked out. */
const blanked = (text: string): string =>
  text
    .replace(/"(number|revision|token|correlationId|nextCursor|score|scoreParts|lastRevision|contentRevision|retryAfterSeconds|waitedSeconds)":("[^"]*"|\{[^{}]*(\{[^{}]*\}[^{}]*)*\}|[-\d.e]+)/g, '"$1":0')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/\(#\d+\)/g, '(#0)')
    .replace(/\b(token|the newest is|the newest,) \d+/g, '$1 0')

let queues = 0
const settings = { capacity: { maxConcurrentAgents: 1_000 }, breakers: { defaults: { failureThreshold: 1_000_000 } } }

/** The answers to acme. `mixed`: for each probe, the requests of globex before it. */
const answers = async (mixed: ReadonlyArray<ReadonlyArray<Step>>, isolated: boolean): Promise<ReadonlyArray<string>> => {
  const queue = `q${++queues}`
  await server.call('PATCH', `/api/queues/${queue}/settings`, isolated ? { ...settings, tenants: 'isolated' } : settings)
  const hold: Hold = new Map()
  const send = async (tenant: string, step: Step): Promise<string> => {
    const [method, path, body] = step(tenant, hold)
    const as = { headers: { authorization: `Bearer ${made.get(isolated ? tenant : 'everybody')}` } }
    if (path === inList) {
      const { status, body: { queues: listed } } = await server.get('/api/queues', as)
      return blanked(`${path} ${status} ${JSON.stringify(listed.find(({ name }: Body) => name === queue))}`).replaceAll(queue, 'Q')
    }
    const { status, text, body: answer } = await server.call(method, `/api/queues/${queue}${path}`, body, as)
    if (path === '/claims' && status === 200) for (const { task: claimed, lease } of answer.claims) hold.set(claimed.id, lease.token)
    return blanked(`${method} ${path} ${status} ${text}`).replaceAll(`queue ${queue}`, 'queue Q').replaceAll(`"name":"${queue}"`, '"name":"Q"')
  }
  const said: Array<string> = []
  for (const [index, probe] of probes.entries()) {
    for (const step of mixed[index] ?? []) await send('globex', step)
    said.push(await send('acme', probe))
  }
  return said
}

const history = fc.array(fc.array(anyStep, { maxLength: 4 }), { minLength: 4, maxLength: probes.length, size: 'max' })

test('TEN-4: the probes reach what they are about', async () => {
  const said = (await answers([], true)).join('\n')
  // The figures of the queue are those of the tenant's tasks.
  expect(said).toContain('"paused":null,"total":4,"byStatus":{"scheduled":')
  for (const word of ['"duplicate":false', '"spawned":["ID"]', '"status":"dead-letter"', '"signature":', '"retried":["acme:b"]', 'unknown-dependency', '"status":"waiting"', '"discovery":"security_issue"', '"code":"not-found"', '"cancelled":["acme:']) expect(said).toContain(word)
})

test('TEN-4: the answers to a tenant are the same if another one does the same at the same time, by the same names', async () => {
  expect(await answers(probes.map((probe) => [probe]), true)).toEqual(await answers([], true))
}, 300_000)

test('TEN-4: the answers to a tenant are the same whatever another one does', async () => {
  const alone = await answers([], true)
  await fc.assert(
    fc.asyncProperty(history, async (mixed) => void expect(await answers(mixed, true)).toEqual(alone)),
    { numRuns: 8, endOnFailure: true },
  )
}, 300_000)

test('TEN-4: teeth: in a queue that is not isolated, and by tokens that are for all tenants, they are not', async () => {
  const alone = await answers([], false)
  const found = await fc.check(fc.asyncProperty(history, async (mixed) => JSON.stringify(await answers(mixed, false)) === JSON.stringify(alone)), { seed: 65, numRuns: 5, endOnFailure: true })
  expect(found.failed).toBe(true)
}, 300_000)
