/**
 * Texts that are kept out of the facts of an erasable task (EV-07). The fold never sees them, so they are in no state, snapshot or read model. They
 * are written encrypted, beside the facts, and are lost when the task's key is deleted ([ADR 47](../../../docs/adr/0047-erasable-queues.md)).
 */
import type { DataOf, EventType, QueueEvent } from './events.js'

/** Replaces a withheld text in the facts. */
export const withheldText = 'withheld: the task is erasable, its history has the text'

/**
 * By event type: stand-ins for the members that agents and producers wrote. The fold asks only whether there is a checkpoint or progress, and for an
 * error's message. Content is withheld in all types. The reasons that operators and reviewers give are not withheld.
 */
const standIns: { readonly [K in EventType]?: Partial<DataOf<K>> } = {
  TaskImported: { lastError: withheldText },
  LeaseExtended: { progress: null, checkpoint: null },
  Released: { reason: withheldText },
  ClaimReturned: { reason: withheldText },
  Failed: { error: { message: withheldText }, checkpoint: null },
  RateLimited: { error: { message: withheldText }, checkpoint: null },
  TaskParked: { checkpoint: null },
  ValidationFailed: { error: withheldText },
  LoopHalted: { error: withheldText },
}

type Facts = QueueEvent['data']
const memberOf = (facts: Facts, name: string): unknown => (facts as Readonly<Record<string, unknown>>)[name]

/** The stand-ins for the members that this event has. */
const standInsFor = ({ type, data }: QueueEvent): Partial<Facts> =>
  Object.fromEntries(Object.entries(standIns[type] ?? {}).filter(([name]) => memberOf(data, name) !== undefined))

const withFacts = <E extends QueueEvent>(event: E, some: Partial<E['data']>): E => ({ ...event, data: { ...event.data, ...some } })

export interface Withheld {
  /** The event with stand-ins in its facts, and with its content unchanged. */
  readonly event: QueueEvent
  /** JSON text of the replaced members; empty if none were replaced. */
  readonly members: string
}

/**
 * Id of the task under whose key an event's content is encrypted. For proposals this is the task that caused them. `undefined` if the event has
 * nothing to withhold.
 */
export const holderOfContent = (event: QueueEvent): string | undefined => {
  const { data, content } = event
  if (content === undefined && Object.keys(standInsFor(event)).length === 0) return undefined
  return 'task' in data ? data.task : 'parent' in data ? data.parent : undefined
}

export const withhold = (event: QueueEvent): Withheld => {
  const some = standInsFor(event)
  const names = Object.keys(some)
  if (names.length === 0) return { event, members: '' }
  return { event: withFacts(event, some), members: JSON.stringify(Object.fromEntries(names.map((name) => [name, memberOf(event.data, name)]))) }
}
