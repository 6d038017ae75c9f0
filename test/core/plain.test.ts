/** The small pure functions: canonical JSON, backoff, failure patterns, settings. */
import {
  breakerSettings, canonicalJson, failurePattern, isExactNumber, failureSignature, jsonDepthMax, LongJson, NotJson, patchSettings, retryDelayMs, type Settings, settingsDefault, type SettingsPatch,
} from '@daybook/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../properties/settings.js'

describe('LK-05: canonical JSON (RFC 8785)', () => {
  test.each<readonly [string, unknown, string]>([
    ['sorted keys', { b: 1, a: { d: 1, c: 2 } }, '{"a":{"c":2,"d":1},"b":1}'],
    ['integer-like keys are sorted as text', { 2: 'b', 10: 'a', 1: 'c' }, '{"1":"c","10":"a","2":"b"}'],
    ['integer-like keys among others', { b: 1, 1: 2, a: 3 }, '{"1":2,"a":3,"b":1}'],
    ['the empty key comes first', { a: 1, '': 2 }, '{"":2,"a":1}'],
    [
      'UTF-16 order, from the RFC',
      { '\u20ac': 'Euro', '\r': 'CR', '\ufb33': 'Dalet', '1': 'One', '\ud83d\ude00': 'Smile', '\u0080': 'Control', '\u00f6': 'o' },
      '{"\\r":"CR","1":"One","\u0080":"Control","\u00f6":"o","\u20ac":"Euro","\ud83d\ude00":"Smile","\ufb33":"Dalet"}',
    ],
    ['numbers, from the RFC', [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001], '[333333333.3333333,1e+30,4.5,0.002,1e-27]'],
    ['minus zero', [-0], '[0]'],
    ['the largest integer', [9007199254740991, 1e21], '[9007199254740991,1e+21]'],
    ['strings, from the RFC', '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    ['literals', [null, true, false], '[null,true,false]'],
    ['undefined members are left out', { a: undefined, b: 1 }, '{"b":1}'],
    ['an own __proto__ is a key like any other', JSON.parse('{"a":1,"__proto__":{"x":1}}'), '{"__proto__":{"x":1},"a":1}'],
  ])('%s', (_, value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })
  test.each<readonly [string, unknown, string]>([
    ['NaN', { a: [1, Number.NaN] }, 'payload.a[1]'],
    ['infinity', Number.POSITIVE_INFINITY, 'payload'],
    ['bigint', { a: 1n }, 'payload.a'],
    ['undefined in an array', [undefined], 'payload[0]'],
    ['a function', { f: () => 1 }, 'payload.f'],
    ['a date', { d: new Date(0) }, 'payload.d'],
    ['a map', new Map(), 'payload'],
    ['an integer that is another’s double', [2 ** 53], 'payload[0]'],
    ['the same below zero', { a: -(2 ** 53) }, 'payload.a'],
    ['the largest that is printed without an exponent', 999_999_999_999_999_900_000, 'payload'],
    ['half a surrogate pair', { a: ['\ud83d'] }, 'payload.a[0]'],
    ['the other half', 'a\ude00', 'payload'],
    ['half a pair in a key', { a: { 'b\ud83d': 1 } }, 'payload.a.b\ufffd'],
    ['half a pair in a key without a value', { '\ud83d': undefined }, 'payload.\ufffd'],
  ])('refuses %s, and says where', (_, value, path) => {
    expect(() => canonicalJson(value)).toThrow(expect.objectContaining({ name: 'NotJson', path }) as Error)
  })
  test('refuses cycles and values that are nested too deep', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    expect(() => canonicalJson(cycle)).toThrow(NotJson)
    let nested: unknown = 1
    for (let i = 0; i < jsonDepthMax; i++) nested = [nested]
    expect(canonicalJson(nested)).toContain('1')
    expect(() => canonicalJson([nested])).toThrow('deeper')
  })
  test('a text that is longer than wanted is printed no further than that', () => {
    const beyond = (): never => {
      throw new Error('was printed')
    }
    // Each of these has a part that must not be reached.
    const list = Object.defineProperty(Array.from({ length: 1_000 }, () => 1), 900, { get: beyond })
    const members = Object.defineProperty(Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${1_000 + i}`, i % 2 === 0 ? 'text' : 1])), 'z', { get: beyond, enumerable: true })
    for (const value of [list, { deep: [[list]] }, members, [members]]) expect(() => canonicalJson(value, 'payload', 500)).toThrow(LongJson)
    // There are so many members that the first one is not printed.
    const first = Object.defineProperty(Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 1])), 'a', { get: beyond, enumerable: true })
    expect(() => canonicalJson(first, 'payload', 4_000)).toThrow(LongJson)
    expect(canonicalJson({ a: [1, 'b'], c: null }, 'payload', 22)).toBe('{"a":[1,"b"],"c":null}')
    for (let length = 0; length < 22; length++) expect(() => canonicalJson({ a: [1, 'b'], c: null }, 'payload', length)).toThrow(LongJson)
  })
  test('earlier documents leave no trace in the text', () => {
    for (const text of ['a', 'a', 'b', 'b', 'a', '"', '"', 'x'.repeat(100), 'x'.repeat(100), '"']) {
      expect(canonicalJson({ n: 1, kind: text, z: { kind: text } })).toBe(`{"kind":${JSON.stringify(text)},"n":1,"z":{"kind":${JSON.stringify(text)}}}`)
    }
  })

  /** Whether all its numbers are exact. */
  const isTaken = (value: unknown): boolean =>
    typeof value === 'number' ? isExactNumber(value) : typeof value !== 'object' || value === null || Object.values(value).every(isTaken)

  test('reads back as the same value, and does not depend on the order of keys', () => {
    const shuffled = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(shuffled)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(Object.entries(value).reverse().map(([key, member]) => [key, shuffled(member)]))
          : value
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        fc.pre(isTaken(value))
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(shuffled(value))).toBe(text)
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
      runs(100),
    )
  })

  test('prints each of many similar documents correctly', () => {
    const printed = (value: unknown): string =>
      typeof value !== 'object' || value === null
        ? JSON.stringify(value)
        : `{${Object.entries(value)
            .filter(([, member]) => member !== undefined)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, member]) => `${JSON.stringify(key)}:${printed(member)}`)
            .join(',')}}`
    const key = fc.constantFrom('a', 'b', 'c', '1', '"')
    const { alike } = fc.letrec<{ alike: unknown }>((tie) => ({
      alike: fc.dictionary(key, fc.oneof({ maxDepth: 2 }, fc.constantFrom('x', 'y', '"', undefined, 1, null), tie('alike')), { noNullPrototype: false }),
    }))
    fc.assert(
      fc.property(alike, (value) => {
        expect(canonicalJson(value)).toBe(printed(value))
      }),
      runs(1_000),
    )
  })
})

describe('LK-09: backoff', () => {
  const rules = { maxBackoffSeconds: 3_600, jitter: 0.1 }
  test.each([
    [60, 1, 0, 60_000],
    [60, 2, 0, 120_000],
    [60, 3, 0, 240_000],
    [60, 7, 0, 3_600_000],
    [60, 1_000, 0, 3_600_000],
    [0, 9, 0.5, 0],
    [60, 1, 0.5, 63_000],
    [60, 7, 0.999999, 3_960_000],
  ])('%i s, retry %i, drawn %d: %i ms', (base, retry, random, delay) => {
    expect(retryDelayMs(base, retry, rules, random)).toBe(delay)
  })
  test('is a whole number between the delay and the delay with full jitter, and does not shrink with more retries', () => {
    const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 1, max: 2_000 }), unit, unit, (base, retry, jitter, random) => {
        const rules = { maxBackoffSeconds: 3_600, jitter }
        const least = retryDelayMs(base, retry, rules, 0)
        const delay = retryDelayMs(base, retry, rules, random)
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(least)
        expect(delay).toBeLessThanOrEqual(Math.ceil(least * (1 + jitter)))
        expect(retryDelayMs(base, retry + 1, rules, 0)).toBeGreaterThanOrEqual(least)
        expect(least).toBeLessThanOrEqual(3_600_000)
      }),
      runs(500),
    )
  })
})

describe('LK-11: failure patterns', () => {
  test.each([
    ['ENOENT /tmp/a1/b.txt after 31 ms', 'enoent <path> after <n> ms'],
    ['ENOENT /var/x after 7 ms', 'enoent <path> after <n> ms'],
    ['C:\\Users\\ann\\x.ts(3,14)', '<path>(<n>,<n>)'],
    ['GET https://api.example.com/v1/x?y=1 failed: 503', 'get <url> failed: <n>'],
    ['task 0190f3a2-7b1c-7def-8abc-0123456789ab gone', 'task <id> gone'],
    ['commit deadbeef12 at 0xFF', 'commit <hex> at <hex>'],
    ['node 20.1.3\n\n  crashed', 'node <n> crashed'],
    ['Effaced facade', 'effaced facade'],
    ['see web+a.b-c://x', 'see <url>'],
    [`${'a.'.repeat(40)}b://x`, `${'a.'.repeat(25)}<url>`],
    ['', ''],
  ])('%j becomes %j', (text, pattern) => {
    expect(failurePattern(text)).toBe(pattern)
  })
  test('similar failures have one signature; other types and phases have others', () => {
    const [a, b, c, d] = [
      failureSignature('work', undefined, 'timeout after 5 s'),
      failureSignature('work', undefined, 'Timeout after 17 s'),
      failureSignature('other', undefined, 'timeout after 5 s'),
      failureSignature('work', 'TESTING', 'timeout after 5 s'),
    ]
    expect(a).toMatch(/^[0-9a-f]{64}$/u)
    expect(b).toBe(a)
    expect(new Set([a, c, d]).size).toBe(3)
  })
  test('is fast for every text, however long or odd', () => {
    for (const text of ['/a'.repeat(50_000), 'a'.repeat(100_000), '\\'.repeat(100_000), '0.'.repeat(50_000), 'a+'.repeat(50_000)]) {
      expect(failurePattern(text).length).toBeLessThanOrEqual(4_000)
    }
  })
  test('is idempotent: the pattern of a pattern is the same', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ a-z0-9/.:()-]{0,60}$/), (text) => {
        const digits = failurePattern(text.replace(/\d/g, '7'))
        expect(failurePattern(text.replace(/\d/g, '4'))).toBe(digits)
      }),
      runs(300),
    )
  })
})

