import { breakerTimeline, deadLetterReview, foldAll, type LoggedEvent, memoryCheckpoints, type Projection, runProjection, totals } from '@daybook/projections'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import { after, history, logOf } from './histories.js'

// Any projection: the tests do not look at its state.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyProjection = Projection<any, unknown>

const cuts = fc.array(fc.nat(60), { maxLength: 6 })
const cutAt = (events: ReadonlyArray<LoggedEvent>, at: ReadonlyArray<number>) => {
  const places = [0, ...new Set(at.filter((cut) => cut < events.length)), events.length].sort((a, b) => a - b)
  return places.slice(1).map((end, i) => events.slice(places[i] ?? 0, end))
}
const saveAndLoad = (projection: AnyProjection, state: unknown): unknown => {
  const loaded = projection.decode(JSON.parse(JSON.stringify(projection.encode(state))))
  if (E.isLeft(loaded)) throw new Error(loaded.left)
  return loaded.right
}

/** The main law: with any batches, and with a checkpoint between any two of them, a projection gives the same result. */
const holdsLaws = (projection: AnyProjection, numRuns = 300): void => {
  fc.assert(
    fc.property(history, cuts, (events, at) => {
      const whole = foldAll(projection, events)
      let state: unknown = projection.initial()
      for (const batch of cutAt(events, at)) {
        state = saveAndLoad(projection, state)
        state = foldAll(projection, batch, state)
      }
      expect(JSON.stringify(projection.encode(state))).toBe(JSON.stringify(projection.encode(whole)))
      expect(projection.result(state)).toEqual(projection.result(whole))
    }),
    { numRuns },
  )
}

/** Later folds do not change an earlier result. */
const resultsAreCopies = (projection: AnyProjection, numRuns = 200): void => {
  fc.assert(
    fc.property(history, history, (first, second) => {
      const state: unknown = foldAll(projection, first)
      const result = projection.result(state)
      const before = JSON.stringify(result)
      foldAll(projection, after(first, second), state)
      expect(JSON.stringify(result)).toBe(before)
    }),
    { numRuns },
  )
}

const all: ReadonlyArray<AnyProjection> = [totals, deadLetterReview, breakerTimeline]

describe.each(all.map((projection) => [projection.name, projection] as const))('EV-01, EV-04: %s', (_, projection) => {
  test('any batching, with checkpoints in between, gives the same state byte for byte', () => holdsLaws(projection))
  test('results are copies', () => resultsAreCopies(projection))
  test('a text that is not a state of it is refused', () => {
    for (const wrong of [null, 7, 'x', { some: 'thing' }, [['x']]]) expect(E.isLeft(projection.decode(wrong))).toBe(true)
  })
  test('run from a log in pages, stopped and run again with its checkpoint: equals from zero', async () => {
    await fc.assert(
      fc.asyncProperty(history, history, async (first, second) => {
        const log = logOf(first)
        const checkpoints = memoryCheckpoints()
        const run = runProjection(projection, log.source, checkpoints, { checkpointEvery: 5 })
        await run.caughtUp
        await run.stop()
        log.append(...after(first, second))
        log.reads.length = 0
        const again = runProjection(projection, log.source, checkpoints)
        await again.caughtUp
        expect(log.reads).toEqual([first.length])
        expect(again.current()).toEqual({ revision: first.length + second.length - 1, value: projection.result(foldAll(projection, [...first, ...after(first, second)])) })
        await again.stop()
      }),
      { numRuns: 50 },
    )
  })
})

describe('the laws have teeth: a broken projection is caught', () => {
  const enqueued = (count: number): AnyProjection => ({
    ...totals,
    name: `broken ${count}`,
  })
  const broken: ReadonlyArray<readonly [string, AnyProjection, (projection: AnyProjection, numRuns?: number) => void]> = [
    ['forgets part of its state in encode', { ...enqueued(1), encode: (state: ReturnType<typeof totals.initial>) => totals.encode({ ...state, open: new Map() }) }, holdsLaws],
    ['remembers the last event of a batch only', (() => {
      // Counts the starts, and so depends on the batches.
      let starts = 0
      return { ...enqueued(2), decode: (json: unknown) => (starts++, E.map((state: ReturnType<typeof totals.initial>) => (state.events.set('starts', starts), state))(totals.decode(json))) }
    })(), holdsLaws],
    ['hands out its own state', { ...enqueued(3), result: (state: unknown) => [...(state as ReturnType<typeof totals.initial>).types.values()] }, resultsAreCopies],
  ]
  test.each(broken)('%s', (_, projection, law) => {
    // Many, because a history may do without what was forgotten. It ends with the first that does not.
    expect(() => law(projection, 20_000)).toThrow()
  })
})
