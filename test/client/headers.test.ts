/** Texts that no header can hold: one request with such a text must not hold up the others. */
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { type FaultyServer, faultyServer } from './faulty-server.js'

let server: FaultyServer
let client: DaybookClient

beforeEach(async () => {
  server = await faultyServer()
  client = createClient({ url: server.url, connectionsMax: 2 })
})
afterEach(async () => {
  await inTime('the end of the client', client.close())
  await server.close()
})

test.each([
  ['token', 'secret\n', 'begins or ends with a space or line break'],
  ['token', 'sécret €', 'has others'],
  ['agentName', 'robot €', 'agentName may have printable ASCII characters only, and is "robot €"'],
] as const)('a client is not made with %s %j, which no header can hold', (option, text, why) => {
  const make = (): DaybookClient => createClient({ url: server.url, [option]: text })
  expect(make).toThrow(expect.objectContaining({ name: 'DaybookError', code: 'invalid', unsent: true, detail: expect.stringContaining(why) }))
  expect(make).not.toThrow(/s.cret/)
})

test.each(['idempotencyKey', 'correlationId'] as const)('a call whose %s no header can hold is refused, and not repeated', async (option) => {
  const refused = { code: 'invalid', unsent: true, detail: `${option} may have printable ASCII characters only, and is "order €5"` }
  await expect(inTime('a refusal', client.depth({ [option]: 'order €5' }))).rejects.toMatchObject(refused)
  await expect(inTime('a refusal', client.enqueue({ type: 'mail' }, { [option]: 'order €5' }))).rejects.toMatchObject(refused)
  await inTime('an answer', client.depth({ [option]: 'order 5' }))
  expect(server.seen.length).toBe(1)
})

test('after requests that cannot be built, a client goes on, and closes', async () => {
  for (let i = 0; i < 5; i++) {
    await expect(inTime('a refusal', client.depth({ timeoutMs: -1 }))).rejects.toMatchObject({ code: 'invalid', unsent: true, detail: expect.stringMatching(/^the request cannot be sent: /) })
  }
  await inTime('an answer', client.depth())
  expect(server.seen.length).toBe(1)
})
