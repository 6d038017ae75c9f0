/** CON-5: what the console computes without a browser: addresses, figures, exact numbers, windows of long lists, order of queues, exports. */
import { agoText, byNeed, csvCell, durationText, exactNumbers, exactText, exportText, forText, heightMax, matchPath, needOf, noteDate, parsePath, pathOf, queryOf, rowsWindow, secondsOf, serverNow, shortNumber, textOfQuery } from '@daybook/console/internal'
import { csvCell as reportCell } from '@daybook/projections/reports'
import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'

describe('CON-5: addresses', () => {
  test('any segments and any query survive', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 })
    fc.assert(fc.property(fc.array(text.filter((each) => each !== '.' && each !== '..')), (segments) => {
      expect(parsePath(pathOf(segments))).toEqual(segments)
    }))
    fc.assert(fc.property(fc.dictionary(text, text), (query) => {
      expect(queryOf(textOfQuery(query))).toEqual(query)
    }))
  })

  test('LK-11: the group of dead letters without a signature has an address of its own', () => {
    expect(textOfQuery({ signature: '', type: 'mail' })).toBe('?signature=&type=mail')
    expect(textOfQuery({ status: '', signature: undefined, type: 'mail' })).toBe('?type=mail')
  })

  test('patterns match whole paths', () => {
    expect(matchPath('/q/{queue}/tasks/{id}', '/q/a%2Fb/tasks/t%201')).toEqual({ queue: 'a/b', id: 't 1' })
    expect(matchPath('/', '/')).toEqual({})
    for (const path of ['/q/a/tasks', '/q/a/tasks/b/c', '/p/a/tasks/b']) expect(matchPath('/q/{queue}/tasks/{id}', path)).toBeUndefined()
    expect(parsePath('/q/100%')).toEqual(['q', '100%'])
  })
})

describe('CON-5: figures have units', () => {
  test.each([[0, '0 s'], [0.0004, '< 1 ms'], [0.25, '250 ms'], [3.14, '3.1 s'], [59.6, '1 min'], [65, '1 min 5 s'], [3_600, '1 h'], [90_061, '1 d 1 h'], [-5, '−5 s']])('%s seconds are %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text)
  })
  test('ages, short numbers and durations as they are typed', () => {
    expect([agoText(0, 100), agoText(0, 5_400), agoText(0, 190_000), agoText(300_000, 0)]).toEqual(['now', '5 s ago', '3 min ago', 'in 5 min'])
    expect([forText(0, 100), forText(0, 54_000), forText(0, 3_700_000), forText(100, 0)]).toEqual(['for 0 s', 'for 54 s', 'for 1 h', 'for 0 s'])
    expect([950, 9_999, 12_340, 1_000_000].map(shortNumber)).toEqual(['950', '9,999', '12.3 k', '1 M'])
    expect(['90s', '1.5h', '3d', '5', 'x', '-1s'].map(secondsOf)).toEqual([90, 5_400, 259_200, undefined, undefined, undefined])
  })
})

describe('CON-5: numbers are shown and sent back as they came', () => {
  test.each(['12345678901234567890', '1.10', '-0', '1e400', '[1,9007199254740993,"9007199254740993"]', '{"a":1.50,"b":[{"c":100000000000000000000001}]}'])('%s', (text) => {
    expect(exactText(exactNumbers(text)).replace(/\s/g, '')).toBe(text)
  })
  test('any JSON is read as JSON.parse reads it, if its numbers are exact', () => {
    fc.assert(fc.property(fc.json(), (text) => {
      const plain: unknown = JSON.parse(text)
      const normal = JSON.stringify(plain)
      expect(JSON.parse(exactText(exactNumbers(normal)))).toEqual(JSON.parse(normal))
    }))
  })
  test('a text that looks like a number is a text', () => {
    expect(exactNumbers('{"1.10":"1.10","q":"\\"1.10"}')).toEqual({ '1.10': '1.10', q: '"1.10' })
  })
})

