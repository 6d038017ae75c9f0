/**
 * Events as texts, and back. `data` holds the facts, with `content` (which the fold does not look into) as its
 * last member, so that it can be cut out without parsing. `metadata` opens with version and time, so that
 * a replay reads them without parsing the rest.
 */
import {
  decodeEvent,
  escaped,
  eventTypes,
  type EventType,
  isEventType,
  type QueueEvent,
  quote,
  type TaskFacts,
  type Unreadable,
  versionOf,
} from '@daybook/core'
import type { EventToAppend, RecordedEvent } from '../store/index.js'
import { readFacts } from './read-facts.js'
import type { Door } from './types.js'

const contentMark = ',"content":'
/** Only these carry content. In others the mark may stand within a value that the fold needs, as in a checkpoint. */
const withContent: ReadonlySet<string> = new Set<EventType>(['TaskEnqueued', 'TaskImported', 'MarkedIncomplete', 'Completed'])

export const encodeData = (event: QueueEvent): string => {
  const { data, content } = event
  switch (event.type) {
    // The commonest shapes, at a third of the cost of JSON.stringify.
    case 'Claimed': {
      const { task, agent, token, expiresAt, probe } = event.data
      const end = probe === true ? ',"probe":true}' : '}'
      return `{"task":${quote(task)},"agent":${quote(agent)},"token":${token},"expiresAt":${expiresAt}${end}`
    }
    case 'TaskEnqueued': {
      const { task, number, idempotencyKey } = event.data
      const text = `{"task":"${escaped(task)}","number":${number}${kindText(event.data)}"${escaped(idempotencyKey)}"${retryText(event.data)}${rareFacts(event.data)}`
      return content === undefined ? `${text}}` : `${text}${contentMark}${content}}`
    }
    case 'Completed': {
      const { task, agent, token } = event.data
      return `{"task":${quote(task)},"agent":${quote(agent)},"token":${token}${contentMark}${content ?? 'null'}}`
    }
    default: {
      const text = JSON.stringify(data)
      return content === undefined ? text : `${text.slice(0, -1)}${contentMark}${content}}`
    }
  }
}

// Most tasks are like others: what they share is printed once, and stands as one piece in the text of each.

let lastType: string | undefined
/** By priority. */
let kindTexts: Array<string | undefined> = []

const kindText = ({ type, priority }: TaskFacts): string => {
  if (type !== lastType) {
    lastType = type
    kindTexts = []
  }
  return (kindTexts[priority] ??= `,"type":${quote(type)},"priority":${priority},"idempotencyKey":`)
}

let lastRetry: Pick<TaskFacts, 'timeout' | 'maxRetries' | 'backoffSeconds'> | undefined
let lastRetryText = ''

const retryText = ({ timeout, maxRetries, backoffSeconds }: TaskFacts): string => {
  if (lastRetry?.timeout !== timeout || lastRetry.maxRetries !== maxRetries || lastRetry.backoffSeconds !== backoffSeconds) {
    lastRetry = { timeout, maxRetries, backoffSeconds }
    lastRetryText = `,"timeout":${timeout},"maxRetries":${maxRetries},"backoffSeconds":${backoffSeconds}`
  }
  return lastRetryText
}

/** What every `TaskEnqueued` says. */
const commonFacts: ReadonlySet<string> = new Set<keyof TaskFacts>([
  'task', 'number', 'type', 'priority', 'idempotencyKey', 'timeout', 'maxRetries', 'backoffSeconds',
])

/** The members that few tasks have, as they are spliced behind others. */
const rareFacts = (facts: TaskFacts): string => {
  let count = 0
  for (const _ in facts) count++
  if (count === commonFacts.size) return ''
  const rare = Object.fromEntries(Object.entries(facts).filter(([name]) => !commonFacts.has(name)))
  return `,${JSON.stringify(rare).slice(1, -1)}`
}

