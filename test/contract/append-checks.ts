import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ExpectedRevision } from '@daybook/adapters/store'
import { append, appendMany, assertHolds, event, events, pause, readAll, type Check } from './check.js'

type Verdict = 'written' | 'refused'

/** Number of events in the stream, expected revision, verdict. */
const expectedRevisionTable: ReadonlyArray<readonly [before: number, expected: ExpectedRevision, verdict: Verdict]> = [
  [0, 'no_stream', 'written'],
  [0, 'any', 'written'],
  [0, 0, 'refused'],
  [0, 7, 'refused'],
  [3, 2, 'written'],
  [3, 'any', 'written'],
  [3, 1, 'refused'],
  [3, 0, 'refused'],
  [3, 3, 'refused'],
  [3, 99, 'refused'],
  [3, 'no_stream', 'refused'],
]

const expectedRevision: ReadonlyArray<Check> = expectedRevisionTable.map(([before, expected, verdict]) => ({
  title: `EV-02 expecting ${expected} of a stream with ${before} events: ${verdict}`,
  run: async ({ store, fresh }) => {
    const stream = fresh()
    const old = before === 0 ? [] : await appendMany(store, stream, before)
    const batch = events(2, 100)
    const outcome = await store.append(stream, batch, expected)()
    if (verdict === 'written') {
      assert.deepEqual(outcome, { _tag: 'Right', right: { revision: before + 1 } })
      await assertHolds(store, stream, [...old, ...batch])
    } else {
      const actual = before === 0 ? 'no_stream' : before - 1
      assert.deepEqual(outcome, { _tag: 'Left', left: { _tag: 'WrongExpectedRevision', actual } })
      await assertHolds(store, stream, old)
    }
  },
}))

/** JSON texts that a careless store would change. */
const awkwardTexts: ReadonlyArray<string> = [
  '{}',
  '{ "spaces" :  [ 1.0, 1e2, -0, 12345678901234567890 ] }',
  '{"b":1,"a":2,"b":3}',
  '{"quotes":"\\"\\\\\\/","controls":"\\u0000\\u001e\\n\\t"}',
  '{"lone":"\\ud800","pair":"\\ud83d\\ude00"}',
  '{"ä":"naïve – ﬀ 日本語 العربية","emoji":"😀👩‍👩‍👧‍👦","nfd":"e\u0301"}',
  '"a text on its own"',
  'null',
  '[\n  {\r\n\t"pretty": true }\n]',
  JSON.stringify({ line: '\u2028\u2029', del: '\u007f', bom: '\ufeff' }),
]

