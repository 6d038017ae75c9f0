/**
 * Recorded events can be read for ever (EV-11). `events/` has a file for each version of each type of event, `histories/`
 * has complete logs with their views. Files are added, but never changed: `GOLDEN=write` writes missing ones, and
 * `sums.json` reveals changed ones.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import {
  breakersOf,
  decodeEvent,
  depthOf,
  eventTypes,
  evolve,
  headOf,
  initial,
  isUnreadable,
  listTasks,
  type QueueEvent,
  type QueueState,
  skip,
  versionOf,
} from '@daybook/core'
import { expect, test } from 'vitest'
import { everyAlert, everyAmendment, everyBatch, everyErasure, everyDeduplicate, everyEvent, everyLimit, everyLoop, everyReview, everySchedule, everyWait } from './history.js'

const everyHistory = (): ReadonlyArray<ReadonlyArray<QueueEvent>> => [everyEvent(), everyWait(), everySchedule(), everyLoop(), everyReview(), everyLimit(), everyAlert(), everyAmendment(), everyErasure(), everyBatch()]

interface Recorded {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: { readonly schemaVersion: number; readonly at: string; readonly [key: string]: unknown }
}
interface History {
  readonly events: ReadonlyArray<Recorded>
  readonly views: unknown
}

const record = ({ type, at, data, content }: QueueEvent): Recorded => ({
  type,
  data: content === undefined ? data : { ...data, content: JSON.parse(content) as unknown },
  metadata: {
    schemaVersion: versionOf(type),
    at: new Date(at).toISOString(),
    actor: 'ann',
    $correlationId: '0190f3a2-7b1c-7def-8abc-000000000001',
    $causationId: '0190f3a2-7b1c-7def-8abc-000000000002',
  },
})
const read = ({ type, data, metadata }: Recorded) => {
  const { content: _, ...facts } = data
  return decodeEvent(type, metadata.schemaVersion, Date.parse(metadata.at), facts)
}
const fold = (events: ReadonlyArray<Recorded>): QueueState =>
  events.reduce((state, recorded) => {
    const event = read(recorded)
    return isUnreadable(event) ? skip(state, recorded.type, event) : evolve(state, event)
  }, initial('golden'))
const viewsOf = (state: QueueState): unknown => ({
  head: headOf(state),
  tasks: listTasks(state, {}, 1_000).tasks,
  depth: depthOf(state),
  breakers: breakersOf(state),
})

/** Every path in a value, with the kind of value there. Names of overrides are data and not shape. */
const shapeOf = (value: unknown, path = ''): ReadonlyArray<string> => {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => shapeOf(item, `${path}[]`)))]
  if (typeof value !== 'object' || value === null) return [`${path}: ${value === null ? 'null' : typeof value}`]
  if (path.endsWith('.content') || path.endsWith('.checkpoint') || path.endsWith('.progress')) return [`${path}: JSON`]
  return Object.entries(value).flatMap(([key, member]) => shapeOf(member, `${path}.${key}`)).sort()
}
const width = (recorded: Recorded): number => shapeOf(recorded.data).length

/** Of each type, the event with the most and the one with the fewest fields, as recorded today. */
const examplesOfToday = (): ReadonlyMap<string, ReadonlyArray<Recorded>> => {
  // Of the first history that has the type: what later ones have beside may be younger than the golden file, and is in theirs.
  const histories = everyHistory().map((events) => events.map(record))
  return new Map(
    eventTypes.map((type) => {
      const of = histories.find((events) => events.some((recorded) => recorded.type === type)) ?? []
      const some = of.filter((recorded) => recorded.type === type).sort((a, b) => width(b) - width(a))
      const [fullest, barest] = [some[0] as Recorded, some[some.length - 1] as Recorded]
      return [type, width(fullest) === width(barest) ? [fullest] : [fullest, barest]]
    }),
  )
}

const folder = new URL('./', import.meta.url)
const at = (file: string): URL => new URL(file, folder)
const load = <T>(file: string): T => JSON.parse(readFileSync(at(file), 'utf8')) as T
const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
const listed = (kind: string): ReadonlyArray<string> =>
  readdirSync(at(`${kind}/`)).filter((file) => file.endsWith('.json')).map((file) => `${kind}/${file}`).sort()
const nameOf = (type: string): string => `events/${type}.${versionOf(type as (typeof eventTypes)[number])}.json`

if (process.env['GOLDEN'] === 'write') {
  const write = (file: string, value: unknown): void => {
    if (!existsSync(at(file))) writeFileSync(at(file), pretty(value))
  }
  for (const [type, examples] of examplesOfToday()) write(nameOf(type), examples)
  for (const [name, history] of Object.entries({ 'every-event.4': everyEvent(), 'deduplicate.1': everyDeduplicate(), 'waits.2': everyWait(), 'schedules.1': everySchedule(), 'loops.1': everyLoop(), 'reviews.1': everyReview(), 'limits.1': everyLimit(), 'alerts.1': everyAlert(), 'amendments.1': everyAmendment(), 'erasures.1': everyErasure(), 'batches.1': everyBatch() })) {
    const events = history.map(record)
    write(`histories/${name}.json`, { events, views: viewsOf(fold(events)) })
  }
  const sums = load<Record<string, string>>('sums.json')
  for (const file of [...listed('events'), ...listed('histories')]) sums[file] ??= sumOf(file)
  writeFileSync(at('sums.json'), pretty(sums))
}
function sumOf(file: string): string {
  return createHash('sha256').update(readFileSync(at(file))).digest('hex')
}

const files = listed('events')
const histories = listed('histories')

test('EV-11: golden files are unchanged, and none is missing', () => {
  expect(Object.fromEntries([...files, ...histories].map((file) => [file, sumOf(file)]))).toEqual(load('sums.json'))
})

test.each(files)('EV-11: %s decodes', (file) => {
  for (const recorded of load<ReadonlyArray<Recorded>>(file)) {
    expect(read(recorded)).toMatchObject({ type: recorded.type, at: Date.parse(recorded.metadata.at) })
    expect(file).toBe(`events/${recorded.type}.${recorded.metadata.schemaVersion}.json`)
  }
})

test.each(eventTypes)('EV-11: %s has a golden file for its current version', (type) => {
  expect(files).toContain(nameOf(type))
})

const today = examplesOfToday()
test.each(eventTypes)('EV-11: a %s recorded today has the shape of its golden file', (type) => {
  const shapes = (list: ReadonlyArray<Recorded>): unknown => list.map(({ data }) => shapeOf(data))
  expect(shapes(today.get(type) ?? [])).toEqual(shapes(load<ReadonlyArray<Recorded>>(nameOf(type))))
})

test.each(histories)('EV-11: %s folds to its recorded views, without unreadable events and misfits', (file) => {
  const { events, views } = load<History>(file)
  const state = fold(events)
  expect(headOf(state)).toMatchObject({ unreadable: {}, misfits: 0, revision: events.length - 1 })
  expect(JSON.parse(JSON.stringify(viewsOf(state)))).toMatchObject(views as object)
})

test('EV-11: a history has every type of event', () => {
  expect(new Set(everyHistory().flat().map(({ type }) => type))).toEqual(new Set(eventTypes))
})
