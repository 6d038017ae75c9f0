/** EV-06: a client of a past moment, against a real server. */
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminToken, startTestServer, type TestServer } from '../http/support.js'
import { faultyServer, latch } from './faulty-server.js'

let server: TestServer
let client: DaybookClient
beforeAll(async () => {
  server = await startTestServer()
  client = createClient({ url: server.http.url, token: adminToken, queue: 'past' })
})
afterAll(async () => {
  await client.close()
  await server.stop()
})

test('EV-06: at asks for a past moment, diff for what happened since', async () => {
  await client.enqueueAll([{ id: 'a', type: 'mail', payload: { to: 'ann' } }, { id: 'b', type: 'mail', payload: { to: 'bob' }, dependencies: ['a'] }])
  const then = { revision: (await client.summary()).revision }
  await new Promise((resolve) => setTimeout(resolve, 3))
  await client.cancel('a', 'not needed')
  await new Promise((resolve) => setTimeout(resolve, 3))
  const past = client.at(then)
  expect((await client.task('b')).status).toBe('cancelled')
  expect((await past.task('b')).status).toBe('blocked')
  expect((await past.explain('b')).reasons).toMatchObject([{ code: 'blocked' }])
  expect((await past.state({ status: ['blocked'] })).tasks).toMatchObject([{ id: 'b' }])
  expect(await past.history('a')).toMatchObject([{ type: 'TaskEnqueued' }])
  const listed: Array<string> = []
  for await (const { id } of past.eachTask({ limit: 1 })) listed.push(id)
  expect(listed.sort()).toEqual(['a', 'b'])
  const seen: Array<number> = []
  for await (const { revision } of past.eachEvent()) seen.push(revision)
  expect(seen).toEqual([0, 1])
  expect(await past.settings.get()).toEqual(await client.settings.get())

  const [, last] = await client.history('a')
  const cancelledAt = new Date((last as { readonly at: string }).at)
  expect((await client.at({ at: cancelledAt }).task('a')).status).toBe('cancelled')
  expect((await client.at({ at: new Date(cancelledAt.getTime() - 1) }).task('a')).status).toBe('pending')
  const difference = await client.diff({ from: then.revision, to: cancelledAt })
  expect(difference.tasks).toMatchObject([{ id: 'a', before: { status: 'pending' }, after: { status: 'cancelled' } }, { id: 'b', before: { status: 'blocked' }, events: [{ type: 'Cancelled', revision: 3 }] }])
  await expect(client.at({ revision: 99 }).depth()).rejects.toMatchObject({ code: 'not-found' })
})

test('EV-06: a question about the past waits while the server replays the log, for longer than others may take', async () => {
  const slow = await faultyServer()
  const replayed = latch()
  slow.held = replayed.opened
  const hasty = createClient({ url: slow.url, queue: 'past', timeoutMs: 10, retryForMs: 0 })
  const answers = Promise.all([hasty.at({ revision: 7 }).depth(), hasty.at({ revision: 7 }).tasks(), hasty.diff({ from: 1, to: 7 })])
  await expect(hasty.depth()).rejects.toMatchObject({ code: 'unreachable', detail: expect.stringContaining('it has the request, and did not answer in time') as string })
  await expect(hasty.at({ revision: 7 }).depth({ timeoutMs: 10 })).rejects.toMatchObject({ code: 'unreachable' })
  replayed.open()
  expect(await answers).toMatchObject([{ status: 'ok' }, { status: 'ok' }, { status: 'ok' }])
  await hasty.close()
  await slow.close()
})
