/** How reports tell their columns and values: the same in tables and in pictures. */
import { lengthText } from '@daybook/projections/charts'
import { clean } from '../text.js'

export type Value = string | number | null | undefined

/** `waitP50Seconds` → `wait P50`; `deadLettered` → `dead lettered`. */
export const headOf = (name: string): string => (name === 'from' ? 'from' : name.replace(/Seconds$/, '').replace(/(P\d\d|Mean|[A-Z])/g, (part) => ` ${part.startsWith('P') && part.length > 1 ? part : part.toLowerCase()}`))

export const told = (name: string, value: Value): string => {
  if (value === null || value === undefined) return name === 'from' || name === 'to' ? '' : '-'
  if (typeof value === 'string') return name === 'from' || name === 'to' ? shortTime(value) : name === 'signature' ? value.slice(0, 12) : clean(value)
  if (/seconds$/i.test(name)) return value < 1 && value > 0 ? `${Number((value * 1_000).toPrecision(3))}ms` : lengthText(value)
  if (/Share$/.test(name)) return `${(value * 100).toFixed(1)} %`
  return Number.isInteger(value) ? value.toLocaleString('en-US') : String(Number(value.toPrecision(4)))
}

/** `2026-07-01 14:00`, without the time at midnight. The offset is printed where clocks change, because an hour may come twice. */
export const shortTime = (text: string): string => {
  const [day = '', clock = ''] = text.split('T')
  return clock.startsWith('00:00') ? day : `${day} ${clock.slice(0, 5)}`
}

/** What the rows of a report are counted by, in a chart that shows one column. */
export const mainColumns: Readonly<Record<string, string>> = { summary: 'completed', throughput: 'completed', latency: 'waitP95Seconds', retries: 'retried', deadlines: 'deadlines', failures: 'failures' }
