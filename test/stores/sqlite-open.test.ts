import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, test } from 'vitest'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { StoreError } from '@daybook/adapters/store'
import { runChild } from './child.js'
import { fingerprint, idsIn, numbered, storeFile, testFolder } from './store-files.js'

const root = testFolder('open')
let sound = ''
let serial = 0

/** A new folder with a copy of an intact store, changed by `change`. */
const copyOfStore = (change: (file: string) => void = () => undefined): { folder: string; file: string } => {
  const folder = join(root, `case-${serial++}`)
  mkdirSync(folder)
  const file = join(folder, 'store.daybook')
  copyFileSync(sound, file)
  change(file)
  return { folder, file }
}

const changeBytes = (file: string, change: (bytes: Buffer) => void): void => {
  const bytes = readFileSync(file)
  change(bytes)
  writeFileSync(file, bytes)
}

const refusal = async (file: string): Promise<StoreError> => {
  const outcome = await openSqliteStore({ file }).then(
    (store) => store.close().then(() => 'opened'),
    (error: unknown) => error,
  )
  if (!(outcome instanceof StoreError)) throw new Error(`expected a StoreError, not ${String(outcome)}`)
  return outcome
}

beforeAll(async () => {
  sound = await storeFile(join(root, 'sound.daybook'), 60)
})

const withSqlite = (sql: string) => (file: string): void => {
  const db = new Database(file)
  db.pragma('journal_mode = DELETE')
  db.exec(sql)
  db.close()
}

