/** `enqueue --file`: any number of tasks, in any format that tools write. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ended, run, serverOfFile, start } from './program.js'

const server = serverOfFile()

interface Results { readonly results: ReadonlyArray<{ readonly id: string; readonly duplicate: boolean }>; readonly revision: number }
interface Depth { readonly total: number }

let last = 0
const queue = (): string => `q${++last}`
const task = (i: number): object => ({ id: `t${i}`, type: 'x', payload: i })
const tasks = (many: number): ReadonlyArray<object> => Array.from({ length: many }, (_, i) => task(i))
const lines = (all: ReadonlyArray<object>): string => all.map((one) => `${JSON.stringify(one)}\n`).join('')
const total = async (q: string): Promise<number> => (await server.json<Depth>('depth', '--queue', q)).total
const enqueue = (q: string, text: string, ...flags: ReadonlyArray<string>) => server.daybook(['enqueue', '--file', '-', '--queue', q, ...flags], text)

describe('in every format, all tasks are enqueued, in order', () => {
  const many = 2_345
  test.each<[string, (all: ReadonlyArray<object>) => string]>([
    ['a list', (all) => JSON.stringify(all)],
    ['a list over many lines', (all) => JSON.stringify(all, null, 2)],
    ['{"tasks": […]}', (all) => JSON.stringify({ tasks: all })],
    ['a task a line', lines],
    ['a task a line, with a byte order mark, empty lines and Windows’ ends', (all) => `\ufeff\r\n${lines(all).replaceAll('\n', '\r\n\r\n')}`],
  ])('%s', async (_, print) => {
    const q = queue()
    const { code, out } = await enqueue(q, print(tasks(many)), '--json')
    expect(code).toBe(0)
    const { results } = JSON.parse(out) as Results
    expect(results.map(({ id }) => id)).toEqual(tasks(many).map((_one, i) => `t${i}`))
    expect(await total(q)).toBe(many)
    const again = await enqueue(q, print(tasks(many)))
    expect([again.code, await total(q)]).toEqual([0, many])
    expect(again.out).toContain(`0 tasks enqueued, ${many} were there already`)
  })

  test('from a file, and from the standard input of a real process', async () => {
    const q = queue()
    const file = join(server.dir, 'tasks.ndjson')
    writeFileSync(file, lines(tasks(1_500)))
    expect((await server.daybook(['enqueue', '--file', file, '--queue', q])).code).toBe(0)
    expect(await total(q)).toBe(1_500)
    const { code, out } = await run(['enqueue', '--file', '-', '--queue', q], server.env, lines(tasks(1_600)))
    expect([code, await total(q)]).toEqual([0, 1_600])
    expect(out).toContain('100 tasks enqueued, 1500 were there already')
  })

  test('bytes that are not UTF-8 are refused, from a file and from standard input: decoded, two different tasks would be the same', async () => {
    const q = queue()
    const latin = (text: string): Buffer => Buffer.from(text, 'latin1')
    const [payload, several] = [join(server.dir, 'latin.json'), join(server.dir, 'latin.ndjson')]
    writeFileSync(payload, latin('"café"'))
    writeFileSync(several, Buffer.concat([Buffer.from(lines(tasks(3))), latin('{"type":"x","payload":"café"}\n')]))
    for (const args of [['x', '--payload', `@${payload}`], ['--file', several]]) {
      expect(await server.daybook(['enqueue', ...args, '--queue', q])).toMatchObject({ code: 2, err: expect.stringMatching(/latin\.(nd)?json is not UTF-8 text/) as string })
    }
    for (const [args, input] of [[['x', '--payload', '-'], '"café"'], [['--file', '-'], '{"type":"x","payload":"café"}']] as const) {
      const child = start(['enqueue', ...args, '--queue', q], server.env)
      child.stdin.end(latin(input))
      expect(await ended(child)).toMatchObject({ code: 2, err: expect.stringContaining('standard input is not UTF-8 text') as string })
    }
    expect(await total(q)).toBe(0)
    // A character whose bytes come in two parts.
    const long = join(server.dir, 'long.ndjson')
    writeFileSync(long, lines([{ id: 'long', type: 'x', payload: `x${'ä'.repeat(100_000)}` }]))
    expect((await server.daybook(['enqueue', '--file', long, '--queue', q])).code).toBe(0)
    expect((await server.json<{ payload: string }>('show', 'long', '--queue', q)).payload).toBe(`x${'ä'.repeat(100_000)}`)
  })

  test('many large tasks are sent in pages that the server accepts', async () => {
    const q = queue()
    const large = Array.from({ length: 60 }, (_, i) => ({ id: `l${i}`, type: 'x', payload: `${i}${'ä'.repeat(50_000)}` }))
    expect(await enqueue(q, JSON.stringify(large))).toMatchObject({ code: 0, err: '' })
    expect(await total(q)).toBe(60)
  })

  test('one task, and one with a member called tasks', async () => {
    const q = queue()
    expect((await enqueue(q, JSON.stringify(task(0), null, 2))).out).toBe('t0 (#1) pending\n')
    expect((await enqueue(q, lines([task(1)]))).out).toBe('t1 (#2) pending\n')
  })
})

describe('invalid input', () => {
  test('a page is taken as a whole or not at all; the message has the number of tasks taken before and the place of the error', async () => {
    for (const [print, place] of [[lines, 'line 1501'], [(all: ReadonlyArray<object>) => JSON.stringify(all), 'tasks[1500]']] as const) {
      const q = queue()
      const all = [...tasks(2_500)]
      all[1_500] = { type: 'x', priority: 11 }
      const { code, out, err } = await enqueue(q, print(all))
      expect(code).toBe(1)
      expect(err).toContain(place)
      expect(err).toContain('the first 1000 tasks are in the queue')
      expect(out.split('\n')).toHaveLength(1_001)
      expect(await total(q)).toBe(1_000)
      all[1_500] = task(1_500)
      expect((await enqueue(q, print(all))).out).toContain('1500 tasks enqueued, 1000 were there already')
      expect(await total(q)).toBe(2_500)
    }
  })

  test('with --json the tasks taken are still one document', async () => {
    const q = queue()
    const all = [...tasks(1_001), { type: 7 }]
    const { code, out, err } = await enqueue(q, JSON.stringify(all), '--json')
    expect(code).toBe(1)
    expect((JSON.parse(out) as Results).results).toHaveLength(1_000)
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'invalid', errors: [{ path: 'tasks[1001].type' }] } })
  })

  test.each<[string, string, string]>([
    ['a line that is no JSON', `${lines(tasks(3))}{"type":\n`, 'line 4 of --file is not JSON'],
    ['a document that breaks off', '[{"type":"x"},\n{"type":', '--file is not JSON'],
    ['nothing', '\n\n', 'holds no tasks'],
    ['an empty list', '{"tasks":[]}', 'holds no tasks'],
    ['tasks that are no list', '{"tasks":7}', 'holds no tasks'],
    ['a number that would be rounded, on the first line', `{"type":"x","payload":9007199254740993}\n${lines(tasks(2))}`, 'line 1 of --file: '],
    ['a number that would be rounded, on a later line', `${lines(tasks(2))}{"type":"x","payload":9007199254740993}\n`, 'line 3 of --file: '],
    ['a number that would be rounded, in a list', '[{"type":"x","payload":9007199254740993}]', '--file: '],
  ])('%s is wrong usage, and nothing is taken', async (_, text, message) => {
    const q = queue()
    const { code, out, err } = await enqueue(q, text)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(message)
    expect((await server.daybook(['depth', '--queue', q, '--json'])).out).not.toContain('"pending":1')
  })

  test('a line that is not JSON after a page that was taken', async () => {
    const q = queue()
    const { code, err } = await enqueue(q, `${lines(tasks(1_200))}nonsense\n`)
    expect([code, await total(q)]).toEqual([2, 1_000])
    expect(err).toMatch(/line 1201 of --file is not JSON.*the first 1000 tasks are in the queue/)
  })

  test('options of a single task are refused, because the tasks of a file have their own', async () => {
    const q = queue()
    for (const flags of [['--priority', 'HIGH'], ['--id', 'z'], ['--tenant', 'acme'], ['--payload', '1']]) {
      expect(await enqueue(q, lines([task(1)]), ...flags)).toMatchObject({ code: 2, err: expect.stringMatching(new RegExp(`--file <file>' cannot be used with option '.*${flags[0]}`)) as string })
    }
    expect(await total(q)).toBe(0)
  })

  test('a missing file', async () => {
    const { code, err } = await server.daybook(['enqueue', '--file', join(server.dir, 'nowhere.json')])
    expect([code, err]).toEqual([2, expect.stringContaining('nowhere.json cannot be read')])
  })
})

test('a terminal shows the progress', async () => {
  let told = ''
  await server.daybook(['enqueue', '--file', '-', '--queue', queue()], lines(tasks(2_100)), { errIsTerminal: true, err: (text) => void (told += text) })
  // On one line, which the terminal cuts at its end.
  expect(told).toContain('\r\u001b[2K\u001b[?7lenqueueing: 1000\u001b[?7h')
  told = ''
  await server.daybook(['enqueue', '--file', '-', '--queue', queue()], lines(tasks(2_100)), { errIsTerminal: true, env: { ...server.env, TERM: 'dumb' }, err: (text) => void (told += text) })
  expect(told).toBe('')
})

test('the message of a command that fails is not written behind its progress', async () => {
  const file = join(server.dir, 'broken.ndjson')
  writeFileSync(file, `${JSON.stringify({ revision: 0, type: 'x', at: '2026-01-01T00:00:00.000Z', data: {} })}\nno JSON\n{}\n`)
  let told = ''
  await server.daybook(['audit', 'replay', file], '', { errIsTerminal: true, err: (text) => void (told += text) })
  expect(told).toContain('replaying: revision 0')
  expect(told.split('\r\u001b[2K').pop()).toMatch(/^daybook: .*no JSON\n$/)
})
