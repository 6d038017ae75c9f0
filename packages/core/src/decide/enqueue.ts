/** Enqueues and imports tasks: each task once (LK-05), all tasks of a command or none, with known dependencies and without cycles. */
import * as E from 'fp-ts/lib/Either.js'
import type { ImportedTask, PreparedTask } from '../model/commands.js'
import type { QueueEvent } from '../model/events.js'
import { invalid, reject, type Rejection } from '../model/rejections.js'
import type { Decider, Decision } from './decision.js'
import { limitsGivenBy } from './limit.js'
import { KnownTasks } from '../state/retention.js'
import { isIsolated, isolated, refusalOfIsolation } from '../model/isolation.js'
import { blocksDuplicates } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { isFinal, priorityDefault, type Status } from '../model/task.js'
import { importedFields, listFields, optionalFacts, type TaskFacts } from '../model/task-fields.js'
import { TextIndex } from '../structures/text-index.js'
import { copierOf, unrolled } from '../structures/unrolled.js'
import { type Earlier, judge, ownKeyOf } from './duplicates.js'
import { refusalOfDuplicate, refusalOfJoining } from './joining.js'

export const decideEnqueue: Decider<'Enqueue'> = (command, tables, { at }) => takeInNew(command.tasks, tables, at)

/** `newBatch`: the id of a batch that the same command makes. */
export const takeInNew = (tasks: ReadonlyArray<PreparedTask>, tables: Tables, at: number, newBatch?: string): Decision =>
  takeIn(
    tasks,
    new KnownTasks(tables, at),
    false,
    at,
    (task, facts) => ({
      type: 'TaskEnqueued',
      at,
      data: facts,
      content: task.content,
    }),
    newBatch,
  )

/** Like an enqueue, but a task that is already known, in any status, is skipped (EV-09). */
export const decideImport: Decider<'Import'> = (command, tables, { at }) => {
  const inBatch = command.tasks.findIndex(({ batchId }) => batchId !== undefined)
  if (inBatch >= 0) return E.left(invalid([{ path: `tasks[${inBatch}].batchId`, message: 'is not for imports: the batch is another queue\'s. Leave it out' }]))
  return takeIn(command.tasks, new KnownTasks(tables, at), true, at, (task, facts) => {
    const { status, createdAt = at, finishedAt, retries = 0, lastError, content } = task
    const data = { ...facts }
    copyImported(task, data)
    if (status === 'pending') return { type: 'TaskEnqueued', at, data, content }
    return {
      type: 'TaskImported',
      at,
      content,
      data: {
        ...data,
        status,
        createdAt: Math.min(createdAt, at),
        retries,
        ...(finishedAt === undefined ? {} : { finishedAt: Math.min(finishedAt, at) }),
        ...(lastError === undefined ? {} : { lastError }),
      },
    }
  })
}

const copyImported = copierOf(importedFields)

