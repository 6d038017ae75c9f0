/** Whatever clients send, in whatever order: the server answers as its contract says, and never with an error of its own. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomOf } from '../../support/random.js'
import { fixedSeed, runSeed } from '../../support/seed.js'
import { type Body, holdToContract } from '../support.js'
import { type Playground, startPlayground } from './play.js'
import { RandomRequests } from './random-requests.js'

const requests = 1_000
/** With any seed, at least this many of the operations are answered with success by then. */
const answeredMin = 45

let ground: Playground
let contract: Body
beforeAll(async () => {
  ground = await startPlayground()
  contract = JSON.parse((await ground.send('GET', '/api/openapi.json')).text)
})
afterAll(() => ground.close())

/** Sends random requests. Returns the operations that were answered with success, and all violations of `promised`. */
const sendRandom = async (seed: number, count: number, promised: Body): Promise<{ readonly answered: ReadonlySet<string>; readonly violations: ReadonlyArray<string> }> => {
  const random = new RandomRequests(contract, randomOf(seed))
  const answered = new Set<string>()
  const violations: Array<string> = []
  for (let i = 0; i < count; i++) {
    const request = random.next()
    const { method, path, operation } = request
    const { status, type, headers, text } = await ground.send(method, path, request.body)
    const body = /^application\/(problem\+)?json$/.test(type) ? JSON.parse(text) : undefined
    const sent = `${method} ${path} ${JSON.stringify(request.body)}`
    try {
      holdToContract(promised, method, path, { status, headers, body })
    } catch (error) {
      violations.push(`${(error as Error).message}, for ${sent}`)
    }
    if (status >= 500) violations.push(`${status} ${text}, for ${sent}`)
    if (status >= 300) continue
    answered.add(operation)
    if (body !== undefined) random.learn(request, body)
  }
  return { answered, violations }
}

test('random requests are answered as the contract says', async () => {
  const { answered, violations } = await sendRandom(runSeed, requests, contract)
  expect(violations).toEqual([])
  expect(answered.size).toBeGreaterThan(answeredMin)
})

test.each<readonly [string, (promised: Body) => void]>([
  ['a member that the contract does not have', ({ components }) => delete components.schemas.ClaimedTask.properties.attempts],
  ['a status that it does not have', ({ paths }) => delete paths['/api/queues/{queue}/tasks'].post.responses[201]],
])('teeth: %s is noticed', async (_, spoil) => {
  const spoiled = structuredClone(contract)
  spoil(spoiled)
  expect((await sendRandom(fixedSeed, 200, spoiled)).violations).not.toEqual([])
})
