/**
 * Pages of the whole log. Positions are inclusive forwards and exclusive backwards. A position
 * between two records cannot be read from.
 */
import type { EventFilter } from './filters.js'
import type { Log } from './log.js'
import type { LogEvent } from './log-event.js'

export interface Position {
  readonly commit: number
  readonly prepare: number
}

export interface AllPage {
  readonly events: ReadonlyArray<LogEvent>
  readonly next: Position
  /** Events examined, matching or not. */
  readonly considered: number
  readonly end: boolean
}

const at = (position: number): Position => ({ commit: position, prepare: position })

const notBefore = (position: number, { commit, prepare }: Position): boolean =>
  position > commit || (position === commit && position >= prepare)

export const allForwards = (log: Log, from: Position, count: number, filter: EventFilter, window = Infinity): AllPage | 'error' => {
  if (from.commit >= log.end) return { events: [], next: from, considered: 0, end: true }
  const start = log.indexOf(from.commit)
  if (start === undefined) return 'error'
  const events: Array<LogEvent> = []
  let considered = 0
  let next = from
  let index = start
  for (; index < log.count && events.length < count && considered < window; index++) {
    const event = log.at(index)?.event
    next = { commit: log.at(index + 1)?.position ?? log.end, prepare: 0 }
    if (event === undefined || !notBefore(event.position, from)) continue
    considered += 1
    if (filter(event)) events.push(event)
  }
  return { events, next, considered, end: index >= log.count && events.length < count && considered < window }
}

export const allBackwards = (log: Log, from: Position, count: number, filter: EventFilter): AllPage | 'error' => {
  const start = from.commit > log.end ? undefined : log.indexOf(from.commit)
  if (start === undefined) return 'error'
  const events: Array<LogEvent> = []
  let considered = 0
  let next = from
  let index = start - 1
  for (; index >= 0 && events.length < count; index--) {
    const event = log.at(index)?.event
    const after = log.at(index + 1)?.position ?? log.end
    if (event === undefined || (after === from.commit && after > from.prepare)) continue
    considered += 1
    if (filter(event)) events.push(event)
    next = at(event.position)
  }
  return { events, next, considered, end: index < 0 && events.length < count }
}
