/**
 * Conditions of a queue that people should know of (EV-08, TQM-OBS-002, TQM-OBS-003). An event raises an alert when its condition begins, and another
 * event clears it when the condition ends, each once. The raised alerts are state. Which conditions hold follows from the other indexes; it is kept
 * here so that the next change is known at once.
 *
 * | kind | raised | cleared |
 * |---|---|---|
 * | `critical-waiting` | a ready task of priority CRITICAL has waited for over `criticalDepthSeconds` since it became ready | no such task is ready |
 * | `starvation` | a ready task is starved (`score.starvationLimit`) | all that were ready when it was raised are served or gone |
 * | `dead-letters:TYPE` | there is a dead letter of the type | there is none |
 * | `attempts-exhausted:ID` | the task is a dead letter because its attempts are used up (GB-06) | it is no longer a dead letter |
 * | `breaker-open:TYPE` | the breaker of the type is not closed | it is closed |
 * | `retry-spike:PHASE`, `retry-spike:discovery:KIND` | the failed attempts of a phase, or of tasks about a kind of discovery, in five minutes exceed the usual number: see {@link isSpike} | five minutes have passed without a spike |
 */
import type { AlertKind } from '../model/alert-kind.js'
import { SortedList } from '../structures/sorted-list.js'
import { type Breaker, byNumber, type TaskRecord } from '../records/records.js'
import type { UndoLog } from '../structures/undo-log.js'
import { UndoMap } from '../structures/undo-map.js'

export interface Alert {
  /** The kind and what the alert is about: `breaker-open:eng-backend`. A raised alert is not raised again under the same key. */
  readonly key: string
  readonly kind: AlertKind
  readonly message: string
  readonly raisedAt: number
}

export const keyOf = (kind: AlertKind, about?: string): string => (about === undefined ? kind : `${kind}:${about}`)
export const kindOf = (key: string): AlertKind => key.split(':', 1)[0] as AlertKind

/** Failed attempts are counted in steps of this many milliseconds. A step is compared with the mean of the {@link spikeSteps} steps before it. */
export const spikeStepMs = 300_000
export const spikeSteps = 12

/**
 * Whether this many failed attempts in one step are unusual, by the upper limit of a c-chart (Shewhart): the mean plus three standard deviations of a
 * Poisson distribution. A count below `min` is never unusual.
 */
export const isSpike = (count: number, mean: number, min: number): boolean => count >= min && count > mean + 3 * Math.sqrt(mean)

/**
 * The largest number of phases and kinds of discovery that are counted. Beyond it, failures count as the kind `other`, because tasks may name any
 * kind.
 */
export const countedMax = 100

/** The failed attempts of one phase or kind of discovery. The object is replaced as a whole. */
export interface FailureCounts {
  /** Number of the step of the last failure: its time divided by {@link spikeStepMs}. */
  readonly step: number
  /** Counts of that step and those before it, newest first. */
  readonly counts: ReadonlyArray<number>
  /** The last step with a spike; `null` if its alert has been cleared. */
  readonly spike: number | null
}

/** What an alert about a kind of discovery has in its key. No phase has such a name. */
export const aboutDiscovery = (kind: string): string => `discovery:${kind}`
/** The kind of discovery that an alert is about; `undefined` if it is about a phase. */
export const discoveryIn = (about: string): string | undefined => (about.startsWith('discovery:') ? about.slice('discovery:'.length) : undefined)

/** The counts as of a later step, newest first. */
export const failureCountsAt = ({ step, counts }: FailureCounts, to: number): ReadonlyArray<number> => {
  const passed = Math.min(to - step, spikeSteps + 1)
  return [...Array<number>(passed).fill(0), ...counts].slice(0, spikeSteps + 1)
}

const readySinceOf = (task: TaskRecord): number => task.extras.readySince ?? 0

export class Alerts {
  readonly raised: UndoMap<Alert>
  /** By phase (`none` for tasks without one), or by {@link aboutDiscovery}. */
  readonly failures: UndoMap<FailureCounts>
  /** The keys of those {@link failures} that have a spike. */
  readonly spiking = new Set<string>()
  /** Ready tasks of priority CRITICAL, by when they became ready. */
  readonly critical = new SortedList<TaskRecord>(readySinceOf, byNumber)
  /** Keys of the conditions that hold and do not depend on time, each with the number of its records. */
  private readonly holding = new Map<string, number>()
  /** Keys of conditions that hold without a raised alert, and of raised alerts whose condition has ended. Only those that do not depend on time. */
  readonly changed = new Set<string>()

  constructor(undoLog: UndoLog) {
    this.raised = new UndoMap(undoLog, (_from, _to, key) => this.compare(key))
    this.failures = new UndoMap(undoLog, (_from, counts, about) => {
      if (typeof counts?.spike === 'number') this.spiking.add(about)
      else this.spiking.delete(about)
    })
  }

  /** Counts a dead letter that was added (1) or removed (−1). */
  countDeadLetter({ id, group, extras }: TaskRecord, by: 1 | -1): void {
    this.count(keyOf('dead-letters', group.type), by)
    if (extras.deadLetter?.reason === 'attempts-exhausted') this.count(keyOf('attempts-exhausted', id), by)
  }

  /** Counts a breaker that was added (1) or removed (−1), in its present state. */
  countBreaker({ type, state }: Breaker, by: 1 | -1): void {
    if (state !== 'closed') this.count(keyOf('breaker-open', type), by)
  }

  private count(key: string, by: 1 | -1): void {
    const count = (this.holding.get(key) ?? 0) + by
    if (count === 0) this.holding.delete(key)
    else this.holding.set(key, count)
    this.compare(key)
  }

  private compare(key: string): void {
    const kind = kindOf(key)
    if (kind !== 'dead-letters' && kind !== 'attempts-exhausted' && kind !== 'breaker-open') return
    if (this.holding.has(key) === this.raised.has(key)) this.changed.delete(key)
    else this.changed.add(key)
  }

  raise(alert: Alert): void {
    this.raised.set(alert.key, alert)
  }

  setFailures(about: string, counts: FailureCounts | undefined): void {
    this.failures.replace(about, counts)
  }

  /** All raised alerts, by key. */
  all(): ReadonlyArray<Alert> {
    return [...this.raised.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  }
}
