/**
 * The time of the server. Whoever looks may have a computer whose clock is wrong: ages, countdowns and moments that are asked for are by the clock of the
 * server, as its answers tell it.
 */

/** A smaller difference, or change of it, is left alone: an answer may have been under way for long, and tells whole seconds. So ages do not jump to and fro. */
const leftAloneMs = 5_000

let aheadMs = 0

/** `date`: the header of an answer that has just come. */
export const noteDate = (date: string | null): void => {
  const at = date === null ? Number.NaN : Date.parse(date)
  if (Number.isNaN(at)) return
  const found = at - Date.now()
  if (Math.abs(found - aheadMs) >= leftAloneMs) aheadMs = Math.abs(found) < leftAloneMs ? 0 : found
}

/** Milliseconds since 1970. */
export const serverNow = (): number => Date.now() + aheadMs
