/**
 * When a schedule is due: by a cron expression in a time zone, or at an interval. Pure: the rules of time zones come from the JavaScript engine
 * (ICU). The fold never asks, because each event says when the schedule is due next.
 *
 * Cron: five fields, or six with seconds first; `@daily` and the like, names, lists, ranges, steps, `L`, `W` and `#`. If both day of month and day of
 * week are given, either suffices.
 *
 * Days of 23 and 25 hours follow Vixie cron. A run at fixed times of day that fall into the gap is due at the first moment after it. If its time
 * comes twice, it is due once. A run with a `*` or a step in seconds, minutes or hours goes by elapsed time: it has no instants in the gap, and both
 * of a repeated one.
 */
import { Cron } from 'croner'
import { instantMax } from '../model/scalars.js'

export type Recurrence =
  | { readonly cron: string; readonly timeZone: string }
  /** `every`: in seconds. */
  | { readonly every: number; readonly timeZone: string }

/** Why the rule is invalid; `undefined` if it is valid. */
export const whyNoRecurrence = (rule: Recurrence): { readonly path: 'cron' | 'timeZone'; readonly message: string } | undefined => {
  if (!isTimeZone(rule.timeZone)) return { path: 'timeZone', message: `${JSON.stringify(rule.timeZone)} is not a time zone: use a name of the IANA list, like Europe/Berlin, or UTC` }
  if (!('cron' in rule)) return undefined
  // The library would take the text for a date.
  if (/\dT\d/.test(rule.cron)) return { path: 'cron', message: 'is a time: a schedule repeats; for one run, enqueue a task with availableAt' }
  try {
    // Some expressions are never due, such as the 30th of February.
    if (parsed(rule).nextRun(new Date(0)) === null) return { path: 'cron', message: `${JSON.stringify(rule.cron)} is never due` }
    return undefined
  } catch (error) {
    const fields = rule.cron.trim().split(/\s+/).length
    const said = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
    // The library's text about the number of fields allows more of them than is accepted here.
    const why = fields === 5 || fields === 6 ? said : `it has ${fields} field${fields === 1 ? '' : 's'}`
    return { path: 'cron', message: `${JSON.stringify(rule.cron)} is not a cron expression (${why}): five fields, minute hour day month weekday, like 0 2 * * 1-5` }
  }
}

const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    // Only newer engines accept offsets as time zones.
    return /^[A-Za-z]/.test(name)
  } catch {
    return false
  }
}

/** The instant after `due`; `undefined` for never. If the rule is an interval, `due` must be one of its instants, or the moment when the schedule begins. */
export const dueAfter = (rule: Recurrence, due: number): number | undefined => {
  const next = 'every' in rule ? due + rule.every * 1_000 : parsed(rule).nextRun(new Date(due))?.getTime()
  return next === undefined || next > instantMax ? undefined : next
}

/** The last instant at or before `at`. `due`: an earlier instant. */
export const lastDueBy = (rule: Recurrence, due: number, at: number): number => {
  if ('every' in rule) return due + Math.floor((at - due) / (rule.every * 1_000)) * rule.every * 1_000
  const [last] = parsed(rule).previousRuns(1, new Date(at + 1))
  return Math.max(due, last?.getTime() ?? due)
}

/** `first` and the instants after it, at most `max`. */
export const upcoming = (rule: Recurrence, first: number, max: number): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let next: number | undefined = first; next !== undefined && found.length < max; next = dueAfter(rule, next)) found.push(next)
  return found
}

/** Parsing takes as long as one question, so some parsed expressions are cached. No result depends on which. */
const kept = new Map<string, Cron>()
const keptMax = 1_000

const parsed = ({ cron, timeZone }: { readonly cron: string; readonly timeZone: string }): Cron => {
  const key = `${timeZone}\n${cron}`
  const known = kept.get(key)
  if (known !== undefined) return known
  const made = new Cron(cron, { timezone: timeZone, paused: true, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' })
  if (kept.size >= keptMax) kept.clear()
  kept.set(key, made)
  return made
}
