/**
 * EV-03: after a power cut only synced data exists, and a file's name only if its folder was synced. Killing a process does not test this, because
 * the kernel still has the data. So these tests check the order of the system calls.
 */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { goesWithout, strace } from '../support/needs.js'
import { runProgram, scriptPath } from './child.js'
import { testFolder } from './store-files.js'
import { type Call, callsIn, folders, isAbout, isMaking, isNaming, isSync, isWrite, names, syncs, writes } from './system-calls.js'

const dir = realpathSync(testFolder('order'))

describe.skipIf(goesWithout(strace))('EV-03', () => {
  let calls: ReadonlyArray<Call> = []
  beforeAll(async () => {
    const trace = join(dir, 'trace.txt')
    const args = ['-f', '-y', '-s', '16', '-o', trace, '-e', `trace=${writes},${syncs},${names},${folders}`, process.execPath, scriptPath('sync-order'), JSON.stringify({ dir })]
    const child = runProgram('strace', args)
    expect(await child.ended).toBe(0)
    expect(child.lines).toEqual(['opened', 'appended', 'committed', 'embedded', 'kept'])
    calls = callsIn(readFileSync(trace, 'utf8')).filter(({ failed }) => !failed)
  })

  const named = (path: string): number => calls.findIndex((call) => isNaming(call, path))
  const said = (word: string): number => calls.findIndex((call) => isWrite(call) && call.about.includes(`"${word}\\n"`))
  const lastWriteBefore = (to: number, path: string): number => calls.findLastIndex((call, at) => at < to && isWrite(call) && isAbout(call, path))
  const isSyncedBetween = (from: number, to: number, path: string): boolean => calls.slice(from + 1, to).some((call) => isSync(call) && isAbout(call, path))

  test("the folder of a new store is synced before the store is reported open", () => {
    const begun = named(join(dir, 'new.daybook'))
    expect(begun).toBeGreaterThan(0)
    expect(isSyncedBetween(begun, said('opened'), dir)).toBe(true)
  })

  test('an append is synced before it is acknowledged', () => {
    const wal = join(dir, 'new.daybook-wal')
    const acknowledged = said('appended')
    const written = lastWriteBefore(acknowledged, wal)
    expect(written).toBeGreaterThan(0)
    expect(isSyncedBetween(written, acknowledged, wal)).toBe(true)
  })

  test('a snapshot is synced before it gets its name, and its folder before it is reported', () => {
    const folder = join(dir, 'snapshots')
    const finished = named(join(folder, 's.0.snapshot'))
    const unfinished = /"([^"]*unfinished[^"]*)"/.exec(calls[finished]?.about ?? '')?.[1] ?? ''
    const written = lastWriteBefore(finished, unfinished)
    expect(written).toBeGreaterThan(0)
    expect(isSyncedBetween(written, finished, unfinished)).toBe(true)
    expect(calls.slice(finished).filter((call) => isWrite(call) && isAbout(call, unfinished))).toEqual([])
    expect(isSyncedBetween(finished, said('committed'), folder)).toBe(true)
  })

  test('the names of a new data folder and of its parents are synced before it is reported', () => {
    for (const [folder, parent] of [[join(dir, 'above', 'data'), join(dir, 'above')], [join(dir, 'above'), dir]] as const) {
      const made = calls.findIndex((call) => isMaking(call, folder))
      expect(made).toBeGreaterThan(0)
      expect(isSyncedBetween(made, said('embedded'), parent)).toBe(true)
    }
  })

  test('the name of the file of tokens, and that of a new folder for it, are synced before the admin token is shown', () => {
    const folder = join(dir, 'tokens')
    const made = calls.findIndex((call) => isMaking(call, folder))
    const kept = named(join(folder, 'tokens.json'))
    expect(Math.min(made, kept)).toBeGreaterThan(0)
    expect(isSyncedBetween(made, said('kept'), dir)).toBe(true)
    expect(isSyncedBetween(kept, said('kept'), folder)).toBe(true)
  })

  test('a file of rows and its name are synced before a snapshot that names it gets its name', () => {
    const folder = join(dir, 'snapshots')
    const rows = join(folder, readdirSync(folder).find((name) => name.endsWith('.rows')) as string)
    const finished = named(join(folder, 's.0.snapshot'))
    const written = lastWriteBefore(finished, rows)
    expect(written).toBeGreaterThan(0)
    expect(isSyncedBetween(written, finished, rows)).toBe(true)
    expect(isSyncedBetween(named(rows), finished, folder)).toBe(true)
  })
})
