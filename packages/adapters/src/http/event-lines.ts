/**
 * Events as lines of JSON, exactly as `JSON.stringify` prints what `JSON.parse` reads of {@link eventText}. Data are in the log as JSON texts, and almost
 * always as `JSON.stringify` would print them: then they are spliced into their lines, and only looked at.
 */
import type { RecordedEvent } from '../store/index.js'
import { eventText, headStart, plainHead, printedHead } from './event-text.js'
import { stableLines, stableObjects } from './stable-lines.js'
import { unicodeText } from './text.js'

/** Events that are spliced once more, and looked at together, if one of many has to be parsed. If it is among them, each is looked at alone. */
const groupSize = 16

/** In UTF-8, each with a line feed at its end. `lineOf`: of an event that is not spliced. */
export const eventLines = (events: ReadonlyArray<RecordedEvent>, lineOf: (event: RecordedEvent) => string = printedLine): Buffer => {
  const [event] = events
  if (event === undefined) return Buffer.alloc(0)
  const bytes = spliced(events)
  if (bytes !== undefined) return bytes
  if (events.length === 1) return Buffer.from(lineOf(event), 'utf8')
  const size = events.length > groupSize ? groupSize : 1
  return Buffer.concat(Array.from({ length: Math.ceil(events.length / size) }, (_, i) => eventLines(events.slice(i * size, (i + 1) * size), lineOf)))
}

/** `undefined` if one of them has to be parsed. */
const spliced = (events: ReadonlyArray<RecordedEvent>): Buffer | undefined => {
  const parts: Array<string> = []
  const places = new Int32Array(2 * events.length)
  let length = 0
  let arePlain = true
  for (let i = 0; i < events.length; i++) {
    const event = events[i] as RecordedEvent
    const { data, revision } = event
    if (!data.startsWith('{')) return undefined
    const plain = plainHead(event)
    arePlain &&= plain !== undefined
    const head = plain ?? printedHead(event)
    const number = `${revision}`
    parts.push(headStart, number, head, data, lineEnd)
    places[2 * i] = length += headStart.length + number.length + head.length
    places[2 * i + 1] = length += data.length
    length += lineEnd.length
  }
  const bytes = Buffer.from(parts.join(''), 'utf8')
  // Where each text of the log is within the bytes is known if each character is one byte. A line feed within data would make two lines of one event.
  const areStable = arePlain && bytes.length === length ? stableObjects(bytes, places) : stableLines(bytes) === events.length
  return areStable ? bytes : undefined
}
const lineEnd = '}\n'

/** The same with data as they are in the log, printed or not. */
export const loggedLines = (events: ReadonlyArray<RecordedEvent>): Buffer => eventLines(events, loggedLine)
const loggedLine = (event: RecordedEvent): string => `${unicodeText(eventText(event))}\n`

/** The line as it is defined. A lone surrogate, which UTF-8 has no form for, becomes U+FFFD. */
const printedLine = (event: RecordedEvent): string => `${JSON.stringify(JSON.parse(unicodeText(eventText(event)).toWellFormed()))}\n`
