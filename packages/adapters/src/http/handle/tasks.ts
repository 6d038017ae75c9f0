/** Enqueueing, importing, reading and cancelling tasks. */
import { type TaskPage, cancellableOf, cursorAfter, type Enqueued, listOf, listTasks, type PreparedTask, type QueuedPlace, queuedPlaceOf, reasonsOf, type Rejection, type Result, type TaskFilter, taskOf, validate } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { defined, ifDefined } from '../../defined.js'
import { erasureOf, metaOf, newTaskId, type Outcome, prepareImport, prepareTask, type QueueView, showEvent, streamOf, taskIdsOf } from '../../engine/index.js'
import { type HttpLimits } from '../limits.js'
import type { Meter } from '../metrics/meter.js'
import { hasRole } from '../routes/access.js'
import { invalid, noSuchTask, problem, type Problem, problemOf, problemText } from '../problem.js'
import { type CancelAllBody, cancelFilterOf, filterOf, type DeadLettersQuery, type TasksQuery } from '../query.js'
import { readTasks } from '../json/read-tasks.js'
import { find, type Handled, type Input, type QueueCall, replyWith, type ViewCall } from '../routes/route.js'
import { shownReasons } from '../json/reasons.js'
import { ofProducer, withTenant } from '../routes/tenants.js'
import { taskTexts } from '../json/task-text.js'
import { ownTurn } from '../../own-turn.js'
import { quote, quoteAll } from '../json/text.js'
import { isoOf, millisecondsOf } from '../../iso-time.js'
import { ImportBody, newTaskOf, type ReasonBody, TaskBody } from '../json/wire.js'

// ------------------------------------------------------------------------------------------ enqueue

export type EnqueueBody =
  | { readonly kind: 'one'; readonly task: TaskBody }
  | { readonly kind: 'all'; readonly tasks: ReadonlyArray<TaskBody> }
  | { readonly kind: 'each'; readonly tasks: ReadonlyArray<unknown> }

const Bulk = t.intersection([t.type({ tasks: listOf(TaskBody) }), t.partial({ atomic: t.boolean })], 'NewTasks')
/** The body without its tasks. Each task is checked on its own. */
const Each = t.type({ tasks: t.UnknownArray, atomic: t.literal(false) })

const checkOne = validate(TaskBody)
const checkAll = validate(Bulk)
const checkEach = validate(Each)

export const enqueueInput: Input<EnqueueBody> = {
  schema: t.union([TaskBody, Bulk]),
  mayBeAbsent: false,
  read: readTasks,
  check: (body) => {
    if (typeof body !== 'object' || body === null || !('tasks' in body)) {
      return E.map((task: TaskBody): EnqueueBody => ({ kind: 'one', task }))(checkOne(body))
    }
    if ('atomic' in body && body.atomic === false) {
      return E.map(({ tasks }: t.TypeOf<typeof Each>): EnqueueBody => ({ kind: 'each', tasks }))(checkEach(body))
    }
    return E.map(({ tasks }: t.TypeOf<typeof Bulk>): EnqueueBody => ({ kind: 'all', tasks }))(checkAll(body))
  },
}

export const enqueuedText = (enqueued: Enqueued): string => {
  const { id, number, status, duplicate, duplicateBy, until } = enqueued
  const text = `{"id":${quote(id)},"number":${number},"status":"${status}","duplicate":${duplicate}`
  if (duplicateBy === undefined) return `${text}}`
  return `${text},"duplicateBy":"${duplicateBy}"${until === undefined ? '' : `,"until":"${isoOf(until)}"`}}`
}

const resultsText = (results: ReadonlyArray<string>, revision: number): string =>
  `{"results":[${results.join(',')}],"revision":${revision}}`

export const tooMany = (what: string, count: number, max: number): Problem | undefined => {
  if (count <= max) return undefined
  const message = `${count} are too many: at most ${max} in one request`
  return problem('invalid', `${what}: ${message}`, { errors: [{ path: what, message }] })
}

