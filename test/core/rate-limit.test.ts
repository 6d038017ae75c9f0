/** LK-16: rate limits are recognised and waited for, and are no failures. */
import { breakersOf, type Failure, nextDue, rateLimitOf, retryAfterMaxSeconds, settingsDefault, waitOf } from '@daybook/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../properties/settings.js'
import { names, Queue, start, task } from './queue.js'

describe('LK-16: an error is a rate limit', () => {
  test.each([
    'rate limit exceeded', 'Rate-limited by upstream', 'RateLimitError: slow down', 'openai.RateLimitError', 'rate_limit_error', 'hit the API rate limit',
    '429 Too Many Requests', '429', '429: slow down', '429 {"type":"error"}', 'HTTP 429', 'HTTP/1.1 429', 'status code 429', 'status: 429', '"status":429', 'statusCode=429', 'Error: 429',
    'Request failed with status code 429', 'upstream responded with 429', 'the server returned a 429', 'got 429, giving up', 'too many requests', 'too_many_requests',
    'Quota exceeded for quota metric', 'You exceeded your current quota, please check your plan', 'quota has been exceeded', 'Retry-After: 30', 'please retry after 30 s', 'error (429)',
  ])('by its text: %s', (message) => {
    expect(rateLimitOf({ message }, start)).toBeDefined()
  })
  test.each([
    'connection refused on port 4290', 'port 4291 is in use', 'task 429 failed', 'line 429: unexpected token', 'read 429 files', '429 files could not be read', 'got 429 rows, wanted 430',
    'job-429 timed out', 'id 1429', 'took 429 ms', 'ENOENT /tmp/429', 'exceeded 4.429 s', 'separate limits apply', 'corporate limit', 'generate limits', 'expected 3, got 4290', 'error in item 429 of 500',
    'too many open files', 'disk quota of 429 MB', 'retry later', 'boom', '', 'HTTP 4290', 'status 429.5 of x', 'a429b', 'v4.29',
  ])('other errors are not: %s', (message) => {
    expect(rateLimitOf({ message }, start)).toBeUndefined()
  })
  test.each(['429', 'HTTP_429', 'E429', 'rate_limited', 'rate-limit-exceeded', 'RATE_LIMIT', 'rate_limit_error', 'RateLimitError', 'TooManyRequests', 'TooManyRequestsException', 'too_many_requests', 'quota_exceeded', 'insufficient_quota', 'anthropic.rate_limit_error'])('by its code: %s', (code) => {
    expect(rateLimitOf({ message: 'no', code }, start)).toBeDefined()
  })
  test.each(['ENOENT', '4290', '1429', 'exit-1', 'E42', 'rated', 'limit', 'quota'])('other codes are not: %s', (code) => {
    expect(rateLimitOf({ message: 'no', code }, start)).toBeUndefined()
  })
  test('because it says when to try again', () => {
    expect(rateLimitOf({ message: 'busy', retryAfter: 30 }, start)).toEqual({ askedMs: 30_000 })
    expect(rateLimitOf({ message: 'busy', retryAfter: 'who knows' }, start)).toEqual({ askedMs: undefined })
  })
})

