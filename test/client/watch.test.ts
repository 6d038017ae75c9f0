import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createClient } from '@daybook/adapters/client'
import { afterEach, expect, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { inTime } from '../support/in-time.js'
import { until } from './faulty-server.js'

let server: WebSocketServer
afterEach(() => {
  vi.useRealTimers()
  for (const client of server.clients) client.terminate()
  server.close()
})

test('ends when its client is closed, connected or not, and a closed client watches nothing', async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const client = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const away = createClient({ url: 'http://127.0.0.1:9' })
  const connected = once(server, 'connection')
  const watching = [client.watch(), client.watch({ signal: new AbortController().signal }), away.watch()].map((watch) => watch.next())
  await connected
  await Promise.all([client.close(), away.close()])
  expect(await inTime('the end of all', Promise.all(watching))).toEqual(watching.map(() => ({ done: true, value: undefined })))
  await expect(client.watch().next()).rejects.toMatchObject({ code: 'closed' })
})

test.each([
  ['a server that answers no ping is gone: the watch connects again', false, 2],
  ['a server that answers pings is there, though nothing happens', true, 1],
])('%s', async (_, autoPong, connectionsExpected) => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong })
  await once(server, 'listening')
  let connections = 0
  let pings = 0
  let answered = 0
  server.on('connection', (socket) => {
    connections++
    socket.send('{"event":"task_created","timestamp":"","revision":1,"payload":{}}')
    socket.on('ping', () => {
      pings++
      // Its answer comes after that to the client's own ping has arrived there.
      socket.ping()
    })
    socket.on('pong', () => answered++)
  })
  const leave = new AbortController()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const client = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const watching = client.watch({ signal: leave.signal })
  await watching.next()
  const next = watching.next()
  vi.advanceTimersByTime(30_000)
  await until(() => answered === 1, 'it has sent a ping')
  vi.advanceTimersByTime(30_000)
  await until(() => (autoPong ? pings === 2 : connections === 2), 'it is connected, again or still')
  expect(connections).toBe(connectionsExpected)
  leave.abort()
  await next
  await client.close()
})
