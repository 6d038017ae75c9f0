/** EV-06: who did what, found through the read models: the same events as reading the whole log, at every moment of the tables. */
import { type Caused, type CauseQuestion, type FindCauses, spansOf } from '@daybook/adapters/engine'
import { Group, readCauses, type ViewsFile } from '@daybook/adapters/read-models'
import type { RecordedEvent } from '@daybook/adapters/store'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scenarios } from '../properties/steps.js'
import { World } from '../properties/world.js'
import { dump, openViews, queue, recorded, rowsOf } from './views.js'

let dir = ''
beforeAll(() => void (dir = mkdtempSync(join(tmpdir(), 'daybook-causes-'))))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
let files = 0

const commandId = (n: number): string => `5d3da37a-c700-81b5-a5cf-${String(n).padStart(12, '0')}`

interface Cause {
  readonly actor: string
  /** Not given: the id of the command. */
  readonly correlation: string | undefined
  readonly events: number
}
const cause: fc.Arbitrary<Cause> = fc.record({
  actor: fc.constantFrom('ann', 'bob', 'a "quoted" one'),
  // Somebody may give the id of a command as the correlation of others.
  correlation: fc.constantFrom(undefined, undefined, 'c1', 'c2', commandId(1)),
  events: fc.integer({ min: 1, max: 4 }),
})

/** The events of random histories, in commands of random callers. */
const log: fc.Arbitrary<ReadonlyArray<RecordedEvent>> = fc.tuple(scenarios(30), fc.array(cause, { minLength: 1, maxLength: 12 })).map(([scenario, causes]) => {
  const order = causes.flatMap((each, i) => Array.from({ length: each.events }, () => ({ ...each, place: i })))
  return recorded(new World(() => ({})).run(scenario).log).map((event, i) => {
    const { actor, correlation, place } = order[i % order.length]!
    const id = commandId(Math.floor(i / order.length) * causes.length + place)
    const at = JSON.parse(event.metadata) as { readonly at: string }
    return { ...event, metadata: JSON.stringify({ schemaVersion: 1, at: at.at, actor, $correlationId: correlation ?? id, $causationId: id }) }
  })
})

type Asked = Pick<CauseQuestion, 'actor' | 'correlationId'>
const question: fc.Arbitrary<Asked> = fc.record({ actor: fc.constantFrom('ann', 'bob', 'a "quoted" one', 'nobody'), correlationId: fc.constantFrom('c1', 'c2', 'c3', commandId(0), commandId(1), commandId(7)) }, { requiredKeys: [] })

const causeOf = ({ metadata }: RecordedEvent) => JSON.parse(metadata) as { readonly actor: string; readonly $correlationId: string }
const isOf = ({ actor, correlationId }: Asked) => (event: RecordedEvent): boolean => {
  const found = causeOf(event)
  return (actor === undefined || found.actor === actor) && (correlationId === undefined || found.$correlationId === correlationId)
}

const viewsOf = (events: ReadonlyArray<RecordedEvent>, file?: string): ViewsFile => {
  const views = openViews(file)
  views.current.take(queue, events)
  return views
}

interface Found {
  readonly revisions: ReadonlyArray<number>
  /** Events that had to be read. */
  readonly read: number
}
const search = async (events: ReadonlyArray<RecordedEvent>, causes: FindCauses | undefined, asked: Asked, from: number, until: number): Promise<Found> => {
  const log = { pick: async (_: string, revisions: ReadonlyArray<number>) => revisions.map((revision) => events[revision]) }
  const found: Array<number> = []
  let read = 0
  let last = from - 1
  for await (const [first, end] of spansOf({ name: queue, log: log as never, causes }, asked, from, until)) {
    expect(first).toBeGreaterThan(last)
    last = end
    const page = events.slice(first, end + 1)
    read += page.length
    found.push(...page.filter(isOf(asked)).map(({ revision }) => revision))
  }
  return { revisions: found, read }
}

/** Whatever the tables show, the events that are found are those that reading the whole log finds. */
const findsAll = (change: (found: Caused | undefined) => Caused | undefined = (found) => found, endOnFailure = false) =>
  fc.assert(
    fc.asyncProperty(log, question, fc.nat(100), fc.nat(100), fc.nat(100), async (events, asked, shown, a, b) => {
      const size = events.length
      const known = Math.round((shown / 100) * size)
      const file = join(dir, `views-${files++}.db`)
      viewsOf(events.slice(0, known), file).close()
      const [from, until] = [Math.floor((Math.min(a, b) / 100) * (size - 1)), Math.floor((Math.max(a, b) / 100) * (size - 1))]
      const { revisions } = await search(events, async (each) => change(readCauses(file, { ...each, limit: 1 })), asked, from, until)
      expect(revisions).toEqual(events.slice(from, until + 1).filter(isOf(asked)).map(({ revision }) => revision))
      rmSync(file)
    }),
    { numRuns: 100, endOnFailure },
  )