export const appendChecks: ReadonlyArray<Check> = [
  ...expectedRevision,
  {
    title: 'EV-02 ids, types, data and metadata come back byte for byte',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const batch = awkwardTexts.map((text, n) => ({ ...event(n), data: text, metadata: awkwardTexts.at(-1 - n)! }))
      await append(store, stream, batch, 'no_stream')
      await assertHolds(store, stream, batch)
    },
  },
  {
    title: 'EV-02 an event of 200 KiB comes back whole',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const batch = [event(0), event(1, JSON.stringify('0123456789é😀'.repeat(12_800))), event(2)]
      await append(store, stream, batch)
      await assertHolds(store, stream, batch)
    },
  },
  {
    title: 'EV-03 an event is readable as soon as its append has been acknowledged',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      for (let n = 0; n < 5; n++) {
        const batch = events(2, n * 2)
        const revision = await append(store, stream, batch)
        assert.equal(await store.head(stream), revision)
        const [last] = await readAll(store, stream, { direction: 'backwards', limit: 1 })
        assert.equal(last?.id, batch[1]!.id)
      }
    },
  },
  {
    title: 'EV-02 `created` is an ISO 8601 instant, and positions grow over all streams',
    run: async ({ store, fresh }) => {
      const [one, two] = [fresh('one'), fresh('two')]
      for (let n = 0; n < 3; n++) {
        await append(store, one, events(2, n))
        await append(store, two, events(1, n))
      }
      const [ones, twos] = [await readAll(store, one), await readAll(store, two)]
      for (const { created, stream } of [...ones, ...twos]) {
        assert.ok(!Number.isNaN(Date.parse(created)) && /^\d{4}-\d\d-\d\dT/.test(created), created)
        assert.ok(stream === one || stream === two)
      }
      const written = [ones[0], ones[1], twos[0], ones[2], ones[3], twos[1], ones[4], ones[5], twos[2]]
      const positions = written.map((recorded) => recorded!.position)
      assert.deepEqual(positions, [...new Set(positions)].sort((a, b) => a - b))
    },
  },
  {
    title: 'EV-03 appends in flight at once, each expecting the one before, are all written in order',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const batches = Array.from({ length: 20 }, (_, n) => events(1 + (n % 4), n * 10))
      let head = -1
      const outcomes = await Promise.all(
        batches.map((batch) => {
          const task = store.append(stream, batch, head < 0 ? 'no_stream' : head)
          head += batch.length
          return task()
        }),
      )
      assert.deepEqual(outcomes.filter(({ _tag }) => _tag === 'Left'), [])
      await assertHolds(store, stream, batches.flat())
    },
  },
  {
    title: 'EV-03 of appends that expect the same revision exactly one is written',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const old = await appendMany(store, stream, 1)
      const batches = Array.from({ length: 8 }, (_, n) => events(3, n * 10))
      const outcomes = await Promise.all(batches.map((batch) => store.append(stream, batch, 0)()))
      const winners = batches.filter((_, n) => outcomes[n]?._tag === 'Right')
      assert.equal(winners.length, 1)
      for (const outcome of outcomes) {
        if (outcome._tag === 'Left') assert.equal(outcome.left._tag, 'WrongExpectedRevision')
      }
      await assertHolds(store, stream, [...old, ...winners.flat()])
    },
  },
  {
    title: 'EV-03 what follows a conflict in the same moment is judged by what is really there',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const [first, wrong, second] = [events(2, 0), events(2, 10), events(2, 20)]
      const outcomes = await Promise.all([
        store.append(stream, first, 'no_stream')(),
        store.append(stream, wrong, 'no_stream')(),
        store.append(stream, second, 1)(),
      ])
      assert.deepEqual(outcomes.map(({ _tag }) => _tag), ['Right', 'Left', 'Right'])
      await assertHolds(store, stream, [...first, ...second])
    },
  },
  {
    title: 'EV-02 an empty append is refused by throwing',
    run: async ({ store, fresh }) => {
      assert.throws(() => store.append(fresh(), [], 'any'))
    },
  },
  {
    title: 'EV-02 an append over the limit of bytes is refused, and nothing of it is written',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const { appendBytesMax: bytesMax } = store.limits
      const half = JSON.stringify('x'.repeat(bytesMax / 2))
      const outcome = await store.append(stream, [event(0, half), event(1, half)], 'any')()
      assert.equal(outcome._tag, 'Left')
      if (outcome._tag !== 'Left' || outcome.left._tag !== 'AppendTooLarge') assert.fail(JSON.stringify(outcome))
      assert.equal(outcome.left.bytesMax, bytesMax)
      assert.ok(outcome.left.bytes > bytesMax)
      await assertHolds(store, stream, [])
    },
  },
  {
    title: 'EV-02 the limit is one of bytes and not of characters',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const { appendBytesMax: bytesMax } = store.limits
      const outcome = await store.append(stream, [event(0, JSON.stringify('€'.repeat(bytesMax / 3)))], 'any')()
      assert.equal(outcome._tag === 'Left' && outcome.left._tag, 'AppendTooLarge')
      await assertHolds(store, stream, [])
    },
  },
  {
    title: 'EV-02 an append of more events than the limit is refused, one of as many is written',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const small = (count: number) =>
        Array.from({ length: count }, () => ({ id: randomUUID(), type: 'T', data: '{}', metadata: '{}' }))
      const { appendEventsMax } = store.limits
      const outcome = await store.append(stream, small(appendEventsMax + 1), 'any')()
      assert.equal(outcome._tag, 'Left')
      assert.equal(await store.head(stream), -1)
      assert.equal(await append(store, stream, small(appendEventsMax)), appendEventsMax - 1)
    },
  },
  {
    title: 'EV-02 an append is not begun before its task is run, and runs once a call',
    run: async ({ store, fresh }) => {
      const stream = fresh()
      const task = store.append(stream, events(1), 'any')
      await pause(5)
      assert.equal(await store.head(stream), -1)
      await task()
      await task()
      assert.equal(await store.head(stream), 1)
    },
  },
]
