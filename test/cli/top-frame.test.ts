/** The screen of `daybook top` from data alone: what it shows, at any size, and what keys do. */
import { barOf, cellsOf, Counter, createPrinter, firstState, frameOf, glyphsFor, inOrder, press, type QueueFigures, readMetrics, type Screen, sparkOf } from '@daybook/adapters/cli'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { noTerminal } from './program.js'

const now = Date.parse('2026-07-01T12:00:00Z')
const { colors } = createPrinter({ ...noTerminal, env: { NO_COLOR: '1' }, out: () => undefined, err: () => undefined, liveTerminal: () => undefined }, false)
const unicode = glyphsFor({ LANG: 'C.UTF-8' })
const ascii = glyphsFor({}, true)
const style = { colors, glyphs: unicode }

const queue = (name: string, over: Partial<QueueFigures> = {}): QueueFigures => ({
  name,
  paused: null,
  byStatus: { pending: 3, 'in-progress': 2 },
  arrivals: { perMinute: 6, course: [0, 6, 12] },
  completions: { perMinute: 3, course: [3, 3] },
  oldestWaitSeconds: 90,
  agents: 2,
  agentsMax: 10,
  breakers: [],
  ...over,
})
const task = (id: string, ageSeconds: number, agent: string | null) =>
  ({ id, number: Number(id.replace(/\D/g, '')), type: 'mail', claimedAt: new Date(now - ageSeconds * 1_000).toISOString(), createdAt: new Date(now - ageSeconds * 1_000).toISOString(), currentClaimant: agent }) as never
const queues = [queue('mail'), queue('builds', { byStatus: { pending: 40, 'dead-letter': 7, blocked: 5, scheduled: 5 }, breakers: [{ type: 'eng-backend', state: 'open' }], paused: 'a release' }), queue('docs', { byStatus: {}, oldestWaitSeconds: 0, arrivals: { perMinute: undefined, course: [] } })]
const screenOf = (over: Partial<Screen> = {}): Screen => ({
  url: 'http://127.0.0.1:7878',
  everyMs: 2_000,
  state: firstState,
  figures: {
    at: now,
    queues,
    detail: {
      queue: 'builds',
      alerts: [{ key: 'breaker-open:eng-backend', kind: 'breaker-open', message: 'the breaker of eng-backend is open', raisedAt: new Date(now - 300_000).toISOString() } as never],
      running: [task('slow-1', 4_000, 'ann')],
      waiting: [task('old-2', 9_000, null), task('new-3', 5, null)],
    },
  },
  problem: undefined,
  ...over,
})

test('a queue that was named and is not there is said, until another one is selected', () => {
  const lines = (selected: string | undefined) => frameOf(style, screenOf({ state: { ...firstState, selected } }), { columns: 150, rows: 22 })
  expect(lines('mial')[0]).toBe('daybook top  http://127.0.0.1:7878  12:00:00Z  there is no queue mial (did you mean mail?): another one is selected')
  expect(lines('mail')[0]).toContain('every 2 s')
  expect(lines(undefined)[0]).toContain('every 2 s')
})

test('it shows every queue with depth, rates, waits, agents and breakers, and of the selected one alerts and the tasks that take longest', () => {
  expect(frameOf(style, screenOf(), { columns: 150, rows: 22 })).toEqual([
    'daybook top  http://127.0.0.1:7878  12:00:00Z  every 2 s  by depth',
    '   QUEUE   DEPTH                     PENDING  RUNNING  DEAD  IN/MIN       DONE/MIN      OLDEST  AGENTS   STATE',
    '▸  builds  ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒░░▞▞▞  40       0        7     6.0     ▁▅█  3.0       ██  90s     2 of 10  paused',
    '   mail    █▓                        3        2        0     6.0     ▁▅█  3.0       ██  90s     2 of 10',
    '   docs                              0        0        0     …            3.0       ██          2 of 10',
    '█ running  ▓ pending  ▒ later  ░ blocked  ▞ dead',
    '',
    'breakers: eng-backend open',
    '● breaker-open:eng-backend, 5m: the breaker of eng-backend is open',
    'running longest in builds',
    '#  ID      TYPE  FOR  AGENT',
    '1  slow-1  mail  67m  ann',
    'waiting longest in builds',
    '#  ID     TYPE  FOR  AGENT',
    '2  old-2  mail  3h',
    '3  new-3  mail  5s',
    '', '', '', '', '',
    'q quit  up/down select  enter open  s sort  space pause  ? help',
  ])
})

test('at any size it has as many lines as there are rows, and none is wider than the terminal, with every glyph and view', () => {
  const sizes = fc.record({ columns: fc.integer({ min: 1, max: 200 }), rows: fc.integer({ min: 1, max: 60 }) })
  const views = fc.constantFrom('queues', 'queue', 'help')
  fc.assert(fc.property(sizes, views, fc.boolean(), fc.boolean(), (size, view, isPlain, isFailing) => {
    const lines = frameOf({ colors, glyphs: isPlain ? ascii : unicode }, screenOf({ state: { ...firstState, view: view as 'queue' }, ...(isFailing ? { problem: 'no answer '.repeat(30) } : {}) }), size)
    expect(lines).toHaveLength(Math.max(1, size.rows))
    for (const line of lines) expect([...line].length).toBeLessThanOrEqual(size.columns)
     
    if (isPlain) expect(lines.join('').replaceAll('…', '')).toMatch(/^[\x20-\x7e]*$/)
  }))
})

