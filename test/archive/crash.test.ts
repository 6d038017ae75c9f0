/** `kill -9` at every step of moving events: nothing is lost, and the next run ends the work. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { archiveLog } from '@daybook/adapters/archive'
import { archiveBeside, listSegments, streamFolder } from '@daybook/adapters/segments'
import { verifyAt } from '@daybook/adapters/chain'
import { checkSqliteFile, openSqliteStore } from '@daybook/adapters/sqlite'
import type { RecordedEvent } from '@daybook/adapters/store'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { testFolder } from '../stores/store-files.js'
import { bundled } from '../support/bundled.js'
import { fileOf, openJoined, readAll, type StreamAppend, stream, streams } from './support.js'

const root = testFolder('archive-crash')
const before = 330
let whole = ''
let all: ReadonlyArray<ReadonlyArray<RecordedEvent>> = []

const logs = async (file: string): Promise<ReadonlyArray<ReadonlyArray<RecordedEvent>>> => {
  const log = openJoined(file)
  const read = await Promise.all(streams.map((each) => readAll(log, each)))
  await log.close()
  return read
}

const appends = Array.from({ length: 100 }, (_, i): StreamAppend => ({ stream: streams[i % 5 === 4 ? 1 : 0], count: 1 + (i % 14), sealed: i > 10 }))
beforeAll(async () => {
  whole = await fileOf(root, appends)
  all = await logs(whole)
})

let copies = 0
const copy = (): string => {
  const folder = join(root, String(copies++))
  mkdirSync(folder)
  const file = join(folder, 'daybook.sqlite')
  copyFileSync(whole, file)
  return file
}

const script = bundled(new URL('./child.mjs', import.meta.url))

/** Runs it in a process of its own. The steps that it told of. */
const runChild = (file: string, killAt: number): { readonly steps: ReadonlyArray<string>; readonly killed: boolean } => {
  const { stdout, stderr, signal, status } = spawnSync(process.execPath, [script(), file, stream, String(before), String(killAt)], { encoding: 'utf8' })
  expect(signal === 'SIGKILL' || status === 0, stderr).toBe(true)
  return { steps: stdout.trim().split('\n'), killed: signal !== null }
}

/** Whatever was done: each event can be read once, as it was, and the chain holds. */
const nothingIsLost = async (file: string, at: string): Promise<void> => {
  expect(await logs(file), at).toEqual(all)
  expect(await verifyAt({ kind: 'sqlite', file }, stream), at).toMatchObject({ ok: true, events: all[0]?.length })
  expect((await checkSqliteFile(file)).problems, at).toEqual([])
}

test('killed at each step: nothing is lost, and the next run ends the work', async () => {
  const met = new Set<string>()
  let wanted: ReadonlyArray<string> | undefined
  for (let killAt = 1; ; killAt++) {
    const file = copy()
    const { steps, killed } = runChild(file, killAt)
    const at = `killed at step ${killAt}, ${steps.at(-1)}`
    if (killed) {
      met.add(steps.at(-1) as string)
      await nothingIsLost(file, at)
      runChild(file, 0)
    }
    await nothingIsLost(file, at)
    const segments = await listSegments(archiveBeside(file), stream)
    const names = segments.map(({ path, from, to }) => `${path.slice(streamFolder(archiveBeside(file), stream).length)} ${from} ${to}`)
    // The same files, whenever it was interrupted, and nothing beside them.
    wanted ??= names
    expect(names, at).toEqual(wanted)
    expect(readdirSync(streamFolder(archiveBeside(file), stream)).length, at).toBe(segments.length)
    expect(statSync(file).size, at).toBeLessThan(statSync(whole).size * 0.7)
    if (!killed) break
  }
  expect([...met].sort()).toEqual(['checking', 'compacting', 'removing', 'verifying', 'writing'])
}, 600_000)

test('what a crash left unfinished is removed', async () => {
  const file = copy()
  const folder = streamFolder(archiveBeside(file), stream)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, '000000000000-000000000000.jsonl.gz.abc.unfinished'), 'half')
  runChild(file, 0)
  expect(readdirSync(folder).filter((name) => name.endsWith('unfinished'))).toEqual([])
})

test('a segment that is not what the store has: nothing is removed', async () => {
  const file = copy()
  // Killed after the first segment was written and before its events were removed.
  let killAt = 1
  while (runChild(file, killAt).steps.at(-1) !== 'verifying') killAt++
  const [segment] = await listSegments(archiveBeside(file), stream)
  if (segment === undefined) return expect.fail('no segment was written')
  // One that is whole in itself, with other events.
  mkdirSync(join(root, 'strange'))
  const strange = await fileOf(join(root, 'strange'), appends)
  runChild(strange, 0)
  const [stranger] = await listSegments(archiveBeside(strange), stream)
  expect(stranger).toMatchObject({ from: segment.from, to: segment.to })
  const kept = readFileSync(segment.path)
  copyFileSync(stranger!.path, segment.path)
  await expect(archiveLog({ address: { kind: 'sqlite', file }, archive: archiveBeside(file), streams: [stream], before: { revision: before } })).rejects.toThrow('it is not what the store has')
  writeFileSync(segment.path, kept)
  await nothingIsLost(file, 'after the segment was put back')
})

test('a log that is not whole is not moved', async () => {
  const file = copy()
  const db = new Database(file)
  db.prepare("UPDATE events SET data = '{}' WHERE stream = ? AND revision = 100").run(stream)
  db.close()
  await expect(archiveLog({ address: { kind: 'sqlite', file }, archive: archiveBeside(file), streams: [stream], before: { revision: before } })).rejects.toThrow('nothing of it was moved: revision 100')
  expect(await listSegments(archiveBeside(file), stream)).toEqual([])
})

test('while a server has the file open, it is refused, and the reason says what to do', async () => {
  const file = copy()
  const store = await openSqliteStore({ file, sharing: 'shared' })
  await expect(archiveLog({ address: { kind: 'sqlite', file }, archive: archiveBeside(file), streams: [stream], before: { revision: before } })).rejects.toThrow('stop the server, move the events, start it again')
  await store.close()
})
