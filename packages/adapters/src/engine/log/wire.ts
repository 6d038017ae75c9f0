/**
 * Encodes events as texts and decodes them. `data` has the facts. Its last member is `content`, which the fold does not use, so that it can be cut
 * out without parsing. `metadata` begins with version and time, so that a replay can read them without parsing the rest.
 */
import {
  daybookVersion,
  decodeEvent,
  escaped,
  eventTypes,
  type EventType,
  isEventType,
  isNewer,
  isUnreadable,
  needsOf,
  type QueueEvent,
  quote,
  requiredFacts,
  type TaskFacts,
  type Unreadable,
  versionOf,
} from '@daybook/core'
import type { EventMeta } from '@daybook/projections'
import { isObject } from '../../is-object.js'
import type { RecordedEvent } from '../../store/index.js'
import { encryptedIn, withheldContent } from '../../task-keys/index.js'
import { keptName, own, readFacts } from './read-facts.js'
import type { Caller } from '../types.js'

const contentMark = ',"content":'
/** The event types with content. In other types, the text `,"content":` may be inside a value that the fold needs, such as a checkpoint. */
const withContent: ReadonlySet<string> = new Set<EventType>(['TaskEnqueued', 'TaskImported', 'TaskAmended', 'MarkedIncomplete', 'Completed', 'CallbackReceived', 'SpawnProposed', 'LoopHalted'])

export const encodeData = (event: QueueEvent): string => {
  const { data, content } = event
  switch (event.type) {
    // The most common types are printed at a third of the cost of JSON.stringify.
    case 'Claimed': {
      const { task, token, expiresAt, probe } = event.data
      return `{"task":"${escaped(task)}${holderText(event.data.agent)}${token}${leaseText(expiresAt, probe)}`
    }
    case 'TaskEnqueued': {
      const { task, number, idempotencyKey } = event.data
      const text = `{"task":"${escaped(task)}","number":${number}${kindText(event.data)}${escaped(idempotencyKey)}${retryText(event.data)}${optionalFacts(event.data)}`
      return content === undefined ? `${text}}` : `${text}${contentMark}${content}}`
    }
    case 'Completed': {
      const { task, agent, token } = event.data
      return `{"task":"${escaped(task)}${holderText(agent)}${token}${contentMark}${content ?? 'null'}}`
    }
    default: {
      const text = JSON.stringify(data)
      return content === undefined ? text : `${text.slice(0, -1)}${contentMark}${content}}`
    }
  }
}

/** The beginning of the event's data, up to its content. */
export const encodeFacts = (event: QueueEvent): string => encodeData({ ...event, content: emptyText }).slice(0, -(contentMark.length + emptyText.length + 1))
const emptyText = '""'

// Most tasks have the same settings: these are printed once, as a flat string that all of them share.

/** By type and priority. */
const kindTexts = new Map<string, Array<string | undefined>>()
const kindsMax = 1_024

const kindText = ({ type, priority }: TaskFacts): string => {
  let texts = kindTexts.get(type)
  if (texts === undefined) {
    if (kindTexts.size >= kindsMax) kindTexts.clear()
    kindTexts.set(type, (texts = []))
  }
  return (texts[priority] ??= [',"type":', quote(type), ',"priority":', priority, ',"idempotencyKey":"'].join(''))
}

let lastHolder: string | undefined
let lastHolderText = ''

const holderText = (agent: string): string => {
  if (agent !== lastHolder) {
    lastHolder = agent
    lastHolderText = ['","agent":', quote(agent), ',"token":'].join('')
  }
  return lastHolderText
}

let lastExpiry = -1
let lastExpiryText = ''

const leaseText = (expiresAt: number, probe: true | undefined): string => {
  if (expiresAt !== lastExpiry) {
    lastExpiry = expiresAt
    lastExpiryText = [',"expiresAt":', expiresAt, '}'].join('')
  }
  return probe === true ? `,"expiresAt":${expiresAt},"probe":true}` : lastExpiryText
}

let lastRetry: Pick<TaskFacts, 'timeout' | 'maxRetries' | 'backoffSeconds'> | undefined
let lastRetryText = ''

const retryText = ({ timeout, maxRetries, backoffSeconds }: TaskFacts): string => {
  if (lastRetry?.timeout !== timeout || lastRetry.maxRetries !== maxRetries || lastRetry.backoffSeconds !== backoffSeconds) {
    lastRetry = { timeout, maxRetries, backoffSeconds }
    lastRetryText = ['","timeout":', timeout, ',"maxRetries":', maxRetries, ',"backoffSeconds":', backoffSeconds].join('')
  }
  return lastRetryText
}

