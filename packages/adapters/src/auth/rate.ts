/** How often a token may be used: a number of requests per second on average, and a number at once (GCRA). */
import { between, integer } from '@daybook/core'
import * as t from 'io-ts'

export const Rate = t.type({ perSecond: between(0.001, 100_000), burst: integer(1, 100_000) }, 'Rate of requests')
export type Rate = t.TypeOf<typeof Rate>

/** Counts one more request. Returns how long the caller has to wait for it, in milliseconds; 0 if it is admitted. */
export type TakeTurn = (now?: number) => number

export const unlimited: TakeTurn = () => 0

/** `now`: milliseconds of a clock that never goes back. A refused request does not count. */
export const turnsAt = ({ perSecond, burst }: Rate): TakeTurn => {
  const everyMs = 1_000 / perSecond
  const aheadMsMax = (burst - 1) * everyMs
  /** When the next request would be due at an even pace. */
  let due = Number.NEGATIVE_INFINITY
  return (now = performance.now()) => {
    const next = Math.max(due, now)
    const waitMs = next - now - aheadMsMax
    // Rounding of many steps may add up to a thousandth of a millisecond.
    if (waitMs > 1e-3) return waitMs
    due = next + everyMs
    return 0
  }
}
