/** The review of dead letters: retry or discard one dead letter, or all that match a filter (LK-11). */
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { CommandOf, DeadLetterFilter } from '../model/commands.js'
import type { QueueEvent } from '../model/events.js'
import { invalid, reject, type Rejection } from '../model/rejections.js'
import type { AlikeDeadLetters } from '../state/dead-letter-index.js'
import { holderOfKey } from '../state/retention.js'
import type { TaskExtras, TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { payloadAmended, staleContent } from './amend.js'
import { cancelDependents } from './cancel.js'
import { matchesType } from '../text/type-pattern.js'
import type { Decider, Decision } from './decision.js'
import { taskById } from './lookup.js'

/** Maximum number of dead letters in one command by filter. They are one atomic append. */
export const reviewMax = 1_000
/** How many dead letters a command by filter passes over at most. To look at each costs about half a microsecond. */
const leftOutMax = 50_000

export const decideRetry: Decider<'Retry'> = (command, tables, { at }) =>
  pipe(
    oneForPayload(command),
    E.chain(() => chosen(command, tables, at)),
    E.chain((tasks): Decision => {
      const events: Array<QueueEvent> = []
      const keys = new Set<string>()
      for (const task of tasks) {
        const rival = holderOfKey(tables, task.key, at)
        if (rival === undefined && !keys.has(task.key)) {
          keys.add(task.key)
          const { reviewer, reason } = command
          const stale = staleContent(task, command)
          if (stale !== undefined) return E.left(stale)
          events.push(...payloadAmended(task, command, at), { type: 'Requeued', at, data: { task: task.id, reviewer, reason } })
        } else if (command.task !== undefined) {
          return E.left(
            reject('conflict', `${rival?.id ?? 'another task'} was enqueued since with the same idempotency key: discard ${task.id}, or cancel that one first`),
          )
        }
      }
      return E.right(events)
    }),
  )

/** A new payload needs a single dead letter that is named. */
const oneForPayload = ({ task, content, contentRevision }: CommandOf<'Retry'>): E.Either<Rejection, null> =>
  task === undefined && (content !== undefined || contentRevision !== undefined)
    ? E.left(invalid([{ path: 'payload', message: 'is only for a dead letter that is named: leave it out, or retry them one by one' }]))
    : E.right(null)

export const decideDiscard: Decider<'Discard'> = (command, tables, { at }) =>
  pipe(
    chosen(command, tables, at),
    E.map((tasks) => {
      const seen = new Set<TaskRecord>(tasks)
      return tasks.flatMap((task): ReadonlyArray<QueueEvent> => {
        const { reviewer, reason } = command
        return [
          { type: 'Discarded', at, data: { task: task.id, reviewer, reason } },
          ...cancelDependents(task, at, 'discarded', seen),
        ]
      })
    }),
  )

export const decideSnooze: Decider<'Snooze'> = (command, tables, { at }) => {
  const { until, reviewer, reason } = command
  if (until <= at) return E.left(invalid([{ path: 'until', message: 'must be in the future: to send it back now, retry it' }]))
  return pipe(
    chosen(command, tables, at),
    E.map((tasks) => tasks.map(({ id: task }) => ({ type: 'Snoozed', at, data: { task, reviewer, reason, until } }))),
  )
}

export const decideEscalate: Decider<'Escalate'> = (command, tables, { at }) =>
  pipe(
    chosen(command, tables, at),
    E.map((tasks) => {
      const { reviewer, reason } = command
      return tasks.flatMap(({ id: task, extras }): ReadonlyArray<QueueEvent> => [
        // A person is to decide, so it is not sent back by itself any more.
        ...(extras.snooze === undefined ? [] : [{ type: 'SnoozeLapsed' as const, at, data: { task } }]),
        { type: 'Escalated', at, data: { task, reviewer, reason } },
      ])
    }),
  )

const chosen = (
  command: CommandOf<'Retry'> | CommandOf<'Discard'> | CommandOf<'Snooze'> | CommandOf<'Escalate'>,
  tables: Tables,
  at: number,
): E.Either<Rejection, ReadonlyArray<TaskRecord>> => {
  if (command.task === undefined) return E.right(deadLettersMatching(tables, command.filter ?? {}, reviewMax, passedOver(command, tables, at)))
  return pipe(
    taskById(tables, command.task, at),
    E.filterOrElse(
      (task) => task.status === 'dead-letter',
      (task) => reject('wrong-state', `${task.id} is ${task.status}, not a dead letter`),
    ),
    E.map((task) => [task]),
  )
}

/** The dead letters that must not take the places of others: they cannot be sent back, or the same command was given for them before. */
const passedOver = (command: Parameters<typeof chosen>[0], tables: Tables, at: number): ((task: TaskRecord) => boolean) => {
  const isSame = (former: TaskExtras['snooze']): boolean => former?.reviewer === command.reviewer && former.reason === command.reason
  switch (command.type) {
    case 'Retry':
      return ({ key }) => holderOfKey(tables, key, at) !== undefined
    case 'Snooze':
      return ({ delayedUntil, extras }) => delayedUntil === command.until && isSame(extras.snooze)
    case 'Escalate':
      return ({ extras }) => extras.snooze === undefined && isSame(extras.escalated)
    case 'Discard':
      return () => false
  }
}

/**
 * The first `max` dead letters that match: by type, then by signature, then by rank. `isLeftOut`: those that are passed over, {@link leftOutMax} at most.
 *
 * Cost: O(dead letters examined). A filter by signature uses the index. Only a filter by `error` scans tasks that do not match.
 */
export const deadLettersMatching = (
  tables: Tables,
  filter: DeadLetterFilter,
  max: number,
  isLeftOut: (task: TaskRecord) => boolean = () => false,
): ReadonlyArray<TaskRecord> => {
  const found: Array<TaskRecord> = []
  const error = filter.error?.toLowerCase()
  let leftOut = 0
  for (const { type, byRank } of [...tables.deadLetters.entries(filter.signature)].sort(byTypeThenSignature)) {
    if (filter.type !== undefined && !matchesType(filter.type, type)) continue
    for (const task of byRank) {
      if (found.length >= max) return found
      if (error !== undefined && task.extras.lastError?.toLowerCase().includes(error) !== true) continue
      if (filter.escalated !== undefined && filter.escalated !== (task.extras.escalated !== undefined)) continue
      if (filter.snoozed !== undefined && filter.snoozed !== (task.extras.snooze !== undefined)) continue
      if (!isLeftOut(task)) found.push(task)
      else if (++leftOut >= leftOutMax) return found
    }
  }
  return found
}

const byTypeThenSignature = (a: AlikeDeadLetters, b: AlikeDeadLetters): number => (a.type < b.type || (a.type === b.type && a.signature < b.signature) ? -1 : 1)
