/** Lists of ready tasks from a server whose queue is at capacity at one moment and not at the next. */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from './program.js'

/** At capacity while it is asked for pending tasks, and not while it is asked for queued ones: the worst moments. */
const server = createServer(({ url = '' }, response) => {
  const { searchParams } = new URL(url, 'http://here')
  const asked = (searchParams.get('status') ?? '').split(',')
  const tasks = asked.includes('pending') && asked.includes('queued') ? [{ id: 'a', number: 1, type: 't', priority: 5, status: 'queued', createdAt: '2026-07-01T12:00:00.000Z' }] : []
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(url.includes('/tasks') ? { tasks, nextCursor: null, revision: 0 } : { name: 'q', revision: 0, paused: null, total: 1, byStatus: {} }))
})
let dir = ''
let env = {}
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'daybook-ready-'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  env = { DAYBOOK_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, DAYBOOK_TOKEN: 't', DAYBOOK_QUEUE: 'q' }
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await rm(dir, { recursive: true, force: true })
})

test('TQM-CAP-002: list and export --live have each ready task once, although the queue reaches its capacity and has room again meanwhile', async () => {
  const listed = await run(['list', '--json'], env)
  expect(JSON.parse(listed.out)).toMatchObject({ tasks: [{ id: 'a' }] })
  expect(JSON.parse((await run(['list', '--status', 'queued,blocked,pending', '--json'], env)).out)).toMatchObject({ tasks: [{ id: 'a' }] })
  expect(await run(['export', '--live', '--out', dir], env)).toMatchObject({ code: 0 })
  expect(JSON.parse(readFileSync(join(dir, 'pending.json'), 'utf8'))).toMatchObject({ tasks: [{ id: 'a' }] })
})
