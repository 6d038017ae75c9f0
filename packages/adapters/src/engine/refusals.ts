/** The refusals of the engine itself. */
import { reject } from '@daybook/core'
import type { StoreLimits } from '../store/index.js'
import type { Refusal } from './types.js'

export const unavailable = (detail: string): Refusal => ({ code: 'unavailable', detail, retryAfterSeconds: 1 })

/** The clock of this server is refused, because it would put a wrong time into the log. */
export const wrongClock = (detail: string): Refusal => ({ code: 'clock', detail, retryAfterSeconds: 5 })

/** The command may be in the log nevertheless. */
export const outcomeUnknown = (detail: string): Refusal => ({ code: 'outcome-unknown', detail, retryAfterSeconds: 1 })

export const overloaded = (mailboxMax: number): Refusal => ({
  code: 'overloaded',
  detail: `${mailboxMax} commands are waiting already: slow down and try again`,
  retryAfterSeconds: 1,
})

export const tooLarge = ({ appendBytesMax, appendEventsMax }: StoreLimits): Refusal =>
  reject('too-large', `what this command makes happen is over ${appendBytesMax} bytes or ${appendEventsMax} events, and one append holds no more: send less in one request. If many tasks depend on a task, cancel them first, by a filter, and then the task itself`)
