/**
 * A check of the contract is an async function that throws. The suites run each check against every
 * store; the teeth tests run each against stores that are broken on purpose.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { EventStore, EventToAppend, ExpectedRevision, ReadOptions, RecordedEvent } from '@daybook/adapters/store'
import { inTime } from '../support/in-time.js'

export interface CheckContext {
  readonly store: EventStore
  /** A stream name that no other check uses, so that checks can share a server. */
  readonly fresh: (name?: string) => string
  /** Number of runs of the property tests. */
  readonly numRuns: number
}

export interface Check {
  readonly title: string
  readonly run: (context: CheckContext) => Promise<void>
}

export const event = (n: number, data: string = JSON.stringify({ n })): EventToAppend => ({
  id: randomUUID(),
  type: `Numbered${n % 3}`,
  data,
  metadata: JSON.stringify({ actor: 'contract', n }),
})

/** Events numbered from `first`. */
export const events = (count: number, first = 0): Array<EventToAppend> =>
  Array.from({ length: count }, (_, i) => event(first + i))

/** Appends, and throws if that fails. Returns the new head. */
export const append = async (
  store: EventStore,
  stream: string,
  batch: ReadonlyArray<EventToAppend>,
  expected: ExpectedRevision = 'any',
): Promise<number> => {
  const outcome = await inTime('an answer to an append', store.append(stream, batch, expected)())
  assert.equal(outcome._tag, 'Right', `append failed: ${JSON.stringify(outcome)}`)
  return outcome._tag === 'Right' ? outcome.right.revision : -1
}

/** Appends in parts that every store accepts. */
export const appendMany = async (store: EventStore, stream: string, count: number): Promise<Array<EventToAppend>> => {
  const all = events(count)
  for (let i = 0; i < count; i += 500) await append(store, stream, all.slice(i, i + 500))
  return all
}

export const readAll = async (
  store: EventStore,
  stream: string,
  options?: ReadOptions,
): Promise<Array<RecordedEvent>> => {
  const found: Array<RecordedEvent> = []
  for await (const page of store.read(stream, options)) found.push(...page)
  return found
}

/** An event without the fields that the store adds. */
export const asAppended = ({ id, type, data, metadata }: EventToAppend): EventToAppend => ({ id, type, data, metadata })

export const revisionsOf = (found: ReadonlyArray<RecordedEvent>): Array<number> => found.map(({ revision }) => revision)

/** Throws unless the stream has exactly these events, in this order, at revisions 0, 1, 2, … */
export const assertHolds = async (
  store: EventStore,
  stream: string,
  expected: ReadonlyArray<EventToAppend>,
): Promise<void> => {
  const found = await readAll(store, stream)
  assert.deepEqual(found.map(asAppended), expected.map(asAppended))
  assert.deepEqual(revisionsOf(found), expected.map((_, i) => i))
  assert.equal(await store.head(stream), expected.length - 1)
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
