/** What the pages of the console compute from answers, without a browser. */
import { blockedBy, choicesOf, depthOverTime, failuresByHour, inOrder, leavesOf, loneValues, meaningOf, othersIn, patchAt, secondsText, stretchesOf, tenantsOf, valueOf } from '@daybook/console/internal'
import { settingsDefault, statuses } from '@daybook/core'
import { describe, expect, test } from 'vitest'

const hour = 3_600_000
const noTasks = Object.fromEntries(statuses.map((status) => [status, 0])) as Record<(typeof statuses)[number], number>
const iso = (ms: number): string => new Date(ms).toISOString()

test('the depth is counted back from now: what came makes it less before, what went makes it more', () => {
  const row = (to: number, enqueued: number, completed: number, deadLettered = 0, cancelled = 0) => ({ to: iso(to), enqueued, completed, deadLettered, cancelled })
  expect(depthOverTime([row(hour, 10, 2), row(2 * hour, 0, 3, 1, 1), row(3 * hour, 5, 0)], 8, 2.5 * hour)).toEqual([
    { at: hour, depth: 8 },
    { at: 2 * hour, depth: 3 },
    // The last bucket is not over yet.
    { at: 2.5 * hour, depth: 8 },
  ])
  // Dead letters that were sent back are not in the report: no depth is negative for that.
  expect(depthOverTime([row(hour, 0, 0), row(2 * hour, 9, 0)], 4, 2 * hour).map(({ depth }) => depth)).toEqual([0, 4])
})

test('a value between gaps is a point, because no line goes through it', () => {
  expect(loneValues([null, 3, null, 1, 2, null, 0])).toEqual([1, 6])
  expect(loneValues([4])).toEqual([0])
  expect(loneValues([null, null])).toEqual([])
})

describe('what keeps tasks from running', () => {
  const byStatus = { ...noTasks, pending: 6, queued: 1, blocked: 2 }
  const now = { depth: { byStatus, byType: { mail: 4, deploy: 3 }, byTenant: { acme: 5 } }, breakers: {}, limits: [], paused: null, isAtCapacity: false, agentsAtWork: 2, held: [] } as unknown as Parameters<typeof blockedBy>[0]
  const keys = (changes: Partial<typeof now>): ReadonlyArray<unknown> => blockedBy({ ...now, ...changes }).map(({ key, count }) => [key, count])

  test.each([
    ['statuses alone', {}, [['blocked', 2]]],
    ['a pause holds all that is ready', { paused: 'upgrade' }, [['paused', 7], ['blocked', 2]]],
    ['so does a lack of capacity', { isAtCapacity: true }, [['capacity', 7], ['blocked', 2]]],
    ['a breaker that is not closed holds its type', { breakers: { mail: { state: 'half-open', failures: 1 }, deploy: { state: 'closed', failures: 1 } } }, [['breaker mail', 4], ['blocked', 2]]],
    ['a limit that is full holds its type or tenant', { limits: [{ key: 'type:deploy', concurrency: 1, live: 1 }, { key: 'tenant:acme', concurrency: 9, live: 1 }] }, [['type:deploy', 3], ['blocked', 2]]],
    ['so does a rate', { limits: [{ key: 'tenant:acme', rate: { starts: 1, perSeconds: 60 }, live: 0, shutUntil: iso(0) }] }, [['tenant:acme', 5], ['blocked', 2]]],
    ['nobody is at work', { agentsAtWork: 0 }, [['agents', 7], ['blocked', 2]]],
    ['what a breaker or a pause holds does not wait for agents', { agentsAtWork: 0, breakers: { mail: { state: 'open', failures: 1 } } }, [['breaker mail', 4], ['agents', 3], ['blocked', 2]]],
    ['a breaker of a type without tasks holds nothing, whatever its name', { agentsAtWork: 0, breakers: { constructor: { state: 'open', failures: 1 } } }, [['agents', 7], ['blocked', 2]]],
    ['nobody works while it is paused', { agentsAtWork: 0, paused: '' }, [['paused', 7], ['blocked', 2]]],
    ['a limit for each type or tenant holds those that have as many at work', { limits: [{ key: 'tenant:*', concurrency: 2 }, { key: 'type:*', concurrency: 1 }], held: [{ type: 'mail', tenant: 'acme' }, { type: 'new', tenant: 'acme' }] }, [['tenant:acme', 5], ['type:mail', 4], ['blocked', 2]]],
    ['all of them, if it lets nothing start', { limits: [{ key: 'tenant:*', concurrency: 0 }] }, [['tenant:acme', 5], ['blocked', 2]]],
    ['but not those with a limit of their own', { limits: [{ key: 'tenant:*', concurrency: 1 }, { key: 'tenant:acme', concurrency: 9, live: 1 }], held: [{ type: 'mail', tenant: 'acme' }] }, [['blocked', 2]]],
    ['of a concurrency key nobody knows which tasks have it', { limits: [{ key: 'smtp', concurrency: 1, live: 1 }] }, [['blocked', 2]]],
  ] as ReadonlyArray<readonly [string, Partial<typeof now>, ReadonlyArray<unknown>]>)('%s', (_, changes, wanted) => {
    expect(keys(changes)).toEqual(wanted)
  })
})

