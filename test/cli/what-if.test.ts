/** `daybook audit what-if`: over a server, and over logs without one. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@daybook/adapters/client'
import { encodeData, streamOf } from '@daybook/adapters/engine'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import { serve } from '@daybook/adapters/serve'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore } from '@daybook/adapters/store'
import type { QueueEvent } from '@daybook/core'
import type { WhatIf } from '@daybook/projections/what-if'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventStoreDbUrl } from '../support/eventstoredb/node.js'
import { busy, from, simulated } from '../what-if/recordings.js'
import { runHere } from './program.js'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'daybook-what-if-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const append = async (store: EventStore, queue: string, events: ReadonlyArray<QueueEvent>): Promise<void> => {
  for (let i = 0; i < events.length; i += 500) {
    const appended = await store.append(
      streamOf(queue),
      events.slice(i, i + 500).map((event) => ({ id: randomUUID(), type: event.type, data: encodeData(event), metadata: JSON.stringify({ schemaVersion: 1, at: new Date(event.at).toISOString() }) })),
      'any',
    )()
    if (appended._tag === 'Left') throw new Error(appended.left._tag)
  }
}
const whatIf = async (...args: ReadonlyArray<string>): Promise<WhatIf> => {
  const { code, out, err } = await runHere(['audit', 'what-if', '--json', ...args])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out) as WhatIf
}
const day = simulated(busy({ duration: '2h' }), 1).events

test('EV-06: a log on disk: the model is the log, and with other settings it is not; table, JSON and pictures', async () => {
  const log = join(dir, 'log.db')
  const store = await openSqliteStore({ file: log })
  await append(store, 'day', day)
  await store.close()
  const where = ['--store', log, '--queue', 'day']
  const same = await whatIf(...where)
  expect(same.figures.model).toEqual(same.figures.recorded)
  expect(same.isChanged).toBe(false)
  const changed = await whatIf(...where, '--set', 'assignment.tenants.b=9', '--from', new Date(from + 1_800_000).toISOString(), '--to', String(day.length - 1))
  expect(changed.figures.model).toEqual(changed.figures.recorded)
  const meanOf = ({ byTenant }: WhatIf['figures']['model'], tenant: string) => byTenant.find((group) => group.tenant === tenant)?.waits.mean ?? 0
  expect(meanOf(changed.figures.changed, 'b')).toBeLessThan(meanOf(changed.figures.model, 'b'))
  await writeFile(join(dir, 'settings.yaml'), 'assignment: { tenants: { b: 9 } }\n')
  expect((await whatIf(...where, '--settings', join(dir, 'settings.yaml'), '--from', new Date(from + 1_800_000).toISOString())).figures.changed).toEqual(changed.figures.changed)
  const more = await whatIf(...where, '--agents', '40')
  expect(more.agents).toEqual({ recorded: 12, changed: 40 })
  expect(more.figures.changed.all.waits.p95).toBeLessThan(more.figures.model.all.waits.p95)

  const { code, out, err } = await runHere(['audit', 'what-if', ...where, '--set', 'policy=score', '--svg', join(dir, 'pictures')])
  expect(code).toBe(0)
  expect(out).toMatch(/^day: 2026-01-05 00:00:00Z, 1h 59m, \d+ tasks, 12 agents\n/)
  expect(out).toMatch(/AS RECORDED +MODEL OF IT +CHANGED/)
  for (const part of ['wait P95', 'deadlines met', 'Waits by priority', 'Waits by tenant', 'no breaker opened', 'CHANGED:']) expect(out).toContain(part)
  expect(err).toContain('pictures: ')
  expect((await readdir(join(dir, 'pictures'))).sort()).toEqual(['deadlines.svg', 'waiting-changed.svg', 'waiting-model.svg', 'waiting-recorded.svg', 'waits.svg'])
})

test('EV-06: of a period without events the refusal says where the log ends, or that there is no such queue', async () => {
  const log = join(dir, 'log.db')
  const store = await openSqliteStore({ file: log })
  await append(store, 'day', day.slice(0, 10))
  await store.close()
  const refused = async (queue: string, ...args: ReadonlyArray<string>): Promise<string> => (await runHere(['audit', 'what-if', '--store', log, '--queue', queue, ...args])).err
  expect(await refused('day', '--from', '2026-06-01T00:00:00Z')).toBe(`daybook: there are no events in this period: the last one before is of ${new Date(day[9]!.at).toISOString()}\n`)
  expect(await refused('day', '--from', '2025-01-01T00:00:00Z', '--to', '2025-01-02T00:00:00Z')).toBe('daybook: queue day has no events up to the end of this period\n')
  expect(await refused('night')).toContain('there is no queue night in this log')
})

test('EV-06: the same log in EventStoreDB', async () => {
  const node = await eventStoreDbUrl()
  const store = await openEventStoreDb({ url: node.url })
  const queue = `day-${randomUUID()}`
  try {
    await append(store, queue, day.slice(0, 1_500))
    const { figures } = await whatIf('--store', node.url, '--queue', queue)
    expect(figures.recorded.arrived).toBeGreaterThan(100)
    expect(figures.model.all.waits).toEqual(figures.recorded.all.waits)
  } finally {
    await store.close()
    await node.close()
  }
})

test('EV-06: a server answers as its log does; wrong moments, settings and files are told', async () => {
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: join(dir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', memory: { kind: 'off' } })
  try {
    const client = createClient({ url: server.url })
    for (const id of ['one', 'two', 'three']) await client.enqueue({ id, type: 'mow', payload: id, priority: 'HIGH', tenant: 'acme' })
    for (let i = 0; i < 2; i++) {
      const [claimed] = await client.claim({ agentId: 'bob' })
      if (claimed === undefined) throw new Error('nothing to claim')
      await client.complete(claimed.task.id, { agentId: 'bob', token: claimed.lease.token, result: { decisionReport: 'done' } })
    }
    const online = await whatIf('--url', server.url, '--set', 'policy=score')
    expect(online).toEqual(await whatIf('--data', dir, '--set', 'policy=score'))
    expect(online.figures.recorded).toMatchObject({ arrived: 3, completed: 2, waitingAtEnd: 1, attempts: { started: 2 } })
    const fails = async (...args: ReadonlyArray<string>) => (await runHere(['audit', 'what-if', '--url', server.url, ...args])).err
    expect(await fails('--set', 'policy=fastest')).toContain('policy')
    expect(await fails('--settings', join(dir, 'none.yaml'))).toContain('cannot be read')
    expect(await fails('--set', 'policy=score', '--settings', join(dir, 'none.yaml'))).toContain('--set')
    expect(await fails('--from', '999999')).toContain('no events in this period')
    expect(await fails('--agents', '10001')).toContain('at most 10000')
    expect(await fails('--seed', '4294967296')).toContain('a whole number below 4294967296 is wanted')
  } finally {
    await server.close()
  }
})
