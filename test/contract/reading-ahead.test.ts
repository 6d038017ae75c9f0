/** A log that is read ahead on a separate thread returns the same events as one that is not, and ends threads that nobody needs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { openSqliteLog, openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventToAppend, OpenedLog, ReadOptions, RecordedEvent } from '@daybook/adapters/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/queue.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-ahead-'))
const file = join(dir, 'log.db')
const count = 9_000
const threads = { begun: 0, ended: 0 }
const count1 = (worker: Worker): void => {
  threads.begun++
  worker.once('exit', () => threads.ended++)
}

beforeAll(async () => {
  const store = await openSqliteStore({ file })
  const event = (serial: number): EventToAppend => ({ id: `e${serial}`, type: 'T', data: `{"n":${serial}}`, metadata: '{}' })
  for (let from = 0; from < count; from += 1_000) {
    await store.append('s', Array.from({ length: 1_000 }, (_, i) => event(from + i)), 'any')()
    await store.append('other', [event(from)], 'any')()
  }
  await store.close()
  process.on('worker', count1)
})
afterAll(() => {
  process.off('worker', count1)
  rmSync(dir, { recursive: true, force: true })
})

const all = async (log: OpenedLog, options: ReadOptions): Promise<ReadonlyArray<RecordedEvent>> => {
  const found: Array<RecordedEvent> = []
  for await (const page of log.read('s', options)) found.push(...page)
  return found
}

test('the same events, whichever part of the log, forwards and backwards, several at once, and after leaving early', async () => {
  const [plain, ahead] = [openSqliteLog(file), openSqliteLog(file, true)]
  const asked: ReadonlyArray<ReadOptions> = [
    {}, { from: 1_234, limit: 5_000 }, { from: 8_990 }, { from: count }, { limit: 3 }, { direction: 'backwards' }, { from: 6_000, direction: 'backwards', limit: 4_000 }, { from: 2_500, limit: 2_001 },
  ]
  for await (const page of ahead.read('s')) {
    expect(page.length).toBeGreaterThan(0)
    break
  }
  const found = await Promise.all(asked.map((options) => all(ahead, options)))
  for (const [i, options] of asked.entries()) expect(found[i]).toEqual(await all(plain, options))
  expect(found[0]).toHaveLength(count)
  await plain.close()
  await ahead.close()
  await expect(all(ahead, {})).rejects.toThrow()
})

test('its thread is begun by a long read alone, ends when nothing is read for a while, and is begun again', async () => {
  const log = openSqliteLog(file, true)
  Object.assign(threads, { begun: 0, ended: 0 })
  expect(await all(log, { limit: 1_000 })).toHaveLength(1_000)
  expect(threads).toEqual({ begun: 0, ended: 0 })
  expect(await all(log, {})).toHaveLength(count)
  expect(threads.begun).toBe(1)
  await until(() => threads.ended === 1)
  expect(await all(log, {})).toHaveLength(count)
  expect(threads.begun).toBe(2)
  await log.close()
  expect(threads).toEqual({ begun: 2, ended: 2 })
})
