/** EV-06: which older snapshots are kept, so that a past revision takes a bounded replay. */
import { superfluousRungs } from '@daybook/adapters/files'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'

interface Rung {
  readonly name: string
  readonly revision: number
  readonly bytes: number
}

/** Takes snapshots one after the other, each this many events after the previous one. Returns the kept ones, in order. */
const keptOf = (steps: ReadonlyArray<number>, limits: { readonly count: number; readonly bytes: number }, bytes = 1): ReadonlyArray<number> => {
  let rungs: ReadonlyArray<Rung> = []
  let newest = -1
  for (const step of steps) {
    const former = newest
    newest += step
    if (former >= 0) rungs = [...rungs, { name: `at ${former}`, revision: former, bytes }]
    const gone = new Set(superfluousRungs(rungs, newest, limits))
    rungs = rungs.filter(({ name }) => !gone.has(name))
  }
  return [...rungs.map(({ revision }) => revision), newest]
}

test('EV-06: the number and the bytes of older snapshots are bounded; as long as there is room, all are kept', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 60 }), fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 60 }), (steps, count, bytes) => {
      const kept = keptOf(steps, { count, bytes }, 3).length - 1
      expect(kept).toBe(Math.min(steps.length - 1, count, Math.floor(bytes / 3)))
    }),
  )
})

test('EV-06: a replay to a moment is shorter than two thirds of the way back to the snapshot before it, however long the log is', () => {
  for (const count of [32, 64]) {
    for (const length of [40, 100, 1_000, 10_000]) {
      const kept = [-1, ...keptOf(Array.from({ length }, () => 250_000), { count, bytes: 1e9 })]
      const newest = kept[kept.length - 1] as number
      for (const [index, revision] of kept.slice(0, -2).entries()) {
        const gap = (kept[index + 1] as number) - revision
        expect(gap / (newest - revision), `${revision} of ${newest}, ${count} kept`).toBeLessThan(2 / 3)
      }
    }
  }
})

test('a snapshot of a longer log than this one is not kept', () => {
  const rungs = [{ name: 'before', revision: 5, bytes: 1 }, { name: 'after', revision: 20, bytes: 1 }, { name: 'same', revision: 10, bytes: 1 }]
  expect(superfluousRungs(rungs, 10, { count: 9, bytes: 9 })).toEqual(['after', 'same'])
})

test('EV-06: a file of rows that several older snapshots name takes its space once, and none if a newer one names it', () => {
  const rungs = [10, 20, 30].map((revision) => ({ name: `at ${revision}`, revision, bytes: 1, rows: new Set(['shared', `of ${revision}`, 'of the newest']) }))
  const rowBytes = new Map([['shared', 50], ...rungs.map(({ revision }) => [`of ${revision}`, 7] as const)])
  const all = 3 + 50 + 3 * 7
  expect(superfluousRungs(rungs, 40, { count: 9, bytes: all }, rowBytes)).toEqual([])
  expect(superfluousRungs(rungs, 40, { count: 9, bytes: all - 1 }, rowBytes)).toHaveLength(1)
  // The space of a shared file is freed only with the last rung that names it.
  expect(superfluousRungs(rungs, 40, { count: 9, bytes: 57 }, rowBytes)).toHaveLength(3)
})
