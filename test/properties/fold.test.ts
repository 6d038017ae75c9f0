/**
 * The laws of the fold (INV-15): the same events lead to exactly the same state (every field of every record, every index), from the beginning or
 * from a snapshot, in any batches, and with any marks and rollbacks.
 */
import {
  type Command,
  beginIncrement,
  beginSnapshot,
  decide,
  decodeEvent,
  evolve,
  fork,
  headOf,
  initial,
  isUnreadable,
  listTasks,
  mark,
  mergeSnapshots,
  noteChanges,
  poisonConsumedStates,
  type QueueEvent,
  type QueueState,
  release,
  rollback,
  type SnapshotPage,
  snapshotReader,
  type TaskView,
  versionOf,
  walkTasks,
} from '@daybook/core'
import * as fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { sizesOf, textOf } from '../support/states/index.js'
import { share } from '../support/share.js'
import { runs } from './settings.js'
import { scenarios } from './steps.js'
import { World } from './world.js'

beforeAll(() => poisonConsumedStates(true))

/** The log of a random history. */
const histories = scenarios(90).map((scenario) => new World(() => ({})).run(scenario).log)
const fold = (events: ReadonlyArray<QueueEvent>, from: QueueState = initial('q')): QueueState => events.reduce(evolve, from)
const cutAt = (events: ReadonlyArray<QueueEvent>, share: number): number => Math.floor(events.length * share)
const load = (pages: ReadonlyArray<SnapshotPage>): QueueState => {
  const reader = snapshotReader()
  pages.forEach((page) => reader.page(page))
  return reader.finish()
}

test('INV-15, EV-01: folding from the beginning in any batches gives the state of the queue', () => {
  fc.assert(
    fc.property(histories, fc.array(share, { maxLength: 4 }), (events, cuts) => {
      const whole = textOf(fold(events))
      let state = initial('q')
      const bounds = [...cuts.map((cut) => cutAt(events, cut)).sort((a, b) => a - b), events.length]
      let from = 0
      for (const to of bounds) {
        // As in the engine: each batch has its own mark.
        const point = mark(state)
        state = fold(events.slice(from, to), state)
        release(state, point)
        from = to
      }
      expect(textOf(state)).toBe(whole)
    }),
    runs(100),
  )
})

test('INV-15: from a snapshot at any point the rest leads to the same state', () => {
  fc.assert(
    fc.property(histories, share, (events, cut) => {
      const at = cutAt(events, cut)
      const before = fold(events.slice(0, at))
      const loaded = fork(before)
      expect(textOf(loaded)).toBe(textOf(before))
      const { numberSlots: _, finishedBytes: __, ...sizes } = sizesOf(before)
      expect(sizesOf(loaded)).toMatchObject(sizes)
      expect(textOf(fold(events.slice(at), loaded))).toBe(textOf(fold(events)))
    }),
    runs(150),
  )
})

test('INV-15: a snapshot taken in steps shows the state at its start, whatever happens meanwhile', () => {
  const meanwhile = fc.array(fc.oneof(fc.constant('mark' as const), fc.constant('rollback' as const), fc.nat({ max: 3 })), { minLength: 5, maxLength: 30 })
  fc.assert(
    fc.property(histories, share, meanwhile, (events, share, doings) => {
      const at = cutAt(events, share)
      let state = fold(events.slice(0, at))
      const moment = textOf(state)
      const cut = beginSnapshot(state)
      const pages: Array<SnapshotPage> = []
      const take = (tasks: number): boolean => {
        const next = cut.next(tasks)
        pages.push(...(next ?? []))
        return next !== undefined
      }
      let next = at
      let point: { readonly mark: ReturnType<typeof mark>; readonly next: number } | undefined
      for (const doing of doings) {
        if (doing === 'mark') point ??= { mark: mark(state), next }
        else if (doing === 'rollback') {
          if (point === undefined) continue
          state = rollback(state, point.mark)
          next = point.next
          point = undefined
        } else {
          take(doing)
          state = fold(events.slice(next, next + 4), state)
          next = Math.min(next + 4, events.length)
        }
      }
      while (take(3)) if (next < events.length) state = evolve(state, events[next++] as QueueEvent)
      const loaded = load(pages)
      expect(textOf(loaded)).toBe(moment)
      expect(textOf(fold(events.slice(at), loaded))).toBe(textOf(fold(events)))
      expect(textOf(fold(events.slice(next), state))).toBe(textOf(fold(events)))
    }),
    runs(150),
  )
})

