/** Small texts for people. */

/** One line, without what a terminal would obey: task texts come from strangers. */
export const clean = (text: string, max = 2_000): string => {
  // eslint-disable-next-line no-control-regex -- these are the characters to be removed
  const flat = text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g, ' ').replace(/\s+/g, ' ').trim()
  return flat.length > max ? `${flat.slice(0, max - 1)}…` : flat
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

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

/** `2026-01-31 12:00:00Z`. */
export const clock = (time: string | undefined | null): string =>
  time === undefined || time === null ? '' : time.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