const day = retryAfterMaxSeconds * 1_000
const nothing = undefined
describe('LK-16: Retry-After', () => {
  test.each<readonly [number | string, number | undefined]>([
    [30, 30_000], ['30', 30_000], [' 30 ', 30_000], [0.25, 250], ['0.5', 500], [1e-9, 1],
    // More than a day is cut to a day.
    [86_400, day], [86_401, day], [31_536_000, day], ['31536000', day], [1e300, day], [Number.MAX_VALUE, day], [Number.POSITIVE_INFINITY, day], ['999999999999', day],
    // Values that cannot be used.
    [0, nothing], ['0', nothing], [-0, nothing], [-1, nothing], ['-30', nothing], [Number.NaN, nothing], [Number.NEGATIVE_INFINITY, nothing],
    ['', nothing], [' ', nothing], ['NaN', nothing], ['Infinity', nothing], ['1e9', nothing], ['0x10', nothing], ['30s', nothing], ['30, 60', nothing], ['１２', nothing], ['9'.repeat(400), nothing], ['soon', nothing], ['\u0000', nothing],
    // Dates: the three forms of RFC 9110, and ISO 8601. `start` is Monday 2026-01-05 09:00.
    ['Mon, 05 Jan 2026 09:01:00 GMT', 60_000], ['mon, 5 jan 2026 09:01:00 gmt', 60_000], ['Monday, 05-Jan-26 09:01:00 GMT', 60_000], ['Mon Jan  5 09:01:00 2026', 60_000],
    ['2026-01-05T09:01:00Z', 60_000], ['2026-01-05T09:00:00.250Z', 250],
    ['Tue, 05 Jan 2027 09:00:00 GMT', day], ['Fri, 31 Dec 9999 23:59:59 GMT', day],
    ['Mon, 05 Jan 2026 09:00:00 GMT', nothing], ['Sun, 04 Jan 2026 09:00:00 GMT', nothing], ['Thu, 01 Jan 1970 00:00:00 GMT', nothing], ['1999-01-01T00:00:00Z', nothing],
    ['Mon, 05 Foo 2026 09:01:00 GMT', nothing], ['Mon, 99 Jan 2026 09:01:00 GMT', nothing], ['Mon, 05 Jan 2026 25:01:00 GMT', nothing], ['Mon, 05 Jan 2026 09:01:00', nothing], ['Mon, 05 Jan 2026 09:01:00 PST', nothing],
    ['2026', 2_026_000], ['120 GMT', nothing], ['2026-13-45T99:99:99Z', nothing], ['2026-01-05', nothing],
  ])('%s → %s ms', (retryAfter, waitMs) => {
    expect(waitOf(retryAfter, start)).toBe(waitMs)
  })

  test.each<readonly [string, number | undefined]>([
    ['429, Retry-After: 30', 30_000], ['retry-after=12', 12_000], ['rate limit: retry after 5 minutes', 300_000], ['"retry-after":"7"', 7_000], ['Rate limit reached. Please try again in 1.5s.', 1_500],
    ['Please retry in 250ms: quota exceeded', 250], ['too many requests, wait 2 h', 7_200_000], ['retry-after: Mon, 05 Jan 2026 09:01:00 GMT, said the server', 60_000], ['retry after 2026-01-05T09:01:00Z', 60_000],
    ['retry-after: -5', nothing], ['retry-after: 1e9', nothing], ['retry-after: NaN', nothing], ['retry-after: 99999999999', day], ['retry-after', nothing], ['rate limit', nothing],
    ['retry-after: Sun, 04 Jan 2026 09:00:00 GMT', nothing],
    // `wait` and `retry after` may come first in the words around it.
    ['Rate limit exceeded. Please wait and try again in 30 seconds.', 30_000], ['too many requests, retry after some time. Retry-After: 12', 12_000], ['please wait for 30 seconds: rate limit', 30_000], ['rate limit: please wait a moment', nothing],
    // A time in several units.
    ['Rate limit reached. Please try again in 6m0s.', 360_000], ['rate limit: try again in 7m12.48s. Visit us', 432_480], ['rate limit: retry in 1h 30m', 5_400_000], ['rate limit: retry after 1h2m3s', 3_723_000], ['rate limit: retry after 2m', 120_000], ['rate limit: retry in 0m0s', nothing], ['rate limit: retry in 99h0m', day],
    // The same in words, and thousands.
    ['rate limit: try again in 1 minute 30 seconds', 90_000], ['rate limit: try again in 1 minute and 30 seconds.', 90_000], ['too many requests, retry in 2 hours, 5 minutes', 7_500_000], ['rate limit: retry after 1 hr 2 mins 3 secs', 3_723_000], ['429: wait 1 day, 2 hours and 3 minutes', day],
    ['rate limit: retry after 1,500 seconds', 1_500_000], ['rate limit: retry after 12,000 ms', 12_000], ['rate limit: retry after 5, then 10 seconds', 5_000], ['rate limit: retry in 1 minute 30', 60_000],
    // Days and longer units.
    ['Quota exceeded. Try again in 2 days.', day], ['429: retry in 1d', day], ['quota exceeded, retry after 1 week', day], ['quota exceeded, try again in 1 month', day], ['rate limit: try again in 0d6h', 21_600_000], ['too many requests, try again in 1d2h3m4s', day],
  ])('in a text: %s → %s ms', (message, waitMs) => {
    expect(rateLimitOf({ message }, start)).toEqual({ askedMs: waitMs })
  })

  test('whatever an error says, the wait is none, or a whole number of milliseconds up to a day', () => {
    const odd = fc.oneof(fc.double(), fc.integer(), fc.string({ unit: 'binary' }), fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()), fc.date({ noInvalidDate: true }).map((date) => date.toISOString()), fc.stringMatching(/^[-+0-9.eE,: TZGM]{0,40}$/))
    const error = fc.record({ message: fc.oneof(fc.string({ unit: 'binary' }), odd.map((value) => `Retry-After: ${value}`)), code: fc.string(), retryAfter: odd }, { requiredKeys: ['message'] })
    fc.assert(
      fc.property(error, fc.nat({ max: 4e12 }), (said, at) => {
        const { askedMs } = rateLimitOf(said as Failure, at) ?? {}
        if (askedMs === undefined) return
        expect(Number.isInteger(askedMs) && askedMs > 0 && askedMs <= day).toBe(true)
      }),
      runs(3_000),
    )
  })

  test('a hostile text costs no more than its length', () => {
    for (const part of ['retry after ', 'exceeded a ', '429 ', 'rate_', '"', 'A, ', '9']) {
      const message = part.repeat(4_000 / part.length)
      const count = 200
      expect(() => {
        for (let i = 0; i < count; i++) rateLimitOf({ message, code: message }, start)
      }).not.toThrow()
    }
  }, 20_000)
})