test('a breaker was closed whenever the report does not say otherwise', () => {
  const rows = [
    { type: 'mail', state: 'half-open', from: iso(4 * hour), to: iso(5 * hour), cause: null, reason: null },
    { type: 'mail', state: 'open', from: iso(2 * hour), to: iso(4 * hour), cause: 'manual', reason: 'they asked' },
    { type: 'other', state: 'open', from: iso(0), to: null, cause: null, reason: null },
  ]
  expect(stretchesOf(rows, 'mail', hour, 6 * hour)).toEqual([
    { state: 'closed', from: hour, to: 2 * hour },
    { state: 'open', from: 2 * hour, to: 4 * hour, why: 'manual: they asked' },
    { state: 'half-open', from: 4 * hour, to: 5 * hour, why: '' },
    { state: 'closed', from: 5 * hour, to: 6 * hour },
  ])
  expect(stretchesOf(rows, 'other', hour, 6 * hour)).toEqual([{ state: 'open', from: 0, to: 6 * hour, why: '' }])
  expect(inOrder({ b: { state: 'closed', failures: 0 }, a: { state: 'closed', failures: 0 }, z: { state: 'open', failures: 3 }, y: { state: 'half-open', failures: 3 } }).map(([type]) => type)).toEqual(['z', 'y', 'a', 'b'])
})

test('failures stand in the hour in which they happened; those before the period are left out', () => {
  const rows = [{ from: iso(0), signature: 'a', failures: 9 }, { from: iso(2 * hour), signature: 'a', failures: 2 }, { from: iso(4 * hour), signature: 'a', failures: 1 }, { from: iso(3 * hour), signature: 'b', failures: 4 }, { from: iso(3 * hour), signature: null, failures: 7 }]
  expect([...failuresByHour(rows, 3, 4.5 * hour)]).toEqual([['a', [2, 0, 1]], ['b', [0, 4, 0]]])
})

/** A depth with so many ready tasks. */
const depthWith = (pending: number, queued: number, byTenant: Readonly<Record<string, number>>) => ({ byStatus: { ...noTasks, pending, queued }, byTenant })

test('the ready tasks without a tenant are those that no tenant has', () => {
  const found = tenantsOf([], [{ tenant: null, enqueued: 9 }], depthWith(6, 3, { acme: 2 }), {})
  expect(found.map(({ name, waiting }) => [name, waiting])).toEqual([[undefined, 7], ['acme', 2]])
  // They stand there although nothing else is known of them.
  expect(tenantsOf([], [], depthWith(4, 0, {}), {})).toMatchObject([{ name: undefined, waiting: 4 }])
  expect(tenantsOf([], [], depthWith(2, 0, { acme: 2 }), {}).map(({ name }) => name)).toEqual(['acme'])
})

