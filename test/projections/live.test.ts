/** The law of live and rebuilt, on a real engine and log: whatever a projection was fed as it happened, it is fed again from the log. */
import { loggedEvent } from '@daybook/adapters/engine'
import { eventSourceOf } from '@daybook/adapters/files'
import { openMemoryStore } from '@daybook/adapters/memory'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore } from '@daybook/adapters/store'
import { type Command, isUnreadable } from '@daybook/core'
import { type EventSource, type LoggedEvent, memoryCheckpoints, type Projection, runProjection } from '@daybook/projections'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { enqueue, fail, complete, claim, openQueue, task, until } from '../support/queue.js'

/** Everything that a projection can see. */
const journal: Projection<ReadonlyArray<unknown>, ReadonlyArray<unknown>> = {
  name: 'journal',
  version: 1,
  initial: () => [],
  fold: (state, logged) => [...state, { revision: logged.revision, id: logged.id, event: logged.event, meta: logged.meta, content: logged.content() }],
  result: (state) => state,
  encode: (state) => state,
  decode: (json) => (Array.isArray(json) ? E.right(json as ReadonlyArray<unknown>) : E.left('no journal')),
}

type Step = { readonly kind: 'enqueue' | 'complete' | 'fail' | 'requeue' | 'break' | 'restart the projection'; readonly by: string; readonly correlationId?: string }
const step: fc.Arbitrary<Step> = fc.record(
  { kind: fc.constantFrom('enqueue', 'complete', 'fail', 'requeue', 'break', 'restart the projection'), by: fc.constantFrom('ann', 'ben'), correlationId: fc.constantFrom('c-1', 'c-2') },
  { requiredKeys: ['kind', 'by'] },
)

type SourceOf = (source: EventSource) => EventSource

/** Feeds the projection while the steps happen, and again afterwards, and compares. */
const liveIsRebuilt = async (store: EventStore, steps: ReadonlyArray<Step>, sourceOf: SourceOf = (source) => source): Promise<void> => {
  const { engine } = await openQueue({ store })
  const source = sourceOf(eventSourceOf(engine, store))
  const checkpoints = memoryCheckpoints()
  const start = () => runProjection(journal, source, checkpoints, { checkpointEvery: 4 })
  let running = start()
  let made = 0
  for (const { kind, by, correlationId } of steps) {
    const caller = { actor: by, ...(correlationId === undefined ? {} : { correlationId }) }
    const submit = (command: Command): Promise<unknown> => engine.submit(command, caller)
    if (kind === 'restart the projection') {
      await running.stop()
      running = start()
    } else if (kind === 'enqueue') {
      await submit(enqueue(task(`t${++made}`, { content: `{"payload":${made},"description":"the ${made}. task"}` })))
    } else if (kind === 'break') {
      await submit({ type: 'OpenBreaker', taskType: 'ops', reason: 'by hand' })
      await submit({ type: 'CloseBreaker', taskType: 'ops', reason: 'by hand' })
    } else if (kind === 'requeue') {
      await submit({ type: 'Retry', task: `t${made}`, reviewer: by, reason: 'again' })
    } else {
      const claimed = await engine.claim(claim(by), caller)
      for (const held of E.isRight(claimed) ? claimed.right.value : []) await submit((kind === 'fail' ? fail : complete)(held, by, false))
    }
  }
  const head = engine.status().revision
  await until(() => running.current().revision === head)
  await running.stop()
  const rebuilt = runProjection(journal, source, memoryCheckpoints())
  await rebuilt.caughtUp
  await rebuilt.stop()
  await engine.close()
  expect(JSON.stringify(running.current())).toBe(JSON.stringify(rebuilt.current()))
}

const life: ReadonlyArray<Step> = [
  { kind: 'enqueue', by: 'ann', correlationId: 'c-1' },
  { kind: 'enqueue', by: 'ben' },
  { kind: 'complete', by: 'ann', correlationId: 'c-2' },
  { kind: 'restart the projection', by: 'ann' },
  { kind: 'fail', by: 'ben' },
  { kind: 'requeue', by: 'ann' },
  { kind: 'break', by: 'ann' },
  { kind: 'complete', by: 'ben' },
]