test('INV-15: concurrent walks, snapshots and forks each show the state at their own start', () => {
  const doing = fc.oneof(fc.constantFrom('walk' as const, 'snapshot' as const, 'fork' as const, 'mark' as const, 'rollback' as const), fc.nat({ max: 3 }))
  fc.assert(
    fc.property(histories, fc.array(doing, { minLength: 10, maxLength: 40 }), (events, doings) => {
      let state = initial('q')
      let next = 0
      let point: { readonly mark: ReturnType<typeof mark>; readonly next: number } | undefined
      const underWay: Array<{ readonly step: (tasks: number) => boolean; readonly check: () => void }> = []
      const step = (tasks: number): void => {
        for (const { step } of underWay) step(tasks)
        state = fold(events.slice(next, next + 6), state)
        next = Math.min(next + 6, events.length)
      }
      for (const doing of doings) {
        const moment = textOf(state)
        if (doing === 'walk') underWay.push(walkOf(state))
        else if (doing === 'snapshot') underWay.push(snapshotOf(state))
        else if (doing === 'fork') expect(textOf(fork(state))).toBe(moment)
        else if (doing === 'mark') point ??= { mark: mark(state), next }
        else if (doing !== 'rollback') step(doing)
        // A walk or snapshot that was begun under a mark is not valid after its rollback.
        else if (point !== undefined && underWay.length === 0) {
          state = rollback(state, point.mark)
          next = point.next
          point = undefined
        }
      }
      for (let more = true; more; ) more = underWay.map(({ step }) => step(3)).some(Boolean)
      for (const { check } of underWay) check()
      expect(textOf(fold(events.slice(next), state))).toBe(textOf(fold(events)))
    }),
    runs(150),
  )
})

/** Walks over all tasks of a state in steps, to compare them with those at its start. */
const walkOf = (state: QueueState) => {
  // A walk shows each task as it was at the start. It does not give `holdsUp`, which depends on other tasks.
  const moment = listTasks(state, {}, 1_000).tasks.map(({ holdsUp: _, ...view }) => view)
  const walk = walkTasks(state)
  const views: Array<TaskView> = []
  return {
    step: (tasks: number): boolean => {
      const next = walk.next(tasks)
      views.push(...(next ?? []))
      return next !== undefined
    },
    check: () => expect(byNumber(views)).toEqual(byNumber(moment)),
  }
}
const byNumber = (views: ReadonlyArray<TaskView>) => [...views].sort((a, b) => a.number - b.number)

const snapshotOf = (state: QueueState) => {
  const moment = textOf(state)
  const work = beginSnapshot(state)
  const pages: Array<SnapshotPage> = []
  return {
    step: (tasks: number): boolean => {
      const next = work.next(tasks)
      pages.push(...(next ?? []))
      return next !== undefined
    },
    check: () => expect(textOf(load(pages))).toBe(moment),
  }
}

