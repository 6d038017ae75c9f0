/** Periods of reports and of the log, up to the moment that is shown. */
import { address } from '../address/address.js'
import { serverNow } from '../api/server-time.js'
import { timeIn } from './format.js'
import { momentTime } from './moment-time.js'

const quarterMs = 900_000
const hourMs = 3_600_000
/** The beginning of its quarter of an hour, so that a request stays the same for that long. */
export const quarterBefore = (ms: number): string => new Date(Math.floor(ms / quarterMs) * quarterMs).toISOString()

/**
 * A period that began `hours` ago. For a moment of the past, it ends with the quarter of an hour before that moment, so that it includes nothing that
 * happened later.
 */
export const sinceHours = (hours: number): { readonly from: string; readonly to?: string } => {
  const moment = momentTime.value
  return moment === undefined ? { from: quarterBefore(serverNow() - hours * hourMs) } : { from: quarterBefore(moment - hours * hourMs), to: quarterBefore(moment) }
}

/** When the present of the page is: that of the moment shown, in milliseconds since 1970. */
export const endOfShown = (): number => momentTime.value ?? serverNow()

/** By hours. */
export const periods = { '1': 'an hour', '6': 'six hours', '24': 'a day', '168': 'a week', '720': '30 days' } as const

export interface ShownPeriod {
  /** ISO 8601. */
  readonly from: string
  /** Not included; `undefined` for the present. */
  readonly to?: string
  /** So many hours up to the moment that is shown; `undefined` for a period with ends of its own. */
  readonly hours?: string
}

/** The period of the address: `from` and `to`, or `hours`. */
export const periodShown = (hoursDefault: keyof typeof periods): ShownPeriod => {
  const { from, to, hours = hoursDefault } = address.value.query
  if (from !== undefined && timeIn(from) !== undefined) return { from, ...(to === undefined || timeIn(to) === undefined ? {} : { to }) }
  const known = Object.hasOwn(periods, hours) ? hours : hoursDefault
  return { ...sinceHours(Number(known)), hours: known }
}
