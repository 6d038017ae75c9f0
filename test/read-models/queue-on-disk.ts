/** A queue in a folder of its own, for each test of the calling file. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { QueueEngine } from '@daybook/adapters/engine'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore, RecordedEvent } from '@daybook/adapters/store'
import { afterEach, beforeEach } from 'vitest'
import { openQueue } from '../support/queue.js'

export interface QueueOnDisk {
  readonly store: EventStore
  readonly engine: QueueEngine
  /** The path of a file in its folder. Its log is `log.db`. */
  readonly file: (name: string) => string
}

/** The same events in another log: each has another id. */
export const ofAnotherLog = (events: ReadonlyArray<RecordedEvent>): ReadonlyArray<RecordedEvent> => events.map((event) => ({ ...event, id: randomUUID() }))

export const useQueueOnDisk = (): QueueOnDisk => {
  let dir = ''
  let store: EventStore
  let engine: QueueEngine
  const file = (name: string): string => join(dir, name)
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'daybook-views-'))
    store = await openSqliteStore({ file: file('log.db') })
    engine = (await openQueue({ store })).engine
  })
  afterEach(async () => {
    await engine.close()
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
  return {
    get store() {
      return store
    },
    get engine() {
      return engine
    },
    file,
  }
}
