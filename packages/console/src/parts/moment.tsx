/** A time relative to the moment that is shown, or a clock time. The exact time with its zone is shown on hover. */
import { serverNow } from '../api/server-time.js'
import { nowShown } from './moment-time.js'
import { agoText, forText } from './format.js'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const today = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const otherDay = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' })

/** With milliseconds and zone. */
export const exactTime = (at: number): string => `${exact.format(at)} · ${new Date(at).toISOString()}`

const isSameDay = (a: number, b: number): boolean => new Date(a).toDateString() === new Date(b).toDateString()

/** The clock time; with the date, if it is not today. Short, for narrow places. */
export const clockTime = (at: number, present = serverNow()): string => (isSameDay(at, present) ? today : otherDay).format(at)

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Day and time, to the second. */
export const fullTime = (at: number): string => full.format(at)

/** As a field for times has it: in the zone of the browser, without naming it. */
export const localTime = (at: number): string => new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19)

/** `at`: ISO 8601, or milliseconds since 1970. `as`: `ago` (3 min ago), `for` (for 3 min) or `clock` (14:03:22; of another day with the date and the year). */
export const Moment = ({ at, as = 'ago' }: { readonly at: string | number; readonly as?: 'ago' | 'for' | 'clock' }) => {
  const ms = typeof at === 'number' ? at : Date.parse(at)
  const present = as === 'clock' ? undefined : nowShown()
  return (
    <time class="moment" dateTime={new Date(ms).toISOString()} title={exactTime(ms)}>
      {present !== undefined ? (as === 'ago' ? agoText(ms, present) : forText(ms, present)) : (isSameDay(ms, serverNow()) ? today : full).format(ms)}
    </time>
  )
}