/** A problem as one of several results. It is counted in the metrics. */
export const refusedText = (what: Problem, meter: Meter): string => {
  meter.refusedBy(what.code)
  return problemText(what)
}

/** Adds the index of the refused task to a refusal. */
const inTask = (refusal: Rejection, index: number): Problem => ({
  ...problemOf(refusal),
  detail: `tasks[${index}]: ${refusal.detail}`,
  ...(refusal.errors === undefined
    ? {}
    : { errors: refusal.errors.map(({ path, message }) => ({ path: path.startsWith('tasks[') ? path : `tasks[${index}].${path}`, message })) }),
})

/**
 * A refusal about a task whose id was made here says which one it is by its place in the request, because its sender does not know the id. `index`: the
 * place; `undefined` for a request of one task.
 */
const withoutMadeId = ({ detail, ...rest }: Problem, body: { readonly id?: string }, { id }: PreparedTask, index: number | undefined): Problem => {
  if (body.id !== undefined || !detail.includes(id)) return { ...rest, detail }
  return { ...rest, detail: `${index === undefined ? '' : `tasks[${index}]: `}${detail.replaceAll(id, 'it')}` }
}

/** The same for a command of many tasks. */
export const withoutMadeIds = (problem: Problem, bodies: ReadonlyArray<{ readonly id?: string }>, tasks: ReadonlyArray<PreparedTask>): Problem => {
  const index = tasks.findIndex(({ id }, i) => bodies[i]?.id === undefined && problem.detail.includes(id))
  return index < 0 ? problem : withoutMadeId(problem, bodies[index] ?? {}, tasks[index] as PreparedTask, index)
}

export const enqueue = async (call: QueueCall<EnqueueBody>): Promise<Handled> => {
  const { body, limits } = call
  if (body.kind === 'one') return enqueueOne(call, body.task)
  const refused = tooMany('tasks', body.tasks.length, limits.itemsMax)
  if (refused !== undefined) return E.left(refused)
  return body.kind === 'all' ? enqueueAll(call, body.tasks) : enqueueEach(call, body.tasks)
}

/** Makes ids for tasks without one. With a request id, they depend only on it and on the task's index in the request. */
export const idsFor = ({ requestId }: QueueCall): ((place: number) => string) => (requestId === undefined ? newTaskId : taskIdsOf(requestId))

/** A task without a span of its own comes from the request's span. */
const inTrace = (body: TaskBody, { traceparent }: QueueCall): TaskBody =>
  traceparent === undefined || body.traceparent !== undefined ? body : { ...body, traceparent }

/** A task of a request, made ready. `index`: its place among several. */
const prepareOne = (call: QueueCall, body: TaskBody, idOf: (place: number) => string, index?: number): E.Either<Problem, PreparedTask> => {
  const given = ofProducer(call.tenants, newTaskOf(inTrace(body, call)), index === undefined ? '' : `tasks[${index}].`)
  if (E.isLeft(given)) return given
  const prepared = prepareTask(given.right, call.limits.taskBytesMax, 'payload', () => idOf(index ?? 0))
  if (E.isRight(prepared)) return prepared
  return E.left(index === undefined ? problemOf(prepared.left) : inTask(prepared.left, index))
}

const enqueueOne = async (call: QueueCall, body: TaskBody): Promise<Handled> => {
  const { queue, caller } = call
  const prepared = prepareOne(call, body, idsFor(call))
  if (E.isLeft(prepared)) return prepared
  const outcome = await queue.submit({ type: 'Enqueue', tasks: [prepared.right] }, caller)
  if (E.isLeft(outcome)) return E.left(withoutMadeId(problemOf(outcome.left), body, prepared.right, undefined))
  const isDuplicate = outcome.right.value[0]?.duplicate === true
  return replyWith(
    outcome,
    ([enqueued], revision) => `${enqueuedText(enqueued as Enqueued).slice(0, -1)},"revision":${revision}}`,
    isDuplicate ? 200 : 201,
  )
}

