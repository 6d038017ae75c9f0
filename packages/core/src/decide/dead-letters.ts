/** The review of dead letters: back to the queue, or away; one, or all that match (LK-11). */
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { CommandOf, DeadLetterFilter, Envelope } from '../commands.js'
import type { QueueEvent } from '../events.js'
import { reject, type Rejection } from '../rejections.js'
import type { TaskRecord } from '../state.js'
import type { Tables } from '../tables.js'
import { cancelDependents } from './cancel.js'
import { matchesType } from './claim.js'
import { taskById } from './lookup.js'

type Decision = E.Either<Rejection, ReadonlyArray<QueueEvent>>

/** At most so many by one filter: one atomic append holds them all. */
export const reviewMax = 1_000

export const decideRetry = (command: CommandOf<'Retry'>, tables: Tables, { at }: Envelope): Decision =>
  pipe(
    chosen(command, tables),
    E.chain((tasks): Decision => {
      const events: Array<QueueEvent> = []
      const keys = new Set<string>()
      for (const task of tasks) {
        const rival = tables.byKey.get(task.key)
        if (rival === undefined && !keys.has(task.key)) {
          keys.add(task.key)
          const { reviewer, reason } = command
          events.push({ type: 'Requeued', at, data: { task: task.id, reviewer, reason } })
        } else if (command.task !== undefined) {
          return E.left(
            reject('conflict', `${rival?.id ?? 'another task'} was enqueued since with the same idempotency key: discard ${task.id}, or cancel that one first`),
          )
        }
      }
      return E.right(events)
    }),
  )

export const decideDiscard = (command: CommandOf<'Discard'>, tables: Tables, { at }: Envelope): Decision =>
  pipe(
    chosen(command, tables),
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

const chosen = (
  command: CommandOf<'Retry'> | CommandOf<'Discard'>,
  tables: Tables,
): E.Either<Rejection, ReadonlyArray<TaskRecord>> => {
  if (command.task === undefined) return E.right(deadLettersMatching(tables, command.filter ?? {}, reviewMax))
  return pipe(
    taskById(tables, command.task),
    E.filterOrElse(
      (task) => task.status === 'dead-letter',
      (task) => reject('wrong-state', `${task.id} is ${task.status}, not a dead letter`),
    ),
    E.map((task) => [task]),
  )
}

/** Dead letters of all groups that match, by group, then by rank. */
export const deadLettersMatching = (
  tables: Tables,
  filter: DeadLetterFilter,
  max: number,
): ReadonlyArray<TaskRecord> => {
  const found: Array<TaskRecord> = []
  for (const group of tables.sortedGroups()) {
    if (filter.type !== undefined && !matchesType(filter.type, group.type)) continue
    for (const task of group.byStatus['dead-letter']) {
      if (found.length >= max) return found
      const { signature, lastError } = task.extras
      if (filter.signature !== undefined && signature !== filter.signature) continue
      if (filter.error !== undefined && lastError?.toLowerCase().includes(filter.error.toLowerCase()) !== true) continue
      found.push(task)
    }
  }
  return found
}
