/** Requests that offer another protocol: only WebSockets are taken, every other offer is ignored (RFC 9110, 7.8). */
import { connect } from 'node:net'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminToken, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

test('a request that offers HTTP/2, as those of Java do, is answered in HTTP/1.1, and so is the next one on its connection', async () => {
  const socket = connect(server.http.port, '127.0.0.1')
  const headers = `Host: x\r\nAuthorization: Bearer ${adminToken}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n`
  const ask = async (request: string): Promise<string> => {
    socket.write(request)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.toString()
  }
  const body = '{"id":"a","type":"t"}'
  expect(await ask(`POST /api/queues/q/tasks HTTP/1.1\r\n${headers}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)).toMatch(/^HTTP\/1\.1 201 [^]*"number":1/)
  expect(await ask(`GET /api/queues/q/tasks/a HTTP/1.1\r\n${headers}\r\n`)).toMatch(/^HTTP\/1\.1 200 [^]*"id":"a"/)
  socket.destroy()
})

test('a request for a WebSocket from which a proxy took the headers is told so', async () => {
  expect(await server.get('/api/ws?queue=q')).toMatchObject({ status: 404, body: { code: 'not-found', detail: expect.stringContaining('a proxy in between must pass on the headers Upgrade and Connection') as string } })
})