/** The facts that every `TaskEnqueued` has. */
const commonFacts: ReadonlySet<string> = new Set(requiredFacts)

/** The optional members of a task as text, to be appended to other members. */
const optionalFacts = (facts: TaskFacts): string => {
  let text = ''
  for (const name in facts) {
    if (commonFacts.has(name)) continue
    const value = facts[name as keyof TaskFacts]
    if (value !== undefined) text += `,"${name}":${typeof value === 'string' ? quote(value) : typeof value === 'number' ? value : JSON.stringify(value)}`
  }
  return text
}

/** Like {@link contentOf}, for an event of any type. */
export const contentOfEvent = ({ type, data }: Pick<RecordedEvent, 'type' | 'data'>): string | undefined => (withContent.has(type) ? contentOf(data) : undefined)

/**
 * The text of an event's content, from the text of its data. Only for types with content. Encrypted content is a text instead of an object, so it can
 * be told apart.
 */
export const contentOf = (data: string): string | undefined => {
  const at = data.indexOf(contentMark)
  if (at < 0) return undefined
  return data.startsWith('"', at + contentMark.length) ? withheldContent('encrypted') : data.slice(at + contentMark.length, -1)
}

const versions = new Map<EventType, number>(eventTypes.map((type) => [type, versionOf(type)]))

/** The beginning of the metadata of events with the same type, caller and time. A flat string, because many events share it. */
export const stampText = (type: EventType, caller: Caller, at: number): string =>
  [
    needsOf[type] === undefined ? '{' : `{"needs":${quote(needsOf[type])},`,
    `"schemaVersion":${versions.get(type) as number},"at":"${new Date(at).toISOString()}","actor":${quote(caller.actor)}`,
    `,"$correlationId":${caller.correlationId === undefined ? '"' : `${quote(caller.correlationId)},"$causationId":"`}`,
  ].join('')

/** The part after the stamp: the command's id, and the correlation id. If the caller has none, that is the command's id. */
export const causeText = (caller: Caller, causationId: string): string =>
  caller.correlationId === undefined ? `${causationId}","$causationId":"${causationId}` : causationId

/** The metadata of an event: stamp, cause and link to the previous event. */
export const metadataText = (opening: string, prev: number | undefined): string =>
  prev === undefined ? `${opening}"}` : `${opening}","prev":${prev}}`

export interface Stamp {
  readonly schemaVersion: number
  readonly at: number
  /** The version of Daybook that the event needs. Most events do not have it. */
  readonly needs?: string
}

/**
 * Whether a text begins with another. Pages of a log are cut into texts without copying. On such texts `startsWith` compares character by character,
 * and looks at the kind of text each time: 1.3 µs for the 180 characters of a cause, where this takes 0.07.
 */
const hasStart = (text: string, start: string): boolean => text.slice(0, start.length) === start

const stampStart = '{"schemaVersion":1,"at":"'
const atLength = 24
let lastAtText = ''
let lastAt = 0

/**
 * Version and time of an event. The time is the store's if another program left it out. `undefined` if the metadata is not a JSON object, or its
 * version is not a number.
 */
export const readStamp = (metadata: string, created: string): Stamp | undefined => {
  if (hasStart(metadata, stampStart) && metadata.endsWith('}')) {
    const text = metadata.slice(stampStart.length, stampStart.length + atLength)
    if (text !== lastAtText) {
      lastAt = Date.parse(text)
      lastAtText = text
    }
    if (!Number.isNaN(lastAt)) return { schemaVersion: 1, at: lastAt }
  }
  const parsed = parseObject(metadata)
  if (parsed === undefined) return undefined
  const { at: atText, schemaVersion = 1, needs } = parsed
  if (typeof schemaVersion !== 'number') return undefined
  const at = typeof atText === 'string' ? Date.parse(atText) : Number.NaN
  return {
    schemaVersion,
    at: Number.isNaN(at) ? Date.parse(created) || 0 : at,
    ...(typeof needs === 'string' ? { needs } : {}),
  }
}

type Recorded = Pick<RecordedEvent, 'type' | 'data' | 'metadata' | 'created'>

/** The part of {@link stampText}'s output before the correlation, if nothing in it is escaped. */
const opening = /^\{(?:"needs":"[^"\\]*",)?"schemaVersion":\d+,"at":"[^"\\]*","actor":"([^"\\]*)","\$correlationId":"/
const beforeCause = '","$causationId":"'

