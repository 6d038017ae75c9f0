import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { eventStoreDbUrl } from '../support/eventstoredb/node.js'
import { run, type Server, startServer } from './program.js'

const node = await eventStoreDbUrl()
const dir = mkdtempSync(join(tmpdir(), 'daybook-esdb-'))
/** A new name for each run, because a real node keeps its streams. */
const queue = `cli-${randomUUID()}`
const servers: Array<Server> = []
const serving = async (): Promise<Server> => {
  const server = await startServer(['--store', node.url], undefined, dir)
  servers.push(server)
  return server
}
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
})
afterAll(async () => {
  await node.close()
  rmSync(dir, { recursive: true, force: true })
})

describe('daybook serve --store esdb://…', () => {
  test('enqueued tasks are there after a restart, also if the data folder was lost', async () => {
    const first = await serving()
    await first.daybook(['enqueue', 'x', '--id', 'a', '--queue', queue])
    servers.pop()
    expect((await first.stop()).code).toBe(0)
    const second = await serving()
    expect(await second.json('show', 'a', '--queue', queue)).toMatchObject({ id: 'a', status: 'pending' })
    servers.pop()
    await second.stop()
    rmSync(dir, { recursive: true, force: true })
    expect(await (await serving()).json('show', 'a', '--queue', queue)).toMatchObject({ id: 'a', status: 'pending' })
  })

  test('the doctor reads its events, also while a server runs', async () => {
    await serving()
    const { code, out } = await run(['doctor', '--store', node.url])
    expect(out).toContain(`queue ${queue}`)
    expect([code, out.includes('nothing is wrong')]).toEqual([0, true])
  })

  test('EV-06: past moments are read from it, by a server and without one', async () => {
    const server = await serving()
    const own = `past-${randomUUID()}`
    await server.daybook(['enqueue', 'x', '--id', 'a', '--queue', own])
    await server.daybook(['cancel', 'a', '--reason', 'not needed', '--queue', own])
    expect(await server.json('audit', 'state', '--revision', '0', '--queue', own)).toMatchObject({ revision: 0, tasks: [{ id: 'a', status: 'pending' }] })
    expect(await server.json('audit', 'diff', '--from', '0', '--queue', own)).toMatchObject({ tasks: [{ id: 'a', before: { status: 'pending' }, after: { status: 'cancelled' } }] })
    const offline = await run(['audit', 'state', '--revision', '0', '--store', node.url, '--queue', own, '--json'])
    expect(JSON.parse(offline.out)).toEqual(await server.json('audit', 'state', '--revision', '0', '--queue', own))
  })

  test('EV-07: its log is verified, by a server and without one', async () => {
    const server = await serving()
    const own = `chain-${randomUUID()}`
    await server.daybook(['enqueue', 'x', '--id', 'a', '--queue', own])
    await server.daybook(['cancel', 'a', '--reason', 'not needed', '--queue', own])
    const verdict = await server.json('audit', 'verify', '--queue', own)
    expect(verdict).toMatchObject({ ok: true, events: 2, begins: 0, head: { revision: 1 } })
    const offline = await run(['audit', 'verify', '--store', node.url, '--queue', own, '--json'])
    expect([offline.code, JSON.parse(offline.out)]).toEqual([0, verdict])
  })

  test('an unreachable node and an invalid connection string are reported without passwords', async () => {
    const [away, doctor] = await Promise.all([
      run(['serve', '--port', '0', '--data', dir, '--store', 'esdb://user:secret@127.0.0.1:1?tls=false']),
      run(['doctor', '--store', 'esdb://127.0.0.1:1?tls=false']),
    ])
    const wrong = await run(['serve', '--port', '0', '--data', dir, '--store', 'esdb://user:secret@127.0.0.1:many?tls=false'])
    expect(away.code).not.toBe(0)
    expect(away.err).toContain('esdb://127.0.0.1:1')
    expect(wrong.err).toContain('connection string')
    expect(away.err + wrong.err).not.toContain('secret')
    expect(doctor.out).toContain('the events were not read')
  })

  test('EV-07: a log that cannot be reached is not told as one that was altered', async () => {
    const [text, json] = await Promise.all([
      run(['audit', 'verify', '--store', 'esdb://127.0.0.1:1?tls=false']),
      run(['project', '--once', '--views', join(dir, 'away.db'), '--store', 'esdb://127.0.0.1:1?tls=false', '--json']),
    ])
    expect([text.code, text.err]).toEqual([3, expect.stringContaining('of a cluster, more than half of its nodes')])
    expect([json.code, JSON.parse(json.err)]).toEqual([3, { error: { code: 'unreachable', detail: expect.stringContaining('Cannot reach EventStoreDB') } }])
    const server = await run(['serve', '--port', '0', '--data', join(dir, 'away'), '--store', 'esdb://127.0.0.1:1?tls=false'])
    expect([server.code, server.err]).toEqual([3, expect.stringContaining('Cannot reach EventStoreDB')])
  })
})
