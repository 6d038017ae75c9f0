/** The cache of contents, compared with a map that never evicts anything. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { countCalls } from '../support/count-calls.js'
import { ContentCache } from '@daybook/adapters/engine'

const text = fc.oneof(
  fc.string({ minLength: 2, maxLength: 40 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  fc.constantFrom('{}', '€😀', '😀'.repeat(50), '\ud800 alone', 'é', '\u0000', 'x'.repeat(3_000), '漢'.repeat(1_500)),
)
const long = fc.constantFrom('x'.repeat(70_000), 'é'.repeat(70_000))
const doing = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('put' as const), text: fc.oneof({ weight: 9, arbitrary: text }, long), gap: fc.nat({ max: 2 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('put many' as const), text, count: fc.nat({ max: 200 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('take' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('roll back' as const), count: fc.nat({ max: 40 }) }) },
)
type Doing = typeof doing extends fc.Arbitrary<infer D> ? D : never

interface Kept {
  put: (revision: number, text: string) => void
  take: (revision: number) => string | undefined
  readonly size: number
}

/** Every content that the cache returns must be the one that was last put at its revision and not taken since. */
const play = (cache: Kept, doings: ReadonlyArray<Doing>, mayForget: boolean): void => {
  const model = new Map<number, string>()
  let next = 0
  const put = (content: string): void => {
    cache.put(next, content)
    model.set(next++, content)
  }
  const take = (revision: number): void => {
    const found = cache.take(revision)
    if (found !== undefined || !mayForget) expect(found).toBe(model.get(revision))
    model.delete(revision)
    expect(cache.take(revision)).toBe(undefined)
  }
  for (const each of doings) {
    if (each.do === 'put') {
      next += each.gap
      put(each.text)
    } else if (each.do === 'put many') for (let i = 0; i < each.count; i++) put(each.text)
    else if (each.do === 'take') take([...model.keys()][each.pick % Math.max(1, model.size)] ?? each.pick)
    else {
      const from = Math.max(0, next - each.count)
      // As the engine does: from the first revision that was rolled back to the last.
      for (let revision = from; revision < next; revision++) take(revision)
      next = from
    }
  }
  for (const revision of [...model.keys()]) take(revision)
  expect(cache.size).toBe(0)
}

test('a cache of contents gives each content as it was put, once, also after rollbacks', () => {
  fc.assert(fc.property(fc.array(doing, { maxLength: 60, size: 'max' }), (doings) => play(new ContentCache(2 ** 40), doings, false)), { numRuns: 100 })
})

test('a cache that is full forgets contents, and never gives a wrong one', () => {
  const max = fc.constantFrom(0, 3, 60, 5_000, 100_000, 200_000, 700_000)
  fc.assert(
    fc.property(max, fc.array(doing, { maxLength: 60, size: 'max' }), (bytesMax, doings) => {
      const cache = new ContentCache(bytesMax)
      const bounded: Kept = {
        put: (revision, content) => {
          cache.put(revision, content)
          expect(cache.size).toBeLessThanOrEqual(bytesMax)
        },
        take: (revision) => cache.take(revision),
        get size() {
          return cache.size
        },
      }
      play(bounded, doings, true)
    }),
    { numRuns: 100 },
  )
})

test('a full cache keeps what was put first, and takes new contents where others have been taken', () => {
  const cache = new ContentCache(2 ** 20)
  const content = 'c'.repeat(1_000)
  for (let revision = 0; revision < 5_000; revision++) cache.put(revision, content)
  const first = Array.from({ length: 500 }, (_, revision) => cache.take(revision))
  expect(first.every((text) => text === content)).toBe(true)
  for (let revision = 5_000; revision < 5_200; revision++) cache.put(revision, content)
  expect(cache.take(5_199)).toBe(content)
})

test('its size costs the same, however many contents are in it: each request asks for it', async () => {
  const cache = new ContentCache(2 ** 30)
  for (let revision = 0; revision < 20_000; revision++) cache.put(revision, 'content')
  expect(await countCalls(async () => expect(cache.size).toBe(7 * 20_000))).toBeLessThan(2_000)
})

test('teeth: a cache that keeps what was rolled back is caught', () => {
  class Stale extends ContentCache {
    private readonly old = new Map<number, string>()
    override put(revision: number, content: string): void {
      if (!this.old.has(revision)) this.old.set(revision, content)
      super.put(revision, content)
    }
    override take(revision: number): string | undefined {
      return super.take(revision) === undefined ? undefined : this.old.get(revision)
    }
  }
  const found = fc.check(fc.property(fc.array(doing, { maxLength: 60, size: 'max' }), (doings) => play(new Stale(2 ** 40), doings, false)), { numRuns: 100, seed: 7, endOnFailure: true })
  expect(found.failed).toBe(true)
})
