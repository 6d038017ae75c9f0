/** The situations that the random histories must reach: a property that never meets a dead letter says nothing about dead letters. */
import type { Findings } from './histories.js'

/** How often in 300 histories; the generators reach all of it more often. */
const atLeast: Readonly<Record<string, number>> = {
  TaskEnqueued: 2_000,
  TaskImported: 150,
  duplicate: 80,
  TaskDue: 50,
  Claimed: 1_200,
  LeaseExtended: 50,
  Completed: 250,
  MarkedIncomplete: 40,
  Released: 40,
  ClaimReturned: 10,
  AgentRegistered: 100,
  'claim of a registered agent': 150,
  'claim limited by maxTasks': 10,
  'taken last': 30,
  'left to another agent': 15,
  'crossed tokens': 30,
  RateLimited: 40,
  'rate-limited probe': 2,
  SlowdownSignalled: 15,
  SlowdownEnded: 10,
  AgentResumed: 10,
  TaskParked: 40,
  'parked probe': 2,
  CallbackReceived: 15,
  'ParkTimedOut: fail': 8,
  'ParkTimedOut: requeue': 5,
  Failed: 250,
  RetryScheduled: 40,
  'ClaimExpired: lease-expired': 300,
  'ClaimExpired: report-missing': 8,
  ClaimRevoked: 20,
  'DeadLettered: retries-exhausted': 200,
  'DeadLettered: attempts-exhausted': 10,
  'DeadLettered: not-retryable': 50,
  Requeued: 50,
  Snoozed: 15,
  Escalated: 10,
  RedriveStarted: 20,
  RedriveAdvanced: 20,
  'RedriveStopped: nothing-left': 8,
  'RedriveStopped: by-hand': 2,
  Discarded: 20,
  Cancelled: 200,
  'cascade of depth 2': 5,
  QueueDeleted: 30,
  ValidationFailed: 40,
  'SpawnProposed: other-ticket': 8,
  'LoopHalted: signature-repeated': 4,
  'LoopHalted: retries-exhausted': 8,
  SpawnApproved: 3,
  SpawnRefused: 4,
  GuardianReleased: 4,
  'BreakerOpened: threshold': 50,
  'BreakerOpened: probe-failed': 15,
  'BreakerOpened: manual': 40,
  BreakerHalfOpened: 50,
  'BreakerClosed: probe-succeeded': 10,
  'BreakerClosed: manual': 10,
  probe: 40,
  evicted: 300,
  'again, when it is over': 100,
  QueueConfigured: 300,
  QueuePaused: 50,
  QueueResumed: 50,
  'refused: lease-lost': 100,
  'refused: wrong-state': 50,
  'refused: unknown-dependency': 20,
  'refused: dependency-cycle': 5,
  'refused: conflict': 20,
  ScheduleSet: 100,
  ScheduleRemoved: 20,
  ScheduleRan: 300,
  'ScheduleSkipped: missed': 30,
  'ScheduleSkipped: overlap': 30,
  ScheduleHeld: 20,
  rollback: 50,
  'rollback over marks': 15,
  release: 30,
  reload: 50,
}

/** Six standard deviations below that number, so that no seed fails by chance. Never less than once. */
const leastOf = (in300: number, histories: number): number => {
  const expected = (in300 * histories) / 300
  return Math.min(histories, Math.max(1, Math.floor(expected - 6 * Math.sqrt(expected))))
}

export const missedOf = ({ histories, seen }: Findings): ReadonlyArray<string> =>
  Object.entries(atLeast).flatMap(([what, in300]) => {
    const least = leastOf(in300, histories)
    const count = seen.get(what) ?? 0
    return count >= least ? [] : [`${what}: ${count} of ${least}`]
  })
