/** Times as people type them and files contain them. More forms are accepted than over HTTP, but no time that does not exist. */
import { parseTime } from './iso-time.js'

const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?: ?(Z|[+-]\d\d(?::?\d\d)?))?)?$/i

/**
 * Milliseconds of an ISO 8601 date, or date and time; `undefined` for any other text, including 30 February.
 *
 * A date alone means its midnight in UTC, and a time without a zone is local, as in `Date.parse`. Unlike `Date.parse`, it does not roll over days
 * that do not exist.
 */
export const readTime = (text: string): number | undefined => {
  const [, date, clock, zone] = form.exec(text.trim()) ?? []
  if (date === undefined) return undefined
  if (clock === undefined) return parseTime(`${date}T00:00:00Z`)
  const local = `${date}T${clock.replace(/(\.\d{9})\d+$/, '$1')}`
  if (zone !== undefined) return parseTime(`${local}${/^z$/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`}`)
  const ms = parseTime(`${local}Z`) === undefined ? Number.NaN : Date.parse(local)
  return ms >= 0 ? ms : undefined
}
