/** Events of type `$>` point to another event: `revision@stream`. */
import type { Log } from './log.js'
import { linkResponse, linkType, readResponse, type LogEvent } from './log-event.js'

const isInt64 = (text: string): boolean =>
  /^\s*[+-]?\d+\s*$/.test(text) && BigInt.asIntN(64, integer(text)) === integer(text)

const integer = (text: string): bigint => BigInt(text.replace('+', ''))

type Encode = (event: LogEvent) => Buffer

/** Encodes events for a reader, with or without resolving links. */
export const encoding = (log: Log, resolveLinks: boolean): Encode => {
  if (!resolveLinks) return readResponse
  return (event) => {
    if (event.type !== linkType) return readResponse(event)
    const payload = Buffer.from(event.data).toString('utf8')
    const [revision = '', ...rest] = payload.split('@')
    if (!isInt64(revision)) return readResponse(event)
    const target = rest.length === 0 || Number(revision) < -1
      ? undefined
      : log.readable(rest.join('@'), Number(revision), Date.now())
    return linkResponse(event, target)
  }
}
