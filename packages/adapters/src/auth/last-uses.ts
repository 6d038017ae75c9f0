/** When each token was last used on this server. Kept in a file of the data folder, which may be lost. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { writeWhole } from '../disk/atomic-write.js'
import { errorText } from '../error-text.js'

const UsesFile = t.type({ version: t.literal(1), uses: t.record(t.string, t.number) })
const fileName = 'token-uses.json'
/** The interval in milliseconds at which the file is written, if anything has changed. */
const everyMs = 60_000

export interface LastUses {
  readonly note: (id: string, at: number) => void
  readonly forget: (id: string) => void
  /** Milliseconds since 1970; `undefined` for a token that was never used here. */
  readonly of: (id: string) => number | undefined
  readonly close: () => Promise<void>
}

/** `dir`: the data folder, or `memory`. */
export const openLastUses = (dir: string, warn: (message: string) => void): LastUses => {
  const file = dir === 'memory' ? undefined : join(dir, fileName)
  const uses = new Map(file === undefined ? [] : Object.entries(readUses(file)))
  let isWritten = true
  let writing: Promise<void> = Promise.resolve()
  const write = (): Promise<void> => {
    if (isWritten || file === undefined) return writing
    isWritten = true
    const text = JSON.stringify({ version: 1, uses: Object.fromEntries(uses) })
    return (writing = writing.then(() => writeWhole(file, [text])).catch((error: unknown) => warn(`when tokens were used cannot be written to ${file}: ${errorText(error)}`)))
  }
  const timer = setInterval(() => void write(), everyMs)
  timer.unref()
  return {
    note: (id, at) => {
      uses.set(id, at)
      isWritten = false
    },
    forget: (id) => void uses.delete(id),
    of: (id) => uses.get(id),
    close: () => {
      clearInterval(timer)
      return write()
    },
  }
}

const readUses = (file: string): Readonly<Record<string, number>> => {
  try {
    const decoded = UsesFile.decode(JSON.parse(readFileSync(file, 'utf8')))
    return E.isRight(decoded) ? decoded.right.uses : {}
  } catch {
    // The file is missing or damaged. It may be lost.
    return {}
  }
}
