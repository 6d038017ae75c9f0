/**
 * Files for rows of old finished tasks (ADR 52), which snapshots name (ADR 54). A read returns exactly what was written, or fails; and files stay as
 * long as somebody needs them.
 */
import { closeSync, mkdirSync, openSync, readdirSync, readlinkSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openEngine, type QueueEngine, streamOf } from '@daybook/adapters/engine'
import { openRowFiles, openSnapshotFolder } from '@daybook/adapters/files'
import { serve } from '@daybook/adapters/serve'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore, LoadedSnapshot } from '@daybook/adapters/store'
import { duplicateOf, foldVersion, keptIn, type KeptRows, taskOf } from '@daybook/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { textOf } from '../support/states/index.js'
import { bundled } from '../support/bundled.js'
import { caller, claim, complete, enqueue, foldAll, logOf, ok, task, until } from '../support/queue.js'
import { runSeed } from '../support/seed.js'
import { runChild, runProgram, scriptPath } from './child.js'
import { bytesOf, columnsOf, keep, rowFolders, rowsIn, warn } from './rows.js'

const newFolder = rowFolders('rows')
/** Open files with rows in this folder, by their descriptors. */
const openIn = (dir: string): ReadonlyArray<string> =>
  readdirSync('/proc/self/fd').map((fd) => `/proc/self/fd/${fd}`).filter((link) => {
    try {
      return /^.*\.rows( \(deleted\))?$/.test(readlinkSync(link)) && readlinkSync(link).startsWith(`${dir}/`)
    } catch {
      // The descriptor of the folder that is read.
      return false
    }
  })

test('rows come back as they were written, from any of several files', () => {
  const dir = newFolder()
  const store = openRowFiles(dir, { warn, fileBytes: 40_000 }).storeOf('q')
  const kept = Array.from({ length: 40 }, (_, n) => keep(store, n) as KeptRows)
  expect(openIn(dir).length).toBeGreaterThan(5)
  for (const n of [39, 0, 20, 20, 7]) expect([kept[n]?.read(), kept[n]?.columns()]).toEqual([bytesOf(n), columnsOf(n)])
  // The returned array belongs to the reader.
  kept[3]?.read().fill(0)
  expect(kept[3]?.read()).toEqual(bytesOf(3))
})

test('another process finds rows at their places', () => {
  const dir = newFolder()
  const store = openRowFiles(dir, { warn, fileBytes: 20_000 }).storeOf('q')
  const places = Array.from({ length: 9 }, (_, n) => keep(store, n)?.place())
  const rowsAt = openRowFiles(dir, { warn }).rowsOf('q')
  for (const [n, place] of places.entries()) expect(place && [rowsAt(place).read(), rowsAt(place).columns(), rowsAt(place).place()]).toEqual([bytesOf(n), columnsOf(n), place])
})

test('two queues have files of their own', () => {
  const dir = newFolder()
  const files = openRowFiles(dir, { warn })
  const [a, b] = [keep(files.storeOf('a'), 1), keep(files.storeOf('b'), 2)]
  expect([a?.read(), b?.read(), openIn(dir).length]).toEqual([bytesOf(1), bytesOf(2), 2])
})

test.each<[string, (file: string) => void, RegExp]>([
  ['cut off', (file) => truncateSync(file, 21_500), /the file ends at 21500/],
  ['changed', (file) => {
    const fd = openSync(file, 'r+')
    writeSync(fd, Uint8Array.of(0xff, 0xfe), 0, 2, 21_400)
    closeSync(fd)
  }, /do not match their checksum/],
])('EV-04 rows of a file that is %s are an error and never others, and the file is not used again', (_, damage, message) => {
  const dir = newFolder()
  const store = openRowFiles(dir, { warn, fileBytes: 80_000 }).storeOf('q')
  const [first, second] = [0, 1].map((n) => keep(store, n) as KeptRows)
  expect(second?.place()?.at.slice(0, 2)).toEqual([21_000, 1_001])
  damage(openIn(dir)[0] as string)
  expect(first?.read()).toEqual(bytesOf(0))
  expect(rowsIn(dir)).toHaveLength(1)
  expect(() => second?.read()).toThrow(message)
  expect(rowsIn(dir)).toEqual([])
  expect(() => second?.read()).toThrow(/start the server again/)
})

