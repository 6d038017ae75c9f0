/**
 * The search of tasks: `type:eng-* status:pending tenant:acme priority:>=8 age:>1h "timeout"`. A qualifier becomes a parameter of `GET …/tasks`.
 * Other words are searched in id, type, ticket and last error. A term that cannot be understood is reported at its position and left out. No browser
 * needed.
 */
import { secondsOf } from '../parts/format.js'

export interface SearchProblem {
  /** Its position in the text: from the first character to the one after the last. */
  readonly from: number
  readonly to: number
  readonly message: string
}

export interface Search {
  /** Parameters of `GET …/tasks`, without those of `age`. */
  readonly filter: Readonly<Record<string, string>>
  /** Only tasks that were enqueued at least this many seconds ago. */
  readonly olderThanSeconds?: number
  readonly youngerThanSeconds?: number
  readonly problems: ReadonlyArray<SearchProblem>
}

export interface Term {
  readonly from: number
  readonly to: number
  /** `undefined` for a word without a qualifier. */
  readonly name?: string
  /** Without its quotes. */
  readonly value: string
}

export const statusNames = ['pending', 'queued', 'in-progress', 'scheduled', 'waiting', 'blocked', 'incomplete', 'dead-letter', 'completed', 'cancelled', 'discarded'] as const
export const phaseNames = ['REQUIREMENTS', 'IMPLEMENTATION', 'VALIDATION', 'ANALYSIS', 'TESTING'] as const
export const bandNames = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] as const

/** The qualifiers, each with its form of value. */
export const qualifiers: Readonly<Record<string, string>> = {
  status: 'pending, or several: pending,blocked',
  type: 'a type, or eng-*',
  priority: '8, >=8, 5-7 or HIGH',
  tenant: 'a tenant',
  phase: 'a phase',
  ticket: 'a ticket',
  agent: 'who holds it, or completed it',
  age: '>1h: enqueued more than an hour ago; <10m: less than ten minutes',
  after: '2026-11-20, or 2026-11-20T10:00 (UTC): enqueued then or later',
  before: '2026-11-20, or 2026-11-20T10:00 (UTC): enqueued before that',
  waitsfor: 'a task: those that depend on it, and wait',
}

/** In quotes, a quotation mark of the value itself stands after a backslash, and so does a backslash. */
const termPattern = /([A-Za-z]+):("(?:\\.|[^"])*"?|\S*)|"(?:\\.|[^"])*"?|\S+/gs
const inQuotes = /^"((?:\\.|[^"])*)"?$/s

export const termsOf = (text: string): ReadonlyArray<Term> =>
  [...text.matchAll(termPattern)].map((found) => {
    const [whole, name, value] = found
    const from = found.index
    return { from, to: from + whole.length, ...(name === undefined ? {} : { name: name.toLowerCase() }), value: unquoted(value ?? whole) }
  })

const unquoted = (text: string): string => inQuotes.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1') ?? text