/** The text of an event's content, from the text of its data. */
export const contentOf = (data: string): string | undefined => {
  const at = data.indexOf(contentMark)
  return at < 0 ? undefined : data.slice(at + contentMark.length, -1)
}

const versions = new Map<EventType, number>(eventTypes.map((type) => [type, versionOf(type)]))

let lastDoor: Door | undefined
let lastDoorText = ''

/** Who, and in which correlation if not the command's own; the same for all commands that came through one door together. */
const doorText = (door: Door): string => {
  if (door !== lastDoor) {
    lastDoor = door
    lastDoorText = `"actor":${quote(door.actor)},"$correlationId":${door.correlationId === undefined ? '' : quote(door.correlationId)}`
  }
  return lastDoorText
}

/** All metadata of a command's events but each one's version and predecessor. */
export const metadataOf = (atText: string, door: Door, causationId: string): string => {
  const own = door.correlationId === undefined ? `"${causationId}"` : ''
  return `"at":"${atText}",${doorText(door)}${own},"$causationId":"${causationId}"`
}

export const encodeEvent = (event: QueueEvent, id: string, metadata: string, prev: number | undefined): EventToAppend => ({
  id,
  type: event.type,
  data: encodeData(event),
  metadata: metadataText(event.type, metadata, prev),
})

export const metadataText = (type: EventType, metadata: string, prev: number | undefined): string =>
  `{"schemaVersion":${versions.get(type) as number},${metadata}${prev === undefined ? '' : `,"prev":${prev}`}}`

export interface Stamp {
  readonly schemaVersion: number
  readonly at: number
}

const stampStart = '{"schemaVersion":1,"at":"'
const atLength = 24
let lastAtText = ''
let lastAt = 0

/**
 * Version and time of an event; the store's own clock where a stranger left them out. `undefined` for metadata
 * that is no JSON object, or has a version that is no number.
 */
export const readStamp = (metadata: string, created: string): Stamp | undefined => {
  if (metadata.startsWith(stampStart) && metadata.endsWith('}')) {
    const text = metadata.slice(stampStart.length, stampStart.length + atLength)
    if (text !== lastAtText) {
      lastAt = Date.parse(text)
      lastAtText = text
    }
    if (!Number.isNaN(lastAt)) return { schemaVersion: 1, at: lastAt }
  }
  const parsed = parseObject(metadata)
  if (parsed === undefined) return undefined
  const { at: atText, schemaVersion = 1 } = parsed
  if (typeof schemaVersion !== 'number') return undefined
  const at = typeof atText === 'string' ? Date.parse(atText) : Number.NaN
  return {
    schemaVersion,
    at: Number.isNaN(at) ? Date.parse(created) || 0 : at,
  }
}

/** The event, without its content. */
export const decodeRecorded = (recorded: Pick<RecordedEvent, 'type' | 'data' | 'metadata' | 'created'>): QueueEvent | Unreadable => {
  if (!isEventType(recorded.type)) return { _tag: 'Unreadable', why: 'unknown type' }
  const stamp = readStamp(recorded.metadata, recorded.created)
  if (stamp === undefined) return { _tag: 'Unreadable', why: 'malformed data' }
  const isNewest = stamp.schemaVersion === versions.get(recorded.type)
  const facts = isNewest ? readFacts(recorded.type, recorded.data) : undefined
  // Of this very type, which TypeScript cannot relate to it.
  if (facts !== undefined) return { type: recorded.type, at: stamp.at, data: facts } as QueueEvent
  const cut = withContent.has(recorded.type) ? recorded.data.indexOf(contentMark) : -1
  const data = parseObject(cut < 0 ? recorded.data : `${recorded.data.slice(0, cut)}}`)
  if (data === undefined) return { _tag: 'Unreadable', why: 'malformed data' }
  return decodeEvent(recorded.type, stamp.schemaVersion, stamp.at, data)
}

/** A JSON object, or `undefined`: what is in the log may come from a stranger. */
export const parseObject = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}
