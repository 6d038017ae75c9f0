import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { checkSqliteFile, openSqliteStore } from '@daybook/adapters/sqlite'
import { runChild } from './child.js'
import { numbered, readEvents, storeFile, testFolder } from './store-files.js'

const root = testFolder('crash')

describe('durability', () => {
  test('EV-03 appended events are there after closing and opening again', async () => {
    const file = join(root, 'reopened.daybook')
    for (let round = 0; round < 3; round++) {
      const store = await openSqliteStore({ file })
      expect(await store.head('s')).toBe(round * 50 - 1)
      await store.append('s', numbered(50, round * 50), round === 0 ? 'no_stream' : round * 50 - 1)()
      await store.close()
    }
    const store = await openSqliteStore({ file })
    const found = await readEvents(store, 's')
    expect(found.map(({ id }) => id)).toEqual(numbered(150).map(({ id }) => id))
    expect(found.map(({ position }) => position)).toEqual(Array.from({ length: 150 }, (_, i) => i + 1))
    await store.close()
  })

  test('EV-03 kill -9 at ten moments: nothing acknowledged is lost, and no append is there in part', async () => {
    const file = await storeFile(join(root, 'killed.daybook'), 0)
    const batch = 7
    let known = -1
    for (let round = 0; round < 10; round++) {
      const child = runChild('append', { file, batch, pipelined: 2, name: `round${round}` })
      await child.line(/^ack/)
      await new Promise((resolve) => setTimeout(resolve, 3 + round * 9))
      child.process.kill('SIGKILL')
      await child.ended
      const acknowledged = child.lines.filter((line) => line.startsWith('ack')).map((line) => Number(line.split(' ')[1]))
      const store = await openSqliteStore({ file })
      const head = await store.head('s')
      expect(head).toBeGreaterThanOrEqual(Math.max(...acknowledged))
      expect((head - known) % batch).toBe(0)
      // At most the two appends in flight, and the one acknowledged while the child died.
      expect(head - Math.max(...acknowledged)).toBeLessThanOrEqual(3 * batch)
      const own = (await readEvents(store, 's')).slice(known + 1).map(({ id }) => id)
      expect(own).toEqual(own.map((_, n) => `round${round}-${n}`))
      known = head
      await store.close()
    }
    expect((await checkSqliteFile(file)).problems).toEqual([])
  })

  test('EV-03 the WAL stays bounded while appends go on', async () => {
    const file = join(root, 'wal.daybook')
    const store = await openSqliteStore({ file })
    const large = numbered(500).map((event) => ({ ...event, data: JSON.stringify('x'.repeat(2000)) }))
    for (let n = 0; n < 100; n++) await store.append('s', large, 'any')()
    expect(statSync(file).size).toBeGreaterThan(60 * 2 ** 20)
    expect(statSync(`${file}-wal`).size).toBeLessThan(40 * 2 ** 20)
    await store.close()
  })

  test('EV-03 the WAL stays bounded while one reader or another always reads', async () => {
    const file = await storeFile(join(root, 'read-always.daybook'), 1)
    const store = await openSqliteStore({ file })
    const begin = (db: Database.Database): void => {
      db.exec('BEGIN')
      db.prepare('SELECT count(*) FROM streams').get()
    }
    const readers = [new Database(file, { readonly: true }), new Database(file, { readonly: true })] as const
    readers.forEach(begin)
    let turns = 0
    const reading = setInterval(() => {
      const reader = readers[turns++ % 2 === 0 ? 0 : 1]
      reader.exec('COMMIT')
      begin(reader)
    }, 4)
    try {
      const large = numbered(500).map((event) => ({ ...event, data: JSON.stringify('x'.repeat(2000)) }))
      for (let n = 0; n < 160; n++) await store.append('s', large, 'any')()
      expect(statSync(`${file}-wal`).size).toBeLessThan(112 * 2 ** 20)
    } finally {
      clearInterval(reading)
      for (const reader of readers) reader.close()
      await store.close()
    }
  })
})
