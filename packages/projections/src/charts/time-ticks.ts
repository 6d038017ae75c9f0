/** Ticks for points in time, and for lengths of time. */

const hour = 3_600
const steps = [60, 300, 600, 1_800, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour, 48 * hour, 96 * hour]
const ticksMax = 9

const two = (value: number): string => String(value).padStart(2, '0')

/** Ticks of a time that begins at midnight: `6:00`, and `day 2` at each further midnight. `seconds`: the length of the time. */
export const clockTicks = (seconds: number): ReadonlyArray<{ readonly at: number; readonly label: string }> => {
  const step = steps.find((one) => seconds / one <= ticksMax) ?? 24 * hour * Math.ceil(seconds / (24 * hour) / ticksMax)
  return Array.from({ length: Math.floor(seconds / step) + 1 }, (_, i) => {
    const at = i * step
    const [day, inDay] = [Math.floor(at / (24 * hour)), at % (24 * hour)]
    const clock = `${Math.floor(inDay / hour)}:${two((inDay % hour) / 60)}`
    return { at, label: inDay === 0 && day > 0 && seconds > 24 * hour ? `day ${day + 1}` : at === 24 * hour ? '24:00' : clock }
  })
}

const day = 24 * hour
const lengths = [1, 10, 60, 600, hour, 6 * hour, day, 7 * day, 30 * day, 365 * day] as const

/** Ticks on a logarithmic scale: 0, 1s, 10s, 1m, 10m, 1h, 6h, 1d, 7d, 30d, 365d. They end with the first that is not less than `longest`, in seconds. */
export const lengthTicks = (longest: number): ReadonlyArray<{ readonly at: number; readonly label: string }> => {
  const last = lengths.findIndex((length) => length >= longest)
  return [0, ...(last < 0 ? [...lengths, Math.ceil(longest / day) * day] : lengths.slice(0, last + 1))].map((at) => ({ at, label: lengthText(at) }))
}

const units = [[86_400, 'd'], [hour, 'h'], [60, 'm'], [1, 's']] as const

/** A length of time in words: `0s`, `0.4s`, `12s`, `4m 10s`, `1h 5m`, `2d 3h`. */
export const lengthText = (seconds: number): string => {
  if (seconds < 9.95) return Number.isInteger(seconds) ? `${seconds}s` : `${seconds.toFixed(1)}s`
  const whole = Math.round(seconds)
  const first = units.findIndex(([size]) => whole >= size)
  const [size, unit] = units[first] ?? [1, 's']
  const next = units[first + 1]
  const rest = next === undefined ? 0 : Math.floor((whole % size) / next[0])
  return `${Math.floor(whole / size)}${unit}${rest === 0 ? '' : ` ${rest}${next?.[1] ?? ''}`}`
}
