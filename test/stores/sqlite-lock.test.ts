import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { runChild } from './child.js'
import { idsIn, isLocked, numbered, storeFile, testFolder } from './store-files.js'

const root = testFolder('lock')

describe('one server per file', () => {
  test('EV-03 a file that another process has open is refused as locked, also if that process shares it', async () => {
    for (const sharing of ['exclusive', 'shared'] as const) {
      const file = await storeFile(join(root, `held-${sharing}.daybook`), 3)
      const holder = runChild('open', { file, sharing })
      await holder.line(/^open/)
      const refused = openSqliteStore({ file })
      await expect(refused).rejects.toMatchObject({ code: 'locked', message: expect.stringContaining('stop it') })
      holder.process.stdin!.end()
      expect(await holder.ended).toBe(0)
      const store = await openSqliteStore({ file })
      await store.close()
    }
  })

  test('EV-03 no process can share a file that a server has opened exclusively', async () => {
    const file = join(root, 'exclusive.daybook')
    const store = await openSqliteStore({ file })
    expect(await runChild('open', { file, sharing: 'shared' }).line(/./)).toBe('refused locked')
    await expect(openSqliteStore({ file })).rejects.toMatchObject({ code: 'locked' })
    await store.close()
  })

  test('EV-03 the lock ends with its process, however that ends', async () => {
    const file = await storeFile(join(root, 'killed.daybook'), 3)
    const holder = runChild('open', { file })
    await holder.line(/^open/)
    holder.process.kill('SIGKILL')
    expect(await holder.ended).toBe('SIGKILL')
    const store = await openSqliteStore({ file })
    expect((await idsIn(store, 's')).length).toBe(3)
    await store.close()
  })

  test('EV-03 a damaged lock file is named, and may be deleted while no server runs', async () => {
    const file = await storeFile(join(root, 'spoilt-lock.daybook'), 3)
    writeFileSync(`${file}.lock`, 'no database'.repeat(100))
    await expect(openSqliteStore({ file })).rejects.toThrow(`delete ${file}.lock`)
    rmSync(`${file}.lock`)
    const store = await openSqliteStore({ file })
    expect((await idsIn(store, 's')).length).toBe(3)
    await store.close()
  })

  test('EV-03 whoever opens a file while it is being opened does not drop the locks on it: otherwise a shell that ends would remove the WAL', async () => {
    for (let n = 0; n < 12; n++) {
      const file = await storeFile(join(root, `at-once-${n}.daybook`), 1)
      const openAfter = async (ms: number) => {
        await sleep(ms)
        return openSqliteStore({ file })
      }
      const results = await Promise.allSettled([openSqliteStore({ file }), ...[0, 1, 2, 3, 4, 5, 6, 7].map(openAfter)])
      const stores = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      expect(stores.length).toBe(1)
      expect(isLocked(file)).toBe(true)
      await stores[0]!.close()
      expect(isLocked(file)).toBe(false)
    }
  })

  test('a reader such as the sqlite3 shell is not locked out, and does not delay appends', async () => {
    const file = join(root, 'shell.daybook')
    const store = await openSqliteStore({ file })
    const shell = new Database(file, { readonly: true })
    shell.exec('BEGIN')
    expect(shell.prepare('SELECT count(*) AS n FROM events').get()).toEqual({ n: 0 })
    expect((await store.append('s', numbered(2), 'no_stream')())._tag).toBe('Right')
    shell.exec('COMMIT')
    expect(shell.prepare('SELECT count(*) AS n FROM events').get()).toEqual({ n: 2 })
    shell.close()
    await store.close()
  })

  test('EV-03 an append that waits too long for another writer is refused, and may be retried', async () => {
    const file = join(root, 'busy.daybook')
    const store = await openSqliteStore({ file, busyTimeoutMs: 50 })
    const other = new Database(file)
    other.exec('BEGIN IMMEDIATE')
    const refused = await store.append('s', numbered(1), 'any')()
    expect(refused).toMatchObject({ _tag: 'Left', left: { _tag: 'Unavailable' } })
    other.exec('ROLLBACK')
    other.close()
    expect((await store.append('s', numbered(1), 'no_stream')())._tag).toBe('Right')
    await store.close()
  })
})

describe('two processes that share one file', () => {
  test('EV-03 append to one stream: every acknowledged event is there once, in one order', async () => {
    const file = await storeFile(join(root, 'two.daybook'), 0)
    const names = ['one', 'two']
    const children = names.map((name) => runChild('append', { file, sharing: 'shared', name, count: 150, batch: 3 }))
    const store = await openSqliteStore({ file, sharing: 'shared' })
    const followed: Array<string> = []
    const subscription = store.subscribe('s', 0).subscribe((delivered) => {
      if (!('_tag' in delivered)) followed.push(...delivered.map(({ id }) => id))
    })
    for (const child of children) await child.line(/^done/)
    const ids = await idsIn(store, 's')
    expect(ids.length).toBe(300)
    for (const name of names) {
      const own = ids.filter((id) => id.startsWith(name))
      expect(own).toEqual(Array.from({ length: 150 }, (_, n) => `${name}-${n}`))
    }
    await expect.poll(() => followed.length, { timeout: 30_000, interval: 5 }).toBe(300)
    expect(followed).toEqual(ids)
    subscription.unsubscribe()
    await store.close()
  })

  test('a subscription hears of another process\'s appends by itself', async () => {
    const file = await storeFile(join(root, 'heard.daybook'), 0)
    const store = await openSqliteStore({ file, sharing: 'shared' })
    let heard = 0
    const subscription = store.subscribe('s', 0).subscribe((delivered) => {
      if (!('_tag' in delivered)) heard += delivered.length
    })
    const child = runChild('append', { file, sharing: 'shared', count: 5 })
    await child.line(/^done/)
    await expect.poll(() => heard, { timeout: 30_000, interval: 5 }).toBe(5)
    subscription.unsubscribe()
    await store.close()
  })
})
