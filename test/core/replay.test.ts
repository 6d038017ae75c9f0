/** A replay does not keep the order of ready tasks while it folds. Afterwards the state is as if the order had been kept all the time. */
import {
  beginReplay, decide, endReplay, evolve, explainOf, initial, keepShape, listTasks, phases, type QueueEvent, type QueueState, type SettingsPatch, snapshotPages, snapshotReader, type TaskFilter,
} from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { textOf } from '../support/states/index.js'
import { runs } from '../properties/settings.js'
import { share } from '../support/share.js'

const start = Date.UTC(2026, 0, 1)
const taskId = (n: number): string => `0193f0a0-0000-7000-8000-${String(n).padStart(12, '0')}`

/** Tasks in groups with a few and with many, of tenants with a few groups and with many, with deadlines before, within and after their windows. */
const enqueued = (count: number, spread: number): ReadonlyArray<QueueEvent> =>
  Array.from({ length: count }, (_, i): QueueEvent => {
    const draw = (i * 7_919 + spread * 104_729) % 9_973
    const deadlineAt = start + (draw % 4_000) * 1_000
    return {
      type: 'TaskEnqueued',
      at: start + i,
      data: {
        task: taskId(i), number: i + 1, type: `kind.${draw % (1 + (spread % 7))}`, priority: 1 + (draw % 10), idempotencyKey: `key-${i}`, timeout: 3_600, maxRetries: 3, backoffSeconds: 60,
        ...(draw % 3 === 0 ? { deadlineAt } : {}),
        ...(draw % 2 === 0 ? { phase: phases[draw % phases.length] as (typeof phases)[number] } : {}),
        ...(draw % 5 === 0 ? {} : { tenant: `tenant-${draw % (1 + (spread % 11))}` }),
      },
    }
  })

const claim = (state: QueueState, asked: object, at: number, max: number): ReadonlyArray<QueueEvent> => {
  const command = { type: 'Claim', agent: 'a', max, ...asked } as const
  const decided = decide(command, { at, random: 0 })(state)
  if (E.isLeft(decided)) throw new Error(decided.left.detail)
  return decided.right
}

/** Every second task of the claims is completed. */
const outcomes = (claims: ReadonlyArray<QueueEvent>): ReadonlyArray<QueueEvent> =>
  claims.flatMap((event, i): ReadonlyArray<QueueEvent> =>
    event.type === 'Claimed' && i % 2 === 0
      ? [{ type: 'Completed', at: event.at, data: { task: event.data.task, agent: event.data.agent, token: event.data.token } }]
      : [],
  )

const asks: ReadonlyArray<object> = [{}, { types: ['kind.0', 'kind.2'] }, { tenant: 'tenant-1' }, { types: ['kind.*'], phases: [phases[0]] }]
const filters: ReadonlyArray<TaskFilter> = [{}, { type: 'kind.0' }, { tenant: 'tenant-1' }]
const times = [0, 60_000, 1_800_000, 5_000_000].map((ms) => start + 10_000 + ms)

