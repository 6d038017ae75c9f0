import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { EventStore, EventToAppend, ExpectedRevision, ReadOptions } from '@daybook/adapters/store'
import { asAppended, readAll, type Check } from './check.js'

type Model = Map<string, Array<EventToAppend>>
type Step = (store: EventStore, model: Model) => Promise<void>

const streamNames = ['a', 'b', 'c']
const stream = fc.constantFrom(...streamNames)

const newEvent: fc.Arbitrary<EventToAppend> = fc.record({
  id: fc.uuid(),
  type: fc.constantFrom('Enqueued', 'Claimed', 'Completed'),
  data: fc.json({ maxDepth: 2 }),
  metadata: fc.json({ maxDepth: 1, stringUnit: 'grapheme' }),
})

/** The difference between the expected and the actual revision; 0 is correct. */
const expectation = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: -2, max: 2 }) },
  { weight: 2, arbitrary: fc.constantFrom('any' as const, 'no_stream' as const) },
)

const appendStep = fc
  .tuple(stream, fc.array(newEvent, { minLength: 1, maxLength: 6 }), expectation)
  .map(([name, batch, off]): Step => async (store, model) => {
    const held = model.get(name) ?? []
    const actual = held.length === 0 ? 'no_stream' : held.length - 1
    const wrong = Math.max(0, held.length - 1 + (typeof off === 'number' ? off : 0))
    const expected: ExpectedRevision = typeof off !== 'number' ? off : off === 0 ? actual : wrong
    const outcome = await store.append(name, batch, expected)()
    if (expected === 'any' || expected === actual) {
      model.set(name, [...held, ...batch])
      assert.deepEqual(outcome, { _tag: 'Right', right: { revision: held.length + batch.length - 1 } })
    } else {
      assert.deepEqual(outcome, { _tag: 'Left', left: { _tag: 'WrongExpectedRevision', actual } })
    }
  })

const readOptions: fc.Arbitrary<ReadOptions> = fc.record(
  {
    from: fc.oneof(fc.nat(40), fc.constantFrom('end' as const)),
    direction: fc.constantFrom('forwards' as const, 'backwards' as const),
    limit: fc.nat(40),
  },
  { requiredKeys: [] },
)

const modelRead = (held: ReadonlyArray<EventToAppend>, { from, direction, limit }: ReadOptions) => {
  const numbered = held.map((event, revision) => ({ revision, event }))
  const found =
    direction === 'backwards'
      ? numbered.filter(({ revision }) => typeof from !== 'number' || revision <= from).reverse()
      : numbered.filter(({ revision }) => from !== 'end' && (typeof from !== 'number' || revision >= from))
  return found.slice(0, limit ?? Infinity)
}

const readStep = fc.tuple(stream, readOptions).map(([name, options]): Step => async (store, model) => {
  const found = await readAll(store, name, options)
  const expected = modelRead(model.get(name) ?? [], options)
  assert.deepEqual(
    found.map((recorded) => ({ revision: recorded.revision, event: asAppended(recorded) })),
    expected.map(({ revision, event }) => ({ revision, event: asAppended(event) })),
  )
})

const pickStep = fc.tuple(stream, fc.array(fc.nat(40))).map(([name, revisions]): Step => async (store, model) => {
  const picked = await store.pick(name, revisions)
  assert.deepEqual(
    picked.map((recorded) => recorded && asAppended(recorded)),
    revisions.map((revision) => model.get(name)?.[revision]).map((event) => event && asAppended(event)),
  )
})

const headStep = stream.map((name): Step => async (store, model) => {
  assert.equal(await store.head(name), (model.get(name)?.length ?? 0) - 1)
  assert.deepEqual(await store.streams(''), [...model.keys()])
})

const steps = fc.array(
  fc.oneof({ weight: 5, arbitrary: appendStep }, { weight: 3, arbitrary: readStep }, pickStep, headStep),
  { minLength: 1, maxLength: 25, size: 'max' },
)

/** The store under test with prefixed stream names, so that runs do not share streams. */
const within = (store: EventStore, prefix: string): EventStore => ({
  ...store,
  append: (name, batch, expected) => store.append(prefix + name, batch, expected),
  read: (name, options) => store.read(prefix + name, options),
  pick: (name, revisions) => store.pick(prefix + name, revisions),
  head: (name) => store.head(prefix + name),
  streams: async () => (await store.streams(prefix)).map((name) => name.slice(prefix.length)),
})

export const modelCheck: Check = {
  title: 'EV-02 any sequence of appends, reads and picks agrees with arrays of events',
  run: ({ store, fresh, numRuns }) =>
    fc.assert(
      fc.asyncProperty(steps, async (run) => {
        const model: Model = new Map()
        const inside = within(store, `${fresh()}-`)
        for (const step of run) await step(inside, model)
      }),
      { numRuns },
    ),
}
