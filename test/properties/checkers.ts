/** One checker per invariant, by its id, and a combination of them. */
import { breakerRule, countsOfAttempts, deadLetterRule, dependenciesFirst, newestToken, oneLease } from './attempt-checkers.js'
import {
  allOrNone,
  barred,
  bestFirst,
  withinCapacity,
  boundedSize,
  cascades,
  conservation,
  decideChangesNothing,
  finalIsFinal,
  judgedAtItsInstant,
  keysOnce,
  monotoneTime,
  viewsAreScans,
} from './queue-checkers.js'
import { alertsAreRight } from './alert-checker.js'
import { amendmentsTell } from './amend-checker.js'
import { batchesAreCounted } from './batch-checker.js'
import { scheduleRuns } from './schedule-checker.js'
import { rateLimitRule } from './rate-limit-checker.js'
import { reviewsKeepTheirTime } from './review-checker.js'
import { runsEnd } from './run-time-checker.js'
import { spawnedOnce } from './spawn-checkers.js'
import { withinLimits } from './limit-checkers.js'
import type { Checker } from './world.js'

export const checkers = {
  'INV-1': oneLease,
  'INV-2': newestToken,
  'INV-3': countsOfAttempts,
  'INV-4': deadLetterRule,
  'INV-5': dependenciesFirst,
  'INV-6': breakerRule,
  'INV-7': keysOnce,
  'INV-8': cascades,
  'INV-9': conservation,
  'INV-10': withinCapacity,
  'INV-11': bestFirst,
  'INV-14': monotoneTime,
  'INV-15': decideChangesNothing,
  'INV-16': allOrNone,
  'INV-17': finalIsFinal,
  'INV-18': barred,
  'INV-20': () => both(viewsAreScans(), alertsAreRight()),
  'INV-21': rateLimitRule,
  'INV-22': boundedSize,
  'INV-23': withinLimits,
  'INV-25': judgedAtItsInstant,
  'INV-27': scheduleRuns,
  'INV-29': spawnedOnce,
  'INV-30': amendmentsTell,
  'INV-31': runsEnd,
  'INV-32': reviewsKeepTheirTime,
  'INV-33': batchesAreCounted,
} as const satisfies Record<string, () => Checker>

export type Invariant = keyof typeof checkers

/** Two checkers of commands and of the states between them. */
const both = (one: Checker, other: Checker): Checker => ({
  command: (...given) => {
    one.command?.(...given)
    other.command?.(...given)
  },
  step: (...given) => {
    one.step?.(...given)
    other.step?.(...given)
  },
})

/** Combines checkers. An error begins with the id of the broken invariant. */
export const together = (ids: ReadonlyArray<Invariant>): Checker => {
  const each = ids.map((id) => ({ id, checker: checkers[id]() as Checker }))
  // Only the checkers that have this hook. Most have one or two, and the hooks run for every event.
  const ask = <Hook extends keyof Checker>(hook: Hook): NonNullable<Checker[Hook]> => {
    const asked = each.flatMap(({ id, checker }) => {
      const look = checker[hook] as ((a: unknown, b: unknown, c: unknown, d: unknown) => void) | undefined
      return look === undefined ? [] : [{ id, look }]
    })
    return (a: unknown, b?: unknown, c?: unknown, d?: unknown): void => {
      for (const { id, look } of asked) {
        try {
          look(a, b, c, d)
        } catch (error) {
          throw new Error(`${id}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
        }
      }
    }
  }
  return { command: ask('command'), event: ask('event'), note: ask('note'), step: ask('step') }
}
