import { mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkSqliteFile, openSqliteStore } from '@daybook/adapters/sqlite'
import { goesWithout, mount, strace } from '../support/needs.js'
import { runProgram, scriptPath } from './child.js'
import { callsIn, isAbout, isSync, isWrite, syncs, writes } from './system-calls.js'
import { idsIn, storeFile, testFolder } from './store-files.js'

const root = testFolder('disk')

interface Outcome {
  readonly id: string
  readonly outcome: 'written' | 'Unavailable' | 'OutcomeUnknown'
  readonly reason?: string
}
/** The result of a read right after an append. */
type Look = { readonly id: string; readonly isThere: boolean } | { readonly id: string; readonly unreadable: string }
type Line = Outcome | Look

const parse = (lines: ReadonlyArray<string>): ReadonlyArray<Line> => lines.map((line) => JSON.parse(line) as Line)

test.skipIf(goesWithout(mount))('EV-03 a full disk refuses appends without harm, and they succeed again when there is room', async () => {
  const folder = join(root, 'full')
  mkdirSync(folder)
  const options = JSON.stringify({ file: join(folder, 'store.daybook'), bytes: 100_000, count: 60 })
  const filler = join(folder, 'filler')
  const script = `mount -t tmpfs -o size=4m none "$1" && head -c 1500000 /dev/zero > "$2" && "$3" "$4" "$5" "$2"`
  const child = runProgram('unshare', ['-rm', 'sh', '-c', script, 'sh', folder, filler, process.execPath, scriptPath('failing-disk'), options])
  expect(await child.ended).toBe(0)
  const outcomes = parse(child.lines)
  const kinds = outcomes.flatMap((line) => ('outcome' in line ? [line.outcome] : []))
  const refusedFirst = kinds.indexOf('Unavailable')
  expect(refusedFirst).toBeGreaterThan(3)
  expect(kinds.slice(refusedFirst + 1).filter((kind) => kind === 'written').length).toBeGreaterThan(3)
  expect(kinds).not.toContain('OutcomeUnknown')
  const written = new Map(outcomes.flatMap((line) => ('outcome' in line ? [[line.id, line.outcome === 'written']] : [])))
  for (const line of outcomes) {
    if ('outcome' in line) {
      if (line.outcome === 'Unavailable') expect(line.reason).toMatch(/full.*make room/)
    } else expect(line).toEqual({ id: line.id, isThere: written.get(line.id) })
  }
})

/** The n-th fsync of each writing thread fails. A new writer counts from one again. */
test.skipIf(goesWithout(strace)).each([
  [1, 'for good: the renewed writer fails as well'],
  [3, 'for good: the renewed writer fails as well'],
  [4, 'again and again'],
  [6, 'now and then'],
])('EV-03 when a commit fails on the disk (fsync %i, %s), what is read afterwards is durable', async (when) => {
  const file = await storeFile(join(root, `io-${when}.daybook`), 0)
  const options = JSON.stringify({ file, bytes: 100, count: 8 })
  const calls = 'fsync,fdatasync'
  const inject = ['-f', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${calls}:error=EIO:when=${when}`]
  const child = runProgram('strace', [...inject, process.execPath, scriptPath('failing-disk'), options])
  expect(await child.ended).toBe(0)
  const lines = parse(child.lines)
  expect(lines.length).toBe(16)

  const store = await openSqliteStore({ file })
  const ids = await idsIn(store, 's')
  await store.close()
  const outcomes = lines.flatMap((line) => ('outcome' in line ? [line] : []))
  const looks = lines.flatMap((line) => ('outcome' in line ? [] : [line]))
  expect(outcomes.map(({ outcome }) => outcome)).toContain('OutcomeUnknown')
  for (const { id, outcome } of outcomes) {
    if (outcome === 'written') expect(ids).toContain(id)
    if (outcome === 'Unavailable') expect(ids).not.toContain(id)
  }
  for (const look of looks) {
    if ('isThere' in look) expect(ids.includes(look.id)).toBe(look.isThere)
    else expect(look.unreadable).toBe('unavailable')
  }
  expect(looks.some((look) => 'isThere' in look)).toBe(when > 3)
  expect((await checkSqliteFile(file)).problems).toEqual([])
})

test.skipIf(goesWithout(strace))('EV-03 a writer whose commit failed on the disk writes nothing more: the appends after it are refused, and are not there', async () => {
  const file = await storeFile(join(realpathSync(root), 'behind.daybook'), 0)
  const trace = join(root, 'behind.txt')
  // The third sync of a thread is slow and fails. Meanwhile more appends are requested.
  const inject = ['-f', '-y', '-o', trace, '-e', `trace=${writes},${syncs}`, '-e', 'inject=fsync,fdatasync:error=EIO:delay_enter=3000000:when=3']
  const child = runProgram('strace', [...inject, process.execPath, scriptPath('appends-meanwhile'), JSON.stringify({ file, count: 60, everyMs: 10 })])
  expect(await child.ended).toBe(0)
  const outcomes = child.lines.map((line) => JSON.parse(line) as Outcome)
  expect(outcomes).toHaveLength(60)

  const calls = callsIn(readFileSync(trace, 'utf8'))
  const failures = calls.flatMap((call, at) => (isSync(call) && call.failed ? [{ ...call, at }] : []))
  expect(failures.length).toBeGreaterThan(0)
  for (const { thread, at } of failures) {
    const later = calls.slice(at + 1).filter((call) => call.thread === thread && isWrite(call) && isAbout(call, `${file}-wal`))
    expect(later).toEqual([])
  }
  // Some arrived while the sync was failing.
  expect(outcomes.map(({ outcome }) => outcome)).toContain('Unavailable')
  const store = await openSqliteStore({ file })
  const ids = await idsIn(store, 's')
  await store.close()
  for (const { id, outcome } of outcomes) {
    if (outcome === 'written') expect(ids).toContain(id)
    if (outcome === 'Unavailable') expect(ids).not.toContain(id)
  }
})

test('EV-03 a process that can open no more files appends as much as before, and what is there can be read again when it can', async () => {
  const file = join(root, 'no-descriptors.daybook')
  const child = runProgram('sh', ['-c', 'ulimit -n 128; exec "$0" "$@"', process.execPath, scriptPath('no-descriptors'), JSON.stringify({ file })])
  expect(await child.ended).toBe(0)
  expect(child.lines).toEqual(['EMFILE', 'appended', 'appended', 'id-0,id-19999', 'unavailable', 'appended', '30000'])
})
