/** An event of the log as JSON. */
import { eventCodecs, type EventType, eventTypes, Instant, InstantOrNone } from '@daybook/core'
import type * as t from 'io-ts'
import { parseObject } from '../engine/index.js'
import type { RecordedEvent } from '../store/index.js'
import { quote } from './text.js'
import { isoOf } from './time.js'

/** `data` is the text from the log: programs that fold or check the log need it unchanged. */
export const eventText = (event: RecordedEvent): string => textWith(event, event.data)

/** For people: times within `data` are ISO 8601 instead of milliseconds. */
export const historyText = (event: RecordedEvent): string => textWith(event, withTimes(event.type, event.data))

const textWith = ({ revision, type, metadata, created, data }: RecordedEvent, shown: string): string => {
  const { schemaVersion, at, actor, $correlationId, needs } = parseObject(metadata) ?? {}
  const text = (value: unknown, key: string): string => (typeof value === 'string' ? `,"${key}":${quote(value)}` : '')
  return (
    `{"revision":${revision},"type":${quote(type)},"schemaVersion":${typeof schemaVersion === 'number' ? schemaVersion : 1},"at":${quote(typeof at === 'string' ? at : created)}` +
    `${text(needs, 'needs')}${text(actor, 'actor')}${text($correlationId, 'correlationId')},"data":${parseObject(data) === undefined ? quote(data) : shown}}`
  )
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

/** `content`, which producers and agents wrote, follows the facts and is not changed. */
const withTimes = (type: string, data: string): string => {
  const times = timesOf.get(type) ?? []
  const content = data.indexOf(',"content":')
  const facts = content < 0 ? data : data.slice(0, content)
  const rest = content < 0 ? '' : data.slice(content)
  return times.reduce((text, time) => text.replace(time, (_, key: string, ms: string) => `${key}"${isoOf(Number(ms))}"`), facts) + rest
}
