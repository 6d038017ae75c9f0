/** EV-06 on the command line: with a server, and without one. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { createDaybook } from '@daybook/adapters/engine'
import { type RunningServer, serve } from '@daybook/adapters/serve'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ended, runHere } from './program.js'

const dataDir = mkdtempSync(join(tmpdir(), 'daybook-audit-'))
const token = 'dbk_token-of-the-audit-tests'
let server: RunningServer
let client: DaybookClient
/** The revision before the breaker opened. */
let before: number

const startServer = async (): Promise<void> => {
  server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'tokens', token })
}
beforeAll(async () => {
  await startServer()
  client = createClient({ url: server.url, token, queue: 'q' })
  await client.enqueueAll([{ id: 'a', type: 'mail', payload: 1 }, { id: 'b', type: 'mail', payload: 2, dependencies: ['a'] }])
  before = (await client.summary()).revision
  const aMoment = () => new Promise((resolve) => setTimeout(resolve, 3))
  await aMoment()
  await client.breakers.open('mail', 'down')
  await client.cancel('a', 'not needed', { correlationId: 'clean-up-7' })
  await aMoment()
})
afterAll(async () => {
  await client.close()
  await server.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const online = (...args: ReadonlyArray<string>): Promise<Ended> => runHere(['audit', ...args], { DAYBOOK_URL: server.url, DAYBOOK_TOKEN: token, DAYBOOK_QUEUE: 'q', NO_COLOR: '1' })
const offline = (...args: ReadonlyArray<string>): Promise<Ended> => runHere(['audit', ...args, '--data', dataDir], { DAYBOOK_QUEUE: 'q', NO_COLOR: '1' })
const both = [['with a server', online], ['without one', offline]] as const

describe.each(both)('EV-06: %s', (_, audit) => {
  test('state at a revision', async () => {
    const { code, out } = await audit('state', '--revision', String(before), '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ revision: before, breakers: {}, counts: { byStatus: { pending: 1, blocked: 1 } }, tasks: [{ id: 'b' }, { id: 'a' }] })
    const people = (await audit('state', '--revision', String(before), '--status', 'blocked')).out
    expect(people).toMatch(/revision +1\n/)
    expect(people).toMatch(/tasks +1 (pending|blocked), 1 (pending|blocked)\n/)
    expect(people).toMatch(/b +mail +5 +blocked/)
    expect((await audit('state')).out).toMatch(/breakers +mail open/)
  })

  test('what differs', async () => {
    const { out } = await audit('diff', '--from', String(before))
    expect(out).toMatch(/\na\n {2}status: pending → cancelled\n/)
    expect(out).toMatch(/\nbreaker mail\n {2}is new\n.*BreakerOpened by admin/)
    expect(JSON.parse((await audit('diff', '--from', String(before), '--json')).out).tasks).toHaveLength(2)
    expect((await audit('diff', '--from', '2', '--to', '2')).out).toContain('nothing differs')
  })

  test('who did what: by actor, correlation, task, type, and period', async () => {
    const types = async (...args: ReadonlyArray<string>): Promise<ReadonlyArray<string>> =>
      (JSON.parse((await audit('log', '--json', ...args)).out) as { readonly events: ReadonlyArray<{ readonly type: string }> }).events.map(({ type }) => type)
    const all = await types()
    expect(all).toEqual(['TaskEnqueued', 'TaskEnqueued', 'BreakerOpened', ...all.slice(3)])
    expect(await types('--correlation', 'clean-up-7')).toEqual(['Cancelled', 'Cancelled'])
    expect(await types('--actor', 'admin', '--type', 'BreakerOpened')).toEqual(['BreakerOpened'])
    expect(await types('--actor', 'nobody')).toEqual([])
    expect(await types('--task', 'a')).toEqual(['TaskEnqueued', 'Cancelled'])
    expect(await types('--from', '1', '--revision', '2')).toEqual(['TaskEnqueued', 'BreakerOpened'])
    expect(await types('--limit', '1')).toEqual(['TaskEnqueued'])
    const { at } = (JSON.parse((await audit('log', '--json', '--type', 'BreakerOpened')).out) as { readonly events: ReadonlyArray<{ readonly at: string }> }).events[0] as { readonly at: string }
    expect((await types('--from', at))[0]).toBe('BreakerOpened')
    expect((await types('--at', new Date(Date.parse(at) - 1).toISOString())).every((type) => type === 'TaskEnqueued')).toBe(true)
    const revisions = async (...args: ReadonlyArray<string>): Promise<ReadonlyArray<number>> =>
      (JSON.parse((await audit('log', '--json', ...args)).out) as { readonly events: ReadonlyArray<{ readonly revision: number }> }).events.map(({ revision }) => revision)
    for (const args of [[], ['--actor', 'admin'], ['--type', 'TaskEnqueued'], ['--revision', '2'], ['--from', '1']]) {
      expect(await revisions('--newest', '2', ...args)).toEqual((await revisions('--all', ...args)).slice(-2))
    }
    expect((await audit('log', '--newest', '2', '--all')).code).toBe(2)
    expect(await audit('log', '--type', 'breakeropened')).toMatchObject({ code: 0, out: 'no such events\n', err: 'no event is called breakeropened in this version (did you mean BreakerOpened?)\n' })
    expect((await audit('log', '--type', 'Discarded')).err).toBe('')
    // Who cancelled it, and why.
    expect((await audit('log', '--task', 'a')).out).toMatch(/ABOUT +WHY\n[^]*Cancelled +admin +clean-up-7 +a +not needed\n/)
    // A task that never was, and a span in which nothing can be.
    expect(await audit('log', '--task', 'nobody')).toMatchObject({ code: 0, out: 'no such events\n', err: 'q never had a task nobody\n' })
    expect((await audit('log', '--task', 'nobody', '--actor', 'ann', '--revision', '3')).err).toBe('q never had a task nobody up to then\n')
    expect(await audit('log', '--task', 'a', '--actor', 'nobody')).toMatchObject({ code: 0, out: 'no such events\n', err: '' })
    expect(await audit('log', '--from', '5', '--revision', '3')).toMatchObject({ code: 2, err: expect.stringContaining('--from 5 is after --revision 3') })
    expect(await audit('log', '--from', '2026-01-02T00:00:00Z', '--at', '2026-01-01T00:00:00Z')).toMatchObject({ code: 2, err: expect.stringContaining('is after --at 2026-01-01T00:00:00.000Z') })
    expect((await audit('log', '--limit', '1')).out).toMatch(/0 +\S+ \S+ +TaskEnqueued +admin .* a\n.*and more/)
  })

  test('what is wrong is said', async () => {
    expect(await audit('state', '--revision', '99')).toMatchObject({ code: 1, err: expect.stringContaining('has no revision 99') })
    expect(await audit('state', '--revision', '1', '--at', '2026-01-01T00:00:00Z')).toMatchObject({ code: 2, err: expect.stringContaining('two moments') })
    expect(await audit('diff', '--from', 'yesterday')).toMatchObject({ code: 2 })
  })
})

test('EV-06: both say the same, also after the server is gone', async () => {
  const questions = [['state', '--revision', '0'], ['state', '--revision', '3'], ['diff', '--from', '0', '--to', '3'], ['log', '--all', '--revision', '3']]
  const said = await Promise.all(questions.map((question) => online(...question, '--json')))
  const files = readdirSync(dataDir).length
  await server.close()
  const again = await Promise.all(questions.map((question) => offline(...question, '--json')))
  expect(again.map(({ out }) => out)).toEqual(said.map(({ out }) => out))
  expect(readdirSync(dataDir).length).toBeLessThanOrEqual(files)
  await startServer()
})

test('EV-06: of a queue whose time is ahead of this clock, each moment before its last event is past', async () => {
  const [begun, over] = [Date.now() + 86_400_000, Date.now() + 2 * 86_400_000]
  const folder = mkdtempSync(join(tmpdir(), 'daybook-audit-ahead-'))
  const file = join(folder, 'daybook.sqlite')
  const store = await openSqliteStore({ file })
  for (const at of [begun, over]) {
    const daybook = createDaybook({ store: { ...store, close: () => Promise.resolve() }, clock: () => at })
    await daybook.ready
    const queue = await daybook.open('q')
    await queue.submit({ type: 'Pause', reason: `at ${at}` }, { actor: 'somebody' })
    await queue.submit({ type: 'Resume', reason: 'enough' }, { actor: 'somebody' })
    await daybook.close()
  }
  await store.close()
  const asked = (at: number): Promise<Ended> => runHere(['audit', 'state', '--data', folder, '--queue', 'q', '--at', new Date(at).toISOString()])
  const between = await asked(begun + 3_600_000)
  expect(between, between.err).toMatchObject({ code: 0, out: expect.stringMatching(/revision +1\b/) })
  expect(await asked(over + 60_000)).toMatchObject({ code: 1, err: expect.stringContaining('is not past') })
  rmSync(folder, { recursive: true, force: true })
})

test('a log that is not there, and a queue that is not in it', async () => {
  expect(await runHere(['audit', 'state', '--data', join(dataDir, 'elsewhere')])).toMatchObject({ code: 1, err: expect.stringContaining('is not there') })
  expect(await runHere(['audit', 'state', '--data', dataDir, '--queue', 'q', '--at', '2139-01-01T00:00:00Z'])).toMatchObject({ code: 1, err: expect.stringContaining('2139-01-01T00:00:00.000Z is not past') })
  expect(await runHere(['audit', 'state', '--data', dataDir, '--queue', 'other'])).toMatchObject({ code: 1, err: expect.stringContaining('--queue names one of: q') })
  const empty = join(dataDir, 'empty.sqlite')
  await (await openSqliteStore({ file: empty })).close()
  expect(await runHere(['audit', 'state', '--store', empty])).toMatchObject({ code: 1, err: 'daybook: there is no queue in this log yet\n' })
  expect(await runHere(['audit', 'log', '--help'])).toMatchObject({ code: 0, out: expect.stringContaining('daybook audit log --actor ada') })
})
