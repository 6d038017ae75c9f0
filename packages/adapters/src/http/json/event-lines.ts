/**
 * Events as lines of JSON, exactly as `JSON.stringify` prints what `JSON.parse` reads of {@link eventText}. Data are in the log as JSON texts, almost
 * always in the form that `JSON.stringify` would print. Such texts are only checked, and spliced into their lines.
 */
import type { RecordedEvent } from '../../store/index.js'
import { eventText, headStart, plainHead, printedHead } from './event-text.js'
import { stableLines, stableObjects } from './stable-lines.js'
import { unicodeText } from './text.js'

/**
 * If one event of a page has to be parsed, the page is spliced again in groups of this many events. In the group with that event, each event is
 * handled alone.
 */
const groupSize = 16

/** Lines in UTF-8, each with a line feed at its end. `lineOf`: returns the line of an event that cannot be spliced. */
export const eventLines = (events: ReadonlyArray<RecordedEvent>, lineOf: (event: RecordedEvent) => string = printedLine): Buffer => {
  const [event] = events
  if (event === undefined) return Buffer.alloc(0)
  const bytes = spliced(events)
  if (bytes !== undefined) return bytes
  if (events.length === 1) return Buffer.from(lineOf(event), 'utf8')
  const size = events.length > groupSize ? groupSize : 1
  return Buffer.concat(Array.from({ length: Math.ceil(events.length / size) }, (_, i) => eventLines(events.slice(i * size, (i + 1) * size), lineOf)))
}

/** `undefined` if one of the events has to be parsed. */
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
  // The positions of the texts within the bytes are known only if each character is one byte. A line feed within data would make two lines of one
  // event.
  const areStable = arePlain && bytes.length === length ? stableObjects(bytes, places) : stableLines(bytes) === events.length
  return areStable ? bytes : undefined
}
const lineEnd = '}\n'

/** The same with data exactly as in the log, even if `JSON.stringify` would print them otherwise. */
export const loggedLines = (events: ReadonlyArray<RecordedEvent>): Buffer => eventLines(events, loggedLine)
const loggedLine = (event: RecordedEvent): string => `${unicodeText(eventText(event))}\n`

/** The line by its definition. A lone surrogate, which has no form in UTF-8, becomes U+FFFD. */
const printedLine = (event: RecordedEvent): string => `${JSON.stringify(JSON.parse(unicodeText(eventText(event)).toWellFormed()))}\n`
