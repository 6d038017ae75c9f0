/** The message of an alert. */
import { type AlertKind, alertKinds } from '@daybook/core'
import { parseObject, readStamp } from '../engine/index.js'
import type { RecordedEvent } from '../store/index.js'

export interface WebhookMessage {
  /** The id of the event, so that it is the same whenever the message is sent, by whichever server. */
  readonly id: string
  readonly queue: string
  readonly kind: AlertKind
  /** When the alert was raised or cleared, in milliseconds since 1970. */
  readonly at: number
  readonly body: string
}

/** The events that have a message. */
export const alertEvents: ReadonlySet<string> = new Set(['AlertRaised', 'AlertCleared'])

/** The kind of an alert by its key: `breaker-open:eng-backend`. */
export const kindOf = (key: string): AlertKind | undefined => alertKinds.find((known) => known === key.split(':', 1)[0])

/** `undefined` for an event that cannot be read. */
export const messageOf = (queue: string, { id, type, data: text, metadata, created, revision }: RecordedEvent): WebhookMessage | undefined => {
  const { key, message } = parseObject(text) ?? {}
  if (typeof key !== 'string') return undefined
  const kind = kindOf(key)
  if (kind === undefined) return undefined
  const at = readStamp(metadata, created)?.at ?? Date.parse(created)
  const data = { queue, key, kind, ...(type === 'AlertRaised' ? { message } : {}), revision }
  return { id, queue, kind, at, body: JSON.stringify({ type: type === 'AlertRaised' ? 'alert.raised' : 'alert.cleared', timestamp: new Date(at).toISOString(), data }) }
}

/** A message without content, to test a receiver. `at`: milliseconds since 1970. */
export const testMessage = (id: string, at: number): Pick<WebhookMessage, 'id' | 'body'> => ({
  id,
  body: JSON.stringify({ type: 'test', timestamp: new Date(at).toISOString(), data: { message: 'A test of this webhook. Nothing has happened.' } }),
})
