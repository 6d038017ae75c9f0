/** The OpenAPI document is valid, complete, and as strict as the server. */
import { describe, expect, test } from 'vitest'
import { fieldWords } from '@daybook/adapters/http'
import { misfits } from './schema.js'
import { type Body, holdToContract, serverWithContract } from './support.js'

const { server, contract } = await serverWithContract()

const operations = (): ReadonlyArray<readonly [path: string, method: string, operation: Body]> =>
  Object.entries<Body>(contract.paths).flatMap(([path, item]) => Object.entries<Body>(item).map(([method, operation]) => [path, method, operation] as const))

test('the contract has exactly the routes that are served, and the WebSocket', () => {
  const served = server.http.routes.filter(({ method }) => method !== 'HEAD').map(({ method, path }) => `${method} ${path}`)
  expect(operations().map(([path, method]) => `${method.toUpperCase()} ${path}`).sort()).toEqual([...served, 'GET /api/ws'].sort())
  expect(served.length).toBeGreaterThan(30)
})

describe('it is sound', () => {
  test('version, title, licence; ids of operations are unique', () => {
    expect(contract).toMatchObject({ openapi: '3.1.0', info: { title: 'Daybook', license: { identifier: 'MIT' } } })
    const ids = operations().map(([, , operation]) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/)
  })

  test('the operations that make ids of Daybook-Request-Id say so, and no others', () => {
    const taking = operations().filter(([, , { parameters }]) => parameters.some(({ name }: Body) => name === 'Daybook-Request-Id')).map(([path]) => path)
    expect(taking.sort()).toEqual(['/api/queues/{queue}/batches', '/api/queues/{queue}/tasks', '/api/queues/{queue}/tasks/{id}/restart', '/api/restart_task'])
  })

  test('exactly the parameters of each path are declared', () => {
    for (const [path, , { parameters }] of operations()) {
      const declared = parameters.filter((each: Body) => each.in === 'path').map((each: Body) => each.name)
      expect(declared, path).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      for (const parameter of parameters) expect(parameter.schema, `${path} ${parameter.name}`).toBeTypeOf('object')
    }
  })

  test('every reference has a target, and every component is referred to', () => {
    const referred = new Set([...JSON.stringify(contract).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name))
    expect([...referred].sort()).toEqual(Object.keys(contract.components.schemas).sort())
  })

  test('every operation has a role, a summary, a successful answer, and problems for the others', () => {
    for (const [path, method, operation] of operations()) {
      const where = `${method} ${path}`
      expect(operation['x-daybook-roles'].length, where).toBeGreaterThan(0)
      for (const role of operation['x-daybook-roles']) expect(role, where).toMatch(/^(anyone|producer|worker|operator|guardian|auditor|admin)$/)
      expect(operation.summary, where).toMatch(/^[A-Z].{2,70}\.$/)
      expect(operation.description, where).toMatch(/^[A-Z][^]*\.$/)
      expect(Object.keys(operation.responses).some((status) => /^2\d\d|101$/.test(status)), where).toBe(true)
      expect(contract.components.responses[operation.responses.default.$ref.split('/').pop()].content, where).toHaveProperty(['application/problem+json'])
      expect('requestBody' in operation, where).toBe(method === 'put' || method === 'post' || method === 'patch')
    }
  })
})

test('an event\'s data is shown as recorded, except for the times in a task\'s history, as the contract says', async () => {
  await server.post('/api/queues/shown/tasks', { id: 'a', type: 't', availableAt: '2026-01-05T09:00:00.000Z' })
  const shown = (await server.get('/api/queues/shown/events')).body.events
  expect(shown[0].data.availableAt).toBe(Date.UTC(2026, 0, 5, 9))
  expect((await server.get('/api/queues/shown/tasks/a/history')).body.events).toEqual([{ ...shown[0], data: { ...shown[0].data, availableAt: '2026-01-05T09:00:00.000Z' } }])
  expect(contract.components.schemas.Event.properties.data.description).toContain('milliseconds since 1970')
  expect(contract.components.schemas.HistoryEvent.properties.data.description).toContain('ISO 8601')
})

