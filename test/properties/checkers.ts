/** One checker for each invariant, by its id. */
import { breakerRule, countsOfAttempts, deadLetterRule, dependenciesFirst, newestToken, oneLease } from './attempt-checkers.js'
import {
  allOrNone,
  barred,
  bestFirst,
  boundedSize,
  cascades,
  conservation,
  decideChangesNothing,
  finalIsFinal,
  keysOnce,
  monotoneTime,
  viewsAreScans,
} from './queue-checkers.js'
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
  'INV-11': bestFirst,
  'INV-14': monotoneTime,
  'INV-15': decideChangesNothing,
  'INV-16': allOrNone,
  'INV-17': finalIsFinal,
  'INV-18': barred,
  'INV-20': viewsAreScans,
  'INV-22': boundedSize,
} as const satisfies Record<string, () => Checker>

export type Invariant = keyof typeof checkers
