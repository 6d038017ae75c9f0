/**
 * Old events stay readable (EV-11). Each change of an event's shape raises its version and adds one row here that converts the version before. The
 * fold sees only the newest shape.
 */
import * as E from 'fp-ts/lib/Either.js'
import { type EventType, eventCodecs, isEventType, type QueueEvent } from './events.js'
import { validate } from './validate.js'

/** Converts data of one version to data of the next. */
type Upcaster = (data: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>

/** `upcasters.T[v]` converts version `v` of `T` to `v + 1`; the newest version is one more than the highest row. */
export const upcasters: Partial<Record<EventType, Readonly<Record<number, Upcaster>>>> = {}

/** The version in which events of this type are written now. */
export const versionOf = (type: EventType, table = upcasters): number => {
  const rows = Object.keys(table[type] ?? {}).map(Number)
  return rows.length === 0 ? 1 : Math.max(...rows) + 1
}

/** An event that this version of Daybook cannot read. It is kept, counted and reported, never dropped. */
export interface Unreadable {
  readonly _tag: 'Unreadable'
  readonly why: 'unknown type' | 'unknown version' | 'unknown setting' | 'malformed data'
  /** The version of its data, if it has one. */
  readonly version?: number
  /** The version of Daybook that can read it, according to its writer. */
  readonly needs?: string
}

/** An unknown setting makes its event unreadable: a newer server acts on it, for example keeps tenants apart, so it must not be ignored. */
const checkSettings = validate(eventCodecs.QueueConfigured)

/** Decodes an event from its recorded parts. `data` is parsed JSON. Its `content` is left out, because the fold does not use it. */
export const decodeEvent = (
  type: string,
  version: number,
  at: number,
  data: unknown,
  table = upcasters,
): QueueEvent | Unreadable => {
  if (!isEventType(type)) return { _tag: 'Unreadable', why: 'unknown type' }
  const newest = version === 1 && table[type] === undefined ? 1 : versionOf(type, table)
  if (!(version >= 1 && version <= newest)) return { _tag: 'Unreadable', why: 'unknown version' }
  let current = data
  for (let v = version; v < newest; v++) {
    const upcaster = table[type]?.[v]
    if (upcaster === undefined) return { _tag: 'Unreadable', why: 'unknown version' }
    if (typeof current !== 'object' || current === null) return { _tag: 'Unreadable', why: 'malformed data' }
    try {
      current = upcaster(current as Readonly<Record<string, unknown>>)
    } catch {
      // The upcaster did not find what it expected.
      return { _tag: 'Unreadable', why: 'malformed data' }
    }
  }
  if (!eventCodecs[type].is(current)) return { _tag: 'Unreadable', why: 'malformed data' }
  if (type === 'QueueConfigured' && E.isLeft(checkSettings(current))) return { _tag: 'Unreadable', why: 'unknown setting' }
  // The codec of this type has accepted the data, but TypeScript cannot relate the two unions.
  return { type, at, data: current } as QueueEvent
}

export const isUnreadable = <A extends object>(event: A | Unreadable): event is Unreadable => '_tag' in event
