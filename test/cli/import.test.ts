/** EV-09: `daybook import` on the command line. Tests of single folders and rules are in `test/import`. */
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { serverOfFile } from './program.js'

const server = serverOfFile()

let last = 0
/** A folder of files, and a new queue. */
const fleet = (files: Readonly<Record<string, unknown>>): { readonly dir: string; readonly q: string } => {
  const q = `fleet${++last}`
  const dir = join(server.dir, q)
  mkdirSync(dir)
  for (const [name, value] of Object.entries(files)) writeFileSync(join(dir, name), JSON.stringify(value))
  return { dir, q }
}
const statusesIn = async (q: string): Promise<Readonly<Record<string, string>>> => {
  const { tasks } = await server.json<{ readonly tasks: ReadonlyArray<{ readonly id: string; readonly status: string }> }>('list', '--all', '--queue', q)
  return Object.fromEntries(tasks.map(({ id, status }) => [id, status]))
}

test('named lists in one file, with unusual words and names: all are taken, blocked ones are counted as such', async () => {
  const { dir, q } = fleet({
    'tasks.json': {
      queue: [{ task_id: 'a', task_name: 'first', agent_type: 'eng' }, { id: 'b', title: 'second', depends_on: ['a'] }, { id: 'c', requires: ['b'] }],
      claimed: [],
      completed: Array.from({ length: 10 }, (_, i) => ({ id: `done${i}`, completed_at: '2026-01-31T04:30:00+07:00' })),
      skipped: [{ id: 's', reason: 'User requested skip' }],
    },
  })
  const { code, out } = await server.daybook(['import', dir, '--queue', q])
  expect(out).toContain('14 tasks taken (')
  expect(out.match(/\((.*?)\) into/)?.[1]?.split(', ').sort()).toEqual(['1 cancelled', '1 pending', '10 completed', '2 blocked'])
  expect(code).toBe(0)
  expect(await statusesIn(q)).toMatchObject({ a: 'pending', b: 'blocked', c: 'blocked', s: 'cancelled', done0: 'completed', done9: 'completed' })
  expect(await server.json('show', 's', '--queue', q)).toMatchObject({ metadata: { reason: 'User requested skip' } })
  expect(await server.json('show', 'a', '--queue', q)).toMatchObject({ type: 'eng', description: 'first' })
})

test('tasks left out are reported with file and reason, and make the exit code 1; the others are taken', async () => {
  const { dir, q } = fleet({
    'pending.json': { tasks: [{ id: 'a' }, { id: 'b', status: 'whenever' }], someday: [{ id: 'c' }] },
    'odd.json': { config: true },
  })
  const { code, out } = await server.daybook(['import', dir, '--queue', q])
  expect([code, Object.keys(await statusesIn(q))]).toEqual([1, ['a']])
  expect(out).toContain('2 left out')
  expect(out).toMatch(/pending\.json b: status "whenever" is not known/)
  expect(out).toMatch(/pending\.json: the list "someday" is left out \(1 entry\)/)
  expect(out).toMatch(/odd\.json: holds no list of tasks/)
})

test('--dry-run says what would be done, and writes nothing', async () => {
  const { dir, q } = fleet({ 'pending.json': [{ id: 'a', priority: 3 }, { id: 'b', dependencies: ['a'], priority: 14 }, { id: 'c', depends_on: 'ghost' }] })
  const dry = await server.daybook(['import', dir, '--queue', q, '--dry-run'])
  expect(dry.out).toMatch(/2 tasks would be taken \(1 pending, 1 blocked\) into/)
  expect(dry.out).toMatch(/taken as ranks, 1 first/)
  expect(dry.out).toMatch(/pending\.json c: depends on ghost/)
  expect(dry.out).toContain('nothing was written')
  expect(dry.code).toBe(1)
  expect((await server.daybook(['queues', '--json'])).out).not.toContain(q)
  const { dryRun: _, ...foretold } = JSON.parse((await server.daybook(['import', dir, '--queue', q, '--dry-run', '--json'])).out) as { readonly dryRun: boolean }
  const done = await server.daybook(['import', dir, '--queue', q, '--json'])
  expect(JSON.parse(done.out)).toEqual({ ...foretold, dryRun: false })
  const again = await server.daybook(['import', dir, '--queue', q, '-n'])
  expect(again.out).toMatch(/0 tasks would be taken into .*, 2 already there, 1 left out\nnothing would change/)
})