const limited = (q: Queue, id: string, { agent = 'ann', ...error }: Partial<Failure> & { readonly agent?: string } = {}): ReadonlyArray<string> => {
  const { ids, token } = q.claim(agent)
  if (ids[0] !== id) throw new Error(`claimed ${ids[0]} instead of ${id}`)
  return names(q.do({ type: 'Fail', task: id, agent, token, error: { message: '429 too many requests', ...error }, retryable: true, checkpoint: { page: 3 } }))
}

test('LK-16: the task is tried again later, with its checkpoint, and nothing is counted', () => {
  const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 1, countOn: 'attempt' } } }).enqueue(task('a', { maxRetries: 1 }))
  expect(limited(q, 'a', { retryAfter: 40 })).toEqual(['RateLimited', 'SlowdownSignalled'])
  expect(q.task('a')).toMatchObject({ status: 'scheduled', availableAt: start + 40_000, retries: 0, attempts: 0, rateLimits: 1, lastError: '429 too many requests', checkpointRevision: 3 })
  expect(breakersOf(q.state)).toEqual({})
})

test('LK-16: without a Retry-After it waits for 60, 120, 240 seconds, an hour at most, and up to a tenth more', () => {
  for (const [random, factor] of [[0, 1], [0.5, 1.05]] as const) {
    const q = new Queue().enqueue(task('a'))
    const waits: Array<number> = []
    for (let i = 0; i < 8; i++) {
      const { token } = q.claim(`agent ${i}`)
      q.do({ type: 'Fail', task: 'a', agent: `agent ${i}`, token, error: { message: 'rate limit' }, retryable: true }, random)
      const { availableAt = 0 } = q.task('a')
      waits.push((availableAt - q.at) / 1_000)
      q.at = availableAt
      q.do({ type: 'Tick' })
    }
    expect(waits).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600].map((seconds) => seconds * factor))
  }
})

test('LK-16: its agent gets no task until then, whatever its type, and is woken exactly then', () => {
  const q = new Queue().configure({ rateLimit: { slowdownFactor: 0 } }).enqueue(task('a'), task('b'), task('x', { type: 'other' }))
  expect(limited(q, 'a', { retryAfter: 40 })).toEqual(['RateLimited'])
  expect(q.claim('ann', { max: 9 }).ids).toEqual([])
  expect(q.claim('bob').ids).toEqual(['b'])
  expect(nextDue(q.state)).toBe(start + 40_000)
  expect(q.wait(39.999)).toEqual([])
  expect(q.claim('ann', { max: 9 }).ids).toEqual([])
  expect(q.wait(0.001)).toEqual(['AgentResumed', 'TaskDue'])
  expect(q.claim('ann', { max: 9 }).ids).toEqual(['a', 'x'])
})

