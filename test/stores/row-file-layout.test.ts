/** Where rows and columns lie in a row file (ADR 54). */
import fs, { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { openRowFiles } from '@daybook/adapters/files'
import { expect, test } from 'vitest'
import { bytesOf, columnsOf, keep, rowFolders, rowsIn, warn } from './rows.js'

const newFolder = rowFolders('row-layout')

test('the columns of a file follow each other at its beginning, before all rows, and room that they do not use takes none of the disk', () => {
  const dir = newFolder()
  const store = openRowFiles(dir, { warn, fileBytes: 8_000_000 }).storeOf('q')
  const places = Array.from({ length: 9 }, (_, n) => keep(store, n)?.place()?.at ?? [])
  const [columns, rows] = [places.map(([, , , length, , from]) => [from, length]), places.map(([from, length]) => [from, length])]
  const ends = (parts: ReadonlyArray<ReadonlyArray<number | undefined>>, begin: number): ReadonlyArray<number> => parts.map((_, i) => parts.slice(0, i).reduce((sum, [, length = 0]) => sum + length, begin))
  expect(columns.map(([from]) => from)).toEqual(ends(columns, 0))
  expect(rows.map(([from]) => from)).toEqual(ends(rows, 2_000_000))
  const { size, blocks } = statSync(join(dir, rowsIn(dir)[0] as string))
  expect([size > 2_000_000, 512 * blocks < size / 4]).toEqual([true, true])
})

test('a file ends when its part for columns is full, or its rows have enough bytes', () => {
  const filesOf = (fileBytes: number, rowsBytes: number): ReadonlyArray<string | undefined> => {
    const store = openRowFiles(newFolder(), { warn, fileBytes }).storeOf('q')
    return Array.from({ length: 12 }, (_, n) => store.keep(new Uint8Array(rowsBytes), columnsOf(n))?.place()?.file)
  }
  const perFile = (files: ReadonlyArray<string | undefined>): number => 12 / new Set(files).size
  expect([perFile(filesOf(4 * 3 * 4_136, 10)), perFile(filesOf(4 * 3 * 4_136 - 1, 10)), perFile(filesOf(4 * (3 * 4_136 - 1), 10)), perFile(filesOf(1, 10))]).toEqual([3, 3, 2, 1])
  expect([perFile(filesOf(100_000, 25_000)), perFile(filesOf(100_000, 33_000)), perFile(filesOf(100_000, 34_000))]).toEqual([4, 4, 3])
})

test('rows are found in files in which the columns of a chunk come after its rows, as earlier versions wrote them', () => {
  const dir = newFolder()
  const now = keep(openRowFiles(dir, { warn }).storeOf('q'), 1)?.place()?.at ?? []
  const written = readFileSync(join(dir, rowsIn(dir)[0] as string))
  const [, , rowsSum = 0, columnsBytes = 0, columnsSum = 0, columnsFrom = 0] = now
  const name = `${process.pid}-earlier-0`
  writeFileSync(join(dir, `q.${name}.rows`), Buffer.concat([bytesOf(0), bytesOf(1), written.subarray(columnsFrom, columnsFrom + columnsBytes)]))
  const place = { file: name, at: [1_000, 1_001, rowsSum, columnsBytes, columnsSum] }
  const kept = openRowFiles(dir, { warn }).rowsOf('q')(place)
  expect([kept.read(), kept.columns(), kept.place()]).toEqual([bytesOf(1), columnsOf(1), place])
  truncateSync(join(dir, `q.${name}.rows`), 3_000)
  expect(() => openRowFiles(dir, { warn }).rowsOf('q')(place)).toThrow(/ends at 3000/)
})

test('a chunk whose columns cannot be written is not kept, and the next one takes its place', () => {
  const store = openRowFiles(newFolder(), { warn, fileBytes: 80_000 }).storeOf('q')
  const first = keep(store, 1)
  const write = fs.writeSync
  let writes = 0
  const refusing = (...args: Parameters<typeof write>): number => {
    if (++writes === 2) throw new Error('no space left')
    return write(...args)
  }
  try {
    Object.assign(fs, { writeSync: refusing })
    syncBuiltinESMExports()
    expect(keep(store, 2)).toBeUndefined()
  } finally {
    Object.assign(fs, { writeSync: write })
    syncBuiltinESMExports()
  }
  const third = keep(store, 3)
  expect(third?.place()?.at[0]).toBe(21_001)
  for (const [n, kept] of [[1, first], [3, third]] as const) expect([kept?.read(), kept?.columns()]).toEqual([bytesOf(n), columnsOf(n)])
})
