/** CON-4: the search of tasks: what it understands, what it marks, and what it suggests. */
import { complete, filterAt, parseSearch, termsOf, termText } from '@daybook/console/internal'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

describe('CON-4: qualifiers become parameters of the API', () => {
  test.each<readonly [string, Record<string, string>]>([
    ['', {}],
    ['status:pending', { status: 'pending' }],
    ['status:pending,blocked status:Dead-Letter', { status: 'pending,blocked,dead-letter' }],
    ['type:eng-* tenant:acme "timeout"', { type: 'eng-*', tenant: 'acme', q: 'timeout' }],
    ['priority:8', { priority: '8' }],
    ['priority:>=8', { priority: '8-10' }],
    ['priority:>8', { priority: '9-10' }],
    ['priority:<3', { priority: '1-2' }],
    ['priority:<=1', { priority: '1' }],
    ['priority:5-7', { priority: '5-7' }],
    ['priority:high', { priority: 'HIGH' }],
    ['phase:testing ticket:T-1 agent:"ada l"', { phase: 'TESTING', ticketId: 'T-1', agent: 'ada l' }],
    ['connection refused', { q: 'connection refused' }],
    ['"status:pending"', { q: 'status:pending' }],
    ['Tenant:acme', { tenant: 'acme' }],
    ['after:2026-11-20 before:2026-11-20T10:00', { createdAfter: '2026-11-20T00:00:00.000Z', createdBefore: '2026-11-20T10:00:00.000Z' }],
    ['after:2026-11-20T10:00:30.5+02:00', { createdAfter: '2026-11-20T08:00:30.500Z' }],
    ['waitsFor:release-1', { waitsFor: 'release-1' }],
    ['type:"night shift" tenant:"a \\"b\\" \\\\ c"', { type: 'night shift', tenant: 'a "b" \\ c' }],
  ])('%s', (text, filter) => {
    expect(parseSearch(text)).toEqual({ filter, problems: [] })
  })

  test('ages are times before now', () => {
    const search = parseSearch('age:>1h age:<2d')
    expect(search).toEqual({ filter: {}, olderThanSeconds: 3_600, youngerThanSeconds: 172_800, problems: [] })
    expect(filterAt(search, Date.UTC(2026, 0, 3))).toEqual({ createdBefore: '2026-01-02T23:00:00.000Z', createdAfter: '2026-01-01T00:00:00.000Z' })
  })
})

describe('CON-4: what is not understood is marked at its place, and left out', () => {
  test.each<readonly [string, string, RegExp]>([
    ['status:nope tenant:a', 'status:nope', /nope is no status: pending/],
    ['status:', 'status:', /^status: pending/],
    ['constructor:x', 'constructor:x', /constructor is no qualifier/],
    ['tenant:a colour:red', 'colour:red', /colour is no qualifier: there are status/],
    ['priority:11', 'priority:11', /1 to 10/],
    ['priority:>10', 'priority:>10', /no priority is so/],
    ['priority:<1', 'priority:<1', /no priority is so/],
    ['age:1h', 'age:1h', />1h or <10m/],
    ['age:>1w', 'age:>1w', /s, m, h and d/],
    ['type:*-eng', 'type:*-eng', /ends in \*/],
    ['phase:TESTING,ANALYSIS', 'phase:TESTING,ANALYSIS', /one phase/],
    ['tenant:a tenant:b', 'tenant:b', /stands twice/],
    ['after:yesterday', 'after:yesterday', /a time is 2026-11-20/],
    ['before:2026-13-41', 'before:2026-13-41', /a time is 2026-11-20/],
    ['before:2026-11-20 age:>1h', 'age:>1h', /before: says the same/],
    ['age:<1h after:2026-11-20', 'after:2026-11-20', /age: says the same/],
  ])('%s', (text, marked, message) => {
    const { problems } = parseSearch(text)
    expect(problems.map(({ from, to }) => text.slice(from, to))).toEqual([marked])
    expect(problems[0]?.message).toMatch(message)
    expect(parseSearch(text.replace(marked, '')).filter).toEqual(parseSearch(text).filter)
  })

  test('any name of a tenant can be written, and is read as it is', () => {
    const name = fc.oneof(fc.constantFrom('big co', '"', 'say "hi"', '\\', '\\"', '" ', 'a:b', 'x\\ y'), fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme' }))
    fc.assert(fc.property(name, name, (tenant, ticket) => {
      expect(parseSearch(`${termText('tenant', tenant)} ${termText('ticket', ticket)} status:pending`)).toEqual({ filter: { tenant, ticketId: ticket, status: 'pending' }, problems: [] })
    }))
  })

  test('whatever is typed: terms lie in the text, in order, and problems on terms', () => {
    const piece = fc.oneof(fc.constantFrom('status:', 'priority:', '>=', '"', ' ', ':', 'age:>1h', 'a', '8', ','), fc.string({ maxLength: 4 }))
    fc.assert(fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      const terms = termsOf(text)
      for (const [i, { from, to }] of terms.entries()) {
        expect(from).toBeLessThan(to)
        expect(from).toBeGreaterThanOrEqual(terms[i - 1]?.to ?? 0)
      }
      for (const { from, to } of parseSearch(text).problems) expect(terms).toContainEqual(expect.objectContaining({ from, to }))
    }))
  })
})

describe('CON-4: completed as one types', () => {
  const labels = (text: string, cursor = text.length, known = {}) => complete(text, cursor, known).map(({ label }) => label)

  test('qualifiers that are not there yet, values of one, and those of the queue', () => {
    expect(labels('')).toContain('status:')
    expect(labels('pri')).toEqual(['priority:'])
    expect(labels('status:pending ')).not.toContain('status:')
    expect(labels('status:pe')).toEqual(['pending'])
    expect(labels('status:pending,blo')).toEqual(['blocked'])
    expect(labels('type:back', undefined, { type: ['eng-backend', 'backup'] })).toEqual(['backup', 'eng-backend'])
    expect(labels('status:pending')).toEqual([])
    expect(labels('constructor:')).toEqual([])
  })

  test('what is taken replaces the word at the cursor, and keeps the rest', () => {
    expect(complete('sta tenant:a', 3)[0]).toMatchObject({ text: 'status: tenant:a', cursor: 7 })
    expect(complete('status:pending,blo tenant:a', 18)[0]).toMatchObject({ text: 'status:pending,blocked tenant:a' })
    expect(complete('tenant:', 7, { tenant: ['big co'] })[0]).toMatchObject({ text: 'tenant:"big co" ', cursor: 16 })
    expect(parseSearch(complete('tenant:', 7, { tenant: ['big co'] })[0]?.text ?? '').filter).toEqual({ tenant: 'big co' })
  })
})
