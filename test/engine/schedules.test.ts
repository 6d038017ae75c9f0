/** INV-27: schedules run on time and once, across restarts, faults of the store, clock steps and several servers. */
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { type CommandOf, scheduleOf } from '@daybook/core'
import { expect, test } from 'vitest'
import { readLog } from '../support/audit.js'
import { faultyStore, swarm } from '../support/faulty-store.js'
import { caller, claim, complete, foldAll, logOf, ok, openQueue, sleep, stateText, textOf, until } from '../support/queue.js'
import { below, randomOf } from '../support/random.js'
import { runsIn } from '../support/schedule-audit.js'
import { seeds } from '../support/seed.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const create = (name: string, more: Partial<CommandOf<'CreateSchedule'>>): CommandOf<'CreateSchedule'> => ({ type: 'CreateSchedule', name, task: { type: 'work', payload: { of: name } }, ...more })

test('a run is on time, and its task reaches a waiting claim with its content', async () => {
  const { engine } = await openQueue()
  ok(await engine.submit(create('poll', { every: 5 }), caller))
  const set = Date.now()
  const [got] = ok(await engine.claim(claim(), caller, { waitMs: 60_000 }))
  expect(got?.content).toBe('{"payload":{"of":"poll"}}')
  expect(Date.now() - set).toBeLessThan(5_010)
  ok(await engine.submit(complete(got!), caller))
  await engine.close()
})

test('a run that waits begins as soon as the one before has ended, without another command', async () => {
  const { engine } = await openQueue()
  ok(await engine.submit(create('poll', { every: 5, overlap: 'queue' }), caller))
  const [first] = ok(await engine.claim(claim(), caller, { waitMs: 60_000 }))
  await sleep(8_000)
  const next = engine.claim(claim(), caller, { waitMs: 60_000 })
  const ended = Date.now()
  ok(await engine.submit(complete(first!), caller))
  expect(ok(await next)).toHaveLength(1)
  expect(Date.now() - ended).toBeLessThan(10)
  await engine.close()
})

test('INV-27: what was due while no server was there is made up for as the schedule says, once', async () => {
  const store = openMemoryStore()
  const before = await openQueue({ store })
  const set = Date.now()
  for (const missed of ['skip', 'once', 'all'] as const) ok(await before.engine.submit(create(missed, { every: 60, missed }), caller))
  await before.engine.close()
  await sleep(170_000)
  const { engine } = await openQueue({ store })
  await until(async () => ok(await engine.read((state) => scheduleOf(state, 'all')?.last.length)) === 2)
  const runs = async (name: string) => ok(await engine.read((state) => scheduleOf(state, name)?.last.map(({ dueAt, task, skipped }) => [(dueAt - set) / 60_000, task === undefined ? skipped : 'ran'])))
  expect(await runs('skip')).toEqual([[2, 'ran'], [1, 'missed']])
  expect(await runs('once')).toEqual([[2, 'ran'], [1, 'missed']])
  expect(await runs('all')).toEqual([[2, 'ran'], [1, 'ran']])
  await engine.close()
})

test('INV-27: two servers with different clocks on a faulty store, each stopped now and then: every run exactly once', async () => {
  for (const seed of seeds(4)) {
    const random = randomOf(seed)
    const inner = openMemoryStore({ isShared: true })
    const open = (ahead: number) => openQueue({ store: faultyStore({ ...inner, close: async () => undefined } as EventStore, swarm(random)), clock: () => Date.now() + ahead, random })
    const pair = [await open(0), await open(1_500)]
    const submit = async (command: CommandOf<'CreateSchedule'>): Promise<void> => {
      for (;;) {
        const answer = await pair[below(random, 2)]!.engine.submit(command, caller)
        if (answer._tag === 'Right') return
      }
    }
    await submit(create('interval', { every: 7, missed: 'all' }))
    await submit(create('cron', { cron: '*/10 * * * * *', missed: 'all' }))
    const end = Date.now() + 120_000
    while (Date.now() < end) {
      await sleep(below(random, 15_000))
      const which = below(random, 2)
      await pair[which]!.engine.close()
      await sleep(below(random, 15_000))
      pair[which] = await open(which * 1_500)
    }
    for (const { store } of pair) store.heal()
    // The clock that is ahead decides.
    await sleep(2_000)
    await Promise.all(pair.map(({ engine }) => engine.close()))
    const log = readLog(await logOf(inner))
    const [interval, cron] = [runsIn(log, 'interval', 7_000), runsIn(log, 'cron', 10_000)]
    expect(interval.length).toBeGreaterThanOrEqual(15)
    expect(cron.length).toBeGreaterThanOrEqual(10)
    expect(end + 2_000 - (cron.at(-1) ?? 0), `seed ${seed}`).toBeLessThanOrEqual(10_000)
    const again = await openQueue({ store: inner })
    expect(await stateText(again.engine)).toBe(textOf(foldAll(await logOf(inner))))
    await again.engine.close()
  }
})

test('INV-27 has teeth: a run that is missing, doubled or without its task is found', async () => {
  const { engine, store } = await openQueue()
  ok(await engine.submit(create('s', { every: 5 }), caller))
  await sleep(21_000)
  await engine.close()
  const log = readLog(await logOf(store))
  expect(runsIn(log, 's', 5_000)).toHaveLength(4)
  const spoilt = (drop: ReadonlyArray<number>, copy: ReadonlyArray<number> = []) => log.flatMap((entry, i) => (drop.includes(i) ? [] : copy.includes(i) ? [entry, entry] : [entry]))
  // Revision 0 is the schedule. Then each run has two events.
  for (const wrong of [spoilt([3, 4]), spoilt([4]), spoilt([3]), spoilt([], [4]), spoilt([], [3])]) expect(() => runsIn(wrong, 's', 5_000)).toThrow('INV-27')
})

test('INV-27: a clock that is set back repeats nothing, one that steps ahead skips as the schedule says', async () => {
  let step = 0
  const { engine, store } = await openQueue({ clock: () => Date.now() + step })
  ok(await engine.submit(create('s', { every: 10, missed: 'all' }), caller))
  await sleep(25_000)
  step = -20_000
  await sleep(30_000)
  step = 40_000
  await engine.read(() => undefined)
  await sleep(20_000)
  await engine.close()
  expect(runsIn(readLog(await logOf(store)), 's', 10_000).length).toBeGreaterThanOrEqual(10)
})