test('INV-15: after a replay, from the first event or from a snapshot, claims get the same tasks in the same order', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), fc.nat({ max: 1_000 }), fc.constantFrom('score', 'priority'), share, (count, spread, policy, part) => {
      const patch: SettingsPatch = { policy }
      const log: Array<QueueEvent> = [{ type: 'QueueConfigured', at: start, data: { patch } }, ...enqueued(count, spread)]
      let kept = log.reduce(evolve, initial('q'))
      const claims = claim(kept, {}, start + 10_000, 40)
      const more = [...claims, ...outcomes(claims)]
      kept = more.reduce(evolve, kept)
      log.push(...more)

      const cut = Math.floor(log.length * part)
      const reader = snapshotReader()
      for (const page of snapshotPages(log.slice(0, cut).reduce(evolve, initial('q')))) reader.page(page)
      const replayed = [endReplay(log.reduce(evolve, beginReplay(initial('q')))), endReplay(log.slice(cut).reduce(evolve, reader.finish(true)))]
      // The first query that needs the order makes it.
      const unordered = log.reduce(evolve, beginReplay(initial('q')))
      for (const filter of filters) expect(listTasks(unordered, filter, 100)).toEqual(listTasks(kept, filter, 100))
      for (const { id } of listTasks(kept, { statuses: ['pending'] }, 3).tasks) expect(explainOf(unordered, id, start + 20_000)).toEqual(explainOf(kept, id, start + 20_000))
      for (let other of [...replayed, endReplay(unordered)]) {
        expect(textOf(other)).toBe(textOf(kept))
        for (const at of times) for (const asked of asks) expect(claim(other, asked, at, 100)).toEqual(claim(kept, asked, at, 100))
        // Its indexes also follow further events.
        keepShape(other, { ...asks[1], max: 100 }, start + 20_000)
        let later = log.reduce(evolve, initial('q'))
        for (const asked of asks) {
          const next = claim(later, asked, start + 20_000, 30)
          expect(claim(other, asked, start + 20_000, 30)).toEqual(next)
          later = next.reduce(evolve, later)
          other = next.reduce(evolve, other)
        }
      }
    }),
    runs(40),
  )
})

/** Many tasks in each of many groups of a few tenants. Some have the same age. Tasks with deadlines have other keys than their age, in no order. */
const enqueuedByGroup = (tenants: number, kinds: number, each: number, seed: number): ReadonlyArray<QueueEvent> =>
  Array.from({ length: tenants * kinds * each }, (_, i): QueueEvent => {
    const draw = (i * 7_919 + seed * 104_729) % 9_973
    const group = i % (tenants * kinds)
    return {
      type: 'TaskEnqueued',
      at: start + Math.floor(i / (tenants * kinds + 3)) * 60_000,
      data: {
        task: taskId(i), number: i + 1, type: `kind.${group % kinds}`, tenant: `tenant-${Math.floor(group / kinds)}`, priority: 1 + (draw % 3), idempotencyKey: `key-${i}`,
        timeout: 3_600, maxRetries: 3, backoffSeconds: 60,
        ...(draw % 4 === 0 ? { deadlineAt: start + (draw % 9_000) * 1_000 } : {}),
      },
    }
  })

test('INV-15: after a replay, all tasks of many groups are claimed in the order in which they would be if each had been put in its place when it came', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 }), fc.constantFrom(1, 2, 17, 20), fc.integer({ min: 1, max: 40 }), fc.nat({ max: 1_000 }), fc.constantFrom('score', 'priority'), (tenants, kinds, each, seed, policy) => {
      const log: ReadonlyArray<QueueEvent> = [{ type: 'QueueConfigured', at: start, data: { patch: { policy } } }, ...enqueuedByGroup(tenants, kinds, kinds < 3 ? each * 20 : each, seed)]
      const last = log[log.length - 1]?.at ?? start
      for (const shape of [undefined, { types: ['kind.*'], max: 100 }, { tenant: 'tenant-0', max: 100 }]) {
        let [kept, replayed] = [log.reduce(evolve, initial('q')), endReplay(log.reduce(evolve, beginReplay(initial('q'))))]
        if (shape !== undefined) keepShape(replayed, shape, last)
        for (const at of [0, 600_000, 2_000_000, 6_000_000].map((ms) => last + ms)) {
          const events = claim(kept, shape ?? {}, at, 100)
          expect(claim(replayed, shape ?? {}, at, 100)).toEqual(events)
          kept = events.reduce(evolve, kept)
          replayed = events.reduce(evolve, replayed)
        }
      }
    }),
    // The oldest task of a group with lanes is not the first in its lane. Few random examples have such a group.
    { ...runs(25), examples: [[1, 17, 17, 0, 'score']] },
  )
})

test('the order can be put aside only before there are ready tasks', () => {
  const state = enqueued(1, 0).reduce(evolve, initial('q'))
  expect(() => beginReplay(state)).toThrow('before there are any')
})