const takeIn = <T extends PreparedTask | ImportedTask>(
  asked: ReadonlyArray<T>,
  known: KnownTasks,
  isImport: boolean,
  at: number,
  eventOf: (task: T, facts: TaskFacts) => QueueEvent,
  newBatch?: string,
): Decision => {
  const { tables } = known
  const refused = isIsolated(tables) ? firstRefusal(asked, tables) : undefined
  if (refused !== undefined) return E.left(refused)
  const tasks = isIsolated(tables) ? asked.map((task) => isolated(task, tables)) : asked
  const fresh: Array<T> = []
  /** Tasks with a unique key. */
  const apart = new Set<T>()
  const earlier = tasks.length > 1 ? earlierTasks(fresh, tasks.length, tables.seed) : undefined
  const folded = new Map<string, string>()
  let linked = false
  for (const task of tasks) {
    const verdict = judge(task, known, earlier, isImport)
    if (E.isLeft(verdict)) return verdict
    if (task.batchId !== undefined) {
      const outside = verdict.right === 'duplicate' ? refusalOfDuplicate(task, known, earlier) : task.batchId === newBatch ? undefined : refusalOfJoining(task, known, at)
      if (outside !== undefined) return E.left(outside)
    }
    if (verdict.right === 'duplicate') {
      const into = (known.byKey(task.idempotencyKey) ?? earlier?.byKey.get(task.idempotencyKey))?.id
      if (into !== undefined && into !== task.id) folded.set(task.id, into)
      continue
    }
    earlier?.byId.set(task.id, fresh.length)
    if (verdict.right === 'own key') apart.add(task)
    else if (blocksDuplicates(statusOf(task))) earlier?.byKey.set(task.idempotencyKey, fresh.length)
    if (task.dependencies !== undefined && task.dependencies.length > 0) linked = true
    fresh.push(task)
  }
  let ordered: ReadonlyArray<T> = fresh
  if (linked) {
    const sorted = inDependencyOrder(fresh, earlier?.byId, folded, known)
    if (E.isLeft(sorted)) return sorted
    ordered = sorted.right
  }
  const events: Array<QueueEvent> = []
  let number = tables.head.lastNumber
  let limits = false
  for (const task of ordered) {
    number++
    const key = apart.has(task) ? ownKeyOf(task, number) : task.idempotencyKey
    // Only if a producer has used exactly this key for another task.
    if (key !== task.idempotencyKey && (known.byKey(key) !== undefined || earlier?.byKey.has(key) === true)) {
      return E.left(reject('conflict', `${task.id} would get the key ${key}, which another task has: give it an idempotencyKey, with deduplicate: key`))
    }
    events.push(eventOf(task, factsOf(task, key, number, tables)))
    if (task.concurrencyLimit !== undefined) limits = true
  }
  if (!limits) return E.right(events)
  const given = limitsGivenBy(ordered, tasks, tables, at)
  return E.isLeft(given) ? given : E.right([...events, ...given.right])
}

const firstRefusal = (tasks: ReadonlyArray<PreparedTask>, tables: Tables): Rejection | undefined => {
  for (const [index, task] of tasks.entries()) {
    const refused = refusalOfIsolation(task, tables, `tasks[${index}].`)
    if (refused !== undefined) return refused
  }
  return undefined
}

const earlierTasks = <T extends PreparedTask>(fresh: ReadonlyArray<T>, expected: number, seed: number): Earlier<T> => ({
  byId: new TextIndex((index) => fresh[index], (task) => task.id, seed, expected),
  byKey: new TextIndex((index) => fresh[index], (task) => task.idempotencyKey, seed, expected),
})

/** The facts of a new task. `number`: the queue's next number. */
export const factsOf = (task: PreparedTask, idempotencyKey: string, number: number, tables: Tables): TaskFacts => {
  const { defaults } = tables.head.settings
  const facts: Facts = {
    task: task.id,
    number,
    type: task.type,
    priority: task.priority ?? priorityDefault,
    idempotencyKey,
    timeout: task.timeout ?? defaults.timeout,
    maxRetries: task.maxRetries ?? defaults.maxRetries,
    backoffSeconds: task.backoffSeconds ?? defaults.backoffSeconds,
  }
  copyOptional(task, facts)
  if (facts.dependencies !== undefined) facts.dependencies = [...new Set(facts.dependencies)]
  return facts
}

type Facts = { -readonly [K in keyof TaskFacts]: TaskFacts[K] }
const copyOptional: (task: PreparedTask, facts: Facts) => void = unrolled(optionalFacts, 'task, facts', (name) => {
  const isThere = listFields.some((list) => list === name) ? `task.${name} !== undefined && task.${name}.length > 0` : `task.${name} !== undefined`
  return `if (${isThere}) facts.${name} = task.${name}`
})