test('rows of files that are closed are an error, also when another file has got the number', () => {
  const dir = newFolder()
  const files = openRowFiles(dir, { warn })
  const kept = keep(files.storeOf('q'), 5)
  files.close()
  writeFileSync(join(dir, 'other'), bytesOf(5))
  const fd = openSync(join(dir, 'other'), 'r')
  expect(() => kept?.read()).toThrow(/the file is closed/)
  closeSync(fd)
})

test('INV-22: a file is closed when nobody has its rows any more, and deleted if no snapshot names it', async () => {
  const dir = newFolder()
  const files = openRowFiles(dir, { warn, fileBytes: 20_000 })
  const store = files.storeOf('q')
  let kept = Array.from({ length: 40 }, (_, n) => keep(store, n) as KeptRows)
  const open = openIn(dir).length
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const isDown = (): boolean => {
    collect()
    return openIn(dir).length <= 2
  }
  collect()
  await new Promise((resolve) => setTimeout(resolve, 10))
  await files.remove(rowsIn(dir))
  expect([openIn(dir).length, rowsIn(dir).length]).toEqual([open, open])
  kept = kept.slice(-1)
  await until(isDown)
  await files.remove(rowsIn(dir))
  expect(rowsIn(dir).length).toBeLessThanOrEqual(2)
  expect(kept[0]?.read()).toEqual(bytesOf(39))
})

test('where no file can be made, rows stay in memory with one warning, and files are used as soon as they can be', () => {
  const dir = newFolder()
  const said: Array<string> = []
  const store = openRowFiles(dir, { warn: (message) => said.push(message) }).storeOf('q')
  rmSync(dir, { recursive: true })
  expect([keep(store, 1), keep(store, 2)]).toEqual([undefined, undefined])
  expect(said).toEqual([expect.stringMatching(/of q stay in memory.*ENOENT/)])
  mkdirSync(dir)
  expect(keep(store, 3)?.read()).toEqual(bytesOf(3))
})

test('on a disk that is full, what was written in part is overwritten, and the rest is right', async () => {
  // Blocks of 512 or 1,024 bytes.
  const child = runProgram('sh', ['-c', 'ulimit -f 300 && exec "$@"', 'sh', process.execPath, scriptPath('rows-in-a-short-file'), JSON.stringify({ dir: newFolder(), chunkBytes: 9_000 })])
  expect(await child.ended).toBe(0)
  const { kept, right, small, warnings: said } = JSON.parse(child.lines[0] as string) as { kept: number; right: number; small: boolean; warnings: ReadonlyArray<string> }
  expect(kept).toBeGreaterThanOrEqual(5)
  expect([right, small, said.length]).toEqual([kept, true, 1])
  expect(said[0]).toMatch(/EFBIG/)
})

test('a start removes files of rows that no snapshot names, and none of another process that is alive', async () => {
  const dir = newFolder()
  const others = `q.${process.ppid}-a-0.rows`
  for (const name of ['q.999999999-a-0.rows', `q.${process.pid}-a-0.rows`, others, 'q.1.rows', 'rows.txt']) writeFileSync(join(dir, name), 'x')
  await openSnapshotFolder(dir)
  expect(readdirSync(dir).sort()).toEqual([others, 'q.1.rows', 'rows.txt'].sort())
})

interface Opened {
  readonly engine: QueueEngine
  readonly store: EventStore
  readonly revision: number
  readonly skipped: ReadonlyArray<string>
  readonly said: ReadonlyArray<string>
  readonly close: () => Promise<void>
}

/** Opens the queue `q` of a folder. All its chunks except the newest are in files of a few chunks. */
const openQueue = async (dir: string, snapshotEvery = 1e9): Promise<Opened> => {
  const store = await openSqliteStore({ file: join(dir, 'log.db') })
  const snapshots = await openSnapshotFolder(join(dir, 'snapshots'), { rows: { warn, newest: 1, fileBytes: 100_000 } })
  const skipped: Array<string> = []
  const said: Array<string> = []
  const engine = await openEngine(store, 'q', snapshots, { progress: () => undefined, skipped: (name, reason) => skipped.push(`${name} ${reason}`) }, { snapshotEvery, warn: (text) => said.push(text) })
  const close = async (): Promise<void> => {
    await engine.close()
    await store.close()
    snapshots.close()
  }
  return { engine, store, revision: engine.status().revision, skipped, said, close }
}

/** Kills a process that has finished 250 tasks a round, with a snapshot every 3,000 events. */
const finishAndDie = async (dir: string, rounds: number): Promise<{ readonly revision: number; readonly snapshotRevision: number }> => {
  const child = runChild('finish-and-die', { dir, rounds })
  expect(await child.ended).toBe('SIGKILL')
  return JSON.parse(child.lines[0] as string) as { readonly revision: number; readonly snapshotRevision: number }
}