/** All tasks of a request, made ready. */
export const prepareAll = (call: QueueCall, bodies: ReadonlyArray<TaskBody>): E.Either<Problem, ReadonlyArray<PreparedTask>> => {
  const idOf = idsFor(call)
  const tasks: Array<PreparedTask> = []
  for (const [index, body] of bodies.entries()) {
    const prepared = prepareOne(call, body, idOf, index)
    if (E.isLeft(prepared)) return prepared
    tasks.push(prepared.right)
  }
  return E.right(tasks)
}

const enqueueAll = async (call: QueueCall, bodies: ReadonlyArray<TaskBody>): Promise<Handled> => {
  const tasks = prepareAll(call, bodies)
  if (E.isLeft(tasks)) return tasks
  const outcome = await call.queue.submit({ type: 'Enqueue', tasks: tasks.right }, call.caller)
  if (E.isLeft(outcome)) return E.left(withoutMadeIds(problemOf(outcome.left), bodies, tasks.right))
  return replyWith(outcome, (all, revision) => resultsText(all.map(enqueuedText), revision), 201)
}

/** Checks one task of several. Only if that fails is it checked again, for paths that include its index. */
const checkAmong = (body: unknown, index: number): ReturnType<typeof checkOne> => {
  const quick = checkOne(body)
  return E.isRight(quick) ? quick : validate(TaskBody, `tasks[${index}]`)(body)
}

const enqueueEach = async (call: QueueCall, bodies: ReadonlyArray<unknown>): Promise<Handled> => {
  const { queue, meter } = call
  const idOf = idsFor(call)
  const prepared = bodies.map((body, index): E.Either<Problem, PreparedTask> => {
    const checked = checkAmong(body, index)
    return E.isLeft(checked) ? E.left(invalid(checked.left)) : prepareOne(call, checked.right, idOf, index)
  })
  const outcomes = await enqueuedEach(call, prepared.flatMap((task) => (E.isRight(task) ? [task.right] : [])))
  let next = 0
  let revision = queue.status().revision
  const results = prepared.map((task, index) => {
    if (E.isLeft(task)) return refusedText(task.left, meter)
    const outcome = outcomes[next++] as Outcome<Enqueued>
    // Its body was checked.
    if (E.isLeft(outcome)) return refusedText(withoutMadeId(problemOf(outcome.left), bodies[index] as TaskBody, task.right, index), meter)
    revision = Math.max(revision, outcome.right.revision)
    return enqueuedText(outcome.right.value)
  })
  return E.right({ status: 200, text: resultsText(results, revision), revision })
}

/** Whether a refusal is about the queue and not about the tasks. */
const isAboutQueue = (code: string): boolean =>
  code === 'unavailable' || code === 'read-only' || code === 'clock' || code === 'overloaded' || code === 'outcome-unknown'

/** Tries one command for all tasks first, which usually succeeds and costs half as much. If it is refused, each task gets its own command. */
const enqueuedEach = async ({ queue, caller }: QueueCall, tasks: ReadonlyArray<PreparedTask>): Promise<ReadonlyArray<Outcome<Enqueued>>> => {
  const together = await queue.submit({ type: 'Enqueue', tasks }, caller)
  if (E.isRight(together)) {
    const { value, revision } = together.right
    return value.map((enqueued) => E.right({ value: enqueued, revision }))
  }
  if (isAboutQueue(together.left.code)) return tasks.map(() => together)
  const outcomes = await queue.submitAll(tasks.map((task) => ({ type: 'Enqueue' as const, tasks: [task] })), caller)
  return outcomes.map((outcome) =>
    // `submitAll` answers in the order of its commands, and these are all of one kind with one task each.
    E.isLeft(outcome) ? outcome : E.right({ value: (outcome.right.value as ReadonlyArray<Enqueued>)[0] as Enqueued, revision: outcome.right.revision }),
  )
}

// ------------------------------------------------------------------------------------------- import

export const ImportsBody = t.type({ tasks: listOf(ImportBody) }, 'ImportedTasks')

