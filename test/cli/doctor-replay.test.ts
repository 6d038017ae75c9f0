/** `daybook doctor --replay`: whether the newest snapshot leads to the state that all events lead to (INV-15). */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type DaybookClient } from '@daybook/client'
import { openEmbedded } from '@daybook/adapters/embedded'
import { emptyState, foldRecorded } from '@daybook/adapters/engine'
import { openSnapshotFolder } from '@daybook/adapters/files'
import { archiveBeside, joinedStore } from '@daybook/adapters/segments'
import { serve } from '@daybook/adapters/serve'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { RecordedEvent } from '@daybook/adapters/store'
import { foldVersion, snapshotPages } from '@daybook/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runHere } from './program.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-replay-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const served = async <A>(dataDir: string, body: (client: DaybookClient) => Promise<A>): Promise<A> => {
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off' })
  const client = createClient({ url: server.url, queue: 'q' })
  try {
    return await body(client)
  } finally {
    await client.close()
    await server.close()
  }
}
const doctor = (dataDir: string) => runHere(['doctor', '--data', dataDir, '--replay'], { NO_COLOR: '1' })
const same = expect.stringMatching(/^ok {4}queue q: the snapshot at revision \d+ leads to the same state as all events$/m) as string

test('--replay needs a data folder', async () => {
  expect(await runHere(['doctor', '--replay'])).toMatchObject({ code: 2, err: expect.stringContaining('give --data') as string })
})

test('INV-15: what a running server forgot by the clock alone is no difference', async () => {
  const dataDir = join(dir, 'forgotten')
  await served(dataDir, async (client) => {
    await client.settings.patch({ retentionSeconds: 1, decisionReport: 'optional' })
    await client.enqueueAll([1, 2, 3].map((payload) => ({ id: `t${payload}`, type: 'mail', payload })))
    for (const id of ['t1', 't2']) await client.cancel(id, 'no more')
    await new Promise((resolve) => setTimeout(resolve, 2_500))
  })
  expect(await doctor(dataDir)).toMatchObject({ code: 0, out: same })
})

test('INV-15: what a server forgot too early, because its clock was ahead, is a note', async () => {
  const dataDir = join(dir, 'ahead')
  const client = await openEmbedded({ dataDir })
  await client.enqueueAll([1, 2, 3].map((payload) => ({ id: `t${payload}`, type: 'mail', payload })))
  await client.cancel('t1', 'no more')
  await client.close()
  rmSync(join(dataDir, 'snapshots'), { recursive: true })
  const ahead = await openEmbedded({ dataDir, engine: { clock: () => Date.now() + 10 * 86_400_000 } })
  expect((await ahead.depth()).total).toBe(2)
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  await ahead.close()
  expect(await doctor(dataDir)).toMatchObject({ code: 0, out: expect.stringMatching(/^note {2}queue default: the snapshot at revision 3 .* forgotten too early/m) as string })
})

describe('a queue with archived events', () => {
  const dataDir = join(dir, 'data')
  beforeAll(async () => {
    await served(dataDir, async (client) => {
      await client.settings.patch({ decisionReport: 'optional' })
      await client.enqueueAll(Array.from({ length: 60 }, (_, i) => ({ id: `t${i}`, type: 'mail', payload: i, tenant: `tenant ${i % 3}` })))
      const claims = await client.claim({ agentId: 'ann', max: 10 })
      for (const [i, { task, lease: { token } }] of claims.entries()) {
        if (i < 5) await client.complete(task.id, { agentId: 'ann', token, result: { output: 'sent' } })
        else if (i < 8) await client.fail(task.id, { agentId: 'ann', token, error: 'no' })
      }
    })
    expect(await runHere(['archive', '--data', dataDir, '--queue', 'q', '--before', '30'], { NO_COLOR: '1' })).toMatchObject({ code: 0 })
    // Events after the newest snapshot.
    await served(dataDir, (client) => client.enqueue({ id: 'later', type: 'mail', payload: 'later' }))
  })

  test('INV-15: its snapshot leads to the same state as all its events', async () => {
    expect(await doctor(dataDir)).toMatchObject({ code: 0, out: same })
  })

  test('INV-15: without a snapshot there is nothing to compare', async () => {
    const copy = join(dir, 'none')
    cpSync(dataDir, copy, { recursive: true })
    rmSync(join(copy, 'snapshots'), { recursive: true })
    expect(await doctor(copy)).toMatchObject({ code: 0, out: expect.stringMatching(/^note {2}queue q: there is no snapshot to compare with the log$/m) as string })
  })

  test('teeth: a snapshot in which a task has another priority, with a checksum that is right, is found', async () => {
    const copy = join(dir, 'altered')
    cpSync(dataDir, copy, { recursive: true })
    const file = join(copy, 'daybook.sqlite')
    const store = joinedStore(await openSqliteStore({ file }), archiveBeside(file))
    const snapshots = await openSnapshotFolder(join(copy, 'snapshots'))
    try {
      const [newest] = (await snapshots.list('taskqueue-q', foldVersion, Infinity)).usable
      if (newest === undefined) throw new Error('there is no snapshot')
      const events: Array<RecordedEvent> = []
      for await (const page of store.read('taskqueue-q', { limit: newest.header.revision + 1 })) events.push(...page)
      const altered = events.map((event) => (/"task":"t40"/.test(event.data) ? { ...event, data: event.data.replace('"priority":5', '"priority":9') } : event))
      const { base: _base, ...header } = newest.header
      const writer = await snapshots.create(header)
      for (const page of snapshotPages(foldRecorded(emptyState('q'), altered))) await writer.page(page)
      await writer.commit()
    } finally {
      snapshots.close()
      await store.close()
    }
    expect(await runHere(['doctor', '--data', copy], { NO_COLOR: '1' })).toMatchObject({ code: 0 })
    expect(await doctor(copy)).toMatchObject({ code: 1, out: expect.stringContaining('The first difference is task t40 (#41), priority: 9 from the snapshot, 5 from the events') as string })
  })
})
