/**
 * Pictures in the terminal, from data alone. Each has golden files in `pictures/`: look at the difference before `npx vitest -u` writes them anew. What holds
 * for all of them at any width is checked by random widths.
 */
import { blockersOf, type Blocker, type Canvas, cellsOfStrip, changesPicture, countsPicture, createPrinter, glyphsFor, ladderOf, printPicture, reportPicture, stepOf, steps, timeline } from '@daybook/adapters/cli'
import type { Difference, Explanation, QueueMoment, Report } from '@daybook/client'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { noTerminal } from './program.js'

const day = (n: number): string => `2026-07-${String(n).padStart(2, '0')}T00:00:00+02:00`
const report = (name: Report['report'], rows: Report['rows'], more: Partial<Report> = {}): Report => ({ report: name, queue: 'builds', revision: 99, from: day(1), to: day(15), zone: 'Europe/Berlin', bucket: 'day', by: 'all', rows, ...more })
const days = (of: (n: number) => Record<string, number | null>): Report['rows'] => Array.from({ length: 14 }, (_, i) => ({ from: day(i + 1), to: day(i + 2), ...of(i) }))

const throughput = report('throughput', days((n) => ({ enqueued: 100 + ((n * 37) % 90), claimed: 100, completed: n === 5 ? 0 : 60 + ((n * 53) % 120), deadLettered: n % 3, cancelled: 0 })))
const latency = report('latency', days((n) => ({ waitP50Seconds: n === 4 ? null : 1 + n / 4, waitP95Seconds: n === 4 ? null : 20 + ((n * 7) % 15), waitP99Seconds: n === 4 ? null : 60 + ((n * 31) % 50), runP50Seconds: 5, runP95Seconds: 9 + n, runP99Seconds: 30 })))
const hours = (count: number): Report['rows'] => Array.from({ length: count }, (_, i) => ({ from: new Date(Date.UTC(2026, 6, 1, i)).toISOString(), to: '', completed: i % 24 }))
const whole = { from: day(1), to: day(15) }
const reports: Readonly<Record<string, Report>> = {
  throughput,
  latency,
  'many-buckets': report('summary', hours(300).map((row) => ({ ...row, waitP50Seconds: 1, waitP95Seconds: 2, waitP99Seconds: 3 }))),
  retries: report('retries', days((n) => ({ failed: n, retried: Math.floor(n / 2) }))),
  deadlines: report('deadlines', days((n) => ({ deadlines: 10, deadlinesMet: 10 - (n % 4) }))),
  'one-bucket': report('summary', [{ ...whole, enqueued: 1_400, claimed: 1_390, completed: 1_300, failed: 45, deadLettered: 3, waitP50Seconds: 0.004, waitP95Seconds: 70, waitP99Seconds: 600 }]),
  'by-type': report('throughput', [{ ...whole, type: 'eng-backend', completed: 900 }, { ...whole, type: 'a-very-long-name-of-a-task-type-that-has-no-room-beside-its-bar', completed: 300 }, { ...whole, type: null, others: 12, completed: 7 }], { by: 'type' }),
  fairness: report('fairness', [{ ...whole, tenant: 'gold', due: 60, got: 61 }, { ...whole, tenant: 'silver', due: 30, got: 12 }, { ...whole, tenant: null, due: 10, got: 27 }], { by: 'tenant' }),
  failures: report('failures', [{ ...whole, signature: 'a1', failures: 30, error: 'connection refused: 10.0.0.7:5432' }, { ...whole, signature: 'b2', failures: 4, error: 'ENOSPC: no space left on device, write' }]),
  breakers: report('breakers', [
    { type: 'eng-backend', state: 'closed', from: day(1), to: day(4), seconds: 3 * 86_400, cause: null, reason: null },
    { type: 'eng-backend', state: 'open', from: day(4), to: day(5), seconds: 60, cause: 'threshold', reason: null },
    { type: 'eng-backend', state: 'half-open', from: day(5), to: day(6), seconds: 86_400, cause: null, reason: null },
    { type: 'ops-security', state: 'open', from: day(8), to: null, seconds: 7 * 86_400, cause: 'manual', reason: 'a leak' },
  ]),
}