export const importTasks = async ({ body, queue, caller, limits }: QueueCall<t.TypeOf<typeof ImportsBody>>): Promise<Handled> => {
  const refused = tooMany('tasks', body.tasks.length, limits.itemsMax)
  if (refused !== undefined) return E.left(refused)
  const tasks = []
  for (const [index, given] of body.tasks.entries()) {
    const { status = 'pending', createdAt, completedAt, result, lastError, retries, rootTaskId, generation, ...task } = given
    const prepared = prepareImport(
      newTaskOf(task),
      defined({
        status,
        createdAt: ifDefined(createdAt, millisecondsOf),
        finishedAt: ifDefined(completedAt, millisecondsOf),
        retries, lastError, rootTaskId, generation,
        // The contents of a result are checked when it is made canonical.
        result: result as Result | undefined,
      }),
    )
    if (E.isLeft(prepared)) return E.left(inTask(prepared.left, index))
    tasks.push(prepared.right)
  }
  const outcome = await queue.submit({ type: 'Import', tasks }, caller)
  return replyWith(outcome, (all, revision) => resultsText(all.map(enqueuedText), revision), 201)
}

// -------------------------------------------------------------------------------------------- read

export const getTask = async ({ queue, params, tenants }: ViewCall): Promise<Handled> => {
  const { id = '' } = params
  const found = await find(queue, (state, at) => ifDefined(taskOf(state, id, at), (task) => ({ task, reasons: reasonsOf(state, id, at) ?? [], place: queuedPlaceOf(state, id, at) })), () => noSuchTask(queue, id))
  if (E.isLeft(found)) return found
  const { value: { task, reasons, place }, revision } = found.right
  const [text = ''] = await taskTexts(queue, [task])
  const erased = await erasedText(queue, text, task.lastRevision)
  return E.right({ status: 200, text: `${text.slice(0, -1)}${erased}${tenants === undefined ? placeText(place) : ''},"reasons":${JSON.stringify(shownReasons(reasons, tenants))}}`, revision })
}

/** The state does not know who erased the task and why. So the log is read if the task looks erased. */
const erasedText = async (queue: QueueView, task: string, lastRevision: number): Promise<string> => {
  const event = task.includes('"withheld":"erased"') ? await erasureOf(queue, lastRevision) : undefined
  if (event === undefined) return ''
  const { at, actor, data } = showEvent(event)
  return `,"erased":${JSON.stringify({ at, actor, reason: (data as { readonly reason?: unknown }).reason })}`
}

/** Not for a token of a tenant, because the place counts tasks of others. */
const placeText = (place: QueuedPlace | undefined): string =>
  place === undefined ? '' : `,"queuedAt":"${isoOf(place.queuedAt)}","queuePosition":${place.queuePosition}`

export const getTasks = async ({ queue, query, limits, tenants, gone }: ViewCall<TasksQuery>): Promise<Handled> => {
  const asked = withTenant(tenants, query)
  return E.isLeft(asked) ? asked : pageOfTasks(queue, filterOf(asked.right), query, limits, gone())
}

export const getDeadLetters = async ({ queue, query, limits, tenants, gone }: ViewCall<DeadLettersQuery>): Promise<Handled> => {
  const asked = withTenant(tenants, query)
  if (E.isLeft(asked)) return asked
  const { type, signature, error, escalated, snoozed, tenant } = asked.right
  const isTrue = (flag: string): boolean => flag === 'true'
  const filter = defined({ tenant, statuses: ['dead-letter'] as const, type, signature, error, escalated: ifDefined(escalated, isTrue), snoozed: ifDefined(snoozed, isTrue) })
  return pageOfTasks(queue, filter, query, limits, gone())
}

const pageDefault = 50
/** A larger page takes turns: requests come in between, however many pages are asked for at the same time. */
const smallPage = 100

