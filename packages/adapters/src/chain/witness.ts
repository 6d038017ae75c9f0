/**
 * A witness gets each checkpoint as well: a file, best on another machine's disk, or a URL. Without one, whoever has the key and the folder can sign
 * another past.
 */
import { appendNote } from './checkpoint-files.js'

/** Rejects if the note was not accepted, or at the signal. */
export type Witness = (note: string, signal?: AbortSignal) => Promise<void>

const postMs = 10_000

export const witnessOf = (place: string): Witness => {
  if (!/^https?:\/\//.test(place)) return (note) => appendNote(place, note)
  return async (note, stopped) => {
    const late = AbortSignal.timeout(postMs)
    const signal = stopped === undefined ? late : AbortSignal.any([stopped, late])
    const answer = await fetch(place, { method: 'POST', headers: { 'content-type': 'text/plain; charset=utf-8' }, body: note, signal, redirect: 'error' })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${place} answered ${answer.status}`)
  }
}
