/** SEC-7: the security headers of every answer, and that pages of other origins cannot read answers. */
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConsole } from '@daybook/adapters/http'
import { adminToken, startTestServer, type TestServer } from './support.js'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ console: readConsole() })
  await server.post('/api/queues/q/tasks', { id: 'a', type: 't' })
})
afterAll(() => server.stop())

const wanted = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cross-origin-resource-policy': 'same-origin', 'content-security-policy': expect.stringContaining("default-src 'none'") as string }

test('SEC-7: every route sends the security headers, refused or not, and none lets pages from elsewhere read', async () => {
  const origin = { origin: 'https://evil.example' }
  for (const { method, path } of server.http.routes) {
    for (const headers of [origin, { ...origin, authorization: '' }, { ...origin, accept: 'text/html' }]) {
      const inPath = path.replace('{queue}', 'q').replace(/\{\w+\}/g, 'a')
      const { headers: got } = await fetch(`${server.http.url}${inPath}`, {
        method,
        headers: { authorization: `Bearer ${adminToken}`, ...(method === 'POST' ? { 'content-type': 'application/json' } : {}), ...headers },
        ...(method === 'POST' ? { body: 'no JSON' } : {}),
      })
      const all = Object.fromEntries(got)
      expect(all, `${method} ${path}`).toMatchObject(wanted)
      expect(Object.keys(all).filter((name) => name.startsWith('access-control-')), path).toEqual([])
    }
  }
})

test('SEC-7: so does an answer where there is no route, to a preflight, and to what is no HTTP', async () => {
  expect(Object.fromEntries((await server.get('/nowhere')).headers)).toMatchObject(wanted)
  const preflight = await server.call('OPTIONS', '/api/queues/q/tasks', undefined, { headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' } })
  expect(preflight.status).toBe(405)
  expect(Object.fromEntries(preflight.headers)).toMatchObject(wanted)
  for (const text of ['nonsense\r\n\r\n', 'GET /api/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n']) {
    const said = await new Promise<string>((resolve, reject) => {
      let got = ''
      const socket = connect(server.http.port, '127.0.0.1', () => socket.write(text))
      socket.on('data', (chunk: Buffer) => (got += chunk.toString())).on('close', () => resolve(got)).on('error', reject)
    })
    expect(said).toMatch(/^HTTP\/1\.1 40[01]/)
    for (const name of Object.keys(wanted)) expect(said).toContain(`${name}: `)
  }
})
