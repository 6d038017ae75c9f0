import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { root } from './program.js'

interface Event {
  readonly revision: number
  readonly type: string
  readonly data: Record<string, unknown>
}
const enqueued = (task: string, priority: number, number: number, dependencies: ReadonlyArray<string> = []): Omit<Event, 'revision'> => ({ type: 'TaskEnqueued', data: { task, priority, number, dependencies } })
const claimed = (task: string): Omit<Event, 'revision'> => ({ type: 'Claimed', data: { task } })
const completed = (task: string): Omit<Event, 'revision'> => ({ type: 'Completed', data: { task } })

const good = [enqueued('low', 2, 1), enqueued('high', 9, 2, ['low']), claimed('low'), completed('low'), claimed('high'), completed('high')]
const record = (id: string): object => ({ id, result: { decisionReport: 'r' } })

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-fleet-'))
  mkdirSync(dir, { recursive: true })
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const fileNames = ['pending.json', 'in-progress.json', 'completed.json', 'dead-letter.json', 'cancelled.json'] as const
/** Replaces the file in one step, as a server does. */
const write = (name: string, revision: number, tasks: ReadonlyArray<object>): void => {
  writeFileSync(join(dir, 'new'), JSON.stringify({ revision, total: tasks.length, tasks }))
  renameSync(join(dir, 'new'), join(dir, name))
}

/** Runs the example's checker against a fake queue. The `late` file comes 300 ms after the checker has asked for the log. */
const check = async (events: ReadonlyArray<Omit<Event, 'revision'>>, inFile: ReadonlyArray<object> = ['low', 'high'].map(record), late?: string) => {
  const log = events.map((event, revision) => ({ revision, ...event }))
  const writeNow = (name: string) => write(name, log.length - 1, name === 'completed.json' ? inFile : [])
  for (const name of fileNames) {
    if (name === late) write(name, 0, [])
    else writeNow(name)
  }
  const server = createServer((request, response) => {
    if (late !== undefined && request.url?.includes('/events') === true) setTimeout(() => writeNow(late), 300)
    if (request.url?.includes('/events') === true) response.end(log.map((event) => JSON.stringify(event)).join('\n'))
    else response.end(JSON.stringify({ tasks: request.url?.includes('status=completed') === true ? ['low', 'high'].map(record) : [], revision: log.length - 1 }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const child = spawn(process.execPath, [join(root, 'examples/check-fleet.mjs'), dir], {
    env: { ...process.env, DAYBOOK_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, DAYBOOK_TOKEN: 't', DAYBOOK_QUEUE: 'q' },
  })
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  server.close()
  return { code, err }
}

describe("the example's checker has teeth", () => {
  test('a correct fleet passes', async () => {
    expect(await check(good)).toEqual({ code: 0, err: '' })
  })

  test.each<[string, ReadonlyArray<Omit<Event, 'revision'>>, string]>([
    ['a claim before its dependency is completed', [enqueued('low', 2, 1), enqueued('high', 9, 2, ['low']), claimed('low'), claimed('high'), completed('low'), completed('high')], 'high was claimed, but nothing'],
    ['a claim of the less urgent', [enqueued('low', 2, 1), enqueued('high', 9, 2), claimed('low'), completed('low'), claimed('high'), completed('high')], 'low was claimed, but high'],
    ['a task claimed twice', [...good, claimed('high')], 'claims for'],
    ['a task left over', good.slice(0, -1), 'not completed'],
    ['a failure', [...good, { type: 'Failed', data: { task: 'high' } }], 'Failed was not expected'],
  ])('%s is caught', async (_, events, problem) => {
    const { code, err } = await check(events)
    expect([code, err]).toEqual([1, expect.stringContaining(problem)])
  })

  test.each(fileNames)('files are replaced one after the other, so %s may come late', async (name) => {
    expect(await check(good, undefined, name)).toEqual({ code: 0, err: '' })
  })

  test('a file that disagrees with the view is caught', async () => {
    expect(await check(good, [record('low')])).toMatchObject({ code: 1, err: expect.stringContaining('completed.json and the view differ') as string })
    expect(await check(good, [record('low'), { id: 'high' }])).toMatchObject({ code: 1, err: expect.stringContaining('without its decision report') as string })
  })
})

test('the small sample in examples/data has the shape of the real ones', () => {
  const { tasks } = JSON.parse(readFileSync(join(root, 'examples/data/queue/pending.json'), 'utf8')) as { readonly tasks: ReadonlyArray<object> }
  expect(Object.keys(tasks[0] ?? {})).toEqual(['id', 'idempotencyKey', 'type', 'priority', 'dependencies', 'payload', 'createdAt', 'claimedBy', 'claimedAt', 'timeout', 'retries', 'maxRetries', 'backoffSeconds'])
})