const explained = (reasons: Explanation['reasons'], more: Partial<Explanation> = {}): Explanation => ({ status: 'pending', runnable: false, reasons, position: null, score: null, scoreParts: null, ...more })
const breakerOpen = { code: 'breaker-open', message: 'the breaker of eng-backend is open (5 dead letters in a row), until it is closed by hand', change: 'close the breaker of eng-backend' } as const
const explanations: Readonly<Record<string, readonly [Explanation, boolean]>> = {
  held: [explained([breakerOpen, { code: 'capacity', message: '10 agents work, and 10 may', change: 'the end of one of their tasks, or settings set capacity.maxConcurrentAgents=11' }, { code: 'skills-required', message: 'only agents with the skills react, css may take it', change: 'claim with these skills' }]), false],
  next: [explained([{ code: 'ready', message: 'it waits', change: 'claim' }], { runnable: true, position: 1 }), false],
  asked: [explained([{ code: 'type-not-claimed', message: 'its type is mail, and the claim asks for eng-*', change: 'claim mail tasks' }, { code: 'skills-required', message: 'the skill react is missing', change: 'claim with it' }]), true],
  finished: [explained([{ code: 'finished', message: 'it is completed', change: 'nothing: to do it again, restart it or enqueue another task' }], { status: 'completed' }), false],
}
const blockers: ReadonlyArray<Blocker> = [
  { id: 'build', status: 'blocked', waitsFor: [{ id: 'fetch', status: 'dead-letter', waitsFor: [] }, { id: 'configure', status: 'in-progress', waitsFor: [] }] },
  { id: 'lint', status: 'blocked', waitsFor: undefined },
]
const history = [
  [0, 'TaskEnqueued', 'ci', 'priority=8'],
  [12_400, 'Claimed', 'builder-1', 'agent=builder-1 token=1'],
  [75_000, 'Failed', 'builder-1', 'message="connection refused"'],
  [75_000, 'RetryScheduled', '', 'until=2026-07-01T12:02:00Z'],
  [135_000, 'Claimed', 'builder-2', 'agent=builder-2 token=2'],
  [135_020, 'Completed', 'builder-2', ''],
].map(([at, name, by, about]) => ({ at: Date.UTC(2026, 6, 1) + Number(at), name: String(name), by: String(by), about: String(about) }))
const counts = { counts: { byStatus: { pending: 120, 'in-progress': 10, completed: 4_200, 'dead-letter': 3, blocked: 0 } } } as unknown as QueueMoment
const changed = (before: string | null, after: string | null) => ({ before: before === null ? null : { status: before }, after: after === null ? null : { status: after } })
const difference = { tasks: [changed('pending', 'completed'), changed('pending', 'completed'), changed(null, 'pending'), changed('pending', 'pending')], nextCursor: null } as unknown as Difference

const pictures: Readonly<Record<string, (canvas: Canvas) => ReadonlyArray<string>>> = {
  ...Object.fromEntries(Object.entries(reports).map(([name, each]) => [`report-${name}`, (canvas: Canvas) => reportPicture(canvas, each)])),
  ...Object.fromEntries(Object.entries(explanations).map(([name, [each, isAsked]]) => [`explain-${name}`, (canvas: Canvas) => ladderOf(canvas, each, isAsked)])),
  'explain-blockers': (canvas) => blockersOf(canvas, 'deploy', blockers),
  history: (canvas) => timeline(canvas, history),
  'audit-state': (canvas) => countsPicture(canvas, counts),
  'audit-diff': (canvas) => changesPicture(canvas, difference),
}

const printerWith = (env: Record<string, string>, isTerminal: boolean, out: (text: string) => void = () => undefined) => createPrinter({ ...noTerminal, outIsTerminal: isTerminal, env, out, err: () => undefined }, false)
const canvasAt = (width: number, env: Record<string, string> = { LANG: 'C.UTF-8', NO_COLOR: '1' }): Canvas => ({ width, glyphs: glyphsFor(env), colors: printerWith(env, true).colors })
/** As it is printed. */
const printed = (name: string, canvas: Canvas): ReadonlyArray<string> => {
  const lines: Array<string> = []
  printPicture({ line: (text = '') => void lines.push(text) }, canvas, (pictures[name] as (typeof pictures)[string])(canvas))
  return lines
}
const names = Object.keys(pictures)

describe('golden files', () => {
  test.each(names.flatMap((name) => [40, 80, 120, 200].map((width) => [name, width] as const)))('%s, %i columns', async (name, width) => {
    await expect(`${printed(name, canvasAt(width)).join('\n')}\n`).toMatchFileSnapshot(`pictures/${name}.${width}.txt`)
  })
  test.each(names)('%s, in ASCII', async (name) => {
    await expect(`${printed(name, canvasAt(80, { LANG: 'C', NO_COLOR: '1' })).join('\n')}\n`).toMatchFileSnapshot(`pictures/${name}.ascii.txt`)
  })
})

