/** Folds a queue's whole log again, and reports the events that could not be read or did not fit. */
import { breakersOf, type BreakerView, evolve, headOf, initial, isUnreadable, lastUnreadableOf, plural, type QueueEvent, type QueueState, skip, timeOf, type Unreadable } from '@daybook/core'
import { readOnlyReason } from '../../engine/state/read-only.js'
import { pauseText } from '../pause.js'
import { clean, clock } from '../text.js'
import type { Finding } from './finding.js'

export class FoldCheck {
  private state: QueueState
  private next = 0
  private gap: string | undefined

  constructor(private readonly queue: string) {
    this.state = initial(queue)
  }

  event(revision: number, type: string, event: QueueEvent | Unreadable): void {
    if (revision !== this.next) this.gap ??= `revision ${this.next} is followed by ${revision}`
    this.next = revision + 1
    this.state = isUnreadable(event) ? skip(this.state, type, event) : evolve(this.state, event)
  }

  get events(): number {
    return this.next
  }

  /** The state after all events; `undefined` if events are missing. */
  get folded(): QueueState | undefined {
    return this.gap === undefined ? this.state : undefined
  }

  /** `offline`: no server says whether the queue is read-only, or ahead of the time by this machine's clock, which is `now`. */
  findings(offline?: { readonly now: number }): ReadonlyArray<Finding> {
    const about = `queue ${this.queue}`
    const { unreadable, misfits, paused } = headOf(this.state)
    const found: Array<Finding> = Object.entries(unreadable).map(([what, count]) => ({
      level: 'bad',
      about,
      says: `${plural(count, 'event')} cannot be read (${what}): kept, and passed over`,
    }))
    const last = lastUnreadableOf(this.state)
    if (last !== null && offline !== undefined) found.push({ level: 'bad', about, says: `once a start replays this event, because no snapshot covers it, the queue is ${readOnlyReason(this.queue, last)}` })
    if (misfits > 0) found.push({ level: 'bad', about, says: `${plural(misfits, 'event')} ${misfits === 1 ? 'does' : 'do'} not fit what was before: another program has written to this log` })
    if (this.gap !== undefined) found.push({ level: 'bad', about, says: `${this.gap}: events are missing` })
    if (found.length === 0) found.push({ level: 'good', about, says: `${plural(this.next, 'event')}, all readable` })
    if (paused !== null) found.push({ level: 'note', about, says: `${pauseText(paused)}: no task is handed out until somebody resumes it` })
    found.push(...breakerNotes(about, breakersOf(this.state)))
    const aheadMs = offline === undefined ? 0 : timeOf(this.state) - offline.now
    if (aheadMs > aheadMsMax) found.push({ level: 'note', about, says: aheadText(aheadMs / 1_000, "this machine's clock") })
    return found
  }
}

/** At most so many breakers are named. */
const breakersMax = 20

const breakerNotes = (about: string, breakers: Readonly<Record<string, BreakerView>>): ReadonlyArray<Finding> => {
  const shut = Object.entries(breakers).filter(([, { state }]) => state !== 'closed')
  const notes = shut.slice(0, breakersMax).map(([type, breaker]): Finding => ({ level: 'note', about, says: breakerText(type, breaker) }))
  return shut.length > breakersMax ? [...notes, { level: 'note', about, says: `and the breakers of ${shut.length - breakersMax} more types` }] : notes
}

const breakerText = (type: string, { state, reason, halfOpenAt }: BreakerView): string => {
  const why = reason === undefined ? '' : ` (${clean(reason, 200)})`
  if (state === 'half-open') return `the breaker of ${clean(type)} is half-open${why}: one task tests the type, and the others wait for it`
  return `the breaker of ${clean(type)} is open${why}: its tasks are held back until ${halfOpenAt === undefined ? 'somebody closes it' : `${clock(halfOpenAt)}, when one of them tests the type, or until somebody closes it`}`
}

/** Up to this many milliseconds, a queue's time may be ahead without a note. */
const aheadMsMax = 1_000

export const aheadText = (seconds: number, clock: string): string =>
  `its time is ${Math.round(seconds)} s ahead of ${clock}, because a clock was wrong once, or is wrong now: it goes on from the last event, so leases and delays last as long as they should. Set the clocks right`
