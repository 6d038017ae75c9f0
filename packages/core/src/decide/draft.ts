/**
 * Collects the events of a command. Most commands end one attempt of one task, but a tick may end many. The draft counts the failures that it adds,
 * so that the breaker opens at the right failure.
 */
import type { DeadLetterReason, ExpiryCause, QueueEvent } from '../model/events.js'
import { exhaustedBy } from '../model/attempts.js'
import type { Envelope } from '../model/commands.js'
import { retryDelayMs } from '../model/retry.js'
import { toInstant } from '../model/scalars.js'
import { breakerSettings } from '../model/settings.js'
import { failuresAt, type Lease, type TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { failureSignature } from '../text/signature.js'
import { expiryMessage, parkTimeoutMessage } from '../model/last-error.js'
import { claimOf } from './lookup.js'
import { haltAtDeadLetter } from './spawn.js'

export class Draft {
  readonly events: Array<QueueEvent> = []
  /** By type: failures that this command has added. */
  private readonly added = new Map<string, number>()
  private readonly opened = new Set<string>()
  /** Number of tasks that this command has added. */
  private newTasks = 0
  /** Number of chains that this command has halted. */
  private halted = 0

  constructor(
    readonly tables: Tables,
    readonly envelope: Envelope,
  ) {}

  emit(event: QueueEvent): void {
    this.events.push(event)
  }

  get at(): number {
    return this.envelope.at
  }

  /** Takes the number of a task that this command adds. */
  takeNumber(): number {
    this.newTasks++
    return this.tables.head.lastNumber + this.newTasks
  }

  /** Ends a lease without a report. This counts as an attempt and as a retry, without backoff (LK-08). */
  expire(task: TaskRecord, lease: Lease, cause: ExpiryCause): void {
    const { at } = this
    const signature = failureSignature(task.group.type, task.group.phase, expiryMessage[cause])
    this.emit({ type: 'ClaimExpired', at, data: { ...claimOf(task, lease), cause, signature } })
    this.afterFailure(task, lease, true, false, expiryMessage[cause])
  }

  /** Ends the wait of a parked task for which no callback came. */
  timeOut(task: TaskRecord): void {
    const { at } = this
    const { parking } = task.extras
    if (parking === undefined) return
    const { key: callbackKey, onTimeout } = parking
    const signature = failureSignature(task.group.type, task.group.phase, parkTimeoutMessage)
    this.emit({ type: 'ParkTimedOut', at, data: { task: task.id, callbackKey, onTimeout, signature } })
    if (onTimeout === 'fail' && task.lease !== null) this.afterFailure(task, task.lease, true, true, parkTimeoutMessage)
  }

  /** Adds the events that follow a failed attempt: a retry or a dead letter, and a move of the breaker. */
  afterFailure(task: TaskRecord, lease: Lease, retryable: boolean, backoff: boolean, error: string): void {
    const { at, tables } = this
    const { settings } = tables.head
    const retries = task.retries + 1
    const reason: DeadLetterReason | undefined = retryable ? exhaustedBy(task, settings.maxAttempts) : 'not-retryable'
    if (reason !== undefined) this.giveUp(task, reason, error)
    else if (backoff) {
      const delay = retryDelayMs(task.backoffSeconds, retries, settings.defaults, this.envelope.random)
      if (delay > 0) this.emit({ type: 'RetryScheduled', at, data: { task: task.id, availableAt: toInstant(at + delay) } })
    }
    this.moveBreaker(task, lease, reason !== undefined)
  }

  /** Makes a dead letter of a task that was released in its last attempt. */
  deadLetterAfterRelease(task: TaskRecord, lease: Lease): void {
    const { tables } = this
    const { type } = task.group
    this.giveUp(task, 'attempts-exhausted', task.extras.lastError ?? 'released by every agent')
    // A dead letter counts as a failure, but a release does not count as a failed attempt. The release of a probe only makes room for another probe
    // (LK-15).
    if (breakerSettings(tables.head.settings, type).countOn === 'attempt' || tables.breakers.get(type)?.probe === task) return
    this.moveBreaker(task, lease, true)
  }

  private giveUp(task: TaskRecord, reason: DeadLetterReason, error: string): void {
    this.emit({ type: 'DeadLettered', at: this.at, data: { task: task.id, reason } })
    const halt = haltAtDeadLetter(this.tables, task, reason, error, this.at, this.halted)
    if (halt === undefined) return
    this.halted++
    this.emit(halt)
  }

  private moveBreaker(task: TaskRecord, lease: Lease, isDead: boolean): void {
    const { tables, at } = this
    const { type } = task.group
    const breaker = tables.breakers.get(type)
    const rules = breakerSettings(tables.head.settings, type)
    if (breaker?.state === 'half-open' && breaker.probe === task) {
      this.opened.add(type)
      return this.emit({ type: 'BreakerOpened', at, data: { taskType: type, cause: 'probe-failed' } })
    }
    // Only results of claims made since the breaker last opened move it (LK-15).
    if ((breaker?.state ?? 'closed') !== 'closed' || lease.epoch !== (breaker?.epoch ?? 0)) return
    if (this.opened.has(type) || !(isDead || rules.countOn === 'attempt')) return
    const failures = (breaker === undefined ? 0 : failuresAt(breaker, rules, at)) + (this.added.get(type) ?? 0) + 1
    this.added.set(type, (this.added.get(type) ?? 0) + 1)
    if (failures < rules.failureThreshold) return
    this.opened.add(type)
    this.emit({ type: 'BreakerOpened', at, data: { taskType: type, cause: 'threshold' } })
  }
}
