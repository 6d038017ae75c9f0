/** What stands before a server, or in its place. */
import { createClient, type DaybookClient, type DaybookError } from '@daybook/adapters/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { type FaultyServer, faultyServer } from './faulty-server.js'

let server: FaultyServer
let client: DaybookClient | undefined
beforeEach(async () => {
  server = await faultyServer()
})
afterEach(async () => {
  await client?.close()
  await server.close()
})

describe('a proxy', () => {
  test('that asks for a pause gets it: the request did not reach the server, so it is sent again whatever it is', async () => {
    client = createClient({ url: server.url })
    server.fault = (_, index) => (index < 2 ? { status: 429, text: '<h1>slow down</h1>', headers: { 'content-type': 'text/html', 'retry-after': '0.01' } } : undefined)
    await inTime('the end of the call', client.cancel('t1', 'no').catch((error: DaybookError) => expect(error.code).toBe('no error')))
    expect(server.seen).toHaveLength(3)
  })
})
