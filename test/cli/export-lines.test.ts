/** EV-06: an export at speed: its lines are spliced from the texts of the log, and are what they were when each was parsed and printed. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { withSeal } from '@daybook/adapters/seals'
import { run as runProgram } from '@daybook/adapters/cli'
import { encodeData } from '@daybook/adapters/engine'
import { eventLines, stableLines } from '@daybook/adapters/http'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventToAppend, RecordedEvent } from '@daybook/adapters/store'
import { versionOf } from '@daybook/core'
import * as fc from 'fast-check'
import { afterAll, expect, test, vi } from 'vitest'
import { runs } from '../properties/settings.js'
import { scenarios } from '../properties/steps.js'
import { World } from '../properties/world.js'
import { until } from '../support/queue.js'
import { noTerminal, root } from './program.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-export-lines-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

// ------------------------------------------------------------------------- what a line is, in words that need not be fast

const objectIn = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Each half of a surrogate pair becomes U+FFFD. */
const wellFormed = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(wellFormed)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), wellFormed(member)]))
}

const naiveLine = ({ revision, type, metadata, created, data }: RecordedEvent): string => {
  const { schemaVersion, at, actor, $correlationId, needs } = objectIn(metadata) ?? {}
  const text = (value: unknown, key: string): object => (typeof value === 'string' ? { [key]: value } : {})
  const event = {
    revision, type, schemaVersion: typeof schemaVersion === 'number' ? schemaVersion : 1, at: typeof at === 'string' ? at : created,
    ...text(needs, 'needs'), ...text(actor, 'actor'), ...text($correlationId, 'correlationId'), data: objectIn(data) ?? data,
  }
  return `${JSON.stringify(wellFormed(event))}\n`
}

const recorded = (event: Pick<RecordedEvent, 'type' | 'data' | 'metadata'>, revision: number): RecordedEvent => ({
  ...event, id: `event ${revision}`, stream: 'taskqueue-q', revision, position: revision + 1, created: '2026-01-01T00:00:00.000Z',
})

// ------------------------------------------------------------------------------------------------- any log, also of others

const value = fc.oneof(fc.jsonValue(), fc.jsonValue({ noUnicodeString: false }), fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('1', '02', '-1', '__proto__x', 'a')), fc.jsonValue()))
/** Texts that are JSON and not as `JSON.stringify` prints them, that are not JSON, or that are JSON only within a line. */
const odd = fc.constantFrom(
  '{"a":1,"a":2}', '{"b":1,"2":1,"1":1}', '{"x":{"b":1,"2":1}}', '{"a":-0}', '{"a":1.0}', '{"a":1e5}', '{"a":1E400}', '{"a":12345678901234567890}', '{"a":0.1}', '{"a":01}', '{"a":-}', '{"a":0}', '{"a":-1}',
  '{"a":"\\u0041"}', '{"a":"\\/"}', '{"a":"\\n\\"\\\\"}', '{"a":"\\u001b"}', '{"a":"\\u001B"}', '{"a":"\\ud83d\\ude00"}', '{"a":"\\ud800"}', '{"a":"\\\\ud800"}', '{"a":"\ud800"}', '{"a":"\u2028 \u007f é 😀"}', '{"a":"\n"}', '{"a":"\t"}',
  '{}}\n{"revision":9,"type":"x","data":{}', '{"a":1},"x":{}', '"x","y":{}', '{"a":1}}', '{"a":1', '{"a":[1,2,{}],"b":[],"c":{}}', '{"a":[1,]}', '{"a":1,}', '{,}', '{"a"}', '{"a":"', '{"a":"\\',
  '[1]', '5', '"text"', 'null', 'true', '', '{', '{}', ' {"a":1}', '{"a":1} ', '{"a": 1}', '{\n"a":1}', '{"a":true,"b":false,"c":null}', '{"a":tru}', `${'{"a":'.repeat(90)}1${'}'.repeat(90)}`,
)
const mutated = fc.tuple(value, fc.nat(), fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', ' ', '\n', '0', '-', '.', 'e', 'x', '\u0001')).map(([json, place, sign]) => {
  const text = JSON.stringify(json)
  const at = place % (text.length + 1)
  return text.slice(0, at) + sign + text.slice(at + (place % 2))
})
const anyText = fc.oneof(value.map((json) => JSON.stringify(json)), value.map((json) => JSON.stringify(json, null, 1)), value.map((json) => `{"task":"t","n":${JSON.stringify(json)}}`), odd, mutated)
/** A number that is none in JSON cannot be a member of a line. */
const dataText = anyText.filter((text) => !/1E400/.test(text) || objectIn(text) !== undefined)

