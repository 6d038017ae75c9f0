/**
 * Events as lines of JSON, exactly as `JSON.stringify` prints what `JSON.parse` reads of {@link eventText}. Data are in the log as JSON texts, and almost
 * always as `JSON.stringify` would print them: then they are spliced into their lines, and only looked at.
 */
import type { RecordedEvent } from '../store/index.js'
import { eventHead, eventText } from './event-text.js'
import { stableLines } from './stable-lines.js'
import { unicodeText } from './text.js'

/** Events that are spliced once more, and looked at together, if one of many has to be parsed. If it is among them, each is looked at alone. */
const groupSize = 16

/** In UTF-8, each with a line feed at its end. */
export const eventLines = (events: ReadonlyArray<RecordedEvent>): Buffer => {
  const [event] = events
  if (event === undefined) return Buffer.alloc(0)
  const bytes = spliced(events)
  if (bytes !== undefined) return bytes
  if (events.length === 1) return Buffer.from(printedLine(event), 'utf8')
  const size = events.length > groupSize ? groupSize : 1
  return Buffer.concat(Array.from({ length: Math.ceil(events.length / size) }, (_, i) => eventLines(events.slice(i * size, (i + 1) * size))))
}

/** `undefined` if one of them has to be parsed. */
const spliced = (events: ReadonlyArray<RecordedEvent>): Buffer | undefined => {
  let text = ''
  for (const event of events) {
    const { data } = event
    if (!data.startsWith('{')) return undefined
    text += `${eventHead(event)}${data}}\n`
  }
  const bytes = Buffer.from(text, 'utf8')
  // A line feed within data would make two lines of one event.
  return stableLines(bytes) === events.length ? bytes : undefined
}

/** The line as it is defined. A lone surrogate, which UTF-8 has no form for, becomes U+FFFD. */
const printedLine = (event: RecordedEvent): string => `${JSON.stringify(JSON.parse(unicodeText(eventText(event)).toWellFormed()))}\n`
