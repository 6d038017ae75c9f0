import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDaybook, type Daybook, prepareTask } from '@daybook/adapters/engine'
import { eventSourceOf, fileCheckpoints } from '@daybook/adapters/files'
import { openMemoryStore } from '@daybook/adapters/memory'
import { type CheckpointStore, type Projection, runProjection } from '@daybook/projections'
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-checkpoints-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

describe('checkpoints in files', () => {
  const checkpoint = { projection: 'totals', version: 1, revision: 7, state: '{"x":1}' }

  test('the last one is found again, also by another process', async () => {
    const first = fileCheckpoints(join(dir, 'deep', 'folder'))
    expect(await first.load('totals')).toBeUndefined()
    await first.save(checkpoint)
    await first.save({ ...checkpoint, revision: 8 })
    expect(await fileCheckpoints(join(dir, 'deep', 'folder')).load('totals')).toEqual({ ...checkpoint, revision: 8 })
    expect(await first.load('others')).toBeUndefined()
  })

  test.each(['', '{', '[]', '{"projection":"totals"}', '{"projection":"other","version":1,"revision":1,"state":""}'])('%j is not a checkpoint, and not an error', async (text) => {
    writeFileSync(join(dir, 'totals.json'), text)
    expect(await fileCheckpoints(dir).load('totals')).toBeUndefined()
  })
})

/** How many tasks were enqueued. */
const enqueued: Projection<number, number> = {
  name: 'enqueued',
  version: 4,
  initial: () => 0,
  fold: (count, { event }) => count + Number(event.type === 'TaskEnqueued'),
  result: (count) => count,
  encode: (count) => count,
  decode: (json) => (typeof json === 'number' ? E.right(json) : E.left('no number')),
}

describe('EV-04: a projection of a real queue', () => {
  const store = openMemoryStore()
  const enqueue = async (daybook: Daybook, ...ids: ReadonlyArray<string>): Promise<void> => {
    const engine = await daybook.open('default')
    for (const id of ids) {
      const task = prepareTask({ id, type: 'dev', payload: id })
      if (E.isLeft(task)) throw new Error(task.left.detail)
      await engine.submit({ type: 'Enqueue', tasks: [task.right] }, { actor: 'test' })
    }
  }
  const count = async (checkpoints: CheckpointStore, during: (daybook: Daybook) => Promise<void>) => {
    const daybook = createDaybook({ store: { ...store, close: async () => undefined } })
    await daybook.ready
    const engine = await daybook.open('default')
    const running = runProjection(enqueued, eventSourceOf(engine, daybook.log), checkpoints)
    await running.caughtUp
    await during(daybook)
    await new Promise((resolve) => setImmediate(resolve))
    const { revision, value } = running.current()
    await running.stop()
    await daybook.close()
    return { revision, enqueued: value }
  }

  test('continues after a restart from its checkpoint', async () => {
    const checkpoints = fileCheckpoints(dir)
    expect(await count(checkpoints, (daybook) => enqueue(daybook, 'a', 'b'))).toEqual({ revision: 1, enqueued: 2 })
    expect(readdirSync(dir)).toEqual(['enqueued.json'])
    expect(await count(checkpoints, (daybook) => enqueue(daybook, 'c'))).toEqual({ revision: 2, enqueued: 3 })
    expect(await checkpoints.load('enqueued')).toMatchObject({ revision: 2, version: enqueued.version })
  })
})
