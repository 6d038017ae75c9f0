/**
 * What is kept out of the facts of an erasable task (EV-07). The fold never sees it, so it is in no state, snapshot or read model: it is written
 * encrypted, beside the facts, and is gone when the task's key is ([ADR 47](../../../docs/adr/0047-erasable-queues.md)).
 */
import type { EventType, QueueEvent } from './events.js'

/** Stands in the facts for a text that is withheld. */
export const withheldText = 'withheld: the task is erasable, its history has the text'

/** The members of facts that agents and producers wrote, by event type. Content is withheld whatever the type. What operators and reviewers give as a reason stays. */
const membersOf: Partial<Record<EventType, ReadonlyArray<string>>> = {
  TaskImported: ['lastError'],
  LeaseExtended: ['progress', 'checkpoint'],
  Released: ['reason'],
  ClaimReturned: ['reason'],
  Failed: ['error', 'checkpoint'],
  RateLimited: ['error', 'checkpoint'],
  TaskParked: ['checkpoint'],
  ValidationFailed: ['error'],
  LoopHalted: ['error'],
}

export interface Withheld {
  /** With stand-ins in its facts, and its content as it was. */
  readonly event: QueueEvent
  /** JSON text of the members as they were; empty if none were replaced. */
  readonly members: string
}

/** The task whose key an event's content is under: of proposals, the task that caused them. `undefined` if the event has nothing to withhold. */
export const holderOfContent = ({ type, data, content }: QueueEvent): string | undefined => {
  if (content === undefined && !(membersOf[type] ?? []).some((name) => name in data)) return undefined
  return 'task' in data ? data.task : 'parent' in data ? data.parent : undefined
}

export const withhold = (event: QueueEvent): Withheld => {
  const facts: Readonly<Record<string, unknown>> = event.data
  const names = (membersOf[event.type] ?? []).filter((name) => facts[name] !== undefined)
  if (names.length === 0) return { event, members: '' }
  const standIns = Object.fromEntries(names.map((name) => [name, standInOf(name, facts[name])]))
  const members = JSON.stringify(Object.fromEntries(names.map((name) => [name, facts[name]])))
  // The stand-ins are of the types that the codec wants.
  return { event: { ...event, data: { ...facts, ...standIns } } as unknown as QueueEvent, members }
}

/** The fold asks whether there is a checkpoint or progress, and for an error's message. */
const standInOf = (name: string, value: unknown): unknown => {
  if (name === 'checkpoint' || name === 'progress') return null
  return typeof value === 'string' ? withheldText : { message: withheldText }
}
