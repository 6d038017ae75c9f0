/** How long a failed task waits. */
import type { Settings } from './settings.js'

/**
 * Milliseconds until retry number `retry` (1, 2, 3 …): base · 2^(retry−1), at most `maxBackoffSeconds`, and
 * up to `jitter` of that on top (LK-09).
 *
 * @param random in [0, 1)
 * @example
 * retryDelayMs(60, 3, { maxBackoffSeconds: 3600, jitter: 0.1 }, 0) // => 240000
 */
export const retryDelayMs = (baseSeconds: number, retry: number, rules: Pick<Settings['defaults'], 'maxBackoffSeconds' | 'jitter'>, random: number): number => {
  const seconds = Math.min(baseSeconds * 2 ** Math.min(retry - 1, 60), rules.maxBackoffSeconds)
  return Math.round(seconds * (1 + rules.jitter * random) * 1_000)
}