/** The state is that of its log, folded from the first event. */
const expectRight = async ({ engine, store }: Opened): Promise<void> => {
  expect(ok(await engine.read((state) => textOf(state)))).toBe(textOf(foldAll(await logOf(store))))
}

test('INV-15, EV-04 after kill -9 a queue whose rows were in files is the same, and reads none of them', async () => {
  const dir = newFolder()
  const status = await finishAndDie(dir, 20)
  expect(status.snapshotRevision).toBeGreaterThan(3_000)
  const before = rowsIn(join(dir, 'snapshots'))
  const opened = await openQueue(dir)
  const { engine } = opened
  expect([opened.revision, opened.skipped]).toEqual([status.revision, []])
  // It goes on with the files of the killed process.
  expect(openIn(join(dir, 'snapshots')).length).toBeGreaterThan(2)
  expect(rowsIn(join(dir, 'snapshots')).filter((name) => before.includes(name)).length).toBeGreaterThan(2)
  await expectRight(opened)
  expect(ok(await engine.read((state) => [taskOf(state, '3-17')?.status, taskOf(state, '3-999')]))).toEqual(['completed', undefined])
  await finishMany(engine, 1_500, 'later')
  expect(rowsIn(join(dir, 'snapshots')).some((name) => name.includes(`.${process.pid}-`))).toBe(true)
  await opened.close()
  // And the next one with the files of both.
  const again = await openQueue(dir)
  expect(again.skipped).toEqual([])
  await expectRight(again)
  await again.close()
})

test.each<[string, RegExp, (file: string) => void]>([
  ['is gone', /no such file/, (file) => rmSync(file)],
  ['is cut short', /ends at 70000/, (file) => truncateSync(file, 70_000)],
  ['has other columns', /do not match their checksum/, (file) => writeFileSync(file, new Uint8Array(statSync(file).size).fill(7))],
])('EV-04 a snapshot of which a file of rows %s is not used, and nothing is lost', async (_, reason, damage) => {
  const dir = newFolder()
  const { revision, snapshotRevision } = await finishAndDie(dir, 20)
  const folder = join(dir, 'snapshots')
  // The newest file that a snapshot names: older snapshots do without it.
  const named = (await openSnapshotFolder(folder)).list(streamOf('q'), foldVersion, revision)
  // A snapshot that was committed just before the kill is newer than the process reported.
  expect((await named).usable[0]?.header.revision).toBeGreaterThanOrEqual(snapshotRevision)
  const inFirst = await filesOf((await named).usable[0])
  const inSecond = await filesOf((await named).usable.at(-1))
  const only = [...inFirst].filter((file) => !inSecond.has(file))
  expect(only.length).toBeGreaterThan(0)
  damage(join(folder, rowsIn(folder).find((name) => name.includes(only[0] as string)) as string))
  const opened = await openQueue(dir)
  expect(opened.skipped[0]).toMatch(reason)
  expect(opened.revision).toBe(revision)
  await expectRight(opened)
  await opened.close()
})

/** The row files that a snapshot names. */
const filesOf = async (snapshot: LoadedSnapshot | undefined): Promise<ReadonlySet<string>> => {
  const files = new Set<string>()
  for await (const page of snapshot?.pages() ?? []) for (const { place } of keptIn(page)) files.add(place.file)
  return files
}

/** Finishes this many tasks. */
const finishMany = async (engine: QueueEngine, count: number, name: string): Promise<void> => {
  for (let from = 0; from < count; from += 500) {
    ok(await engine.submit(enqueue(...Array.from({ length: 500 }, (_, i) => task(`${name}-${from + i}`))), caller))
    const held = ok(await engine.claim(claim('ann', 500), caller))
    for (const outcome of await engine.submitAll(held.map((each) => complete(each)), caller)) ok(outcome)
  }
}

