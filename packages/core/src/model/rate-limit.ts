/**
 * Recognises errors that are rate limits, and how long to wait (LK-16). Pure and total: for any text of an agent or a service the answer is a wait
 * from a millisecond to a day, or no rate limit.
 */
import type { Failure } from './task.js'

/** The longest wait that is believed. Longer ones are cut to it. */
export const retryAfterMaxSeconds = 86_400

export interface RateLimit {
  /** The wait that the service asked for, in milliseconds; `undefined` if it gave none that can be used. */
  readonly askedMs: number | undefined
}

/** The rate limit that this error reports; `undefined` if it is another error. `at`: the present time, for waits that are given as a time. */
export const rateLimitOf = ({ message, code, retryAfter }: Failure, at: number): RateLimit | undefined => {
  if (retryAfter !== undefined) return { askedMs: waitOf(retryAfter, at) ?? waitIn(message, at) }
  const isLimit = (code !== undefined && codes.test(code)) || texts.some((text) => text.test(message))
  return isLimit ? { askedMs: waitIn(message, at) } : undefined
}

// ----------------------------------------------------------------------------------------- detection

const codes = /^\W*(?:(?:http|e|err|status)?[\s_-]?429|(?:.{0,40}[\s_.-])?(?:rate[\s_-]?limit(?:ed|s|ing|error)?(?:[\s_-]?(?:exceeded|reached|hit|error))?|too[\s_-]?many[\s_-]?requests|quota[\s_-]?exceeded|insufficient[\s_-]quota)(?:[\s_-]?(?:error|exception))?)\W*$/i

/** What may follow a bare 429. It must not be a count, as in `429 files`. */
const alone = String.raw`(?![\w.,-]*\d)(?=\s*(?:$|[.,;:)\]}"'({<-]|error\b|client\b))`
const texts: ReadonlyArray<RegExp> = [
  /\brate[\s_-]{0,3}limit/i,
  /\btoo[\s_-]{1,3}many[\s_-]{1,3}requests?\b/i,
  /\bquota[\s_-]{0,3}(?:has been |was |is )?exceeded\b|\bexceeded (?:\w+ ){0,4}quota\b/i,
  /\bretry[\s_-]{0,3}after\b/i,
  // A bare 429 may be a port, a line or an id. It is a status if a word before it says so, or if it stands alone at the beginning.
  /\b(?:http(?:\/\d(?:\.\d)?)?|status(?:[\s_-]?code)?)["']?[\s:=("'#]{0,4}429(?![\w-]|[.,]\d)/i,
  new RegExp(String.raw`\b(?:error|code|response|responded with|answered|returned|got|received)["']?[\s:=("'#]{1,4}(?:an? )?429${alone}`, 'i'),
  new RegExp(String.raw`^[\s("'\[]{0,4}429${alone}`, 'i'),
]

// --------------------------------------------------------------------------------------- how long

/**
 * The wait that a `Retry-After` asks for, in milliseconds. It is given in seconds (number or digits), as an HTTP date, or as an ISO 8601 time.
 * `undefined` if it is none of these, or is not in the future.
 */
export const waitOf = (retryAfter: number | string, at: number): number | undefined => {
  if (typeof retryAfter === 'number') return believable(retryAfter * 1_000)
  const text = retryAfter.trim()
  if (/^\d{1,12}(?:\.\d{1,9})?$/.test(text)) return believable(Number(text) * 1_000)
  const time = timeOf(text)
  return time === undefined ? undefined : believable(time - at)
}

/** At least a millisecond, at most a day. Zero, a past time and NaN are ignored, because the queue's own backoff is better than no wait. */
const believable = (ms: number): number | undefined => (ms > 0 ? Math.min(Math.max(1, Math.round(ms)), retryAfterMaxSeconds * 1_000) : undefined)

/** A time in several units, as in `6m0s`, `1h 30m` or `1 minute and 30 seconds`. */
const compound = String.raw`(?:\d{1,6}\s?(?:days?|d|hours?|hrs?|h|minutes?|mins?|m),?\s?(?:and\s)?){1,3}\d{1,6}(?:\.\d{1,9})?\s?(?:hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?!\w)`
/** An amount, perhaps with its thousands apart: `1,500`. */
const amountText = String.raw`\d{1,3}(?:,\d{3}){1,3}(?![\d,])|\d{1,12}(?:\.\d{1,9})?`
/** A date begins with a day of the week. After another word the search goes on: `wait and try again in 30 s`. */
const inText = new RegExp(
  String.raw`\b(?:retry[\s_-]{0,3}after|(?:re)?try again in|retry in|wait(?: for)?)["']?[\s:="']{0,4}(?:(${compound})|(${amountText})\s?(milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w|months?)?(?![\w.:-]*\d|\w)|((?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? [^"'\n]{1,26}|\d{4}-\d\d-\d\dT[\d:.]{5,12}Z?))`,
  'i',
)

/** The wait that a message asks for, as in `Retry-After: 30` or `Please try again in 1.5 s`. */
const waitIn = (message: string, at: number): number | undefined => {
  const [, several, amount, unit, time] = inText.exec(message) ?? []
  if (several !== undefined) return believable([...several.matchAll(/([\d.]+)\s?([dhms])/gi)].reduce((sum, [, part, of]) => sum + Number(part) * msOf(of), 0))
  if (amount !== undefined) return believable(Number(amount.replaceAll(',', '')) * msOf(unit))
  return time === undefined ? undefined : waitOf(dateIn(time), at)
}

const msOf = (unit = 's'): number => {
  const name = unit.toLowerCase()
  if (name === 'ms' || name.startsWith('msec') || name.startsWith('milli')) return 1
  // Weeks and months count as days, because no wait is longer than a day.
  if (/^(?:d|w|mo)/.test(name)) return 86_400_000
  return name.startsWith('h') ? 3_600_000 : name.startsWith('m') ? 60_000 : 1_000
}

const dateIn = (text: string): string => /^.*? GMT|^\d{4}-\S*/.exec(text)?.[0] ?? text

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** The three forms of RFC 9110, and ISO 8601 in UTC. `Date.parse` would take `120` for a year. */
const imf = /^[a-z]{3}, (\d{1,2}) ([a-z]{3}) (\d{4}) (\d\d):(\d\d):(\d\d) gmt$/i
const rfc850 = /^[a-z]{6,9}, (\d\d)-([a-z]{3})-(\d\d) (\d\d):(\d\d):(\d\d) gmt$/i
const asctime = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/i
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z$/

/** Milliseconds since 1970. */
const timeOf = (text: string): number | undefined => {
  const ofIso = iso.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ofIso)) return ofIso
  const [, day, month = '', year, ...clock] = imf.exec(text) ?? rfc850.exec(text) ?? inOrder(asctime.exec(text))
  if (day === undefined) return undefined
  const full = Number(year) < 100 ? 2_000 + Number(year) : Number(year)
  const index = months.indexOf(month.toLowerCase())
  const [hour, minute, second] = clock.map(Number)
  if (index < 0 || !(Number(day) >= 1 && Number(day) <= 31) || !(Number(hour) <= 23 && Number(minute) <= 59 && Number(second) <= 60)) return undefined
  return Date.UTC(full, index, Number(day), hour, minute, second)
}
/** asctime puts the month first and the year last. */
const inOrder = (found: RegExpExecArray | null): ReadonlyArray<string | undefined> =>
  found === null ? [] : [found[0], found[2], found[1], found[6], found[3], found[4], found[5]]