/** A value as it has to be typed: in quotes if it has spaces or quotation marks. */
export const quoted = (value: string): string => (/[\s"]/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value)

/** A qualifier with any value, for links. */
export const termText = (name: string, value: string): string => `${name}:${quoted(value)}`

export const parseSearch = (text: string): Search => {
  const filter: Record<string, string> = {}
  const problems: Array<SearchProblem> = []
  const words: Array<string> = []
  const ages: { olderThanSeconds?: number; youngerThanSeconds?: number } = {}
  for (const term of termsOf(text)) {
    const { name, value, from, to } = term
    const refuse = (message: string): void => void problems.push({ from, to, message })
    if (name === undefined) {
      if (value !== '') words.push(value)
      continue
    }
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (name === 'age') {
      const age = ageOf(value)
      const other = age?.isOlder === true ? 'before' : 'after'
      if (age === undefined) refuse('an age is >1h or <10m: s, m, h and d are seconds, minutes, hours and days')
      else if (filter[createdBy[other]] !== undefined) refuse(`${other}: says the same already`)
      else if (age.isOlder) ages.olderThanSeconds = age.seconds
      else ages.youngerThanSeconds = age.seconds
    } else if (parameter === undefined) {
      refuse(`${name} is no qualifier: there are ${Object.keys(qualifiers).join(', ')}. In quotes it is a word`)
    } else if (value === '') {
      refuse(`${name}: ${qualifiers[name]}`)
    } else if (filter[parameter.name] !== undefined && name !== 'status') {
      refuse(`${name} stands twice`)
    } else if ((name === 'before' && ages.olderThanSeconds !== undefined) || (name === 'after' && ages.youngerThanSeconds !== undefined)) {
      refuse('age: says the same already')
    } else {
      const read = parameter.read(value)
      if (typeof read === 'string') filter[parameter.name] = name === 'status' && filter.status !== undefined ? `${filter.status},${read}` : read
      else refuse(read.problem)
    }
  }
  if (words.length > 0) filter.q = words.join(' ')
  return { filter, ...ages, problems }
}

type Read = string | { readonly problem: string }

const any = (value: string): Read => value
const oneOf = (names: ReadonlyArray<string>, what: string) => (value: string): Read => {
  const given = value.split(',').map((each) => names.find((name) => name.toLowerCase() === each.toLowerCase()) ?? { wrong: each })
  const wrong = given.find((each): each is { readonly wrong: string } => typeof each !== 'string')
  return wrong === undefined ? given.join(',') : { problem: `${wrong.wrong === '' ? 'nothing' : wrong.wrong} is no ${what}: ${names.join(', ')}` }
}

const typeOf = (value: string): Read => (/^[^*,]*\*?$/.test(value) ? value : { problem: 'a type is exact, or ends in *: eng-*' })

const priorityOf = (value: string): Read => {
  const band = bandNames.find((name) => name === value.toUpperCase())
  if (band !== undefined) return band
  const [, sign = '', from, to] = /^(>=|<=|>|<)?(\d{1,2})(?:-(\d{1,2}))?$/.exec(value) ?? []
  const ends = [from, to ?? from].map(Number)
  const [low = 0, high = 0] = ends
  if (from === undefined || (sign !== '' && to !== undefined) || ends.some((end) => end < 1 || end > 10)) return { problem: 'a priority is 1 to 10, >=8, 5-7, or CRITICAL, HIGH, MEDIUM, LOW' }
  const range = { '': [low, high], '>=': [low, 10], '>': [low + 1, 10], '<=': [1, low], '<': [1, low - 1] }[sign] as [number, number]
  if (range[0] > 10 || range[1] < 1) return { problem: 'no priority is so: they are 1 to 10' }
  return range[0] === range[1] ? String(range[0]) : range.join('-')
}

const createdBy = { after: 'createdAfter', before: 'createdBefore' } as const

/** Without a zone it is UTC, so that a link means the same to everybody. */
const timeOf = (value: string): Read => {
  const [, day, clock, zone = 'Z'] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/i.exec(value) ?? []
  const ms = Date.parse(`${day}T${clock ?? '00:00'}${zone.toUpperCase()}`)
  return Number.isNaN(ms) ? { problem: 'a time is 2026-11-20, 2026-11-20T10:00 or 2026-11-20T10:00+02:00' } : new Date(ms).toISOString()
}

const parameters: Readonly<Record<string, { readonly name: string; readonly read: (value: string) => Read }>> = {
  status: { name: 'status', read: oneOf(statusNames, 'status') },
  type: { name: 'type', read: typeOf },
  priority: { name: 'priority', read: priorityOf },
  tenant: { name: 'tenant', read: any },
  phase: { name: 'phase', read: (value) => (value.includes(',') ? { problem: 'one phase at a time' } : oneOf(phaseNames, 'phase')(value)) },
  ticket: { name: 'ticketId', read: any },
  agent: { name: 'agent', read: any },
  after: { name: createdBy.after, read: timeOf },
  before: { name: createdBy.before, read: timeOf },
  waitsfor: { name: 'waitsFor', read: any },
}

const ageOf = (value: string): { readonly isOlder: boolean; readonly seconds: number } | undefined => {
  const [, sign, text = ''] = /^(>|<)=?(.+)$/.exec(value) ?? []
  const seconds = secondsOf(text)
  return sign === undefined || seconds === undefined ? undefined : { isOlder: sign === '>', seconds }
}

/** The parameters with the ages as times. `now`: milliseconds since 1970. */
export const filterAt = ({ filter, olderThanSeconds, youngerThanSeconds }: Search, now: number): Readonly<Record<string, string>> => {
  const before = (seconds: number): string => new Date(now - seconds * 1_000).toISOString()
  return {
    ...filter,
    ...(olderThanSeconds === undefined ? {} : { createdBefore: before(olderThanSeconds) }),
    ...(youngerThanSeconds === undefined ? {} : { createdAfter: before(youngerThanSeconds) }),
  }
}
