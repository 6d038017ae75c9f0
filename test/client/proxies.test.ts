/** What stands before a server, or in its place: addresses that are none, and answers of proxies. */
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

describe('the address of a server', () => {
  test.each([[{ url: 'localhost:7878' }, 'url'], [{ url: '127.0.0.1:7878' }, 'url'], [{ url: '' }, 'url'], [{ url: 'ftp://queue' }, 'url'], [{ urls: ['http://one', 'two:7878'] }, 'urls'], [{ url: 'queue', urls: ['http://one'] }, 'url']])('that is none is named, with what it must be: %j', (options, name) => {
    expect(() => createClient(options)).toThrow(expect.objectContaining({ code: 'invalid', message: expect.stringMatching(new RegExp(`^${name} must begin with http:// or https://`)) as string }) as DaybookError)
  })
})

describe('a proxy', () => {
  test('that asks for a pause gets it: the request did not reach the server, so it is sent again whatever it is', async () => {
    client = createClient({ url: server.url })
    server.fault = (_, index) => (index < 2 ? { status: 429, text: '<h1>slow down</h1>', headers: { 'content-type': 'text/html', 'retry-after': '0.01' } } : undefined)
    await inTime('the end of the call', client.cancel('t1', 'no').catch((error: DaybookError) => expect(error.code).toBe('no error')))
    expect(server.seen).toHaveLength(3)
  })
})
