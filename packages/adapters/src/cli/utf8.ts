/**
 * Texts from files and standard input. Bytes that are not UTF-8 are refused, as over HTTP: decoded all the same, they would all become the same
 * character, and two different tasks would be duplicates.
 */
import { isUtf8 } from 'node:buffer'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { UsageError } from './exit-codes.js'

const notUtf8 = (what: string): UsageError => new UsageError(`${what} is not UTF-8 text: convert it first, for example with iconv`)

/** @throws UsageError. `what` names the file. */
export const textOf = (bytes: Buffer, what: string): string => {
  if (!isUtf8(bytes)) throw notUtf8(what)
  return bytes.toString('utf8')
}

/** Lines of any number. Rejects with a UsageError at the first part that is not UTF-8. */
export const linesOf = (bytes: Readable, what: string): AsyncIterable<string> =>
  createInterface({ input: Readable.from(partsOf(bytes, what)), crlfDelay: Number.POSITIVE_INFINITY })

const partsOf = async function* (bytes: AsyncIterable<unknown>, what: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (part?: Buffer): string => {
    try {
      return part === undefined ? decoder.decode() : decoder.decode(part, { stream: true })
    } catch {
      throw notUtf8(what)
    }
  }
  for await (const part of bytes) yield decode(part as Buffer)
  yield decode()
}
