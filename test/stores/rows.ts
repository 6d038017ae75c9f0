/** Chunks of rows for row files, and folders for these. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { KeptRows, RowStore } from '@daybook/core'
import { testFolder } from './store-files.js'

/** To be called where tests are declared. The result makes a new folder with each call. */
export const rowFolders = (name: string): (() => string) => {
  const root = testFolder(name)
  let serial = 0
  return () => {
    const dir = join(root, `${serial++}`)
    mkdirSync(dir)
    return dir
  }
}
export const warn = (): void => undefined

/** The bytes and the columns of the chunk `n`, which are those of no other. The columns have 4,136 bytes when they are packed. */
export const bytesOf = (n: number): Uint8Array => Uint8Array.from({ length: 1_000 + n }, (_, i) => (i * 7 + n) % 256)
export const columnsOf = (n: number): Float64Array => Float64Array.from({ length: 2 * 512 }, (_, i) => (i < 512 ? n : i * 2 ** 32))
export const keep = (store: RowStore, n: number): KeptRows | undefined => store.keep(bytesOf(n), columnsOf(n))
export const rowsIn = (dir: string): ReadonlyArray<string> => readdirSync(dir).filter((name) => name.endsWith('.rows'))