describe('everything has words', () => {
  /** Members without a description, as paths. */
  const wordless = (schema: Body, path: string): ReadonlyArray<string> =>
    Object.entries<Body>(schema.properties ?? {}).flatMap(([name, member]) => [
      ...(/^[A-Z`…][^]{2,}\.$/.test(member.description ?? '') || member.description?.endsWith('…') ? [] : [`${path}.${name}: ${member.description}`]),
      ...wordless(member, `${path}.${name}`),
      ...wordless(member.items ?? {}, `${path}.${name}[]`),
    ])

  test('each field and each parameter', () => {
    expect(Object.entries<Body>(contract.components.schemas).flatMap(([name, schema]) => wordless(schema, name))).toEqual([])
    expect(operations().flatMap(([path, , { parameters }]) => parameters.filter(({ description }: Body) => !description).map(({ name }: Body) => `${path} ${name}`))).toEqual([])
  })

  test('no word is about something that is not there', () => {
    const paths = (schema: Body, path = ''): ReadonlyArray<string> =>
      Object.entries<Body>(schema.properties ?? {}).flatMap(([name, member]) => {
        const inner = path === '' ? name : `${path}.${name}`
        return [inner, ...paths(member, inner), ...paths(member.items ?? {}, `${inner}[]`)]
      })
    const { schemas } = contract.components
    const stale = Object.entries(fieldWords).flatMap(([name, words]) => {
      const there = new Set(name === '*' ? Object.values<Body>(schemas).flatMap((schema) => paths(schema).map((path) => path.split('.').pop() ?? '')) : paths(schemas[name] ?? {}))
      return Object.keys(words).filter((path) => !there.has(path)).map((path) => `${name}.${path}`)
    })
    expect(stale).toEqual([])
  })

  test('words fit the type of what they are about, and an event is not told as a queue', () => {
    const admitsNull = ({ type, anyOf = [] }: Body): boolean => type === 'null' || anyOf.some(admitsNull)
    const misplaced = (schema: Body, path: string): ReadonlyArray<string> =>
      Object.entries<Body>(schema.properties ?? {}).flatMap(([name, member]) => {
        const { description = '', properties } = member
        const isWrong = (description.includes('by whom') && properties === undefined) || (/`null` (if|until|after|at|when)/.test(description) && !admitsNull(member)) || (/^(Event|History)/.test(path) && description.includes('revision of the queue'))
        return [...(isWrong ? [`${path}.${name}: ${description}`] : []), ...misplaced(member, `${path}.${name}`), ...misplaced(member.items ?? {}, `${path}.${name}[]`)]
      })
    expect(Object.entries<Body>(contract.components.schemas).flatMap(([name, schema]) => misplaced(schema, name))).toEqual([])
  })

  test('the words about one text are not those of another', () => {
    expect(JSON.stringify(contract.components).includes('IANA')).toBe(false)
  })
})

describe('its schemas refuse what the server refuses', () => {
  const schema = (name: string): Body => ({ $ref: `#/components/schemas/${name}` })
  const check = (name: string, value: unknown) => misfits(schema(name), value, contract.components.schemas)

  test.each<readonly [string, Body, ReadonlyArray<Body>]>([
    ['NewTask', { type: 't', priority: 10, payload: [null], dependencies: [], availableAt: '2026-07-01T12:00:00.000Z', requires: { skills: ['ts'] } }, [
      {}, { type: '' }, { type: 'a*' }, { type: 't', priority: 0 }, { type: 't', priority: 'URGENT' }, { type: 't', prio: 1 }, { type: 't', availableAt: 5 },
      { type: 't', id: '#1' }, { type: 't', metadata: [] }, { type: 't', dependencies: Array.from({ length: 257 }, () => 'x') }, { type: 't', timeout: 0 },
      { type: 't', requires: { skill: [] } }, { type: 't', phase: 'X' }, { type: 't', description: 'x'.repeat(4_001) },
    ]],
    ['ClaimRequest', { agentId: 'w', max: 1_000, wait: 60 }, [{}, { agentId: 'w', max: 0 }, { agentId: 'w', wait: 61 }, { agentId: 'w', types: 'x' }]],
    ['Completion', { agentId: 'w', token: 1, result: { output: null } }, [{ agentId: 'w', token: 1 }, { agentId: 'w', token: 0, result: {} }, { agentId: 'w', token: 1, result: { errors: [1] } }]],
    ['SettingsPatch', { breakers: { overrides: { a: null } } }, [{ policy: 'random' }, { defaults: { jitter: 2 } }, { x: 1 }, { breakers: { overrides: { a: { countOn: 'x' } } } }]],
    ['ReviewOfMany', { reviewer: 'a', reason: 'b', filter: { type: 'eng-*' } }, [{ reviewer: 'a', reason: 'b' }, { reviewer: 'a', reason: 'b', filter: { x: 1 } }]],
  ])('%s', (name, good, bad) => {
    expect(check(name, good)).toEqual([])
    for (const value of bad) expect(check(name, value), JSON.stringify(value)).not.toEqual([])
  })

  test('numbers have their ranges', () => {
    const { properties } = contract.components.schemas.NewTask
    expect(properties.priority).toMatchObject({ anyOf: [{ type: 'integer', minimum: 1, maximum: 10 }, { enum: ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] }] })
    expect(properties.timeout).toMatchObject({ type: 'number', minimum: 0.001 })
    expect(properties.availableAt).toMatchObject({ type: 'string', format: 'date-time' })
  })
})

test('teeth: an answer that breaks the contract is noticed by these tests', () => {
  const headers = new Headers()
  const hold = (status: number, body: Body) => () => holdToContract(contract, 'GET', '/api/queues/q/agents', { status, body, headers })
  const agent = { agentId: 'a', status: 'idle', leases: [] }
  expect(hold(200, { agents: [{ ...agent, tasks: [] }] })).not.toThrow()
  expect(hold(200, { agents: [agent] })).toThrow("must have required property 'tasks'")
  expect(hold(200, { agents: [], more: 1 })).toThrow('must NOT have additional properties {"additionalProperty":"more"}')
  expect(hold(201, { agents: [] })).toThrow('201 is not in the contract')
  expect(hold(404, { code: 'not-found' })).toThrow('404 is not a problem document')
  const problem = (status: number, code: string) => () =>
    holdToContract(contract, 'GET', '/api/queues/q/agents', { status, body: { type: 'x', title: 'x', status, code, detail: 'x' }, headers: new Headers({ 'content-type': 'application/problem+json; charset=utf-8' }) })
  expect(problem(404, 'not-found')).not.toThrow()
  expect(problem(500, 'internal')).not.toThrow()
  expect(problem(409, 'lease-lost')).toThrow('409 lease-lost is not in the contract')
  expect(problem(404, 'lease-lost')).toThrow('404 lease-lost is not in the contract')
  expect(() => holdToContract(contract, 'GET', '/api/queues/q/secrets', { status: 200, body: {}, headers })).toThrow('not in the contract')
})
