/** Small texts for people. */

/** Characters that a terminal would obey, or that would change the order of those around them. Texts of tasks and files come from strangers. */
// eslint-disable-next-line no-control-regex -- these are the characters to be removed
const control = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** One line without control characters. */
export const clean = (text: string, max = 2_000): string => {
  const flat = text.replace(control, ' ').replace(/\s+/g, ' ').trim()
  // A character of two code units is not cut in half.
  return flat.length > max ? `${flat.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…` : flat
}

/** The same for a text of several lines, which stay as they are otherwise. */
export const cleanLines = (text: string): string => text.split('\n').map((line) => line.replace(control, ' ')).join('\n')

/** A value as JSON in one line, in which such characters are escaped: it is still the same JSON. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(/\n */g, ' ').replace(control, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** `45s`, `12m`, `3h`, `5d`. */
export const duration = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)}h` : `${Math.round(seconds / 86_400)}d`
}

export const since = (time: string | undefined | null): string => (time === undefined || time === null ? '' : `${duration(Date.now() - Date.parse(time))} ago`)
export const until = (time: string | undefined | null): string => {
  if (time === undefined || time === null) return ''
  const ms = Date.parse(time) - Date.now()
  return ms > 0 ? `in ${duration(ms)}` : 'now'
}

const two = (value: number): string => String(value).padStart(2, '0')

/** Local time in ISO 8601, with its offset: `2026-01-31 13:00:00+01:00`, or `…Z` in UTC. */
export const clock = (time: string | number | undefined | null): string => {
  if (time === undefined || time === null) return ''
  const at = new Date(time)
  const east = -at.getTimezoneOffset()
  const local = new Date(at.getTime() + east * 60_000).toISOString().slice(0, 19).replace('T', ' ')
  return `${local}${east === 0 ? 'Z' : `${east < 0 ? '-' : '+'}${two(Math.trunc(Math.abs(east) / 60))}:${two(Math.abs(east) % 60)}`}`
}
