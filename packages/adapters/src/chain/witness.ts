/**
 * A witness gets each checkpoint as well: a file, best on another machine's disk, or a URL. Without one, whoever has the key and the folder can sign
 * another past.
 */
import { open } from 'node:fs/promises'
import { joined } from '@daybook/client/common'
import { appendNote } from './checkpoint-files.js'

/** Rejects if the note was not accepted, or at the signal. */
export type Witness = (note: string, signal?: AbortSignal) => Promise<void>

const postMs = 10_000

export const witnessOf = (place: string): Witness => {
  if (!/^https?:\/\//.test(place)) {
    return async (note) => {
      const separator = await mendEnd(place)
      await appendNote(place, `${separator}${note}`)
    }
  }
  return async (note, stopped) => {
    const { signal, forget } = joined(stopped, AbortSignal.timeout(postMs))
    try {
      const answer = await fetch(place, { method: 'POST', headers: { 'content-type': 'text/plain; charset=utf-8' }, body: note, signal, redirect: 'error' })
      // What it says beside its status is not read: an answer may be without end.
      await answer.body?.cancel()
      // The rest of the address may be a secret.
      if (!answer.ok) throw new Error(`${new URL(place).origin} answered ${answer.status}`)
    } finally {
      forget()
    }
  }
}

/** More than a note has, in bytes. */
const noteBytesMax = 4_096
/** The line of a signature, and the empty line that ends a note. Each byte is a character. */
const noteEnd = new RegExp(`^${Buffer.from('— ').toString('latin1')}.*\n\n?`, 'gm')
/** Notes begin with the name of a signer. */
const noteStart = 'daybook-'

/** A file that may only be appended to is taken as it is. */
const ifUnreadable = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'EACCES') throw error
}

/**
 * Removes a note that a crash or a full disk has cut short at the end of the file. Otherwise the next one would be joined to it, and the file would
 * say that a checkpoint was altered. Anything else that is there stays. Returns what the next note needs before it.
 */
const mendEnd = async (file: string): Promise<string> => {
  const handle = await open(file, 'a+', 0o644).catch(ifUnreadable)
  if (handle === undefined) return ''
  try {
    const { size } = await handle.stat()
    const from = Math.max(0, size - noteBytesMax)
    const tail = (await handle.read(Buffer.alloc(size - from), 0, size - from, from)).buffer.toString('latin1')
    const last = [...tail.matchAll(noteEnd)].at(-1)
    const rest = tail.slice(last === undefined ? 0 : last.index + last[0].length)
    if (rest !== '' && (rest.startsWith(noteStart) || noteStart.startsWith(rest))) {
      await handle.truncate(size - rest.length).catch((error: unknown) => {
        throw new Error(`${file} ends with a checkpoint that was cut short, and it cannot be removed`, { cause: error })
      })
    }
    return last === undefined || last[0].endsWith('\n\n') ? '' : '\n'
  } finally {
    await handle.close()
  }
}
