/** Sends dead letters back at a steady rate, until none is left, a breaker opens again, or a reviewer stops it (LK-11). */
import * as E from 'fp-ts/lib/Either.js'
import type { QueueEvent } from '../model/events.js'
import { reject } from '../model/rejections.js'
import { holderOfKey } from '../state/retention.js'
import { toInstant } from '../model/scalars.js'
import type { Redrive, TaskRecord } from '../records/records.js'
import { cursorBeyond, tasksMatching } from '../search/matching-tasks.js'
import type { Decider } from './decision.js'
import type { Draft } from './draft.js'

export const isUnderWay = (redrive: Redrive | null): redrive is Redrive => redrive !== null && redrive.nextAt > 0

export const decideRedrive: Decider<'Redrive'> = ({ filter, perMinute, reviewer, reason }, { head, queue }, { at }) =>
  isUnderWay(head.redrive)
    ? E.left(reject('conflict', `queue ${queue} has a redrive under way, by ${head.redrive.reviewer}: stop it first, or wait for its end`))
    : E.right([{ type: 'RedriveStarted', at, data: { filter, perMinute, reviewer, reason } }])

export const decideStopRedrive: Decider<'StopRedrive'> = ({ reviewer, reason }, { head, queue }, { at }) =>
  isUnderWay(head.redrive)
    ? E.right([{ type: 'RedriveStopped', at, data: { cause: 'by-hand', reviewer, reason } }])
    : E.left(reject('not-found', `queue ${queue} has no redrive under way`))

/** Sends back the dead letters that are due now. `keys`: the idempotency keys that other dead letters take back with this command. */
export const redriveDue = (draft: Draft, keys: Set<string>): void => {
  const { tables, at } = draft
  const { redrive } = tables.head
  if (!isUnderWay(redrive) || redrive.nextAt > at) return
  const opened = Object.entries(redrive.epochs).find(([type, epoch]) => (tables.breakers.get(type)?.epoch ?? 0) > epoch)?.[0]
  if (opened !== undefined) return draft.emit(stopped(at, opened))
  const { filter, reviewer, reason, perMinute, startedAt } = redrive
  const left = tasksMatching(tables, { ...filter, statuses: ['dead-letter'] }, cursorBeyond('dead-letter', redrive.after), at)
  let next = redrive.nextAt
  for (const task of left) {
    if (changedAt(task) > startedAt || keys.has(task.key) || holderOfKey(tables, task.key, at) !== undefined) continue
    const { type } = task.group
    if (tables.breakers.get(type)?.state === 'open') return draft.emit(stopped(at, type))
    keys.add(task.key)
    next = afterThis(next, perMinute, at)
    draft.emit({ type: 'Requeued', at, data: { task: task.id, reviewer, reason } })
    draft.emit({ type: 'RedriveAdvanced', at, data: { task: task.id, nextAt: toInstant(next) } })
    if (next > at) return
  }
  draft.emit({ type: 'RedriveStopped', at, data: { cause: 'nothing-left' } })
}

/** When it became a dead letter, or when a reviewer last snoozed or escalated it: a redrive that was started before leaves it as it is. */
const changedAt = ({ extras: { deadLetter, snooze, escalated } }: TaskRecord): number => Math.max(deadLetter?.at ?? 0, snooze?.at ?? 0, escalated?.at ?? 0)

/** A redrive does not make up for what it missed while the server was away, except for the last second. */
const afterThis = (dueAt: number, perMinute: number, at: number): number => Math.max(dueAt, at - 1_000) + Math.ceil(60_000 / perMinute)

const stopped = (at: number, taskType: string): QueueEvent => ({ type: 'RedriveStopped', at, data: { cause: 'breaker-opened', taskType } })
