/** Tables: they fit the width, and their cost per row does not grow with the number of rows. */
import { beforeAll, describe, expect, test } from 'vitest'
import { countCalls } from '../support/count-calls.js'
import { serverOfFile } from './program.js'

const server = serverOfFile()

interface Tasks { readonly tasks: ReadonlyArray<{ readonly id: string }>; readonly more: boolean }

const fill = async (queue: string, many: number): Promise<void> => {
  for (let from = 0; from < many; from += 1_000) {
    const tasks = Array.from({ length: Math.min(1_000, many - from) }, (_, i) => ({ type: `type-${i % 7}`, id: `task-${from + i}`, payload: from + i, description: 'what there is to be done' }))
    const { code, err } = await server.daybook(['enqueue', '--file', '-', '--queue', queue], JSON.stringify(tasks))
    expect([code, err]).toEqual([0, ''])
  }
}

test('a text is not cut in the middle of a character', async () => {
  await server.daybook(['enqueue', 'x', '--id', 'x', '--description', `${'a'.repeat(48)}😀😀`, '--queue', 'cut'])
  const { out } = await server.daybook(['list', '--queue', 'cut'])
  expect(out).toContain(`${'a'.repeat(48)}…`)
  expect(out).not.toMatch(/[\ud800-\udfff]/u)
})

test('the cost of a list is linear: for twice as many tasks, twice as many function calls', async () => {
  await fill('some', 1_500)
  await fill('twice', 3_000)
  const calls = async (queue: string): Promise<number> =>
    countCalls(async () => {
      const { code, out } = await server.daybook(['list', '--all', '--queue', queue])
      expect([code, out.split('\n').length > 1_500]).toEqual([0, true])
    })
  // The first list loads modules that are loaded once.
  await calls('some')
  const [some, twice] = [await calls('some'), await calls('twice')]
  expect(twice / some).toBeLessThan(2.3)
})

describe('a list of many pages', () => {
  const queue = 'pages'
  beforeAll(() => fill(queue, 2_500))

  test('is printed page by page, with back-pressure from a slow reader', async () => {
    for (const flags of [[], ['--json']]) {
      let printed = ''
      const seen: Array<number> = []
      const { code } = await server.daybook(['list', '--all', '--queue', queue, ...flags], '', {
        out: (text) => void (printed += text),
        flushed: async () => void seen.push(printed.length),
      })
      expect(code).toBe(0)
      expect(seen.length).toBeGreaterThan(1)
      expect(new Set(seen).size).toBe(seen.length)
    }
  })

  test('is one complete JSON document in order, however many pages; --limit says that there are more', async () => {
    const ids = Array.from({ length: 2_500 }, (_, i) => `task-${i}`)
    const all = await server.json<Tasks>('list', '--all', '--queue', queue)
    expect([all.tasks.map(({ id }) => id), all.more]).toEqual([ids, false])
    const few = await server.json<Tasks>('list', '--limit', '1200', '--queue', queue)
    expect([few.tasks.map(({ id }) => id), few.more]).toEqual([ids.slice(0, 1_200), true])
    const exact = await server.json<Tasks>('list', '--limit', '2500', '--queue', queue)
    expect([exact.tasks.length, exact.more]).toEqual([2_500, false])
    expect(await server.json<Tasks>('list', '--queue', queue, '--status', 'completed')).toEqual({ tasks: [], more: false, paused: null })
    const { out } = await server.daybook(['list', '--all', '--queue', queue])
    expect([...out.matchAll(/task-\d+/g)].map(String)).toEqual(ids)
  })
})

describe('at any width every table fits', () => {
  const queue = 'wide'
  const long = 'x'.repeat(100)
  beforeAll(async () => {
    const on = (...args: ReadonlyArray<string>) => server.daybook([...args, '--queue', queue])
    await on('enqueue', `type-${long}`, '--id', `id-${long}`, '-d', `漢字 of a task, 👩‍👩‍👧 ${long}`, '--tenant', `tenant-${long}`)
    await on('enqueue', 'eng-backend', '--id', '01a0b4c8-1f2e-7aaa-8bbb-cccccccccccc', '-d', '漢字'.repeat(12), '--depends-on', `id-${long}`)
    for (const id of ['dead-1', 'dead-2']) {
      await on('enqueue', `ops-${id}`, '--id', id, '--priority', '10')
      const { out } = await on('claim', '--types', 'ops-*', '--agent', 'ann', '--json')
      const { claims: [claim] } = JSON.parse(out) as { claims: [{ lease: { token: number } }] }
      await on('fail', id, '--agent', 'ann', '--lease', String(claim.lease.token), '--error', `the disk of ${id} is full: ENOSPC ${long}`, '--permanent')
    }
    await on('claim', '--types', 'type-*', '--agent', `agent-${long}`)
  })

  const tables = ['list', 'dlq', 'dlq patterns', 'dlq show dead-1', 'breakers', 'agents', 'depth', 'history dead-1', 'claim --agent bob --types nothing', 'queues']
  /** The lines of the table. The terminal wraps other lines. */
  const ofTable = (out: string): ReadonlyArray<string> => {
    const lines = out.split('\n')
    return lines.slice(lines.findIndex((line) => /^(#|[A-Z][A-Z ]+)(\s|$)/.test(line)))
  }
  /** The width on a terminal, for the characters used here. */
  const widthOf = (text: string): number => [...new Intl.Segmenter().segment(text)].reduce((sum, { segment }) => sum + (/[漢字]|\p{Extended_Pictographic}/u.test(segment) ? 2 : 1), 0)

  test.each(tables)('daybook %s', async (command) => {
    for (const width of [20, 40, 60, 80, 200]) {
      for (const world of [{ columns: () => width, outIsTerminal: true }, undefined]) {
        const { daybook } = server
        const args = [...command.split(' '), '--queue', queue]
        const { code, out } = world === undefined ? await runWith({ COLUMNS: String(width) }, args) : await daybook(args, '', { ...world, env: { ...server.env, NO_COLOR: '1' } })
        expect(code).toBe(0)
        for (const line of ofTable(out)) expect([width, line, widthOf(line) <= width]).toEqual([width, line, true])
      }
    }
  })

  const runWith = (env: Record<string, string>, args: ReadonlyArray<string>) => server.daybook(args, '', { env: { ...server.env, ...env } })

  test('on a terminal that does not know its width nothing is cut either', async () => {
    const { out } = await server.daybook(['list', '--queue', queue], '', { columns: () => 0, outIsTerminal: true })
    expect(out).toContain(`id-${long}`)
  })

  test('the columns that identify a task and show its status stay; omitted columns are named', async () => {
    const { out } = await runWith({ COLUMNS: '40' }, ['list', '--queue', queue])
    expect(out).toMatch(/^#\s+ID\s+STATUS/)
    expect(out).toMatch(/no room for .*PRI/)
  })

  test('in a pipe nothing is cut: ids are complete', async () => {
    const { out } = await runWith({}, ['list', '--queue', queue])
    expect(out).toContain(`id-${long}`)
    expect(out).toContain('01a0b4c8-1f2e-7aaa-8bbb-cccccccccccc')
    expect(out).not.toContain('no room')
  })
})
