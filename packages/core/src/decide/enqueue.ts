/** Taking tasks in: each once (LK-05), all of a command or none, dependencies known and without a cycle. */
import * as E from 'fp-ts/lib/Either.js'
import type { CommandOf, Envelope, ImportedTask, PreparedTask } from '../commands.js'
import type { QueueEvent } from '../events.js'
import { reject, type Rejection } from '../rejections.js'
import { blocksDuplicates, type TaskRecord } from '../state.js'
import type { Tables } from '../tables.js'
import { isFinal, priorityDefault, type Status, type TaskFacts } from '../task.js'
import { TextIndex } from '../text-index.js'

type Decision = E.Either<Rejection, ReadonlyArray<QueueEvent>>

export const decideEnqueue = (command: CommandOf<'Enqueue'>, tables: Tables, { at }: Envelope): Decision =>
  takeIn(command.tasks, tables, false, (task, facts) => ({
    type: 'TaskEnqueued',
    at,
    data: facts,
    content: task.content,
  }))

/** Like an enqueue, but a task that is known already, in whatever state, is passed over (EV-09). */
export const decideImport = (command: CommandOf<'Import'>, tables: Tables, { at }: Envelope): Decision =>
  takeIn(command.tasks, tables, true, (task, facts) => {
    const { status, createdAt = at, finishedAt, retries = 0, lastError, content } = task
    if (status === 'pending') return { type: 'TaskEnqueued', at, data: facts, content }
    return {
      type: 'TaskImported',
      at,
      content,
      data: {
        ...facts,
        status,
        createdAt: Math.min(createdAt, at),
        retries,
        ...(finishedAt === undefined ? {} : { finishedAt: Math.min(finishedAt, at) }),
        ...(lastError === undefined ? {} : { lastError }),
      },
    }
  })

const takeIn = <T extends PreparedTask | ImportedTask>(
  tasks: ReadonlyArray<T>,
  tables: Tables,
  lenient: boolean,
  eventOf: (task: T, facts: TaskFacts) => QueueEvent,
): Decision => {
  const fresh: Array<T> = []
  const earlier = tasks.length > 1 ? earlierTasks(fresh, tasks.length, tables.seed) : undefined
  const folded = new Map<string, Folded>()
  let linked = false
  for (const task of tasks) {
    const verdict = isFresh(task, tables, earlier, lenient)
    if (E.isLeft(verdict)) return verdict
    if (!verdict.right) {
      const into = (tables.byKey.get(task.idempotencyKey) ?? earlier?.byKey.get(task.idempotencyKey))?.id
      if (into !== undefined && into !== task.id) folded.set(task.id, { into, key: task.idempotencyKey })
      continue
    }
    earlier?.byId.set(task.id, fresh.length)
    if (blocksDuplicates(statusOf(task))) earlier?.byKey.set(task.idempotencyKey, fresh.length)
    if (task.dependencies !== undefined && task.dependencies.length > 0) linked = true
    fresh.push(task)
  }
  let ordered: ReadonlyArray<T> = fresh
  if (linked) {
    const sorted = inDependencyOrder(fresh, earlier?.byId, folded, tables)
    if (E.isLeft(sorted)) return sorted
    ordered = sorted.right
  }
  let number = tables.head.lastNumber
  return E.right(ordered.map((task) => eventOf(task, factsOf(task, ++number, tables))))
}

/** The tasks of the request before the one at hand. */
interface Earlier<T> {
  readonly byId: TextIndex<T>
  /** Those that later ones would duplicate. */
  readonly byKey: TextIndex<T>
}

const earlierTasks = <T extends PreparedTask>(fresh: ReadonlyArray<T>, expected: number, seed: number): Earlier<T> => ({
  byId: new TextIndex((index) => fresh[index], (task) => task.id, seed, expected),
  byKey: new TextIndex((index) => fresh[index], (task) => task.idempotencyKey, seed, expected),
})

/** A task of the request that is another's duplicate: its id names nothing. */
interface Folded {
  readonly into: string
  readonly key: string
}