test('it says that it asks, that there are no queues, and why there is no answer', () => {
  const size = { columns: 100, rows: 10 }
  expect(frameOf(style, screenOf({ figures: undefined }), size)[1]).toBe('asking …')
  expect(frameOf(style, screenOf({ figures: { at: now, queues: [], detail: undefined } }), size)[1]).toMatch(/no queues yet/)
  expect(frameOf(style, screenOf({ problem: 'connect ECONNREFUSED' }), size)[0]).toContain('no answer: connect ECONNREFUSED')
})

describe('keys', () => {
  const after = (...keys: ReadonlyArray<string>) => keys.reduce((state, key) => press(state, key, queues), firstState)
  test.each<[keys: ReadonlyArray<string>, state: object]>([
    [['down'], { selected: 'mail' }],
    [['down', 'down', 'down'], { selected: 'docs' }],
    [['down', 'up', 'up'], { selected: 'builds' }],
    [['return'], { selected: 'builds', view: 'queue' }],
    [['return', 'escape'], { selected: 'builds' }],
    [['space'], { isPaused: true }],
    [['space', 'space'], {}],
    [['s'], { order: 'wait' }],
    [['s', 's', 's', 's'], {}],
    [['?'], { view: 'help' }],
    [['?', 'x'], {}],
    [['x'], {}],
    [['q'], { isEnded: true }],
    [['?', 'ctrl-c'], { view: 'help', isEnded: true }],
  ])('%j', (keys, changed) => {
    expect(after(...keys)).toEqual({ ...firstState, ...changed })
  })

  test('queues are sorted by what it says', () => {
    const names = (order: 'depth' | 'wait' | 'name') => inOrder(queues, order).map(({ name }) => name)
    expect([names('depth'), names('wait'), names('name')]).toEqual([['builds', 'mail', 'docs'], ['builds', 'mail', 'docs'], ['builds', 'docs', 'mail']])
  })
})

describe('rates', () => {
  const rateOf = (...looks: ReadonlyArray<readonly [at: number, count: number]>) => {
    const counter = new Counter()
    for (const [at, count] of looks) counter.look(at * 1_000, count)
    return counter.rate
  }
  test.each<[looks: ReadonlyArray<readonly [number, number]>, perMinute: number | undefined, course: ReadonlyArray<number>]>([
    [[[0, 5]], undefined, []],
    [[[0, 5], [2, 6]], 30, [30]],
    [[[0, 0], [2, 2], [4, 2]], 30, [60, 0]],
    // Only the last minute counts.
    [[[0, 0], [30, 30], [100, 30]], 0, [60, 0]],
    [[[0, 0], [50, 0], [100, 100]], 120, [0, 120]],
    // The server was restarted: its counter begins anew.
    [[[0, 1_000], [2, 4]], 120, [120]],
  ])('%j', (looks, perMinute, course) => {
    expect(rateOf(...looks)).toEqual({ perMinute, course })
  })

  test('the course has at most thirty steps, and old looks are forgotten', () => {
    const { course, perMinute } = rateOf(...Array.from({ length: 500 }, (_, i) => [i, i * 2] as const))
    expect([course.length, perMinute]).toEqual([30, 120])
  })
})

test('metrics are read with their labels, also those with quotes, and others are left out', () => {
  expect(readMetrics('# HELP x\ndaybook_tasks{queue="a\\"b\\\\",status="pending"} 3\nnodejs_x 1\ndaybook_up 1e3\n')).toEqual([
    { name: 'daybook_tasks', labels: { queue: 'a"b\\', status: 'pending' }, value: 3 },
    { name: 'daybook_up', labels: {}, value: 1_000 },
  ])
})

describe('bars', () => {
  test('what is more than nothing shows, and the most fills the width', () => {
    expect([0, 1, 500, 1_000].map((value) => barOf(unicode, value, 1_000, 4))).toEqual(['', '▏', '██', '████'])
    expect(barOf(unicode, 30, 100, 4)).toBe('█▎')
    expect(barOf(ascii, 500, 1_000, 4)).toBe('##')
    expect(barOf(unicode, 0, 0, 4)).toBe('')
  })

  test('segments fit together, and each that is more than nothing has a cell', () => {
    expect(cellsOf([1, 0, 1_000], 1_001, 10)).toEqual([1, 0, 9])
    fc.assert(fc.property(fc.array(fc.nat(1_000_000), { minLength: 5, maxLength: 5 }), (values) => {
      const cells = cellsOf(values, values.reduce((sum, each) => sum + each, 0), 24)
      expect(cells.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(24)
      expect(cells.map((each) => each > 0)).toEqual(values.map((each) => each > 0))
    }))
  })

  test('a spark line has a character for each value', () => {
    expect(sparkOf(unicode, [0, 5, null, 10])).toBe('▁▅ █')
  })
})
