/**
 * The point of this file: the table by which the server accepts, repeats or refuses a write. There are
 * rows for people, a simple model for any history, and broken tables that the model must catch.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../properties/settings.js'
import { decide, type Decision, type Expected, type StreamFacts } from '../support/eventstoredb/decision.js'

/** A history: the ids in each stream, and which stream used an id first. */
class Model {
  readonly streams = new Map<string, Array<string>>()
  readonly firstUse = new Map<string, { readonly stream: string; readonly revision: number }>()
  readonly deleted = new Set<string>()
  readonly tombstoned = new Set<string>()
  readonly described = new Set<string>()

  readonly ids = (stream: string): Array<string> => this.streams.get(stream) ?? []

  readonly append = (stream: string, ids: ReadonlyArray<string>): void => {
    const held = this.ids(stream)
    this.streams.set(stream, held)
    for (const id of ids) {
      if (!this.firstUse.has(id)) this.firstUse.set(id, { stream, revision: held.length })
      held.push(id)
    }
    this.deleted.delete(stream)
  }

  readonly facts = (stream: string, visible = this.ids(stream).length - 1): StreamFacts => ({
    head: this.ids(stream).length - 1,
    visible,
    tombstoned: this.tombstoned.has(stream),
    softDeleted: this.deleted.has(stream),
    hasMetadata: this.described.has(stream),
    idAt: (revision) => this.ids(stream)[revision],
    recent: (id) => (this.firstUse.get(id)?.stream === stream ? this.firstUse.get(id)?.revision : undefined),
  })

  /** The rules in another form: as statements about the lists of ids. */
  readonly expects = (stream: string, expected: Expected, ids: ReadonlyArray<string>): Decision => {
    const held = this.ids(stream)
    const known = (id: string): boolean => this.firstUse.get(id)?.stream === stream
    const place = (id: string): number => held.indexOf(id)
    if (this.tombstoned.has(stream)) return { kind: 'deleted' }
    if (expected === 'stream_exists' && this.deleted.has(stream)) return { kind: 'deleted' }
    if (expected === 'stream_exists' && held.length === 0 && !this.described.has(stream)) return { kind: 'wrong_revision' }
    if (expected === 'any' || expected === 'stream_exists') {
      if (ids.length === 0 || !known(ids[0] as string)) return { kind: 'append', undelete: this.deleted.has(stream) }
      if (!ids.every(known)) return { kind: 'wrong_revision' }
      const [first, last] = [place(ids[0] as string), place(ids.at(-1) as string)]
      return last + 1 < first ? { kind: 'silent' } : { kind: 'idempotent', first, last }
    }
    const from = expected === 'no_stream' ? 0 : expected + 1
    if (from > held.length) return { kind: 'wrong_revision' }
    if (from === held.length) return { kind: 'append', undelete: this.deleted.has(stream) }
    const same = held.slice(from, from + ids.length)
    if (ids.length > 0 && same.length === ids.length && same.every((id, i) => id === ids[i])) {
      return { kind: 'idempotent', first: from, last: from + ids.length - 1 }
    }
    const revives = from === 0 && this.deleted.has(stream) && ids.length > 0 && ids[0] !== held[0]
    return revives ? { kind: 'append', undelete: true } : { kind: 'wrong_revision' }
  }
}

type Step =
  | { readonly do: 'append'; readonly stream: string; readonly expected: Expected; readonly ids: ReadonlyArray<string> }
  | { readonly do: 'delete' | 'tombstone' | 'describe'; readonly stream: string }

const stream = fc.constantFrom('a', 'b')
const ids = fc.array(fc.constantFrom('i', 'j', 'k', 'l', 'm', 'n'), { maxLength: 4 })
const expected: fc.Arbitrary<Expected> = fc.oneof(
  fc.constantFrom<Expected>('any', 'no_stream', 'stream_exists'), fc.integer({ min: 0, max: 8 }),
)
const appendStep = fc.record({ do: fc.constant('append' as const), stream, expected, ids })
const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: appendStep },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('delete' as const, 'describe' as const), stream }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('tombstone' as const), stream }) },
  ),
  { maxLength: 14 },
)

const reached = new Map<string, number>()

const follows = (table: typeof decide) => fc.property(steps, (history) => {
  const model = new Model()
  for (const step of history) {
    if (step.do === 'append') {
      const wanted = model.expects(step.stream, step.expected, step.ids)
      reached.set(wanted.kind, (reached.get(wanted.kind) ?? 0) + 1)
      expect(table(model.facts(step.stream), step.expected, step.ids)).toEqual(wanted)
      if (wanted.kind === 'append') model.append(step.stream, step.ids)
    } else if (step.do === 'delete') model.deleted.add(step.stream)
    else if (step.do === 'describe') model.described.add(step.stream)
    else model.tombstoned.add(step.stream)
  }
})

