/** How urgently a queue needs somebody: the most urgent queues come first. No browser needed. */
import type { AlertView } from '@daybook/client'

export interface NeedOf {
  readonly alerts: ReadonlyArray<Pick<AlertView, 'kind'>>
  readonly isPaused: boolean
  readonly deadLetters: number
  readonly oldestWaitSeconds: number
}

/** Alerts come first; then a pause, which may have been forgotten; then dead letters; then long waits. */
export const needOf = ({ alerts, isPaused, deadLetters, oldestWaitSeconds }: NeedOf): number =>
  alerts.length * 100 + (isPaused ? 50 : 0) + (deadLetters > 0 ? 20 : 0) + Math.min(10, Math.floor(oldestWaitSeconds / 600))

/** Sorted by urgency; equal ones by name. */
export const byNeed = (names: ReadonlyArray<string>, needs: Readonly<Record<string, number>>): ReadonlyArray<string> =>
  [...names].sort((a, b) => (needs[b] ?? 0) - (needs[a] ?? 0) || (a < b ? -1 : 1))