describe('EV-04: a projection gets the whole event, live as from the log', () => {
  test('whatever happens, whatever the batches, wherever it is restarted from a checkpoint', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), (steps) => liveIsRebuilt(openMemoryStore(), steps)),
      { numRuns: 40 },
    )
  })

  test('on SQLite; and the event has its id, who caused it, and its content', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'daybook-live-'))
    const store = await openSqliteStore({ file: join(dir, 'log.db') })
    try {
      await liveIsRebuilt(store, life)
      const { engine } = await openQueue({ store })
      const read = runProjection(journal, eventSourceOf(engine, store), memoryCheckpoints())
      await read.caughtUp
      await read.stop()
      const [first] = read.current().value as ReadonlyArray<Omit<LoggedEvent, 'content'> & { readonly content: string }>
      expect(first).toMatchObject({
        revision: 0,
        event: { type: 'TaskEnqueued', data: { task: 't1', number: 1 } },
        meta: { actor: 'ann', correlationId: 'c-1' },
        content: '{"payload":1,"description":"the 1. task"}',
      })
      expect(first?.id).toMatch(/^[0-9a-f-]{36}$/)
      expect(first?.meta.causationId).toMatch(/^[0-9a-f-]{36}$/)
      await engine.close()
    } finally {
      await store.close()
      rmSync(dir, { recursive: true, force: true })
    }
  })
})

test('who caused an event is read from its metadata, whatever its texts, and whatever other programs leave out', () => {
  const metaOf = (metadata: object) => {
    const logged = loggedEvent({ stream: 's', revision: 0, position: 0, id: 'i', type: 'TaskDue', data: '{"task":"t"}', metadata: JSON.stringify(metadata), created: '2026-01-01T00:00:00.000Z' })
    return isUnreadable(logged) ? undefined : logged.meta
  }
  const stamp = { schemaVersion: 1, at: '2026-01-01T00:00:00.000Z' }
  for (const actor of ['ann', '', 'the "one"', 'back\\slash', 'zwei\nZeilen', 'ünü', '{"actor":"eve"}']) {
    const meta = { actor, correlationId: 'c"1', causationId: 'x' }
    expect(metaOf({ ...stamp, actor, $correlationId: 'c"1', $causationId: 'x', prev: 3 })).toEqual(meta)
    expect(metaOf({ ...stamp, actor, $correlationId: 'c', $causationId: 'x', prev: 3 })).toEqual({ ...meta, correlationId: 'c' })
    expect(metaOf({ needs: '0.1.0', ...stamp, actor, $correlationId: 'c', $causationId: 'x' })).toEqual({ ...meta, correlationId: 'c' })
    expect(metaOf({ ...stamp, actor, $correlationId: 'c\\1', $causationId: 'c\\1' })).toEqual({ actor, correlationId: 'c\\1', causationId: 'c\\1' })
    expect(metaOf({ $causationId: 'x', ...stamp, other: { actor: 'eve' }, actor })).toEqual({ actor, causationId: 'x' })
  }
  expect(metaOf({ ...stamp, actor: 7 })).toEqual({})
})

describe('the law has teeth: a source that gives less of a new event than of an old one is caught', () => {
  /** Changes the events that were not there when the source was first read. */
  const worseWhenNew = (worse: (event: LoggedEvent) => LoggedEvent): SourceOf => (source) => {
    let known = Number.NaN
    return {
      ...source,
      read: async function* (from) {
        if (Number.isNaN(known)) known = await source.head()
        const isNew = (revision: number): boolean => from > 0 && revision > known
        for await (const page of source.read(from)) yield { ...page, events: page.events.map((each) => ('_tag' in each || !isNew(each.revision) ? each : worse(each))) }
      },
    }
  }
  const partsOf = (each: LoggedEvent): LoggedEvent => ({ revision: each.revision, id: each.id, event: each.event, meta: each.meta, content: () => each.content() })
  test.each<readonly [string, (event: LoggedEvent) => LoggedEvent]>([
    ['without its content', (each) => ({ ...partsOf(each), content: () => undefined })],
    ['without who caused it', (each) => ({ ...partsOf(each), meta: {} })],
    ['with another id', (each) => ({ ...partsOf(each), id: 'x' })],
    ['with another revision', (each) => ({ ...partsOf(each), revision: each.revision + 1 })],
  ])('%s', async (_, worse) => {
    await expect(liveIsRebuilt(openMemoryStore(), life, worseWhenNew(worse))).rejects.toThrow()
  })
})