describe('CON-5: a long list', () => {
  const rowHeight = 33
  test('draws what is seen, and fills the rest', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 2_000_000 }), fc.integer({ min: 100, max: 2_000 }), fc.nat(70_000_000), (rows, viewHeight, scrollTop) => {
      const { first, end, before, after } = rowsWindow({ rows, rowHeight, viewHeight, scrollTop })
      expect(first).toBeGreaterThanOrEqual(0)
      expect(end).toBeLessThanOrEqual(rows)
      expect(end - first).toBeLessThan(viewHeight / rowHeight + 30)
      expect(before + (end - first) * rowHeight + after).toBeLessThanOrEqual(heightMax + (end - first) * rowHeight)
    }))
  })
  test('of a million rows begins with the first, and ends with the last', () => {
    const million = { rows: 1_000_000, rowHeight, viewHeight: 600 }
    expect(rowsWindow({ ...million, scrollTop: 0 }).first).toBe(0)
    expect(rowsWindow({ ...million, scrollTop: heightMax }).end).toBe(1_000_000)
    const middle = rowsWindow({ ...million, scrollTop: (heightMax - 600) / 2 })
    expect(middle.first).toBeGreaterThan(499_000)
    expect(middle.end).toBeLessThan(501_000)
  })
})

test('CON-5: the queue that needs somebody stands on top', () => {
  const calm = { alerts: [], isPaused: false, deadLetters: 0, oldestWaitSeconds: 5 }
  const needs = {
    calm: needOf(calm),
    slow: needOf({ ...calm, oldestWaitSeconds: 7_200 }),
    dead: needOf({ ...calm, deadLetters: 3 }),
    paused: needOf({ ...calm, isPaused: true }),
    alarmed: needOf({ ...calm, alerts: [{ kind: 'breaker-open' }] }),
  }
  expect(byNeed(['calm', 'unknown', 'slow', 'dead', 'paused', 'alarmed'], needs)).toEqual(['alarmed', 'paused', 'dead', 'slow', 'calm', 'unknown'])
})

test('CON-5: an export has no formula, and every text in quotes that needs them', () => {
  expect(['=1+1', '+1', '-1', '@x', 'a,b', 'say "hi"', 'two\nlines', null, undefined, -5].map(csvCell)).toEqual(["'=1+1", "'+1", "'-1", "'@x", '"a,b"', '"say ""hi"""', '"two\nlines"', '', '', '-5'])
  // The same as in the files of reports.
  const formulas = [' =1', '＝1', '\n=1', '|x', '%x', '\t@x', '\0+1']
  expect(formulas.map((text) => /^"?'/.test(csvCell(text)))).toEqual(formulas.map((text) => /^"?'/.test(reportCell(text))))
  expect(formulas.every((text) => /^"?'/.test(csvCell(text)))).toBe(true)
  expect(exportText([], 'csv')).toMatch(/^id,number,type,.*\r\n$/)
})

test('the time of the server goes on evenly, however its whole seconds and those of the browser fall', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    // A clock that is wrong by a little less or a little more than what is left alone, by answer.
    const errors = new Set<number>()
    for (let ms = 0; ms < 10_000; ms += 300) {
      vi.setSystemTime(1_800_000_004_700 + ms)
      noteDate(new Date(Math.floor((Date.now() - 4_700) / 1_000) * 1_000).toUTCString())
      errors.add(serverNow() - Date.now())
    }
    // At most one change: when it was first found to be wrong.
    expect(errors.size).toBeLessThanOrEqual(2)
    vi.setSystemTime(1_800_000_100_000)
    noteDate(new Date(1_800_003_700_000).toUTCString())
    expect(serverNow()).toBe(1_800_003_700_000)
    noteDate(new Date(1_800_000_100_000).toUTCString())
    expect(serverNow()).toBe(1_800_000_100_000)
  } finally {
    vi.useRealTimers()
  }
})