test('INV-15: an increment and its bases show the state at its start, whatever happens meanwhile, and also after restarts', () => {
  const doing = fc.oneof(fc.constantFrom('snapshot' as const, 'snapshot' as const, 'restart' as const, 'mark' as const, 'rollback' as const), fc.nat({ max: 3 }))
  fc.assert(
    fc.property(histories, fc.array(doing, { minLength: 20, maxLength: 60 }), (events, doings) => {
      let state = initial('q')
      let next = 0
      let point: { readonly mark: ReturnType<typeof mark>; readonly next: number } | undefined
      /** The newest first: the pages, the state that they show, and how many events led to it. */
      let chain: ReadonlyArray<{ readonly pages: ReadonlyArray<SnapshotPage>; readonly moment: string; readonly at: number }> = []
      let underWay: { readonly step: (tasks: number) => boolean } | undefined
      const begin = (): void => {
        const work = chain.length === 0 ? beginSnapshot(state, true) : beginIncrement(state)
        noteChanges(state)
        const [moment, at] = [textOf(state), next]
        const pages: Array<SnapshotPage> = []
        underWay = {
          step: (tasks) => {
            const more = work.next(tasks)
            pages.push(...(more ?? []))
            if (more === undefined) chain = [{ pages, moment, at }, ...chain]
            return more !== undefined
          },
        }
      }
      const step = (tasks: number): void => {
        if (underWay?.step(tasks) === false) underWay = undefined
      }
      for (const doing of doings) {
        if (doing === 'mark') point ??= underWay === undefined ? { mark: mark(state), next } : undefined
        else if (doing === 'rollback') {
          if (point === undefined) continue
          state = rollback(state, point.mark)
          next = point.next
          point = undefined
        } else if (typeof doing === 'number') {
          step(doing)
          state = fold(events.slice(next, next + 3), state)
          next = Math.min(next + 3, events.length)
        } else if (point !== undefined) continue
        else if (doing === 'snapshot' && underWay === undefined) begin()
        else if (doing === 'restart' && underWay === undefined && chain[0] !== undefined) {
          state = loadChain(chain.map(({ pages }) => pages))
          noteChanges(state)
          expect(textOf(state)).toBe(chain[0].moment)
          state = fold(events.slice(chain[0].at, next), state)
        }
      }
      while (underWay !== undefined) step(3)
      const all = chain.map(({ pages }) => pages)
      for (let from = 0; from < chain.length; from++) {
        expect(textOf(loadChain(all.slice(from)))).toBe(chain[from]?.moment)
        // Merged into a whole one, it is a base like any other.
        expect(textOf(loadChain([...all.slice(0, from), merged(all.slice(from))]))).toBe(chain[0]?.moment)
      }
      expect(textOf(fold(events.slice(next), state))).toBe(textOf(fold(events)))
    }),
    runs(150),
  )
})

const merged = (chain: ReadonlyArray<ReadonlyArray<SnapshotPage>>): ReadonlyArray<SnapshotPage> => {
  const merge = mergeSnapshots()
  const pages = chain.flatMap((each, i) => {
    if (i > 0) merge.base()
    return each.flatMap((page) => merge.page(page))
  })
  return [...pages, ...merge.finish()]
}

/** `chain`: the pages of an increment, and of each snapshot on which it is based. */
const loadChain = (chain: ReadonlyArray<ReadonlyArray<SnapshotPage>>): QueueState => {
  const reader = snapshotReader()
  chain.forEach((pages, index) => {
    if (index > 0) reader.base()
    pages.forEach((page) => reader.page(page))
  })
  return reader.finish()
}

test('INV-15: an abandoned snapshot costs nothing more, and the next one is complete', () => {
  fc.assert(
    fc.property(histories, share, (events, share) => {
      const at = cutAt(events, share)
      let state = fold(events.slice(0, at))
      const cut = beginSnapshot(state)
      cut.next(2)
      cut.abandon()
      expect(cut.next(2)).toBeUndefined()
      state = fold(events.slice(at), state)
      expect(textOf(state)).toBe(textOf(fold(events)))
    }),
    runs(30),
  )
})

test('INV-15: nested marks: any can be rolled back to, and the oldest can be released, in order', () => {
  fc.assert(
    fc.property(histories, fc.array(share, { minLength: 2, maxLength: 4 }), fc.nat(), (events, cuts, pick) => {
      const bounds = cuts.map((cut) => cutAt(events, cut)).sort((a, b) => a - b)
      let state = fold(events.slice(0, bounds[0]))
      const points = bounds.map((from, i) => {
        const point = mark(state)
        const text = textOf(state)
        state = fold(events.slice(from, bounds[i + 1] ?? events.length), state)
        return { point, text, from }
      })
      const chosen = pick % points.length
      points.slice(0, chosen).forEach(({ point }) => release(state, point))
      const { point, text, from } = points[chosen] as (typeof points)[number]
      state = rollback(state, point)
      expect(textOf(state)).toBe(text)
      expect(() => rollback(state, point)).toThrow('before')
      expect(textOf(fold(events.slice(from), state))).toBe(textOf(fold(events)))
    }),
    runs(100),
  )
})

