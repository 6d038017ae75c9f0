/** The states of each type's breaker over a period, from the rows of the report. */
import type { BreakerView } from '@daybook/client'
import type { Stretch } from '../../parts/strip.js'

/** The report has a row for each time in which a breaker was not closed. Between these times it was closed. `from`, `to`: milliseconds since 1970. */
export const stretchesOf = (rows: ReadonlyArray<Readonly<Record<string, string | number | null>>>, type: string, from: number, to: number): ReadonlyArray<Stretch> => {
  const found: Array<Stretch> = []
  let end = from
  const own = rows.filter((row) => row['type'] === type && row['state'] !== 'closed').map((row) => ({
    state: String(row['state']),
    from: Date.parse(String(row['from'])),
    to: row['to'] === null ? to : Date.parse(String(row['to'])),
    why: [row['cause'], row['reason']].filter((part) => typeof part === 'string' && part !== '').join(': '),
  }))
  for (const stretch of own.sort((a, b) => a.from - b.from)) {
    if (stretch.from > end) found.push({ state: 'closed', from: end, to: stretch.from })
    found.push(stretch)
    end = Math.max(end, stretch.to)
  }
  if (end < to) found.push({ state: 'closed', from: end, to })
  return found
}

const need = { open: 0, 'half-open': 1, closed: 2 } as const

/** Open ones first, then by name. */
export const inOrder = (breakers: Readonly<Record<string, BreakerView>>): ReadonlyArray<readonly [string, BreakerView]> =>
  Object.entries(breakers).sort(([a, one], [b, other]) => need[one.state] - need[other.state] || (a < b ? -1 : 1))