describe('EV-03 a file that cannot be used is refused, and neither it nor the files beside it change', () => {
  const cases: ReadonlyArray<readonly [title: string, code: StoreError['code'], change: (file: string) => void]> = [
    ['text', 'not-a-database', (file) => writeFileSync(file, 'once upon a time '.repeat(1000))],
    ['an empty file', 'not-a-database', (file) => writeFileSync(file, '')],
    ['the first 50 bytes', 'not-a-database', (file) => truncateSync(file, 50)],
    ['a folder', 'not-a-database', (file) => (rmSync(file), mkdirSync(file))],
    ['half of it', 'damaged', (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ['all but the last byte', 'damaged', (file) => truncateSync(file, statSync(file).size - 1)],
    ['another program\'s database', 'wrong-schema', (file) => (rmSync(file), withSqlite('CREATE TABLE t(x)')(file))],
    ['a foreign application_id', 'wrong-schema', withSqlite('PRAGMA application_id = 7')],
    ['a newer schema', 'wrong-schema', withSqlite('PRAGMA user_version = 2')],
    ['only a WAL', 'damaged', (file) => (writeFileSync(`${file}-wal`, 'left over'), rmSync(file))],
  ]
  test.each(cases)('%s', async (_, code, change) => {
    const { folder, file } = copyOfStore(change)
    const before = statSync(file, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : fingerprint(folder)
    const { code: actual, message } = await refusal(file)
    expect(actual).toBe(code)
    expect(message).toContain(file)
    const after = statSync(file, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : fingerprint(folder)
    expect(after).toEqual(before)
  })

  test('a foreign database in WAL mode, with its -wal beside it', async () => {
    const { folder, file } = copyOfStore((copy) => rmSync(copy))
    const foreign = new Database(file)
    foreign.pragma('journal_mode = WAL')
    foreign.exec('CREATE TABLE t(x); INSERT INTO t VALUES (1)')
    const before = fingerprint(folder)
    expect((await refusal(file)).code).toBe('wrong-schema')
    expect(fingerprint(folder)).toEqual(before)
    foreign.close()
  })
})

describe('EV-03 damage is detected when the store is opened, and the file is not changed', () => {
  test.each([
    ['the last event is gone', 'DELETE FROM events WHERE position = 60'],
    ['an event near the end is gone', 'DELETE FROM events WHERE position = 50'],
    ['a head points past the end', 'UPDATE streams SET revision = 500'],
    ['a segment is gone', 'DELETE FROM segments'],
    ['a table is gone', 'DROP TABLE segments'],
    ['a table is another one', 'DROP TABLE segments; CREATE TABLE segments (x)'],
  ])('%s', async (_, sql) => {
    const { file } = copyOfStore(withSqlite(sql))
    const before = readFileSync(file)
    expect((await refusal(file)).code).toBe('damaged')
    expect(readFileSync(file).equals(before)).toBe(true)
  })
})

describe('EV-03 a header with one bit flipped', () => {
  // All bits of the header would take a minute. These are all bytes, with one bit of each.
  test('is refused without a change, or has no effect: wrong events are never read', async () => {
    const ids = numbered(60).map(({ id }) => id)
    let refused = 0
    for (let at = 0; at < 100; at++) {
      const { file } = copyOfStore((copy) => changeBytes(copy, (bytes) => (bytes[at]! ^= 1 << at % 8)))
      const before = readFileSync(file)
      const opened = await openSqliteStore({ file }).catch((error: unknown) => error)
      if (opened instanceof StoreError) {
        refused += 1
        expect(readFileSync(file).equals(before), `byte ${at}`).toBe(true)
      } else {
        const store = opened as Awaited<ReturnType<typeof openSqliteStore>>
        expect(await idsIn(store, 's'), `byte ${at}`).toEqual(ids)
        await store.close()
      }
    }
    expect(refused).toBeGreaterThan(50)
  })
})

describe('opening', () => {
  test('creates a missing file, complete from the start, and no other files', async () => {
    const folder = join(root, 'new')
    mkdirSync(folder)
    const store = await openSqliteStore({ file: join(folder, 'a b é.daybook') })
    expect(await store.head('s')).toBe(-1)
    await store.close()
    expect(readdirSync(folder).sort()).toEqual(['a b é.daybook', 'a b é.daybook.lock'])
  })

  test('a missing folder is reported as missing', async () => {
    const { code, message } = await refusal(join(root, 'nowhere', 'store.daybook'))
    expect([code, /folder does not exist/.test(message)]).toEqual(['unavailable', true])
  })

  test('a link that leads nowhere is named, and stays: its disk may not be mounted', async () => {
    const folder = join(root, 'linked')
    mkdirSync(folder)
    const [file, target] = [join(folder, 'store.daybook'), join(root, 'not mounted', 'store.daybook')]
    symlinkSync(target, file)
    const { code, message } = await refusal(file)
    expect([code, message]).toEqual(['unavailable', `Cannot use the store ${file}. It is a link to ${target}, which is not there: mount its disk, or remove the link.`])
    expect(readdirSync(folder)).toEqual(['store.daybook'])
  })

  test('the sqlite3 shell can read the file', async () => {
    const { file } = copyOfStore()
    const db = new Database(file, { readonly: true })
    expect(db.prepare('SELECT position, stream, revision, id, type, data, metadata FROM events LIMIT 1').get()).toEqual({
      position: 1, stream: 's', revision: 0, ...numbered(1)[0],
    })
    expect(db.prepare('SELECT * FROM segments').all()).toEqual([{ stream: 's', first_revision: 0, first_position: 1 }])
    db.close()
  })

  // Permissions do not apply to root, so another user has to try.
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  test.each([
    ['file', 0o444, 0o777],
    ['folder', 0o666, 0o555],
  ])('EV-03 a read-only %s is refused as such', async (_, fileMode, folderMode) => {
    const { folder, file } = copyOfStore()
    chmodSync(root, 0o755)
    chmodSync(file, fileMode)
    chmodSync(folder, folderMode)
    const before = fingerprint(folder)
    expect(await runChild('open', { file }, nobody).line(/./)).toBe('refused read-only')
    expect(fingerprint(folder)).toEqual(before)
    chmodSync(folder, 0o755)
  })
})

describe('what a crash has left while a store was created', () => {
  const left = '0123abcd-0000-4000-8000-000000000000'
  const namesAfterOpening = async (file: string, folder: string): Promise<ReadonlyArray<string>> => {
    await (await openSqliteStore({ file })).close()
    return readdirSync(folder).filter((name) => name.includes('.new-'))
  }
  const anHourAgo = new Date(Date.now() - 3_700_000)

  test('a second name of the store is removed, and the store is not', async () => {
    const { file, folder } = copyOfStore((path) => linkSync(path, `${path}.new-${left}`))
    expect(await namesAfterOpening(file, folder)).toEqual([])
    const store = await openSqliteStore({ file })
    expect(await idsIn(store, 's')).toHaveLength(60)
    await store.close()
  })

  test('a second name under which somebody opened the store stays', async () => {
    const { file, folder } = copyOfStore((path) => {
      linkSync(path, `${path}.new-${left}`)
      writeFileSync(`${path}.new-${left}-wal`, 'appended')
    })
    expect(await namesAfterOpening(file, folder)).toHaveLength(2)
  })

  test('an unfinished store is removed with its journal once it is old: a young one may be in the making', async () => {
    const { file, folder } = copyOfStore((path) => {
      for (const [id, suffix] of [[left, ''], [left, '-wal'], [left.replace('0', '1'), '']] as const) writeFileSync(`${path}.new-${id}${suffix}`, 'unfinished')
      utimesSync(`${path}.new-${left}`, anHourAgo, anHourAgo)
    })
    expect(await namesAfterOpening(file, folder)).toEqual([`store.daybook.new-${left.replace('0', '1')}`])
  })
})