/** Dependencies before their dependents, otherwise in the given order; refuses unknown, hopeless and circular dependencies (TQM-ASSIGN-002). */
const inDependencyOrder = <T extends PreparedTask | ImportedTask>(
  tasks: ReadonlyArray<T>,
  given: TextIndex<T> | undefined,
  /** Duplicates within the request, by id, each with the id of the task that it duplicates. Their own ids are not used. */
  folded: ReadonlyMap<string, string>,
  known: KnownTasks,
): E.Either<Rejection, ReadonlyArray<T>> => {
  const ordered: Array<T> = []
  const done = new Set<T>()
  const path = new Set<T>()
  let problem: Rejection | undefined

  // An explicit stack: a chain of a thousand dependencies must not exhaust the call stack.
  const visit = (root: T): void => {
    const stack: Array<{ readonly task: T; next: number }> = [{ task: root, next: 0 }]
    path.add(root)
    while (stack.length > 0 && problem === undefined) {
      const frame = stack[stack.length - 1] as { readonly task: T; next: number }
      const id = frame.task.dependencies?.[frame.next++]
      if (id === undefined) {
        stack.pop()
        path.delete(frame.task)
        done.add(frame.task)
        ordered.push(frame.task)
        continue
      }
      const inRequest = given?.get(id)
      const dependency = inRequest !== undefined && isStrange(inRequest.tenant, frame.task, known) ? undefined : inRequest
      if (dependency === undefined) problem = knownDependency(frame.task, id, folded.get(id), known)
      else if (statusOf(dependency) === 'cancelled' && !isFinal(statusOf(frame.task))) problem = hopeless(frame.task, id, 'cancelled')
      else if (path.has(dependency)) {
        const cycle = [...stack.map(({ task }) => task.id), id]
        problem = reject('dependency-cycle', `${cycle.slice(cycle.indexOf(id)).join(' → ')}: none of these could ever start`)
      } else if (!done.has(dependency)) {
        path.add(dependency)
        stack.push({ task: dependency, next: 0 })
      }
    }
  }
  for (const task of tasks) {
    if (!done.has(task)) visit(task)
    if (problem !== undefined) return E.left(problem)
  }
  return E.right(ordered)
}

/** Whether the tasks of this tenant are hidden from the new task. */
const isStrange = (tenant: string | undefined, task: Dependent, { tables }: KnownTasks): boolean => isIsolated(tables) && tenant !== task.tenant

/** What depends on others: a new task, or a restart. */
type Dependent = Pick<PreparedTask, 'id' | 'tenant'> & { readonly status?: Status }

/** The refusal of a dependency that is not in the same request; `undefined` if the task may have it. */
export const knownDependency = (
  task: Dependent,
  id: string,
  foldedInto: string | undefined,
  known: KnownTasks,
): Rejection | undefined => {
  if (id === task.id) return reject('dependency-cycle', `${id} depends on itself`)
  const found = known.byId(id)
  const dependency = found !== undefined && isStrange(found.group.tenant, task, known) ? undefined : found
  if (dependency === undefined && foldedInto !== undefined) {
    return reject('unknown-dependency', `${task.id} depends on ${id}, but ${id} has the same idempotencyKey as ${foldedInto} and is taken for its duplicate: give it another, or depend on ${foldedInto}`)
  }
  if (dependency === undefined) {
    return reject('unknown-dependency', `${task.id} depends on ${id}, which is not in queue ${known.tables.queue}: enqueue it first, or before it in the same request`)
  }
  if (dependency.status !== 'cancelled' && dependency.status !== 'discarded') return undefined
  // An imported finished task may have depended on anything, and a dead letter may be sent back.
  if (isFinal(statusOf(task))) return undefined
  return hopeless(task, id, dependency.status)
}

/** Refuses a dependency that will never complete: the task would wait for ever (INV-8). */
const hopeless = (task: Dependent, id: string, status: Status): Rejection =>
  reject('unknown-dependency', `${task.id} depends on ${id}, which is ${status} and will never complete`)

const statusOf = ({ status = 'pending' }: Dependent): Status => status
