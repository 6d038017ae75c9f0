/** EV-06: an export through a server: the lines that the server sends are written as they are, unless printing would change them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { type RunningServer, serve } from '@daybook/adapters/serve'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventToAppend } from '@daybook/adapters/store'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { until } from '../support/queue.js'
import { runHere } from './program.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-export-server-'))
const token = 'dbk_token-of-the-export-tests'
let server: RunningServer
let client: DaybookClient

const metadata = '{"schemaVersion":1,"at":"2026-01-01T00:00:00.000Z","actor":"ann","$correlationId":"c","$causationId":"c"}'
const event = (data: string, serial: number): EventToAppend => ({ id: `event ${serial}`, type: 'QueueConfigured', data, metadata })
/** As they would be printed, and not; some longer than what a socket hands over at once. */
const datas = ['{"patch":{}}', '{"patch":{},"a":1.0}', '{"patch":{},"é":"\\u0041"}', `{"patch":{},"note":"${'é😀'.repeat(50_000)}"}`, '{"b":1,"2":1,"b":2}', '{"patch":{},"a":"\\ud800"}', '[1]', '{"patch":{},"a":"\n"}', '{}']
const perPage = 400
const pages = 8

beforeAll(async () => {
  const store = await openSqliteStore({ file: join(dir, 'daybook.sqlite') })
  await store.append('taskqueue-odd', Array.from({ length: 40 }, (_, i) => event(datas[Math.floor(i / 4) % datas.length] as string, i)), 'any')()
  for (let page = 0; page < pages; page++) {
    await store.append('taskqueue-large', Array.from({ length: perPage }, (_, i) => event(`{"patch":{},"note":"${'x'.repeat(10_000)}"}`, page * perPage + i)), 'any')()
  }
  await store.close()
  server = await serve({ host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: join(dir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'tokens', token })
  client = createClient({ url: server.url, token, queue: 'odd' })
})
afterEach(() => void vi.restoreAllMocks())
afterAll(async () => {
  await client.close()
  await server.close()
  rmSync(dir, { recursive: true, force: true })
})

const exported = async (queue: string, ...where: ReadonlyArray<string>): Promise<string> => {
  const { code, out, err } = await runHere(['audit', 'export', '--queue', queue, ...where], { DAYBOOK_URL: server.url, DAYBOOK_TOKEN: token })
  expect([code, err]).toEqual([0, ''])
  return out
}

test('EV-06: whatever is in the log, the export through a server is that of the log without one, byte for byte', async () => {
  const there = await exported('odd')
  expect(there).toBe(await exported('odd', '--data', dir))
  expect(there.split('\n')).toHaveLength(42)
  expect(await exported('large')).toBe(await exported('large', '--data', dir))
})

test('EV-06: the client’s lines are those that it parses, with their data as they are in the log', async () => {
  const lines: Array<string> = []
  for await (const bytes of client.at({ revision: 39 }).eventLines()) {
    expect(bytes.toString('utf8')).toMatch(/\n$/)
    lines.push(...bytes.toString('utf8').trimEnd().split('\n'))
  }
  const events: Array<unknown> = []
  for await (const found of client.eachEvent()) events.push(found)
  expect(events).toHaveLength(40)
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(events)
  expect(lines[4]).toContain('"data":{"patch":{},"a":1.0}}')
})

test('EV-06: a stream may be longer than the largest answer', async () => {
  const small = createClient({ url: server.url, token, queue: 'large', answerBytesMax: 1_000_000 })
  let events = 0
  for await (const _ of small.eachEvent()) events++
  expect(events).toBe(pages * perPage)
  await expect(small.events({ limit: 500 })).rejects.toMatchObject({ code: 'unexpected-answer' })
  await small.close()
})

test('EV-06: a server reads no more than is taken: while a client takes nothing, a few pages are asked for and no other', async () => {
  const posted = vi.spyOn(Worker.prototype, 'postMessage')
  const isQuestion = ({ kind, id }: { readonly kind?: string; readonly id?: number }): boolean => kind === 'more' && id !== undefined
  const asked = (): number => posted.mock.calls.filter(([message]) => isQuestion(message as object)).length
  const answer = await new Promise<IncomingMessage>((resolve) => {
    request(`${server.url}/api/queues/large/events?revision=${pages * perPage - 1}`, { headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' } }, resolve).end()
  })
  await until(() => asked() > 0)
  let atFirst = 0
  for (let same = 0; same < 50; same = asked() === atFirst ? same + 1 : 0) {
    atFirst = asked()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  // Sockets take some of it.
  expect(atFirst).toBeLessThan(pages)
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) bytes += chunk.length
  expect(asked()).toBeGreaterThanOrEqual(pages)
  expect(bytes).toBeGreaterThan(pages * perPage * 10_000)
})