const name = fc.oneof(fc.constantFrom('ann', 'a"b', 'a\\', 'a\nb', 'é', '', '\ud800'), fc.string())
const written = fc.record({ needs: fc.option(fc.constant('0.2.0')), at: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z'), actor: name, correlation: name, causation: name, prev: fc.option(fc.nat()), sealed: fc.boolean() })
  .map(({ needs, at, actor, correlation, causation, prev, sealed }) => {
    const text = JSON.stringify({ ...(needs === null ? {} : { needs }), schemaVersion: 1, at, actor, $correlationId: correlation, $causationId: causation, ...(prev === null ? {} : { prev }) })
    return sealed ? withSeal(text, { from: 0, to: 1, hash: 'h'.repeat(43), leaves: 'abcd_-12' }) : text
  })
const oddMetadata = fc.constantFrom(
  '{"schemaVersion":1,"at":"x","actor":"ann","$correlationId":"c","$causationId":"d","actor":"bob"}', '{"schemaVersion":1,"at":"x","actor":"ann","$correlationId":"c","$causationId":"d","prev":01}', '{"schemaVersion":1,"at":"x","actor":"ann","$correlationId":"c","$causationId":"d"',
  '{"schemaVersion":01,"at":"x","actor":"ann","$correlationId":"c","$causationId":"d"}', '{"schemaVersion":1,"at":"x","actor":"ann","$correlationId":"c","$causationId":"d"}}', '{"schemaVersion":1,"at":"x","actor":"a\nb","$correlationId":"c","$causationId":"d"}',
  '{"schemaVersion":1,"at":"x","actor":"ann","$correlationId":"c\\","$causationId":"d"}', '{"schemaVersion":1,"at":"x","actor":"ann","$correlationId":"c","$causationId":"\u0001"}', '{"schemaVersion":2.5,"at":5,"actor":null}', '[]', '',
)
const metadataText = fc.oneof({ weight: 4, arbitrary: written }, { weight: 1, arbitrary: oddMetadata }, { weight: 1, arbitrary: mutated })

const plainMetadata = '{"schemaVersion":1,"at":"2026-01-01T00:00:00.000Z","actor":"ann","$correlationId":"c","$causationId":"d"}'

test('EV-06: the lines of any log are what each event is when it is parsed and printed, byte for byte', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ type: fc.oneof(fc.constantFrom('Claimed', 'Completed'), fc.string()), data: dataText, metadata: metadataText, again: fc.boolean() }), { minLength: 1, maxLength: 40 }), (events) => {
      // Events of one command have the same metadata.
      const log = events.map(({ again, metadata, ...event }, i) => recorded({ ...event, metadata: again && i > 0 ? (events[i - 1] as { readonly metadata: string }).metadata : metadata }, i))
      expect(eventLines(log).toString('utf8')).toBe(log.map(naiveLine).join(''))
    }),
    // A text with more behind its object, and a line after it.
    { ...runs(600), examples: [[['{"a":1}}', '{}'].map((data) => ({ type: 'Claimed', data, metadata: plainMetadata, again: false }))]] },
  )
})

test('EV-06 teeth: what is not as it would be printed is seen in each of the odd texts', () => {
  const seen = { stable: 0, not: 0 }
  for (const data of fc.sample(odd, { seed: 1, numRuns: 1_000 })) {
    const event = recorded({ type: 'Claimed', data, metadata: '{}' }, 5)
    expect(eventLines([event]).toString('utf8')).toBe(naiveLine(event))
    seen[stableLines(Buffer.from(`{"revision":5,"data":${data}}\n`)) === 1 ? 'stable' : 'not']++
  }
  expect(seen.stable).toBeGreaterThan(20)
  expect(seen.not).toBeGreaterThan(200)
})

// ------------------------------------------------------------------------------------------------------- logs of Daybook

const isSpliced = (event: RecordedEvent): boolean => stableLines(Buffer.from(naiveLine(event))) === 1 && JSON.stringify(JSON.parse(event.data)) === event.data

