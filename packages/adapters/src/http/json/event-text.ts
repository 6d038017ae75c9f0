/** An event of the log as JSON. */
import { eventCodecs, type EventType, eventTypes, Instant, InstantOrNone } from '@daybook/core'
import type * as t from 'io-ts'
import { parseObject } from '../../engine/log/wire.js'
import type { RecordedEvent } from '../../store/index.js'
import { quote } from './text.js'
import { isoOf } from '../../iso-time.js'

/** `data` is the text from the log: programs that fold or check the log need it unchanged. */
export const eventText = (event: RecordedEvent): string => textWith(event, event.data)

/** For people: times within `data` are ISO 8601 instead of milliseconds. */
export const historyText = (event: RecordedEvent): string => textWith(event, withTimes(event.type, event.data))

const textWith = (event: RecordedEvent, shown: string): string => `${eventHead(event)}${parseObject(event.data) === undefined ? quote(event.data) : shown}}`

const eventHead = (event: RecordedEvent): string => `${headStart}${event.revision}${plainHead(event) ?? printedHead(event)}`

/** The beginning of an event's line, before its revision, its head, and its data. */
export const headStart = '{"revision":'

/** The head of an event in which nothing is escaped, as `JSON.stringify` would print it. `undefined` if something may be escaped. */
export const plainHead = ({ type, metadata }: RecordedEvent): string | undefined => {
  // Events of one command often have the same metadata.
  if (metadata === lastMetadata && type === lastType) return lastHead
  const members = plainMembers(metadata)
  lastMetadata = metadata
  lastType = type
  return (lastHead = members === undefined || quote(type).length > type.length + 2 ? undefined : headWith(type, members))
}
let lastMetadata = ''
let lastType = ''
let lastHead: string | undefined

/** The head of any event. */
export const printedHead = (event: RecordedEvent): string => headWith(event.type, printedMembers(event))

const headWith = (type: string, members: string): string => `,"type":${quote(type)},${members},"data":`

/** The beginning of metadata as this version writes it, if nothing in it is escaped. */
// eslint-disable-next-line no-control-regex -- these are the characters that JSON escapes
const stamp = /^\{(?:"needs":"([^"\\\x00-\x1f]*)",)?"schemaVersion":(0|[1-9]\d{0,8}),"at":"([^"\\\x00-\x1f]*)","actor":"([^"\\\x00-\x1f]*)","\$correlationId":"/
/** The rest: the correlation id, the command's id, the previous event, and the seal. */
// eslint-disable-next-line no-control-regex -- the same
const rest = /([^"\\\x00-\x1f]*)","\$causationId":"[^"\\\x00-\x1f]*"(?:,"prev":(?:0|[1-9]\d*))?(?:,"chain":\{"from":(?:0|[1-9]\d*),"to":(?:0|[1-9]\d*),"hash":"[\w-]*","leaves":"[\w-]*"\})?\}$/y

interface Stamped {
  readonly text: string
  /** The members that are shown. Joined to a flat text, because many events share it. */
  readonly members: string
}

/** The two that were seen last: events of one time and actor come together, but those that need a newer version may be among others. */
let last: Stamped = { text: '\n', members: '' }
let beforeLast = last

/** The same as `startsWith`, which takes half as long again. */
const isStampOf = ({ text }: Stamped, metadata: string): boolean => metadata.slice(0, text.length) === text

const stampedIn = (metadata: string): Stamped | undefined => {
  if (isStampOf(last, metadata)) return last
  if (isStampOf(beforeLast, metadata)) {
    ;[last, beforeLast] = [beforeLast, last]
    return last
  }
  const found = stamp.exec(metadata)
  if (found === null) return undefined
  const [text, needs, version, at, actor] = found
  beforeLast = last
  return (last = { text, members: ['"schemaVersion":', version, ',"at":"', at, needs === undefined ? '' : `","needs":"${needs}`, '","actor":"', actor, '"'].join('') })
}

const plainMembers = (metadata: string): string | undefined => {
  const stamped = stampedIn(metadata)
  if (stamped === undefined) return undefined
  rest.lastIndex = stamped.text.length
  const found = rest.exec(metadata)
  return found === null ? undefined : `${stamped.members},"correlationId":"${found[1] as string}"`
}

const printedMembers = ({ metadata, created }: Pick<RecordedEvent, 'metadata' | 'created'>): string => {
  const { schemaVersion, at, actor, $correlationId, needs } = parseObject(metadata) ?? {}
  const text = (value: unknown, key: string): string => (typeof value === 'string' ? `,"${key}":${quote(value)}` : '')
  return `"schemaVersion":${typeof schemaVersion === 'number' ? schemaVersion : 1},"at":${quote(typeof at === 'string' ? at : created)}${text(needs, 'needs')}${text(actor, 'actor')}${text($correlationId, 'correlationId')}`
}

/** The part of io-ts's type classes that is used here. */
interface Node {
  readonly props?: Readonly<Record<string, t.Mixed>>
  readonly types?: ReadonlyArray<t.Mixed>
}

/** The members of an event's data that its codec declares as times. */
const timesIn = (codec: t.Mixed): ReadonlyArray<string> => {
  const { props = {}, types = [] } = codec as Node
  return [...Object.keys(props).filter((key) => props[key] === Instant || props[key] === InstantOrNone), ...types.flatMap(timesIn)]
}

const timesOf: ReadonlyMap<string, ReadonlyArray<RegExp>> = new Map(
  eventTypes.map((type: EventType) => [type, timesIn(eventCodecs[type]).map((key) => new RegExp(`("${key}":)(\\d{1,15})(?=[,}]|$)`))]),
)

/** `content` was written by producers and agents. It comes after the facts and is not changed. */
const withTimes = (type: string, data: string): string => {
  const times = timesOf.get(type) ?? []
  const content = data.indexOf(',"content":')
  const facts = content < 0 ? data : data.slice(0, content)
  const rest = content < 0 ? '' : data.slice(content)
  return times.reduce((text, time) => text.replace(time, (_, key: string, ms: string) => `${key}"${isoOf(Number(ms))}"`), facts) + rest
}
