/** What a server answers while its clock is wrong, apart from commands (ADR 22). */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { type RunningServer, serve } from '@daybook/adapters/serve'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const hour = 3_600_000
const day = 24 * hour
const token = 'dbk_token-of-the-clock-tests'
const { now: rightTime } = Date
/** How far the clock of the server is ahead, in milliseconds. */
let aheadMs = 0
let dir = ''
let server: RunningServer
let client: DaybookClient

beforeEach(async () => {
  aheadMs = 0
  vi.spyOn(Date, 'now').mockImplementation(() => rightTime() + aheadMs)
  dir = mkdtempSync(join(tmpdir(), 'daybook-wrong-clock-'))
  server = await serve({ host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: join(dir, 'log.db'), sharing: 'exclusive' }, auth: 'tokens', token, memory: { kind: 'off' } })
  client = createClient({ url: server.url, token, retryForMs: 0 })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await client.close()
  await server.close()
  rmSync(dir, { recursive: true, force: true })
})

const enqueuedLately = async (): Promise<number> => {
  const { rows } = await client.report('summary', { atLeast: server.daybook.queue('default')?.status().revision ?? 0 })
  return rows.reduce((sum, { enqueued }) => sum + enqueued, 0)
}

test('a clock that has jumped ahead ends no token, and its time gets into none', async () => {
  const brief = await client.tokens.create({ name: 'brief', roles: ['producer'], expiresAt: new Date(rightTime() + hour) })
  const holder = createClient({ url: server.url, token: brief.token, retryForMs: 0 })
  await holder.enqueue({ type: 'mail' })
  aheadMs = 365 * day
  await expect(holder.enqueue({ type: 'mail', payload: 2 })).rejects.toMatchObject({ code: 'clock' })
  const made = await client.tokens.create({ name: 'made-meanwhile', roles: ['producer'], expiresAt: new Date(rightTime() + hour) })
  expect(Math.abs(Date.parse(made.createdAt ?? '') - rightTime())).toBeLessThan(hour)
  aheadMs = 0
  await holder.enqueue({ type: 'mail', payload: 2 })
  await holder.close()
})

test('a clock that jumps does not make the server forget what it answered to an Idempotency-Key', async () => {
  const enqueue = async (): Promise<unknown> => {
    const answer = await fetch(`${server.url}/api/queues/default/tasks`, {
      method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': 'k' }, body: JSON.stringify({ type: 'mail', id: 'only' }),
    })
    return [answer.status, await answer.json()]
  }
  const first = await enqueue()
  aheadMs = 2 * day
  expect(await enqueue()).toEqual(first)
})

test('the last 24 hours of a report are those of the queue: its clock may have been set back, or have jumped ahead', async () => {
  await client.enqueue({ type: 'mail' })
  aheadMs = 365 * day
  expect(await enqueuedLately()).toBe(1)
  aheadMs = -3 * day
  expect(await enqueuedLately()).toBe(1)
  await client.enqueue({ type: 'mail', payload: 2 })
  expect(await enqueuedLately()).toBe(2)
  // A task that was enqueued and claimed in the queue's time has waited in that time.
  await new Promise((resolve) => setTimeout(resolve, 60))
  await client.claim({ agentId: 'w', max: 2 })
  const metrics = await (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()
  expect(Number(/^daybook_queue_wait_seconds_sum\{queue="default"\} (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0.05)
})
