/** Each example of the contract is played, so that the documents show what a server answers. `RECORD=1` records the answers anew. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { examples, type RecordedAnswer, recorded, type RequestExample } from '@daybook/adapters/http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { misfits } from '../schema.js'
import type { Body } from '../support.js'
import { play, type Played, type Playground, startPlayground } from './play.js'

const recordFile = fileURLToPath(new URL('../../../packages/adapters/src/http/openapi/examples/recorded.json', import.meta.url))
const records = process.env['RECORD'] === '1'

let common: Playground
/** Where the examples about the whole server are played, one after the other. */
let empty: Playground
let contract: Body
const played = new Map<string, ReadonlyArray<RecordedAnswer>>()
beforeAll(async () => {
  ;[common, empty] = [await startPlayground(), await startPlayground()]
  contract = JSON.parse((await common.send('GET', '/api/openapi.json')).text)
})
afterAll(async () => {
  await common.close()
  await empty.close()
  if (records) writeFileSync(recordFile, recordText())
})

const recordText = (): string => `${JSON.stringify(Object.fromEntries(operations.map(([operation]) => [operation, played.get(operation) ?? recorded[operation] ?? []])), null, 2)}\n`

let queues = 0
const playIt = (method: string, example: RequestExample): Promise<Played> =>
  example.alone === true ? play(empty, method, example, 'builds') : play(common, method, example, `builds-${++queues}-played`)

/** If an answer is long and differs on each machine, the document shows its beginning. */
const shortened = (operation: string, { path, status, type, body }: RecordedAnswer): RecordedAnswer => {
  if (operation === 'GET /metrics') return { path, status, type, body: `${String(body).split('\n').slice(0, 2).join('\n')}\n` }
  if (operation === 'GET /api/openapi.json') return { path, status, type, body: { openapi: (body as Body).openapi } }
  return { path, status, type, body }
}

/** Without the parts that differ each time: times, generated ids, hashes, durations. */
const comparable = (answer: RecordedAnswer): unknown =>
  JSON.parse(
    JSON.stringify(answer)
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
      .replace(/\b[0-9a-f]{12}\b/g, 'ID')
      .replace(/dbk_[\w-]+/g, 'TOKEN')
      .replace(/"(at|leaseEndsAt|expiresAt|until|\w*At)(\\?)":1\d{12}/g, '"$1$2":0')
      .replace(/"(hash|idempotencyKey|nextCursor|signature|id)":"[\w=-]{16,}"/g, '"$1":"HASH"')
      .replace(/"(\w*[sS]econds|value|points|score|memory_bytes)":\d+(\.\d+)?(e-\d+)?/g, '"$1":0'),
  )

const operations = Object.entries(examples)

test.each(operations)('%s: its examples are answered as documented', async (operation, all) => {
  const [method = '', path = ''] = operation.split(' ')
  const { responses } = contract.paths[path][method.toLowerCase()]
  const answers: Array<RecordedAnswer> = []
  for (const [i, example] of all.entries()) {
    const answer = await playIt(method, example)
    const where = `${operation}, ${example.title}: ${JSON.stringify(answer.body).slice(0, 500)}`
    expect(answer.status, where).toBeLessThan(300)
    const documented = responses[answer.status]
    expect(documented?.content, where).toHaveProperty([answer.type])
    expect(misfits(documented.content[answer.type].schema, answer.body, contract.components.schemas), where).toEqual([])
    expect(Object.keys(documented.headers).filter((name) => !answer.headers.has(name)), where).toEqual([])
    const short = shortened(operation, answer)
    const before = recorded[operation]?.[i]
    const isSame = before !== undefined && JSON.stringify(comparable(before)) === JSON.stringify(comparable(short))
    answers.push(isSame ? before : short)
    if (!records) expect(comparable(short), `${example.title}: RECORD=1 records it anew`).toEqual(before === undefined ? undefined : comparable(before))
  }
  played.set(operation, answers)
})

describe('nothing is without an example', () => {
  test('every operation has one, with its body and an answer of each success', () => {
    const missing = Object.entries<Body>(contract.paths).flatMap(([path, item]) =>
      Object.entries<Body>(item).flatMap(([method, operation]) => missingOf(`${method.toUpperCase()} ${path}`, operation)),
    )
    expect(missing).toEqual([])
  })

  test('teeth: what is missing is found', () => {
    const item = contract.paths['/api/queues/{queue}/tasks'].post
    const without = (change: (copy: Body) => void): ReadonlyArray<string> => {
      const copy = structuredClone(item)
      change(copy)
      return missingOf('POST tasks', copy)
    }
    expect(without(() => undefined)).toEqual([])
    expect(without((copy) => delete copy.requestBody.content['application/json'].examples)).toEqual(['POST tasks: its body'])
    expect(without((copy) => delete copy.responses['201'].content['application/json'].examples)).toEqual(['POST tasks: its answer 201'])
    expect(without((copy) => delete copy.parameters[0].examples)).toEqual(['POST tasks: its parameter queue'])
  })
})

const missingOf = (where: string, { parameters, requestBody, responses, 'x-daybook-messages': messages }: Body): ReadonlyArray<string> => {
  const has = (part: Body): boolean => part.example !== undefined || Object.keys(part.examples ?? {}).length > 0
  const answers = Object.entries<Body>(responses).filter(([status]) => /^2/.test(status))
  return [
    ...parameters.filter((each: Body) => each.required === true && !has(each)).map(({ name }: Body) => `${where}: its parameter ${name}`),
    ...(requestBody === undefined || has(requestBody.content['application/json']) ? [] : [`${where}: its body`]),
    ...answers.filter(([, { content }]) => !Object.values<Body>(content).some(has)).map(([status]) => `${where}: its answer ${status}`),
    ...(answers.length === 0 && messages === undefined ? [`${where}: any answer`] : []),
  ]
}
