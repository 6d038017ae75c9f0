/** Timers of any length. `setTimeout` is limited to 2^31 - 1 ms (25 days), and treats anything longer as 1 ms. */

const timerMsMax = 2 ** 31 - 1

/** Calls `ring` once after `ms` milliseconds; for `Infinity`, never. The returned function cancels it. `unref`: the timer does not keep the process alive. */
export const longTimer = (ms: number, ring: () => void, { unref = false } = {}): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  const wait = (left: number): void => {
    timer = left > timerMsMax ? setTimeout(() => wait(left - timerMsMax), timerMsMax) : setTimeout(ring, left)
    if (unref) timer.unref()
  }
  wait(ms)
  return () => clearTimeout(timer)
}