describe('EV-06: the events of an actor and of a correlation id', () => {
  test('are those that reading the whole log finds, however far the tables are', () => findsAll(), 60_000)

  test('teeth: an index that leaves out one run is caught', async () => {
    await expect(findsAll((found) => (found === undefined ? undefined : { ...found, spans: found.spans.slice(1) }), true)).rejects.toThrow()
  })

  test('teeth: an index that claims to know more than it does is caught', async () => {
    await expect(findsAll((found) => (found === undefined ? undefined : { ...found, isMore: false }), true)).rejects.toThrow()
  })

  test('each event is in one run, with its actor and its correlation id, whatever the batches', () => {
    fc.assert(
      fc.property(log, fc.array(fc.nat(60), { maxLength: 6 }), (events, cuts) => {
        const whole = viewsOf(events)
        const rows = rowsOf<{ revision: number; last_revision: number; actor: string; correlation: string | null }>(whole, 'SELECT revision, last_revision, actor, correlation FROM causes ORDER BY revision')
        const told = rows.flatMap(({ revision, last_revision, actor, correlation }) => Array.from({ length: last_revision - revision + 1 }, (_, i) => [revision + i, actor, correlation]))
        const causation = ({ metadata }: RecordedEvent) => (JSON.parse(metadata) as { readonly $causationId: string }).$causationId
        expect(told).toEqual(events.map((event) => [event.revision, causeOf(event).actor, causeOf(event).$correlationId === causation(event) ? null : causeOf(event).$correlationId]))
        const cut = openViews()
        const places = [0, ...new Set(cuts.filter((at) => at > 0 && at < events.length)), events.length].sort((a, b) => a - b)
        places.slice(1).forEach((end, i) => new Group(cut.db, cut.current.models, '').take(queue, events.slice(places[i] ?? 0, end)))
        expect(dump(cut)).toEqual(dump(whole))
        whole.close()
        cut.close()
      }),
      { numRuns: 50 },
    )
  })

  const callers = (count: number, of: (i: number) => { readonly actor: string; readonly correlation?: string }): ReadonlyArray<RecordedEvent> =>
    Array.from({ length: count }, (_, revision) => {
      const { actor, correlation = commandId(revision) } = of(revision)
      return {
        stream: `taskqueue-${queue}`, revision, position: revision, id: `id-${revision}`, type: 'AgentTerminated', data: '{"agent":"w","reason":"r"}', created: '2026-01-01T00:00:00.000Z',
        metadata: JSON.stringify({ schemaVersion: 1, at: '2026-01-01T00:00:00.000Z', actor, $correlationId: correlation, $causationId: commandId(revision) }),
      }
    })

  test('an index whose runs end before they are asked for is not asked again and again: the log is read', async () => {
    const events = callers(20, (i) => ({ actor: i % 10 === 0 ? 'eve' : 'ann' }))
    const stuck: FindCauses = async () => ({ revision: 19, eventId: 'id-19', spans: [[0, 3]], isMore: true })
    expect(await search(events, stuck, { actor: 'eve' }, 5, 19)).toEqual({ revisions: [10], read: 15 })
  })

  test('are found without reading the rest of the log', async () => {
    const events = callers(5_000, (i) => (i % 1_000 === 500 ? { actor: 'eve', correlation: `c${i}` } : { actor: 'ann' }))
    const file = join(dir, 'few.db')
    viewsOf(events, file).close()
    const causes: FindCauses = async (each) => readCauses(file, each)
    expect(await search(events, causes, { actor: 'eve' }, 0, 4_999)).toEqual({ revisions: [500, 1_500, 2_500, 3_500, 4_500], read: 5 })
    expect(await search(events, causes, { correlationId: 'c2500' }, 0, 4_999)).toEqual({ revisions: [2_500], read: 1 })
    expect(await search(events, causes, { actor: 'ann', correlationId: 'c2500' }, 0, 4_999)).toEqual({ revisions: [], read: 0 })
    expect(await search(events, causes, { actor: 'eve' }, 1_000, 3_000)).toEqual({ revisions: [1_500, 2_500], read: 2 })
    // What the tables do not show yet is read.
    expect(await search([...events, ...callers(5_010, () => ({ actor: 'eve' })).slice(5_000)], causes, { actor: 'eve' }, 3_000, 5_009)).toMatchObject({ read: 12 })
  })

  test('a run that began before the first revision that is asked for is found', async () => {
    const events = callers(30, (i) => ({ actor: i >= 10 && i < 20 ? 'eve' : 'ann' }))
    const file = join(dir, 'run.db')
    viewsOf(events, file).close()
    expect(await search(events, async (each) => readCauses(file, each), { actor: 'eve' }, 15, 29)).toEqual({ revisions: [15, 16, 17, 18, 19], read: 5 })
  })

  test('tables of another log, of events that could not be read, and no tables at all: the log is read', async () => {
    const events = callers(100, (i) => ({ actor: i % 50 === 0 ? 'eve' : 'ann' }))
    const expected = { revisions: [0, 50], read: 100 }
    expect(await search(events, async () => readCauses(join(dir, 'none.db'), { queue, from: 0, until: 99, limit: 1 }), { actor: 'eve' }, 0, 99)).toEqual(expected)
    const other = join(dir, 'other.db')
    viewsOf(events.map((event) => ({ ...event, id: `other-${event.revision}`, metadata: event.metadata.replace('eve', 'bob') })), other).close()
    expect(await search(events, async (each) => readCauses(other, each), { actor: 'eve' }, 0, 99)).toEqual(expected)
    const partial = join(dir, 'partial.db')
    const views = viewsOf(events.map((event) => (event.revision === 50 || event.revision === 70 ? { ...event, type: 'FromTheFuture' } : event)), partial)
    // A run ends before an event that could not be read.
    expect(rowsOf(views, 'SELECT revision, last_revision FROM causes ORDER BY revision')).toEqual([[0, 0], [1, 49], [51, 69], [71, 99]].map(([revision, last_revision]) => ({ revision, last_revision })))
    views.close()
    expect(await search(events, async (each) => readCauses(partial, each), { actor: 'eve' }, 0, 99)).toEqual(expected)
  })
})
