/** Files for rows of old finished tasks (ADR 52): what is read is what was written, or an error; and they leave nothing behind. */
import { closeSync, mkdirSync, openSync, readdirSync, readlinkSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openEngine } from '@daybook/adapters/engine'
import { openRowFiles, openSnapshotFolder } from '@daybook/adapters/files'
import { serve } from '@daybook/adapters/serve'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { duplicateOf, type KeptBytes, taskOf } from '@daybook/core'
import { finishedSizeOf, textOf } from '@daybook/core/testing'
import { expect, test } from 'vitest'
import { caller, claim, complete, enqueue, foldAll, logOf, ok, task, until } from '../support/queue.js'
import { runChild, runProgram, scriptPath } from './child.js'
import { testFolder } from './store-files.js'

const root = testFolder('rows')
let serial = 0
const newFolder = (): string => {
  const dir = join(root, `${serial++}`)
  mkdirSync(dir)
  return dir
}
const warnings: Array<string> = []
const warn = (message: string): void => void warnings.push(message)
const bytesOf = (n: number): Uint8Array => Uint8Array.from({ length: 1_000 + n }, (_, i) => (i * 7 + n) % 256)
/** Open files without a name in this folder, by their descriptors. */
const openIn = (dir: string): ReadonlyArray<string> =>
  readdirSync('/proc/self/fd').map((fd) => `/proc/self/fd/${fd}`).filter((link) => {
    try {
      return readlinkSync(link).startsWith(`${dir}/finished-`)
    } catch {
      // The descriptor of the folder that is read.
      return false
    }
  })

test('rows come back as they were written, from any of several files, and the folder shows none', () => {
  const dir = newFolder()
  const store = openRowFiles(dir, { warn, fileBytes: 5_000 }).storeOf('q')
  const kept = Array.from({ length: 40 }, (_, n) => store.keep(bytesOf(n)) as KeptBytes)
  expect(openIn(dir).length).toBeGreaterThan(5)
  expect(readdirSync(dir)).toEqual([])
  for (const n of [39, 0, 20, 20, 7]) expect(kept[n]?.read()).toEqual(bytesOf(n))
  // What is read belongs to the reader.
  kept[3]?.read().fill(0)
  expect(kept[3]?.read()).toEqual(bytesOf(3))
})

test('two queues have files of their own', () => {
  const dir = newFolder()
  const files = openRowFiles(dir, { warn })
  const [a, b] = [files.storeOf('a').keep(bytesOf(1)), files.storeOf('b').keep(bytesOf(2))]
  expect([a?.read(), b?.read(), openIn(dir).length]).toEqual([bytesOf(1), bytesOf(2), 2])
})

test.each<[string, (file: string) => void, RegExp]>([
  ['cut off', (file) => truncateSync(file, 1_500), /the file ends at 1500/],
  ['changed', (file) => {
    const fd = openSync(file, 'r+')
    writeSync(fd, Uint8Array.of(0xff, 0xfe), 0, 2, 1_200)
    closeSync(fd)
  }, /do not match their checksum/],
])('EV-04 rows of a file that is %s are an error and never others', (_, damage, message) => {
  const dir = newFolder()
  const store = openRowFiles(dir, { warn }).storeOf('q')
  const [first, second] = [0, 1].map((n) => store.keep(bytesOf(n)) as KeptBytes)
  damage(openIn(dir)[0] as string)
  expect(first?.read()).toEqual(bytesOf(0))
  expect(() => second?.read()).toThrow(message)
  expect(() => second?.read()).toThrow(/start the server again/)
})

test('rows of files that are closed are an error, also when another file has got the number', () => {
  const dir = newFolder()
  const files = openRowFiles(dir, { warn })
  const kept = files.storeOf('q').keep(bytesOf(5))
  files.close()
  writeFileSync(join(dir, 'other'), bytesOf(5))
  const fd = openSync(join(dir, 'other'), 'r')
  expect(() => kept?.read()).toThrow(/the file is closed/)
  closeSync(fd)
})

test('INV-22: a file is closed when nobody has its rows any more', async () => {
  const dir = newFolder()
  const store = openRowFiles(dir, { warn, fileBytes: 5_000 }).storeOf('q')
  let kept = Array.from({ length: 40 }, (_, n) => store.keep(bytesOf(n)) as KeptBytes)
  const open = openIn(dir).length
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const isDown = (): boolean => {
    collect()
    return openIn(dir).length <= 2
  }
  collect()
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(openIn(dir).length).toBe(open)
  kept = kept.slice(-1)
  await until(isDown)
  expect(kept[0]?.read()).toEqual(bytesOf(39))
})