test('INV-15: a mark that is not the oldest cannot be released', () => {
  const state = initial('q')
  const older = mark(state)
  const newer = mark(state)
  expect(() => release(state, newer)).toThrow('oldest')
  release(state, older)
  release(state, newer)
})

test('INV-15: evolve consumes the state it is given', () => {
  const state = initial('q')
  const paused: QueueEvent = { type: 'QueuePaused', at: 1, data: { reason: 'r' } }
  const next = evolve(state, paused)
  expect(() => evolve(state, paused)).toThrow('consumed')
  expect(() => decide({ type: 'Tick' } satisfies Command, { at: 1, random: 0 })(state)).toThrow('consumed')
  expect(headOf(next).revision).toBe(0)
})

test('INV-15: a fork is independent of its origin', () => {
  fc.assert(
    fc.property(histories, share, (events, share) => {
      const at = cutAt(events, share)
      const state = fold(events.slice(0, at))
      const text = textOf(state)
      fold(events.slice(at), fork(state))
      expect(textOf(state)).toBe(text)
    }),
    runs(50),
  )
})

test('INV-15: a fork can be made at any time, also while a snapshot is taken in steps, and disturbs neither', () => {
  fc.assert(
    fc.property(histories, share, fc.array(fc.nat({ max: 3 }), { maxLength: 10 }), (events, share, steps) => {
      let next = cutAt(events, share)
      let state = fold(events.slice(0, next))
      const moment = textOf(state)
      const work = beginSnapshot(state)
      const pages: Array<SnapshotPage> = []
      for (const tasks of steps) {
        pages.push(...(work.next(tasks) ?? []))
        if (next < events.length) state = evolve(state, events[next++] as QueueEvent)
        expect(textOf(fold(events.slice(next), fork(state)))).toBe(textOf(fold(events)))
      }
      for (let more = work.next(3); more !== undefined; more = work.next(3)) pages.push(...more)
      expect(textOf(load(pages))).toBe(moment)
    }),
    runs(50),
  )
})

test('EV-11: every event of a history survives encoding to JSON and decoding', () => {
  fc.assert(
    fc.property(histories, (events) => {
      for (const { type, at, data } of events) {
        const decoded = decodeEvent(type, versionOf(type), at, JSON.parse(JSON.stringify(data)))
        expect(isUnreadable(decoded) ? decoded : decoded.data).toEqual(data)
      }
    }),
    runs(50),
  )
})

test('the fold is total: events in any order never throw, and a misfit changes nothing but a counter', () => {
  fc.assert(
    fc.property(
      histories.chain((events) => fc.tuple(fc.constant(events), fc.shuffledSubarray(events), share)),
      ([events, shuffled, share]) => {
        let state = fold(events.slice(0, cutAt(events, share)))
        for (const event of shuffled) {
          const before = headOf(state)
          const text = bodyOf(state)
          const { retained, endedBatches } = sizesOf(state)
          state = evolve(state, event)
          const after = headOf(state)
          expect(after.revision).toBe(before.revision + 1)
          expect(after.at).toBeGreaterThanOrEqual(before.at)
          // Time may evict finished tasks and batches. Apart from that, a misfit changes nothing.
          if (after.misfits > before.misfits && retained + endedBatches === 0) expect(bodyOf(state)).toBe(text)
        }
        const sizes = sizesOf(state)
        const known = sizes.live + sizes.retained
        expect([sizes.entries['byNumber'], sizes.entries['lists'], sizes.entries['finished']]).toEqual([known, known, sizes.retained])
        expect(textOf(fork(state))).toBe(textOf(state))
      },
    ),
    runs(60),
  )
})

/** The state without the parts that every event changes. */
const bodyOf = (state: QueueState): string => textOf(state).replace(/^head: revision=-?\d+ at=\d+ forgottenUntil=-?\d+ (.*) misfits=\d+$/mu, '$1')