describe('TQM-CFG: a patch changes what it names and nothing else', () => {
  test.each<readonly [string, SettingsPatch, (settings: Settings) => unknown, unknown]>([
    ['one value', { maxAttempts: 3 }, (s) => s.maxAttempts, 3],
    ['a nested value', { defaults: { jitter: 0 } }, (s) => s.defaults, { ...settingsDefault.defaults, jitter: 0 }],
    ['a breaker default', { breakers: { defaults: { failureThreshold: 1 } } }, (s) => breakerSettings(s, 'any').failureThreshold, 1],
    ['an override', { breakers: { overrides: { work: { halfOpenAfter: 1 } } } }, (s) => [breakerSettings(s, 'work').halfOpenAfter, breakerSettings(s, 'x').halfOpenAfter], [1, 60]],
    ['nothing', {}, (s) => s, settingsDefault],
  ])('%s', (_, patch, read, want) => {
    expect(read(patchSettings(settingsDefault, patch))).toEqual(want)
  })
  test('an override of null is removed; another is merged into the one before', () => {
    const one = patchSettings(settingsDefault, { breakers: { overrides: { work: { failureThreshold: 1 }, x: { failureThreshold: 2 } } } })
    const two = patchSettings(one, { breakers: { overrides: { work: { cooldownSeconds: 9 }, x: null } } })
    expect(two.breakers.overrides).toEqual({ work: { failureThreshold: 1, cooldownSeconds: 9 } })
    expect(settingsDefault.breakers.overrides).toEqual({})
  })
  test('a type of any name', () => {
    const overrides = JSON.parse('{"__proto__":{"failureThreshold":1},"constructor":{"failureThreshold":2}}') as Record<string, object>
    const settings = JSON.parse(JSON.stringify(patchSettings(settingsDefault, { breakers: { overrides } }))) as Settings
    expect(['__proto__', 'constructor', 'toString'].map((type) => breakerSettings(settings, type).failureThreshold)).toEqual([1, 2, 5])
  })
})