test('where no file can be made, rows stay in memory with one warning, and files are used as soon as they can be', () => {
  const dir = newFolder()
  const said: Array<string> = []
  const store = openRowFiles(dir, { warn: (message) => said.push(message) }).storeOf('q')
  rmSync(dir, { recursive: true })
  expect([store.keep(bytesOf(1)), store.keep(bytesOf(2))]).toEqual([undefined, undefined])
  expect(said).toEqual([expect.stringMatching(/the queue q stay in memory.*ENOENT/)])
  mkdirSync(dir)
  expect(store.keep(bytesOf(3))?.read()).toEqual(bytesOf(3))
})

test('on a disk that is full, what was written in part is overwritten, and the rest is right', async () => {
  // Blocks of 512 or 1,024 bytes.
  const child = runProgram('sh', ['-c', 'ulimit -f 100 && exec "$@"', 'sh', process.execPath, scriptPath('rows-in-a-short-file'), JSON.stringify({ dir: newFolder(), chunkBytes: 9_000 })])
  expect(await child.ended).toBe(0)
  const { kept, right, small, warnings: said } = JSON.parse(child.lines[0] as string) as { kept: number; right: number; small: boolean; warnings: ReadonlyArray<string> }
  expect(kept).toBeGreaterThanOrEqual(5)
  expect([right, small, said.length]).toEqual([kept, true, 1])
  expect(said[0]).toMatch(/EFBIG/)
})

test('files that a killed process could not delete are removed, those of others are not', () => {
  const dir = newFolder()
  const others = `finished-${process.ppid}-0.rows`
  for (const name of ['finished-999999999-0.rows', `finished-${process.pid}-77.rows`, others, 'finished-1.txt']) writeFileSync(join(dir, name), 'x')
  openRowFiles(dir, { warn })
  expect(readdirSync(dir).sort()).toEqual(['finished-1.txt', others].sort())
})

test('INV-15, EV-04 after kill -9 a queue whose rows were in files is the same, and no file is left', async () => {
  const dir = newFolder()
  const child = runChild('finish-and-die', { dir, rounds: 20 })
  expect(await child.ended).toBe('SIGKILL')
  const status = JSON.parse(child.lines[0] as string) as { readonly revision: number; readonly snapshotRevision: number }
  expect(status.snapshotRevision).toBeGreaterThan(3_000)
  expect(readdirSync(dir).filter((name) => name.startsWith('finished-'))).toEqual([])
  const store = await openSqliteStore({ file: join(dir, 'log.db') })
  const snapshots = await openSnapshotFolder(join(dir, 'snapshots'))
  const files = openRowFiles(dir, { warn, newest: 1, fileBytes: 100_000 })
  const skipped: Array<string> = []
  const engine = await openEngine(store, 'q', snapshots, { progress: () => undefined, skipped: (name) => skipped.push(name) }, { rowStoreOf: files.storeOf })
  expect([engine.status().revision, skipped]).toEqual([status.revision, []])
  expect(openIn(dir).length).toBeGreaterThan(2)
  const zero = foldAll(await logOf(store))
  const [text, small] = ok(await engine.read((state) => [textOf(state), finishedSizeOf(state).bytes] as const))
  expect(text).toBe(textOf(zero))
  expect(small).toBeLessThan(finishedSizeOf(zero).bytes)
  expect(ok(await engine.read((state) => [taskOf(state, '3-17')?.status, taskOf(state, '3-999')]))).toEqual(['completed', undefined])
  await engine.close()
  await store.close()
  files.close()
})

test('a server keeps rows of old finished tasks in files in its data folder', async () => {
  const dir = newFolder()
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: join(dir, 'log.db'), sharing: 'exclusive' }, auth: 'off', memory: { kind: 'off' }, readModels: 'off' })
  const engine = await server.daybook.open('default')
  for (let from = 0; from < 34_000; from += 1_000) {
    await engine.submit(enqueue(...Array.from({ length: 1_000 }, (_, i) => task(`${from + i}`))), caller)
    const held = ok(await engine.claim(claim('ann', 1_000), caller))
    await engine.submitAll(held.map((each) => complete(each)), caller)
  }
  expect(openIn(dir)).toHaveLength(1)
  expect(ok(await engine.read((state) => [taskOf(state, '3')?.status, duplicateOf(state, '4')?.id]))).toEqual(['completed', '4'])
  await server.close()
  expect(openIn(dir)).toEqual([])
})