test('tasks of a batch are taken from an export without their batch, which stays in metadata', async () => {
  const { dir, q } = fleet({ 'rows.json': [{ id: 'r1', type: 'row', payload: 1 }, { id: 'r2', type: 'row', payload: 2 }] })
  expect((await server.daybook(['batch', 'create', '--id', 'upload', '--file', join(dir, 'rows.json'), '--queue', q])).code).toBe(0)
  expect((await server.daybook(['export', '--out', join(dir, 'out'), '--queue', q])).code).toBe(0)
  const elsewhere = `${q}-elsewhere`
  const { code, out } = await server.daybook(['import', join(dir, 'out'), '--queue', elsewhere])
  expect([code, await statusesIn(elsewhere)]).toEqual([0, { r1: 'pending', r2: 'pending' }])
  expect(out).toContain('batchId stays in metadata, because the batch is another queue\'s')
  const task = await server.json<{ readonly batchId?: string }>('show', 'r1', '--queue', elsewhere)
  expect(task).toMatchObject({ metadata: { batchId: 'upload' } })
  expect(task.batchId).toBeUndefined()
})

test('files of two exports in one folder, as one leaves them that breaks off over an earlier one, are named: a task may be in none of them', async () => {
  const { dir, q } = fleet({ 'pending.json': [{ id: 'a' }, { id: 'b' }] })
  const out = join(dir, 'out')
  await server.daybook(['import', dir, '--queue', q])
  expect((await server.daybook(['export', '--out', out, '--queue', q])).code).toBe(0)
  expect((await server.daybook(['import', out, '--queue', `${q}-whole`])).code).toBe(0)
  await server.daybook(['cancel', 'a', '--reason', 'not now', '--queue', q])
  const cancelled = readFileSync(join(out, 'cancelled.json'))
  expect((await server.daybook(['export', '--out', out, '--queue', q])).code).toBe(0)
  writeFileSync(join(out, 'cancelled.json'), cancelled)
  const { code, out: said } = await server.daybook(['import', out, '--queue', `${q}-mixed`])
  expect([code, await statusesIn(`${q}-mixed`)]).toEqual([1, { b: 'pending' }])
  expect(said).toMatch(/cancelled\.json: is of revision \d+, and others are of \d+: a task that moved in between may be in none of them/)
})

test('--ranks and --no-ranks decide whether numbers are ranks', async () => {
  const priorities = async (numbers: ReadonlyArray<number>, ...flags: ReadonlyArray<string>): Promise<ReadonlyArray<unknown>> => {
    const { dir, q } = fleet({ 'pending.json': numbers.map((priority, i) => ({ id: `t${i}`, priority })) })
    expect((await server.daybook(['import', dir, '--queue', q, ...flags])).code).toBe(0)
    const { tasks } = await server.json<{ readonly tasks: ReadonlyArray<{ readonly id: string }> }>('list', '--queue', q)
    return tasks.map(({ id }) => numbers[Number(id.slice(1))])
  }
  expect(await priorities([2, 29, 1])).toEqual([1, 2, 29])
  expect(await priorities([2, 3, 1])).toEqual([3, 2, 1])
  expect(await priorities([2, 3, 1], '--ranks')).toEqual([1, 2, 3])
  expect(await priorities([2, 29, 1], '--no-ranks')).toEqual([29, 2, 1])
})

test('an import that loses its server says how far it got, and how to continue', async () => {
  const { dir, q } = fleet({ 'pending.json': ['one'] })
  const { code, err } = await server.daybook(['import', dir, '--queue', q, '--url', 'http://127.0.0.1:9'])
  expect(code).toBe(3)
  expect(err).toContain('the import stopped after 0 of 1 task: run it again, and it goes on from there')
})

/** A proxy of the server that never answers the import with this index, and calls `held` instead. Returns its URL. */
const proxyHolding = async (index: number, held: () => void): Promise<string> => {
  let imports = 0
  const proxy = createServer((request, response) => {
    if (request.method === 'POST' && imports++ === index) return held()
    const { method = 'GET', url = '', headers } = request
    void buffer(request).then(async (body) => {
      const answer = await fetch(`${server.env.DAYBOOK_URL}${url}`, { method, headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' }, ...(method === 'GET' ? {} : { body }) })
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(await answer.text())
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  await once(proxy, 'listening')
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

test('an import that a signal interrupts does not wait for its answer, says how far it got, and goes on when it runs again', async () => {
  const { dir, q } = fleet({ 'pending.json': Array.from({ length: 700 }, (_, i) => `task ${i}`) })
  let signal: (name: NodeJS.Signals) => void = () => undefined
  const url = await proxyHolding(1, () => signal('SIGINT'))
  const interrupted = server.daybook(['import', dir, '--queue', q, '--url', url], '', {
    onSignal: (heard) => {
      signal = heard
      return () => undefined
    },
  })
  const { code, err } = await inTime('the import ends', interrupted)
  expect(code).toBe(130)
  expect(err).toContain('the import stopped after 500 of 700 tasks: run it again, and it goes on from there')
  expect(err).toContain('interrupted by SIGINT')
  expect((await server.daybook(['import', dir, '--queue', q])).out).toMatch(/200 tasks taken .*, 500 already there/)
})