test('EV-06: events as Daybook records them are not parsed: every type, and random histories', () => {
  const folder = join(root, 'test/golden/events')
  const golden = readdirSync(folder).flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as ReadonlyArray<{ readonly type: string; readonly data: object; readonly metadata: object }>)
  const log = golden.map(({ type, data, metadata }, i) => recorded({ type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) }, i))
  expect(log.length).toBeGreaterThan(57)
  expect(log.filter((event) => !isSpliced(event))).toEqual([])
  expect(eventLines(log).toString('utf8')).toBe(log.map(naiveLine).join(''))
  fc.assert(
    fc.property(scenarios(30), (scenario) => {
      const world = new World(() => ({}))
      world.run(scenario)
      const history = world.log.map((event, revision) => {
        const metadata = JSON.stringify({ schemaVersion: versionOf(event.type), at: new Date(event.at).toISOString(), actor: 'ann', $correlationId: 'c', $causationId: 'd', prev: revision })
        return recorded({ type: event.type, data: encodeData(event), metadata }, revision)
      })
      expect(history.filter((event) => !isSpliced(event))).toEqual([])
      expect(eventLines(history).toString('utf8')).toBe(history.map(naiveLine).join(''))
    }),
    runs(100),
  )
})

// ---------------------------------------------------------------------------------------------------------- flat memory

test('EV-06: no more is read than was taken: while the output takes nothing, one page is handed over and no other', async () => {
  const file = join(dir, 'daybook.sqlite')
  const store = await openSqliteStore({ file })
  const appends = 5
  const perAppend = 500
  const metadata = '{"schemaVersion":1,"at":"2026-01-01T00:00:00.000Z","actor":"ann","$correlationId":"c","$causationId":"c"}'
  const event = (serial: number): EventToAppend => ({ id: `event ${serial}`, type: 'QueueConfigured', data: JSON.stringify({ patch: {}, note: `${serial} ${'x'.repeat(10_000)}` }), metadata })
  for (let append = 0; append < appends; append++) await store.append('taskqueue-q', Array.from({ length: perAppend }, (_, i) => event(append * perAppend + i)), 'any')()
  await store.close()

  let lines = 0
  let mostAtOnce = 0
  let take = (): void => undefined
  const hashes: Array<string> = []
  const exporting = runProgram(['audit', 'export', '--data', dir, '--queue', 'q'], {
    ...noTerminal, env: {}, err: () => undefined,
    out: (text) => {
      const found = text.split('\n').length - 1
      mostAtOnce = Math.max(mostAtOnce, found)
      lines += found
      if (text.includes('"manifest"')) hashes.push(text)
    },
    flushed: () => new Promise((resolve) => (take = resolve)),
  })
  let ended = false
  void exporting.finally(() => (ended = true))
  await until(() => lines > 0)
  const atFirst = lines
  // Time for the thread that reads to send many pages, if it were asked for them.
  await sleep(500)
  expect(lines).toBe(atFirst)
  // A page has 4 MiB at most.
  expect(atFirst).toBeLessThanOrEqual(420)
  await until(() => {
    take()
    return ended
  })
  expect(await exporting).toBe(0)
  expect(lines).toBe(appends * perAppend + 1)
  expect(mostAtOnce).toBeLessThanOrEqual(420)
  expect(hashes).toHaveLength(1)
})

test('EV-06: the thread that encodes a Parquet file has at most three pages that it has not taken', async () => {
  const post = vi.spyOn(Worker.prototype, 'postMessage')
  const emit = vi.spyOn(Worker.prototype, 'emit')
  const kindOf = (message: unknown): unknown => (message as { readonly kind?: unknown } | undefined)?.kind
  const exported = runProgram(['audit', 'export', '--data', dir, '--queue', 'q', '--format', 'parquet', '--out', join(dir, 'q.parquet')], { ...noTerminal, env: {}, err: () => undefined, out: () => undefined })
  expect(await exported).toBe(0)
  const events = [
    ...post.mock.calls.map(([message], i) => ({ order: post.mock.invocationCallOrder[i] as number, change: kindOf(message) === 'lines' ? 1 : 0 })),
    ...emit.mock.calls.map(([, message], i) => ({ order: emit.mock.invocationCallOrder[i] as number, change: kindOf(message) === 'taken' ? -1 : 0 })),
  ].sort((a, b) => a.order - b.order)
  let waiting = 0
  let most = 0
  for (const { change } of events) {
    waiting += change
    most = Math.max(most, waiting)
  }
  expect(waiting).toBe(0)
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(3)
  vi.restoreAllMocks()
})