test('rows whose file somebody has deleted are in the snapshot after the next one', async () => {
  const dir = newFolder()
  const folder = join(dir, 'snapshots')
  const opened = await openQueue(dir, 2_000)
  await finishMany(opened.engine, 2_000, 'a')
  await until(() => rowsIn(folder).length > 0 && opened.engine.status().snapshotRevision > 0)
  const { revision } = opened.engine.status()
  for (const name of rowsIn(folder)) rmSync(join(folder, name))
  await finishMany(opened.engine, 3_000, 'b')
  await until(() => opened.said.length > 0)
  expect(opened.said[0]).toMatch(/no snapshot at revision.*is gone/)
  const isThere = (): boolean => opened.engine.status().snapshotRevision > revision
  for (let i = 0; i < 20 && !isThere(); i++) await finishMany(opened.engine, 500, `c${i}`)
  await until(isThere)
  await opened.close()
  const again = await openQueue(dir)
  expect(again.skipped.filter((text) => text.includes(`@${again.revision} `))).toEqual([])
  await expectRight(again)
  await again.close()
})

test('INV-22: files of rows whose retention is over are deleted with the last snapshot that names them', async () => {
  const dir = newFolder()
  const folder = join(dir, 'snapshots')
  const store = await openSqliteStore({ file: join(dir, 'log.db') })
  const snapshots = await openSnapshotFolder(folder, { keep: 1, ladder: { count: 0, bytes: 0 }, rows: { newest: 1, fileBytes: 100_000 } })
  const opening = { progress: () => undefined, skipped: () => undefined }
  let at = 1_700_000_000_000
  const engine = await openEngine(store, 'q', snapshots, opening, { clock: () => at, snapshotEvery: 3_000 })
  ok(await engine.submit({ type: 'Configure', patch: { retentionSeconds: 60 } }, caller))
  await finishMany(engine, 4_000, 'a')
  await until(() => rowsIn(folder).length > 1)
  const old = rowsIn(folder)
  at += 120_000
  await finishMany(engine, 4_000, 'b')
  await engine.close()
  snapshots.close()
  // The next start removes files that the garbage collector had not released.
  const next = await openSnapshotFolder(folder)
  const left = rowsIn(folder)
  expect(left.filter((name) => name === old[0])).toEqual([])
  const { usable } = await next.list(streamOf('q'), foldVersion, 1e9)
  expect(new Set(left.map((name) => name.split('.').at(-2)))).toEqual(await filesOf(usable[0]))
  await store.close()
})

interface Step {
  readonly name: string
  /** 1 for the first step with this name, 2 for the second … */
  readonly nth: number
}

const script = bundled(new URL('./children/die-at-a-step.mjs', import.meta.url))
const dieAtAStep = (dir: string, step?: Step) =>
  runProgram(process.execPath, ['--import', scriptPath('steps-of-files'), script(), JSON.stringify({ dir })], { env: { ...process.env, ...(step === undefined ? {} : { DIE_AT: JSON.stringify(step) }) } })

/** The steps of a run that nobody kills. */
const stepsOf = async (): Promise<ReadonlyArray<Step>> => {
  const child = dieAtAStep(newFolder())
  expect(await child.ended).toBe(0)
  const { lines } = child
  return lines.map((name, i) => ({ name, nth: lines.slice(0, i + 1).filter((other) => other === name).length }))
}

test('EV-03, EV-04: kill -9 at any step of writing rows and a snapshot leaves a queue that starts and has everything', async () => {
  const steps = await stepsOf()
  // The first step of each kind, and some of the others, drawn anew in each run: each costs two process starts.
  const first = steps.filter(({ nth }) => nth === 1)
  const drawn = fc.sample(fc.shuffledSubarray(steps.filter(({ nth }) => nth > 1), { minLength: 8, maxLength: 8 }), { numRuns: 1, seed: runSeed })[0] as ReadonlyArray<Step>
  const kills = new Set<string>()
  for (const { name, nth } of [...first, ...drawn]) {
    const dir = newFolder()
    const child = dieAtAStep(dir, { name, nth })
    // The last steps of a kind need not come to pass: how many there are depends on what happens at the same time.
    if ((await child.ended) !== 0) kills.add(child.lines.at(-1) as string)
    const opened = await openQueue(dir)
    expect(opened.skipped, `${name} ${nth}`).toEqual([])
    await expectRight(opened)
    await opened.close()
    rmSync(dir, { recursive: true })
  }
  // The main thread decides, so it does not wait for the disk for a snapshot.
  expect([...kills].sort()).toEqual([
    ...['open .rows', 'sync .rows', 'sync folder', 'write .rows'].map((step) => `main thread: ${step}`),
    ...['open .snapshot', 'rename', 'rm .snapshot', 'sync .snapshot', 'sync folder', 'write .snapshot'].map((step) => `other thread: ${step}`),
  ])
}, 600_000)

test('a server keeps rows of old finished tasks in files beside its snapshots', async () => {
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