const pageOfTasks = async (
  queue: QueueView,
  filter: TaskFilter,
  { limit, cursor }: { readonly limit?: string; readonly cursor?: string },
  limits: HttpLimits,
  gone: AbortSignal,
): Promise<Handled> => {
  const wanted = pageSizeOf(limit, limits)
  if (wanted > smallPage) await ownTurn()
  const page = await queue.read((state, at) => listTasks(state, filter, wanted, cursor, at))
  if (E.isLeft(page)) return E.left(problemOf(page.left))
  const { value, revision } = page.right
  return E.right({ status: 200, text: `{${await pageText(queue, value, limits, gone)},"revision":${revision}}`, revision })
}

export const pageSizeOf = (limit: string | undefined, { pageMax }: HttpLimits): number => (limit === undefined ? Math.min(pageDefault, pageMax) : Number(limit))

/** The members `tasks` and `nextCursor` of an answer. `gone`: aborted when the client has closed its connection. Then nobody reads the answer. */
export const pageText = async (queue: QueueView, { tasks, next }: TaskPage, { pageBytesMax }: HttpLimits, gone: AbortSignal): Promise<string> => {
  // Reading the contents takes milliseconds, and many pages may have waited for the same append.
  if (tasks.length > smallPage) await ownTurn()
  if (gone.aborted) return '"tasks":[],"nextCursor":null'
  const texts = await taskTexts(queue, tasks, pageBytesMax)
  const cut = texts.length < tasks.length ? tasks[texts.length - 1] : undefined
  const cursor = cut === undefined ? next : cursorAfter(cut)
  return `"tasks":[${texts.join(',')}],"nextCursor":${cursor === undefined ? 'null' : quote(cursor)}`
}

// ------------------------------------------------------------------------------------------- cancel

/** Whether the caller's token caused the event of this revision. */
export const isEventOf = async ({ queue, grant, daybook }: QueueCall, revision: number): Promise<boolean> => {
  const [event] = await daybook.log.pick(streamOf(queue.name), [revision])
  return event !== undefined && metaOf(event.metadata).actor === grant.name
}

/** A producer may only cancel tasks that it enqueued. */
const refusalOfOthers = async (call: QueueCall): Promise<Problem | undefined> => {
  const { queue, params, grant } = call
  if (hasRole(grant, 'operator')) return undefined
  const { id = '' } = params
  const found = await find(queue, (state, at) => taskOf(state, id, at), () => noSuchTask(queue, id))
  if (E.isLeft(found)) return found.left
  const { value: task } = found.right
  const isOwn = await isEventOf(call, task.enqueuedRevision)
  return isOwn ? undefined : problem('forbidden', `task ${task.id} was not enqueued by ${grant.name}: cancelling it needs the role operator`)
}

export const cancelTask = async (call: QueueCall<ReasonBody>): Promise<Handled> => {
  const refusal = await refusalOfOthers(call)
  if (refusal !== undefined) return E.left(refusal)
  const { queue, params, body, caller } = call
  return replyWith(
    await queue.submit({ type: 'Cancel', task: params.id ?? '', reason: body.reason }, caller),
    ({ cancelled }) => `{"cancelled":${quoteAll(cancelled)}}`,
  )
}

export const cancelMany = async ({ queue, body, caller, limits, tenants }: QueueCall<CancelAllBody>): Promise<Handled> => {
  const { reason, dryRun = false, cursor } = body
  const asked = withTenant(tenants, cancelFilterOf(body), 'filter.tenant')
  if (E.isLeft(asked)) return asked
  const filter = asked.right
  const text = (ids: ReadonlyArray<string>, next: string | undefined, revision: number): string =>
    `{"count":${ids.length},"cancelled":${quoteAll(ids)},"nextCursor":${next === undefined ? 'null' : quote(next)},"revision":${revision}}`
  if (dryRun) {
    const page = await queue.read((state, at) => listTasks(state, cancellableOf(filter), limits.pageMax, cursor, at))
    return replyWith(page, ({ tasks, next }, revision) => text(tasks.map(({ id }) => id), next, revision))
  }
  const outcome = await queue.submit({ type: 'CancelAll', filter, reason, ...defined({ after: cursor }) }, caller)
  return replyWith(outcome, ({ cancelled, next }, revision) => text(cancelled, next, revision))
}