/** False for a duplicate, which is no error and emits no event (INV-7). */
const isFresh = <T extends PreparedTask | ImportedTask>(
  task: T,
  tables: Tables,
  earlier: Earlier<T> | undefined,
  lenient: boolean,
): E.Either<Rejection, boolean> => {
  const sameId = tables.byId.get(task.id)
  if (sameId !== undefined) {
    if (lenient || (sameId.key === task.idempotencyKey && tables.byKey.get(sameId.key) === sameId)) return isKnown
    return E.left(
      reject(
        'conflict',
        sameId.key === task.idempotencyKey
          ? `${task.id} is ${sameId.status} and its id stays taken: enqueue again under another id, or retry the dead letter`
          : `id ${task.id} is taken by a task with other content: use another id`,
      ),
    )
  }
  const sameIdHere = earlier?.byId.get(task.id)
  if (sameIdHere !== undefined) {
    if (sameIdHere.idempotencyKey === task.idempotencyKey) return isKnown
    return E.left(reject('conflict', `id ${task.id} stands twice in this request, with different content`))
  }
  return tables.byKey.has(task.idempotencyKey) || earlier?.byKey.has(task.idempotencyKey) === true ? isKnown : isNew
}
const isNew = E.right(true)
const isKnown = E.right(false)

const factsOf = (task: PreparedTask, number: number, tables: Tables): TaskFacts => {
  const { defaults } = tables.head.settings
  const facts: { -readonly [K in keyof TaskFacts]: TaskFacts[K] } = {
    task: task.id,
    number,
    type: task.type,
    priority: task.priority ?? priorityDefault,
    idempotencyKey: task.idempotencyKey,
    timeout: task.timeout ?? defaults.timeout,
    maxRetries: task.maxRetries ?? defaults.maxRetries,
    backoffSeconds: task.backoffSeconds ?? defaults.backoffSeconds,
  }
  if (task.dependencies !== undefined && task.dependencies.length > 0) facts.dependencies = [...new Set(task.dependencies)]
  if (task.availableAt !== undefined) facts.availableAt = task.availableAt
  if (task.deadlineAt !== undefined) facts.deadlineAt = task.deadlineAt
  if (task.ticketId !== undefined) facts.ticketId = task.ticketId
  if (task.phase !== undefined) facts.phase = task.phase
  if (task.tenant !== undefined) facts.tenant = task.tenant
  if (task.skills !== undefined && task.skills.length > 0) facts.skills = task.skills
  if (task.parentTaskId !== undefined) facts.parentTaskId = task.parentTaskId
  return facts
}

/** Dependencies before their dependents, else as given; refuses what is unknown, hopeless or circular (TQM-ASSIGN-002). */
const inDependencyOrder = <T extends PreparedTask | ImportedTask>(
  tasks: ReadonlyArray<T>,
  given: TextIndex<T> | undefined,
  folded: ReadonlyMap<string, Folded>,
  tables: Tables,
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
      const dependency = given?.get(id)
      if (dependency === undefined) problem = knownDependency(frame.task, id, folded.get(id), tables)
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

/** A hash of type and payload, where nobody gave a key. */
const isContentKey = (key: string): boolean => /^[0-9a-f]{64}$/.test(key)

const knownDependency = (
  task: PreparedTask | ImportedTask,
  id: string,
  folded: Folded | undefined,
  tables: Tables,
): Rejection | undefined => {
  if (id === task.id) return reject('dependency-cycle', `${id} depends on itself`)
  const dependency: TaskRecord | undefined = tables.byId.get(id)
  if (dependency === undefined && folded !== undefined) {
    const { into, key } = folded
    const [same, advice] = isContentKey(key) ? ['type and payload', 'give both an idempotencyKey'] : ['idempotencyKey', 'give it another']
    return reject('unknown-dependency', `${task.id} depends on ${id}, but ${id} has the same ${same} as ${into} and is taken for its duplicate: ${advice}, or depend on ${into}`)
  }
  if (dependency === undefined) {
    return reject('unknown-dependency', `${task.id} depends on ${id}, which is not in queue ${tables.queue}: enqueue it first or in the same request`)
  }
  if (dependency.status !== 'cancelled' && dependency.status !== 'discarded') return undefined
  // A finished task that is taken in with its history may have depended on anything; a dead letter may come back.
  if (isFinal(statusOf(task))) return undefined
  return hopeless(task, id, dependency.status)
}

/** To wait for it would be to wait for ever (INV-8). */
const hopeless = (task: PreparedTask, id: string, status: Status): Rejection =>
  reject('unknown-dependency', `${task.id} depends on ${id}, which is ${status} and will never complete`)

const statusOf = (task: PreparedTask | ImportedTask): Status => ('status' in task ? task.status : 'pending')