test('LK-16: the others get no task of this type for half the wait, and of other types they do', () => {
  const q = new Queue().enqueue(task('a'), task('b'), task('x', { type: 'other' }))
  limited(q, 'a', { retryAfter: 40 })
  expect(q.claim('bob', { max: 9 }).ids).toEqual(['x'])
  expect(q.wait(19.999)).toEqual([])
  expect(q.claim('bob', { max: 9 }).ids).toEqual([])
  expect(q.wait(0.001)).toEqual(['SlowdownEnded'])
  expect(q.claim('bob', { max: 9 }).ids).toEqual(['b'])
})

test('LK-16: a longer wait extends the slow-down, a shorter one does not; it never exceeds half of rateLimit.max', () => {
  const q = new Queue().enqueue(task('a'), task('b'), task('c'))
  q.claim('ann', { max: 3 })
  const fail = (id: string, token: number, retryAfter: number) => names(q.do({ type: 'Fail', task: id, agent: 'ann', token, error: { message: 'm', retryAfter }, retryable: true }))
  expect(fail('a', 1, 40)).toEqual(['RateLimited', 'SlowdownSignalled'])
  expect(fail('b', 2, 30)).toEqual(['RateLimited'])
  expect(fail('c', 3, 86_400)).toEqual(['RateLimited', 'SlowdownSignalled'])
  q.enqueue(task('d'))
  expect(q.wait(1_799.999)).not.toContain('SlowdownEnded')
  expect(q.wait(0.001)).toContain('SlowdownEnded')
  expect(q.claim('ann').ids).toEqual([])
  expect(q.claim('bob').ids).toEqual(['a'])
})

test('LK-16: after twenty rate limits the next one is an ordinary failure; a reviewer who sends it back resets the count', () => {
  const q = new Queue().enqueue(task('a', { maxRetries: 1 }))
  expect(settingsDefault.rateLimit.maxPerTask).toBe(20)
  for (let i = 0; i < 20; i++) {
    expect(limited(q, 'a', { agent: `agent ${i}`, retryAfter: 1 })[0]).toBe('RateLimited')
    q.wait(1)
  }
  expect(limited(q, 'a', { agent: 'last', retryAfter: 1 })).toEqual(['Failed', 'DeadLettered'])
  q.do({ type: 'Retry', task: 'a', reviewer: 'r', reason: 'r' })
  expect(limited(q, 'a', { agent: 'last', retryAfter: 1 })[0]).toBe('RateLimited')
  expect(q.task('a').rateLimits).toBe(1)
})

test('LK-16: a failure that the agent calls permanent is one', () => {
  const q = new Queue().enqueue(task('a'))
  const { token } = q.claim()
  expect(names(q.do({ type: 'Fail', task: 'a', agent: 'ann', token, error: { message: '429' }, retryable: false }))).toEqual(['Failed', 'DeadLettered'])
})

test('LK-15: a rate-limited probe frees its place, and the breaker stays half-open', () => {
  const q = new Queue().configure({ breakers: { defaults: { failureThreshold: 1, halfOpenAfter: 60 } } }).enqueue(task('x', { priority: 9 }), task('a'), task('b'))
  q.kill('x')
  q.wait(60)
  limited(q, 'a', { retryAfter: 10 })
  expect(breakersOf(q.state)['work']).toMatchObject({ state: 'half-open' })
  expect(breakersOf(q.state)['work']).not.toHaveProperty('probe')
  q.wait(5)
  expect(q.claim('bob').ids).toEqual(['b'])
  expect(breakersOf(q.state)['work']).toMatchObject({ probe: 'b' })
})

test('GB-07: terminating an agent ends its sleep', () => {
  const q = new Queue().configure({ rateLimit: { slowdownFactor: 0 } }).enqueue(task('a'), task('b'))
  limited(q, 'a', { retryAfter: 40 })
  expect(names(q.do({ type: 'TerminateAgent', agent: 'ann', reason: 'a new one begins' }))).toEqual(['AgentTerminated'])
  expect(q.claim('ann').ids).toEqual(['b'])
})