test('shares of tenants are of all claims, weights and tasks; one that was never compared has no ratio', () => {
  const fairness = [{ tenant: 'acme', claimed: 30, ratio: 0.5 }, { tenant: 'globex', claimed: 10, ratio: null }]
  const found = tenantsOf(fairness, [{ tenant: 'acme', enqueued: 60 }, { tenant: null, enqueued: 20 }], depthWith(31, 0, { acme: 30, initech: 1 }), { default: 1, acme: 3 })
  expect(found.map(({ name, weight, waiting, ratio }) => [name, weight, waiting, ratio])).toEqual([['acme', 3, 30, 0.5], ['globex', 1, 0, undefined], [undefined, 1, 0, undefined], ['initech', 1, 1, undefined]])
  expect(found[0]).toMatchObject({ claimedShare: 0.75, weightShare: 0.5, demandShare: 0.75 })
  expect(tenantsOf([], [], depthWith(1, 0, { a: 1 }), {})[0]).toMatchObject({ claimedShare: 0, demandShare: 0 })
  expect(tenantsOf([], [], depthWith(1, 0, { constructor: 1 }), { default: 2 })[0]).toMatchObject({ name: 'constructor', weight: 2 })
})

test('tenants that a report adds up are counted, and are not the tasks without a tenant', () => {
  const fairness = [{ tenant: 'acme', claimed: 30, ratio: 1 }, { tenant: null, others: 7, claimed: 70, ratio: 0.5 }]
  const throughput = [{ tenant: 'acme', enqueued: 60 }, { tenant: null, enqueued: 20 }, { tenant: null, others: 6, enqueued: 90 }]
  expect(tenantsOf(fairness, throughput, depthWith(0, 0, {}), {})).toMatchObject([{ name: 'acme', claimed: 30, claimedShare: 1, demandShare: 0.75 }, { name: undefined, claimed: 0, enqueued: 20, ratio: undefined }])
  expect(tenantsOf(fairness, [], depthWith(0, 0, {}), {}).map(({ name }) => name)).toEqual(['acme'])
  expect([othersIn(fairness), othersIn([])]).toEqual([7, 0])
})

test('a setting has few values by what it is, and not by the name of a tenant or a type', () => {
  expect([choicesOf(['policy'], 'score'), choicesOf(['breakers', 'overrides', 'eng', 'countOn'], 'attempt'), choicesOf(['erasable'], false)]).toEqual([['priority', 'score'], ['dead-letter', 'attempt'], ['true', 'false']])
  expect([choicesOf(['assignment', 'tenants', 'policy'], 3), choicesOf(['assignment', 'tenants', 'constructor'], 3), choicesOf(['discoveries', 'x', 'type'], 'eng')]).toEqual([undefined, undefined, undefined])
  expect(meaningOf(['breakers', 'overrides', 'constructor'])).toBeUndefined()
})

test('every setting has a meaning, and long times stand in words as well', () => {
  expect(leavesOf(settingsDefault).filter(([path]) => meaningOf(path) === undefined).map(([path]) => path.join('.'))).toEqual([])
  expect(secondsText(['retentionSeconds'], 604_800)).toBe('7 d')
  expect(secondsText(['score', 'starvationLimit'], 7_200)).toBe('2 h')
  expect([secondsText(['defaults', 'backoffSeconds'], 5), secondsText(['maxAttempts'], 600), secondsText(['score', 'age'], 60)]).toEqual([undefined, undefined, undefined])
})

test('a setting is found by its path, and changed by a patch of that path alone', () => {
  const settings = { policy: 'priority', breakers: { overrides: { 'eng.a': { failureThreshold: 3 } }, none: {} } }
  expect(leavesOf(settings)).toEqual([[['policy'], 'priority'], [['breakers', 'overrides', 'eng.a', 'failureThreshold'], 3], [['breakers', 'none'], {}]])
  expect(patchAt(['breakers', 'overrides', 'eng.a'], null)).toEqual({ breakers: { overrides: { 'eng.a': null } } })
  expect([valueOf('600', 3), valueOf('600', 'a text'), valueOf('true', false), valueOf('["a"]', []), valueOf('HIGH', 5)]).toEqual([600, '600', true, ['a'], 'HIGH'])
})
