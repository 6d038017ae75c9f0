/** Runs a finished task or a dead letter again as a new task (TQM §11). The old one stays as it is. */
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { CommandOf } from '../model/commands.js'
import type { QueueEvent } from '../model/events.js'
import { invalid, reject, type Rejection } from '../model/rejections.js'
import { KnownTasks } from '../state/retention.js'
import type { TaskRecord } from '../records/records.js'
import { dependenciesMax, isFinal } from '../model/task.js'
import { extraFields, shownInGroup, type TaskFacts } from '../model/task-fields.js'
import { copierOf } from '../structures/unrolled.js'
import type { Decider } from './decision.js'
import { ownKeyOf } from './duplicates.js'
import { knownDependency } from './enqueue.js'
import { taskById } from './lookup.js'

export const decideRestart: Decider<'Restart'> = (command, tables, { at }) =>
  pipe(
    taskById(tables, command.task, at),
    E.chain((task) => {
      const { id, content } = command
      const known = new KnownTasks(tables, at)
      // A repetition of a request whose answer was lost.
      if (known.byId(id)?.extras.restartOf === task.id) return E.right([])
      if (known.byId(id) !== undefined) return E.left(reject('conflict', `id ${id} is taken`))
      if (!isFinal(task.status) && task.status !== 'dead-letter') {
        return E.left(reject('wrong-state', `${task.id} is ${task.status}: only a finished task or a dead letter can be restarted`))
      }
      const data = factsOfRestart(task, command, known)
      const refused = refusalOf(command, data, known)
      if (refused !== undefined) return E.left(refused)
      const { idempotencyKey: key } = data
      // Only if a producer has used exactly this key for another task.
      if (known.byKey(key) !== undefined) return E.left(reject('conflict', `${id} would get the key ${key}, which another task has: enqueue it as a new task, with another key`))
      return E.right([{ type: 'TaskEnqueued', at, data, content }] satisfies ReadonlyArray<QueueEvent>)
    }),
  )

/** The refusal of a dependency that the old task did not have. */
const refusalOf = ({ id, dependencies = [] }: CommandOf<'Restart'>, facts: TaskFacts, known: KnownTasks): Rejection | undefined => {
  for (const dependency of dependencies) {
    const refused = knownDependency({ id, ...(facts.tenant === undefined ? {} : { tenant: facts.tenant }) }, dependency, undefined, known)
    if (refused !== undefined) return refused
  }
  const count = facts.dependencies?.length ?? 0
  return count > dependenciesMax ? invalid([{ path: 'dependencies', message: `with those of the old task these are ${count}, and ${dependenciesMax} are allowed` }]) : undefined
}

const copyGroup = copierOf(shownInGroup)
const copyExtras = copierOf(extraFields)

/** The fields of the old task. The new one has a key of its own, so that it is no duplicate. */
const factsOfRestart = (task: TaskRecord, { id, reason, dependencies: further = [] }: CommandOf<'Restart'>, known: KnownTasks): TaskFacts => {
  const { group, extras, priority, timeout, maxRetries, backoffSeconds } = task
  const number = known.tables.head.lastNumber + 1
  // A dependency that is no longer known was completed, also if a later task has its id. One that has been cancelled since will never complete.
  const kept = task.dependencies.filter((id) => {
    const dependency = known.byId(id)
    return dependency !== undefined && dependency.number < task.number && dependency.status !== 'cancelled' && dependency.status !== 'discarded'
  })
  const dependencies = [...new Set([...kept, ...further])]
  const facts: { -readonly [K in keyof TaskFacts]: TaskFacts[K] } = {
    task: id,
    number,
    type: group.type,
    priority,
    idempotencyKey: ownKeyOf({ idempotencyKey: task.key }, number),
    timeout,
    maxRetries,
    backoffSeconds,
  }
  if (dependencies.length > 0) facts.dependencies = dependencies
  if (group.skills.length > 0) facts.skills = group.skills
  copyGroup(group, facts)
  copyExtras(extras, facts)
  // Its batch may be finished.
  if (facts.batchId !== undefined && known.tables.batches.joinedBy(task) === undefined) delete facts.batchId
  facts.restartOf = task.id
  facts.restartReason = reason
  return facts
}
