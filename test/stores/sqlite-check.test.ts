import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { checkSqliteFile, openSqliteStore, scanSqlite } from '@daybook/adapters/sqlite'
import { numbered, readEvents, testFolder } from './store-files.js'

const root = testFolder('check')
let serial = 0

/** Two streams written alternately. */
const twoStreams = async (): Promise<string> => {
  const file = join(root, `${serial++}.daybook`)
  const store = await openSqliteStore({ file })
  for (let n = 0; n < 200; n++) await store.append(n % 2 === 0 ? 'a' : 'b', numbered(3, n * 3), 'any')()
  await store.close()
  return file
}

const damage = (file: string, sql: string): void => {
  const db = new Database(file)
  db.exec(sql)
  db.close()
}

describe('the full check, for the doctor', () => {
  test('an intact file', async () => {
    const file = await twoStreams()
    expect(await checkSqliteFile(file)).toEqual({ file, streams: 2, events: 600, problems: [] })
  })

  test.each([
    ['an event in the middle is gone', 'DELETE FROM events WHERE position = 100', /events missing: b/],
    ['an event has another revision', 'UPDATE events SET revision = 7 WHERE position = 100', /wrong revision.*\(position 100\)/],
    ['an event went to another stream', "UPDATE events SET stream = 'c' WHERE position = 100", /unknown streams: c revision \d+ \(position 100\)/],
    ['a segment is gone', "DELETE FROM segments WHERE stream = 'a' AND first_revision = 30", /in no segment/],
    ['an event is not JSON', "UPDATE events SET data = '{' WHERE position = 100", /not JSON texts: [ab] revision \d+ \(position 100\)/],
    ['the last event is gone', 'DELETE FROM events WHERE position = 600', /last event/],
  ])('EV-03 reports it when %s', async (_, sql, words) => {
    const file = await twoStreams()
    damage(file, sql)
    expect((await checkSqliteFile(file)).problems.join('\n')).toMatch(words)
  })

  test('EV-03 for a corrupt file the doctor does not advise to run the doctor', async () => {
    const file = await twoStreams()
    const bytes = readFileSync(file)
    bytes.fill(0xa5, 8192 * 2, 8192 * 6)
    writeFileSync(file, bytes)
    const { problems } = await checkSqliteFile(file)
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.join()).not.toContain('run the doctor')
  })

  test('EV-03 a read of a damaged part rejects and does not skip it', async () => {
    const file = await twoStreams()
    damage(file, 'DELETE FROM events WHERE position = 100')
    const store = await openSqliteStore({ file })
    await expect(readEvents(store, 'b')).rejects.toMatchObject({ code: 'damaged' })
    expect((await readEvents(store, 'a')).length).toBe(300)
    const picks = await Promise.all(Array.from({ length: 300 }, (_, revision) => store.pick('b', [revision]).then((found) => found.length, (error: { readonly code: string }) => error.code)))
    expect(picks.filter((found) => found !== 1)).toEqual(['damaged'])
    await store.close()
  })

  test('a file that is not a store is refused', async () => {
    await expect(checkSqliteFile(join(root, 'nowhere'))).rejects.toMatchObject({ code: 'unavailable' })
  })
})

test.skipIf(process.platform !== 'linux')('a scan of a file without the tables of a store keeps the file open no longer than it takes to say so', async () => {
  const file = join(root, `${serial++}.daybook`)
  damage(file, 'CREATE TABLE other (x)')
  expect(() => scanSqlite(file, 'a')).toThrow('no such table')
  const open = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      // The descriptor of the listing itself is closed by now.
      return []
    }
  })
  expect(open).not.toContain(file)
})
