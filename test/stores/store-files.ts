import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore, EventToAppend, RecordedEvent } from '@daybook/adapters/store'

/** A folder for the calling test file. It is removed at the end of the file. */
export const testFolder = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `daybook-${name}-`))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Names and contents of all files, to check that nothing was changed. */
export const fingerprint = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, createHash('sha256').update(readFileSync(join(folder, name))).digest('hex')]),
  )

export const numbered = (count: number, first = 0): Array<EventToAppend> =>
  Array.from({ length: count }, (_, i) => ({
    id: `id-${first + i}`,
    type: 'Counted',
    data: JSON.stringify({ n: first + i, text: 'x'.repeat(100) }),
    metadata: '{}',
  }))

export const readEvents = async (store: EventStore, stream: string): Promise<Array<RecordedEvent>> => {
  const found: Array<RecordedEvent> = []
  for await (const page of store.read(stream)) found.push(...page)
  return found
}

export const idsIn = async (store: EventStore, stream: string): Promise<Array<string>> =>
  (await readEvents(store, stream)).map(({ id }) => id)

/** Creates and closes a store with `count` events in stream `s`. Returns its path. */
export const storeFile = async (file: string, count: number): Promise<string> => {
  const store = await openSqliteStore({ file })
  if (count > 0) await store.append('s', numbered(count), 'no_stream')()
  await store.close()
  return file
}

/** Whether a process has a POSIX lock on the file, as SQLite has while a file with a WAL is open. Only on Linux. */
export const isLocked = (file: string): boolean => readFileSync('/proc/locks', 'utf8').includes(`:${statSync(file).ino} `)