const held = (...history: ReadonlyArray<readonly [string, ReadonlyArray<string>]>): Model => {
  const model = new Model()
  for (const [name, list] of history) model.append(name, list)
  return model
}

describe('the decision table', () => {
  const a = held(['a', ['e0', 'e1', 'e2', 'e3']], ['b', ['f0']])
  const rows: ReadonlyArray<readonly [title: string, expected: Expected, ids: ReadonlyArray<string>, kind: Decision['kind']]> = [
    ['at the head anything is appended', 3, ['x'], 'append'],
    ['at the head even an event that is there', 3, ['e3'], 'append'],
    ['beyond the head nothing is', 4, ['x'], 'wrong_revision'],
    ['the same events at the same revisions are a repetition', 'no_stream', ['e0', 'e1', 'e2', 'e3'], 'idempotent'],
    ['so is a part of them', 0, ['e1', 'e2'], 'idempotent'],
    ['one more than is there is not', 1, ['e2', 'e3', 'x'], 'wrong_revision'],
    ['one that differs is not', 1, ['e2', 'x'], 'wrong_revision'],
    ['a place further on is not', 1, ['e3'], 'wrong_revision'],
    ['any: unknown ids are appended', 'any', ['x'], 'append'],
    ['any: known ones are a repetition', 'any', ['e1', 'e3'], 'idempotent'],
    ['any: first known, then not', 'any', ['e1', 'x'], 'wrong_revision'],
    ['any: first unknown, then known', 'any', ['x', 'e1'], 'append'],
    ['any: known to another stream only', 'any', ['f0'], 'append'],
    ['any: known, but far out of order: no answer', 'any', ['e3', 'e0'], 'silent'],
    ['nothing, at the head', 3, [], 'append'],
    ['nothing, behind the head', 1, [], 'wrong_revision'],
  ]
  test.each(rows)('%s', (_title, expectedRevision, list, kind) => {
    expect(decide(a.facts('a'), expectedRevision, list).kind).toBe(kind)
  })

  test('a repeated write that readers cannot see yet gets no answer', () => {
    expect(decide(a.facts('a', 2), 2, ['e3'])).toEqual({ kind: 'silent' })
    expect(decide(a.facts('a', 2), 1, ['e2'])).toEqual({ kind: 'idempotent', first: 2, last: 2 })
  })

  test('decides like the model after any history, and reaches every kind of decision', () => {
    fc.assert(follows(decide), runs(3_000))
    expect([...reached.keys()].sort()).toEqual(['append', 'deleted', 'idempotent', 'silent', 'wrong_revision'])
  })

  const broken: Readonly<Record<string, typeof decide>> = {
    'looks at ids at the head': (facts, expectedRevision, list) =>
      expectedRevision === facts.head && list.length > 0 && list.every((id) => facts.recent(id) !== undefined)
        ? { kind: 'idempotent', first: 0, last: 0 } : decide(facts, expectedRevision, list),
    'takes ids of other streams for its own': (facts, expectedRevision, list) =>
      decide({ ...facts, recent: (id) => facts.recent(id) ?? (id === 'i' ? 0 : undefined) }, expectedRevision, list),
    'takes a longer append for the one that is there': (facts, expectedRevision, list) =>
      decide(facts, expectedRevision, typeof expectedRevision === 'number' && expectedRevision < facts.head
        ? list.slice(0, Math.max(1, facts.head - expectedRevision)) : list),
    'lets stream_exists write to nothing': (facts, expectedRevision, list) =>
      decide({ ...facts, hasMetadata: true }, expectedRevision, list),
    'forgets that a stream was deleted': (facts, expectedRevision, list) =>
      decide({ ...facts, softDeleted: false }, expectedRevision, list),
    'writes after a tombstone': (facts, expectedRevision, list) =>
      decide({ ...facts, tombstoned: false }, expectedRevision, list),
    'appends where the revision is wrong': (facts, expectedRevision, list) => {
      const decision = decide(facts, expectedRevision, list)
      return decision.kind === 'wrong_revision' && list.length === 1 ? { kind: 'append', undelete: false } : decision
    },
  }
  test.each(Object.keys(broken))('teeth: a table that %s is caught', (name) => {
    expect(() => fc.assert(follows(broken[name] as typeof decide), runs(3_000))).toThrow()
  })
})
