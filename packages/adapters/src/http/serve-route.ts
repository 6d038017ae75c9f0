/** The steps from an authorized request to its answer, the same for every route. */
import { headOf, QueueName, taskOf, type TaskView } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { Grant } from '../auth/index.js'
import { defined } from '../defined.js'
import { type FindCauses, type Daybook, isRequestId, type QueueEngine, unusedQueue, viewOf } from '../engine/index.js'
import { notForTenants, refusalOfBound, refusalOfQueue, refusalOfTenants } from './routes/access.js'
import type { IdempotencyKeys, Rendered } from './idempotency.js'
import type { HttpLimits } from './limits.js'
import type { Meter } from './metrics/meter.js'
import type { PastAnswers, PastMoment, PastQuestion } from './past/index.js'
import { invalid, noSuchQueue, noSuchTask, problem, type Problem, problemOf, problemText, soonSeconds } from './problem.js'
import { type Moment, momentAt, type Span } from './query.js'
import type { Call, Handled, Input, QueueRoute, Reply, Route, SpanRoute, ViewRoute } from './routes/route.js'
import { isOwn } from './routes/tenants.js'
import { unicodeText } from './json/text.js'
import { isObject } from '../is-object.js'
import { isoOf, millisecondsOf } from '../iso-time.js'
import { refusalOfUnused } from './routes/unused.js'

export interface Context {
  readonly daybook: Daybook
  readonly limits: HttpLimits
  readonly meter: Meter
  readonly past: PastAnswers
  readonly keys: IdempotencyKeys
  readonly causes: FindCauses
  /** Whether every queue of the store has been read. */
  readonly isReplayed: () => boolean
}

/** The parts of a request that routes use. */
export interface Asked {
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly body: unknown
  readonly grant: Grant
  readonly correlationId: string
  readonly wantsLines: boolean
  readonly gone: () => AbortSignal
  /** Method and URL. An idempotency key is bound to these and the body. */
  readonly request: string
  readonly idempotencyKey: string | undefined
  /** Ids for tasks without one are made from it: see `taskIdsOf`. */
  readonly requestId: string | undefined
  readonly bytes: Buffer | undefined
  /** The span of new tasks, as a valid `traceparent`. */
  readonly traceparent: string | undefined
}

/** An answer to send. A streamed answer is not kept for its idempotency key. */
export type Sent = (Rendered | (Omit<Rendered, 'text'> & { readonly text: Exclude<Reply['text'], string> })) & Pick<Reply, 'undelivered'>

