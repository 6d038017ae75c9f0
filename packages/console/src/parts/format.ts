/** Numbers, durations and times as text. No browser needed. */

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** `12,345`; up to one decimal. */
export const numberText = (value: number): string => grouped.format(value)

/** For narrow places: `950`, `12.3 k`, `1.2 M`. */
export const shortNumber = (value: number): string => {
  const size = Math.abs(value)
  if (size < 10_000) return whole.format(value)
  if (size < 1_000_000) return `${grouped.format(value / 1_000)} k`
  return `${grouped.format(value / 1_000_000)} M`
}

/** `1 task`, `2 tasks`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${numberText(count)} ${count === 1 ? one : many}`

const units = [['d', 86_400], ['h', 3_600], ['min', 60], ['s', 1]] as const

/** The two largest units: `3 d 4 h`, `12 min 5 s`, `0.25 s`. */
export const durationText = (seconds: number): string => {
  if (!Number.isFinite(seconds)) return '∞'
  const sign = seconds < 0 ? '−' : ''
  const size = Math.abs(seconds)
  if (size < 1) return size === 0 ? '0 s' : size < 0.001 ? '< 1 ms' : `${sign}${whole.format(size * 1_000)} ms`
  if (size < 10) return `${sign}${grouped.format(size)} s`
  const rounded = Math.round(size)
  const first = units.findIndex(([, unit]) => rounded >= unit)
  const [name, unit] = units[first] as (typeof units)[number]
  const count = Math.floor(rounded / unit)
  const next = units[first + 1]
  const rest = next === undefined ? 0 : Math.floor((rounded - count * unit) / next[1])
  return `${sign}${count} ${name}${next === undefined || rest === 0 ? '' : ` ${rest} ${next[0]}`}`
}

/** The largest unit alone: `3 h`. */
const roughly = (seconds: number): string => (durationText(seconds < 10 ? Math.round(seconds) : seconds).match(/^\S+ \S+/) as RegExpMatchArray)[0]

/** `for 5 min`. `since`, `now`: milliseconds since 1970. */
export const forText = (since: number, now: number): string => `for ${roughly(Math.max(0, now - since) / 1_000)}`

/** `in 5 min`, `3 h ago`, `now`. `at`, `now`: milliseconds since 1970. */
export const agoText = (at: number, now: number): string => {
  const seconds = (now - at) / 1_000
  if (Math.abs(seconds) < 1) return 'now'
  const size = roughly(Math.abs(seconds))
  return seconds > 0 ? `${size} ago` : `in ${size}`
}

/** The last millisecond of the year 9999. Browsers cannot reckon with times at the very end of what they can represent. */
const timeMax = 253_402_300_799_999

/** Milliseconds since 1970 of a time in an address, which may hold any text; `undefined` if it is no time, or far beyond those of any log. */
export const timeIn = (text: string): number | undefined => {
  const at = Date.parse(text)
  return Math.abs(at) <= timeMax ? at : undefined
}

/** Seconds of `90s`, `15m`, `2h`, `3d`; `undefined` for any other text. */
export const secondsOf = (text: string): number | undefined => {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)(s|m|h|d)$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * ({ s: 1, m: 60, h: 3_600, d: 86_400 }[unit] as number)
}
