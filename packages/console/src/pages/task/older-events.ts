/** Puts pages of a task's history together. No browser needed. */
import type { HistoryEvent } from './life.js'

/** An answer of `GET …/tasks/{id}/history`. */
export interface HistoryPage {
  /** Oldest first. */
  readonly events: ReadonlyArray<HistoryEvent>
  /** The revision from which older ones are to be asked for; `null` if there are none. */
  readonly next: number | null
}

/** What was fetched before: all events of the task that are newer than `next`, up to the revision `upTo` of the queue. */
export interface OlderEvents extends HistoryPage {
  readonly upTo: number
}

/** The newest page, which moves on while the task does, behind the older events; without these, if there may be others in between. */
export const joined = (newest: HistoryPage, older: OlderEvents | undefined): HistoryPage => {
  const { events, next } = newest
  if (older === undefined || next === null || next > older.upTo) return newest
  return { events: [...older.events.filter(({ revision }) => revision <= next), ...events], next: older.next }
}