export const serveRoute = async (context: Context, route: Route, asked: Asked): Promise<Sent> => {
  const { keys, meter } = context
  const { idempotencyKey, grant, request, bytes, correlationId } = asked
  if (route.method !== 'POST' || idempotencyKey === undefined) return render(await answer(context, route, asked), correlationId, meter)

  const begun = isKey(idempotencyKey)
    ? keys.begin(grant.id, idempotencyKey, request, bytes)
    : { _tag: 'Refused' as const, problem: invalid([{ path: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' }]) }
  switch (begun._tag) {
    case 'Known':
      return begun.rendered
    case 'Refused':
      return render(E.left(begun.problem), correlationId, meter)
    case 'First': {
      let kept: Rendered | undefined
      try {
        const handled = await answer(context, route, asked)
        const sent = render(handled, correlationId, meter)
        if (E.isRight(handled) && handled.right.isSecret === true) return sent
        // A 5xx may succeed the next time, and an aborted claim was not answered: such requests run again.
        const isOfNoUse = E.isRight(handled) && handled.right.needsCaller === true && asked.gone().aborted
        if (sent.status >= 500 || typeof sent.text !== 'string' || isOfNoUse) return sent
        // The client can get the answer again with its key, so it counts as delivered.
        const { undelivered: _, ...rendered } = sent
        return (kept = rendered as Rendered)
      } finally {
        begun.end(kept)
      }
    }
  }
}

const isKey = (key: string): boolean => /^[\x20-\x7e]{1,255}$/.test(key)

const render = (handled: Handled, correlationId: string, meter: Meter): Sent => {
  if (E.isRight(handled)) {
    const { status, text, type = 'application/json; charset=utf-8', revision, undelivered } = handled.right
    return { status, text: typeof text === 'string' ? unicodeText(text) : text, type, revision, undelivered } as Sent
  }
  return renderProblem(handled.left, correlationId, meter)
}

export const renderProblem = (
  what: Problem & { readonly revision?: number },
  correlationId: string,
  meter: Meter,
): Rendered => {
  const { status, code, retryAfterSeconds, revision } = what
  meter.refusedBy(code)
  return {
    status,
    code,
    text: problemText(what, correlationId),
    type: 'application/problem+json; charset=utf-8',
    revision,
    ...defined({ retryAfterSeconds }),
  }
}

// ------------------------------------------------------------------------------------------- steps

const answer = async (context: Context, route: Route, asked: Asked): Promise<Handled> => {
  const { grant } = asked
  const notCut = refusalOfTenants(grant, route.tenants)
  if (notCut !== undefined) return E.left(notCut)
  if (route.of === 'server' && route.shows === 'all queues') {
    const refusal = refusalOfBound(grant)
    if (refusal !== undefined) return E.left(refusal)
  }
  // 1. Check the request.
  const query = route.query === undefined ? noQuery(asked.query) : checked(route.query, { ...(asked.query as object) })
  if (E.isLeft(query)) return query
  const body = route.body === undefined ? noBody(asked.body) : checked(route.body, asked.body)
  if (E.isLeft(body)) return body
  const { daybook, limits, meter } = context
  const { params, wantsLines, gone, requestId, traceparent } = asked
  if (requestId !== undefined && !isRequestId(requestId)) {
    return E.left(invalid([{ path: 'Daybook-Request-Id', message: 'must be a UUID in lower case, a new one for each request' }]))
  }
  const caller = { actor: grant.name, correlationId: asked.correlationId }
  const call: Call = { daybook, limits, meter, params, query: query.right, body: body.right, caller, grant, tenants: grant.tenants, wantsLines, gone, requestId, traceparent }
  if (route.of === 'server') return route.handle(call)
  // 2. Find the queue, and wait for the revision that the caller asks for.
  const named = [queueNamed(query.right), queueNamed(body.right)].filter((each) => each !== undefined)
  if (new Set(named).size > 1) return E.left(invalid([{ path: 'queue', message: `is ${named[1]}, but the query names the queue ${named[0]}: name one of them` }]))
  const name = params.queue ?? named[0] ?? 'default'
  const notForThis = refusalOfQueue(grant, name)
  if (notForThis !== undefined) return E.left(notForThis)
  const isPast = route.of === 'view' && isAboutPast(query.right)
  const part = grant.tenants === undefined ? undefined : await partOf(context, name, route, grant, { id: params.id, isPast })
  if (part !== undefined && E.isLeft(part)) return part
  // Whether the queue was used at that moment is judged by the state of the moment.
  const unused = isPast || route.of === 'span' ? 'empty' : route.unused
  // What is not read from the state, such as reports and the verification, is answered for a queue that cannot be opened, too.
  const needsState = route.of !== 'queue' || unused !== 'empty'
  const queue = await queueOf(context, name, unused, needsState)
  if (E.isLeft(queue)) return queue
  if (queue.right.status().revision >= 0 || unused === 'opened') meter.watch(queue.right)
  const late = await notYet(queue.right, query.right, limits)
  if (late !== undefined) return E.left({ revision: queue.right.status().revision, ...late })
  if (route.tenants === 'task' && part !== undefined && part.right.task === undefined) {
    return E.left({ revision: queue.right.status().revision, ...noSuchTask(queue.right, params.id ?? '') })
  }
  // By its number, which no other task will ever have. The id may belong to another tenant's task by the time of the command.
  const own = part?.right.task === undefined ? params : { ...params, id: `#${part.right.task.number}` }
  // 3. Run the handler. A refusal has the queue's revision as well.
  if (route.of === 'span') return answerSpan(context, route, asked, query.right as Span, queue.right)
  if (route.of === 'view' && isPast) return answerPast(context, route, asked, query.right as Moment, queue.right)
  const handled = await (route.of === 'view'
    ? route.handle({ params: own, query: query.right as Moment, limits, tenants: grant.tenants, wantsLines, gone, queue: viewOf(queue.right, daybook.contentLog, context.causes) })
    : route.handle({ ...call, params: own, queue: queue.right }))
  return E.isRight(handled) ? handled : E.left({ revision: queue.right.status().revision, ...handled.left })
}

/**
 * The task in the path, if it belongs to one of the grant's tenants. A queue whose tenants are not isolated is refused. Past moments are refused as
 * well, because the queue may not have been isolated then.
 */
const partOf = async (
  context: Context,
  name: string,
  { tenants }: Route,
  grant: Grant,
  { id = '', isPast }: { readonly id: string | undefined; readonly isPast: boolean },
): Promise<E.Either<Problem, { readonly task: TaskView | undefined }>> => {
  if (isPast) return E.left(notForTenants(grant, 'past moments (revision, at) are about all tenants'))
  const queue = await queueOf(context, name, 'empty')
  if (E.isLeft(queue)) return queue
  const read = await queue.right.read((state, at) => ({ settings: headOf(state).settings, task: tenants === 'task' ? taskOf(state, id, at) : undefined }))
  if (E.isLeft(read)) return E.left(problemOf(read.left))
  const { settings, task } = read.right.value
  if (settings.tenants !== 'isolated') return E.left(notForTenants(grant, `the tenants of queue ${name} are not isolated`))
  return E.right({ task: task !== undefined && isOwn(grant.tenants, task.tenant) ? task : undefined })
}

/** The normative endpoints name the queue in the query or the body. */
const queueNamed = (given: unknown): string | undefined => (given as { readonly queue?: string } | undefined)?.queue

const checked = (input: Input<unknown>, given: unknown): E.Either<Problem, unknown> => {
  if (given === undefined || given === null) {
    if (input.mayBeAbsent) return E.right({})
    return E.left(invalid([{ path: '(body)', message: 'is required, as JSON' }]))
  }
  return E.mapLeft(invalid)(input.check(given))
}

/** Clients may send `{}` with every request. Anything else, such as the reason of a deletion, must not be lost without a word. */
const noBody = (body: unknown): E.Either<Problem, undefined> => {
  if (body === undefined || body === null || (isObject(body) && Object.keys(body).length === 0)) return E.right(undefined)
  const paths = isObject(body) ? Object.keys(body) : ['(body)']
  return E.left(invalid(paths.map((path) => ({ path, message: 'is not read here: this request has no body; a reason is a parameter of the query' }))))
}

const noQuery = (query: unknown): E.Either<Problem, unknown> => {
  const names = Object.keys((query ?? {}) as object)
  return names.length === 0
    ? E.right({})
    : E.left(invalid(names.map((name) => ({ path: `query.${name}`, message: 'is not a parameter here' }))))
}

const queueOf = async (
  { daybook, isReplayed }: Context,
  name: string,
  unused: QueueRoute['unused'],
  needsState = true,
): Promise<E.Either<Problem, QueueEngine>> => {
  const there = (queue: QueueEngine): E.Either<Problem, QueueEngine> => {
    const refusal = refusalOfUnused(unused, name, queue.status().revision, queue.status().deleted)
    return refusal === undefined ? E.right(queue) : E.left(refusal)
  }
  const known = daybook.queue(name)
  if (known !== undefined) return there(known)
  if (!QueueName.is(name)) {
    const message = `${JSON.stringify(name)} is not a ${QueueName.name}`
    return E.left(unused === 'opened' ? invalid([{ path: 'queue', message }]) : problem('not-found', message))
  }
  // The queue may be one that has not been read yet.
  if (!isReplayed()) return E.left(problem('unavailable', 'the log is being read: see /readyz', { retryAfterSeconds: soonSeconds }))
  try {
    const found = await (unused === 'opened' ? daybook.visit(name) : daybook.find(name))
    if (found !== undefined) return there(found)
    // A queue that cannot be opened must not look like one without tasks.
    const refused = needsState ? daybook.refused().find(({ queue }) => queue === name) : undefined
    if (refused !== undefined) return E.left(problem('unavailable', refused.reason, { retryAfterSeconds: 1 }))
    return unused === 'empty' ? E.right(unusedQueue(name)) : E.left(noSuchQueue(name))
  } catch (error) {
    return E.left(problem('unavailable', error instanceof Error ? error.message : 'the store cannot be read', { retryAfterSeconds: 1 }))
  }
}

// ---------------------------------------------------------------------------------------- the past

const isAboutPast = (query: unknown): boolean => {
  const { revision, at } = query as Moment
  return revision !== undefined || at !== undefined
}

/** Checks the moment here, where it is known which revisions and times are past, and then asks for the past answer. */
const answerPast = async (context: Context, { path }: ViewRoute, asked: Asked, query: Moment, queue: QueueEngine): Promise<Handled> => {
  const moment = await momentOf(query, queue, 'at')
  if (E.isLeft(moment)) return E.left({ revision: queue.status().revision, ...moment.left })
  const { params, wantsLines } = asked
  return askPast(context, { queue: queue.name, path, params, query, wantsLines, moment: moment.right }, asked)
}

const answerSpan = async (context: Context, { path }: SpanRoute, asked: Asked, query: Span, queue: QueueEngine): Promise<Handled> => {
  const { revision } = queue.status()
  const from = query.from === undefined ? E.right({ revision: -1 }) : await momentOf(momentAt(query.from), queue, 'from')
  if (E.isLeft(from)) return E.left({ revision, ...from.left })
  const to = query.to === undefined ? E.right({ revision }) : await momentOf(momentAt(query.to), queue, 'to')
  if (E.isLeft(to)) return E.left({ revision, ...to.left })
  const handled = await askPast(context, { queue: queue.name, path, params: asked.params, query, wantsLines: false, moment: { from: from.right, to: to.right } }, asked)
  return E.isRight(handled) ? handled : E.left({ revision, ...handled.left })
}

const askPast = async ({ past }: Context, question: PastQuestion, { gone }: Asked): Promise<Handled> => {
  const signal = gone()
  try {
    return await past.ask(question, signal)
  } catch (error) {
    if (!signal.aborted) throw error
    return E.left(problem('unavailable', 'the server is stopping: try again shortly', { retryAfterSeconds: soonSeconds }))
  }
}

/** `name`: that of the parameter. */
const momentOf = async ({ revision, at }: Moment, queue: QueueEngine, name: string): Promise<E.Either<Problem, PastMoment>> => {
  if (revision !== undefined && at !== undefined) {
    return E.left(invalid([{ path: 'query.at', message: 'names a second moment beside revision: give one of them' }]))
  }
  if (revision !== undefined) {
    const last = queue.status().revision
    const ofLast = last < 0 ? 'it has no events' : `its last is ${last}`
    return Number(revision) <= last ? E.right({ revision: Number(revision) }) : E.left(problem('not-found', `queue ${queue.name} has no revision ${revision}: ${ofLast}`))
  }
  const time = millisecondsOf(at as string)
  // The queue's own time, read after everything that was submitted. Later events have a later time, so the moment is over.
  const now = await queue.read((_, now) => now)
  if (E.isLeft(now)) return E.left(problemOf(now.left))
  if (time < now.right.value) return E.right({ at: time, head: now.right.revision })
  return E.left(invalid([{ path: `query.${name}`, message: `is not past yet: for the queue it is ${isoOf(now.right.value)}` }]))
}

const notYet = async (queue: QueueEngine, query: unknown, { atLeastWaitMs }: HttpLimits): Promise<Problem | undefined> => {
  const { atLeast } = query as { readonly atLeast?: string }
  if (atLeast === undefined || (await queue.reached(Number(atLeast), atLeastWaitMs))) return undefined
  return problem('unavailable', `the queue has not reached revision ${atLeast} yet`, { retryAfterSeconds: 1 })
}