describe('at any width', () => {
  test.each(names)('%s: no line is wider than the terminal, colours change no letter, and without UTF-8 all is ASCII', (name) => {
    fc.assert(
      fc.property(fc.integer({ min: 40, max: 200 }), (width) => {
        const plain = printed(name, canvasAt(width))
        expect(plain.filter((line) => [...line].length > width)).toEqual([])
        // eslint-disable-next-line no-control-regex -- an escape sequence begins with it
        expect(plain.join('\n')).not.toMatch(/\u001b/)
        const coloured = printed(name, canvasAt(width, { LANG: 'C.UTF-8', FORCE_COLOR: '1' }))
        // eslint-disable-next-line no-control-regex -- colours are what is taken out
        expect(coloured.map((line) => line.replace(/\u001b\[\d+m/g, ''))).toEqual(plain)
        expect(printed(name, canvasAt(width, { LC_ALL: 'POSIX', NO_COLOR: '1' })).join('\n')).toMatch(/^[\n\x20-\x7e]*$/)
      }),
      { numRuns: 40 },
    )
  })
  test('teeth: colours are there to be taken out', () => {
    expect(printed('report-throughput', canvasAt(80, { LANG: 'C.UTF-8', FORCE_COLOR: '1' })).join('')).toContain('\u001b[32m')
  })
})

describe('what they tell', () => {
  test('a column is as high as its value, and what is more than nothing shows', () => {
    const lines = printed('report-retries', canvasAt(120))
    // Seven letters for each day but the first, on which nothing failed.
    expect([...(lines[5] as string)].filter((letter) => '▁▂▃▄▅▆▇█'.includes(letter)).length).toBe(13 * 7)
  })

  test('a state that lasted a minute of a week shows in its strip, over those that were less grave', () => {
    const week = 7 * 86_400_000
    expect(cellsOfStrip([{ from: 0, to: week, state: 0 }, { from: week / 2, to: week / 2 + 60_000, state: 2 }], 0, week, 20)).toEqual([...Array<number>(10).fill(0), 2, ...Array<number>(9).fill(0)])
    expect(cellsOfStrip([], 0, week, 3)).toEqual([-1, -1, -1])
  })

  test('every gate stands on a step of the ladder, and every step has one', () => {
    expect(new Set(Object.values(stepOf))).toEqual(new Set(steps))
  })

  test('the ladder marks the first gate that holds a task, and passes none below what is over', () => {
    const [held] = explanations.held as [Explanation, boolean]
    expect(ladderOf(canvasAt(120), held, false).filter((line) => line.startsWith('✗')).map((line) => line.split(/\s+/)[1])).toEqual(['breaker', 'capacity'])
    expect(printed('explain-finished', canvasAt(120)).filter((line) => line.startsWith('✓'))).toEqual([])
    expect(printed('explain-next', canvasAt(120)).filter((line) => line.startsWith('✗'))).toEqual([])
  })
})

test('UX-12: a bar of a report is one group: what has none, what is summed, and a tenant with an odd name stay apart', () => {
  const rows = [1, 2].flatMap((n) => [
    { from: day(n), to: day(n + 1), tenant: 'null', completed: 100 },
    { from: day(n), to: day(n + 1), tenant: 'no tenant', completed: 20 },
    { from: day(n), to: day(n + 1), tenant: null, completed: 3 },
    { from: day(n), to: day(n + 1), tenant: null, others: 10 + n, completed: 7 },
  ])
  const says = (each: Report) => reportPicture(canvasAt(80, { LANG: 'C', NO_COLOR: '1' }), each).slice(1).map((line) => line.replace(/[#|]+/g, '').trim().replace(/ {2,}/g, ' '))
  expect(says(report('throughput', rows, { by: 'tenant' }))).toEqual(['null 200', 'no tenant 40', 'others 14', 'no tenant 6'])
  const shares = rows.filter((row) => !('others' in row)).map(({ completed, ...row }) => ({ ...row, due: completed, got: completed }))
  expect(says(report('fairness', shares, { by: 'tenant' })).slice(0, 3)).toEqual(['null 200 of 200', 'no tenant 40 of 40', 'no tenant 6 of 6'])
})