/** Events of one type, caller and time have the same opening. Events of one command have the same beginning. */
let lastOpening = '\n'
let lastActor = ''
let lastCause = ''
let lastMeta: EventMeta | undefined

/** Reads the output of {@link stampText} and {@link causeText} without parsing; `undefined` for any other text. */
const writtenMeta = (metadata: string): EventMeta | undefined => {
  if (!hasStart(metadata, lastOpening)) {
    const found = opening.exec(metadata)
    if (found === null) return undefined
    // Copied, because a substring would keep the whole page in memory.
    lastOpening = own(found[0])
    lastActor = keptName(found[1] as string)
  }
  const correlationAt = lastOpening.length
  const correlationEnd = metadata.indexOf('"', correlationAt)
  const causationAt = correlationEnd + beforeCause.length
  const causationEnd = metadata.indexOf('"', causationAt)
  const next = metadata[causationEnd + 1]
  if (!metadata.startsWith(beforeCause, correlationEnd) || causationEnd < 0 || (next !== ',' && next !== '}')) return undefined
  const correlationId = own(metadata.slice(correlationAt, correlationEnd))
  const text = metadata.slice(causationAt, causationEnd)
  const causationId = text === correlationId ? correlationId : own(text)
  if (correlationId.includes('\\') || causationId.includes('\\')) return undefined
  // Up to the quote after the id of the command. It keeps at most one page in memory.
  lastCause = metadata.slice(0, causationEnd)
  return (lastMeta = { actor: lastActor, correlationId, causationId })
}

/** Who caused an event, from its metadata. Events of one command usually get the same object. */
export const metaOf = (metadata: string): EventMeta => {
  if (lastMeta !== undefined && hasStart(metadata, lastCause)) return lastMeta
  const written = writtenMeta(metadata)
  if (written !== undefined) return written
  const { actor, $correlationId: correlationId, $causationId: causationId } = parseObject(metadata) ?? {}
  return {
    ...(typeof actor === 'string' ? { actor } : {}),
    ...(typeof correlationId === 'string' ? { correlationId } : {}),
    ...(typeof causationId === 'string' ? { causationId } : {}),
  }
}

/** The event, without its content. */
export const decodeRecorded = (recorded: Recorded): QueueEvent | Unreadable => {
  const event = decode(recorded)
  return isUnreadable(event) ? { ...event, ...claimsOf(recorded.metadata) } : event
}

/** The version and `needs` that the writer recorded. */
const claimsOf = (metadata: string): Pick<Unreadable, 'version' | 'needs'> => {
  const { schemaVersion, needs } = parseObject(metadata) ?? {}
  return {
    ...(typeof schemaVersion === 'number' ? { version: schemaVersion } : {}),
    ...(typeof needs === 'string' && /^\d+\.\d+\.\d+/.test(needs) ? { needs: needs.slice(0, 32) } : {}),
  }
}

const decode = (recorded: Recorded): QueueEvent | Unreadable => {
  if (!isEventType(recorded.type)) return { _tag: 'Unreadable', why: 'unknown type' }
  const stamp = readStamp(recorded.metadata, recorded.created)
  if (stamp === undefined) return { _tag: 'Unreadable', why: 'malformed data' }
  // The event may have a field that this version does not know and would ignore.
  if (stamp.needs !== undefined && isNewer(stamp.needs, daybookVersion)) return { _tag: 'Unreadable', why: 'unknown version' }
  const isNewest = stamp.schemaVersion === versions.get(recorded.type)
  const facts = isNewest ? readFacts(recorded.type, recorded.data) : undefined
  // The facts are of this type, but TypeScript cannot know that.
  if (facts !== undefined) return { type: recorded.type, at: stamp.at, data: facts } as QueueEvent
  const data = parseObject(factsOf(recorded))
  if (data === undefined) return { _tag: 'Unreadable', why: 'malformed data' }
  return decodeEvent(recorded.type, stamp.schemaVersion, stamp.at, data)
}

/** The text of the data without the content. */
const factsOf = ({ type, data }: Recorded): string => {
  if (!withContent.has(type)) {
    const encrypted = encryptedIn(data)
    return encrypted === undefined ? data : `${encrypted.facts}}`
  }
  const cut = data.indexOf(contentMark)
  return cut < 0 ? data : `${data.slice(0, cut)}}`
}

/** A JSON object, or `undefined`: the log may contain events of other programs. */
export const parseObject = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
