/** Claims, heartbeats and outcomes. */
import { between, clipped, type ClaimRequest, type Command, type CommandType, type FieldError, type Json, keptFailure, listOf, Name, type Replies, type Result, taskOf, validate, whyNothing } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { defined } from '../../defined.js'
import { type Outcome, type QueueEngine, prepareCallback, prepareResult, printed } from '../../engine/index.js'
import type { MemoryService } from '../../memory-bank/index.js'
import type { HttpLimits } from '../limits.js'
import { invalid, noSuchTask, type Problem, problemOf } from '../problem.js'
import { shownReasons } from '../json/reasons.js'
import { type Handled, type Input, type QueueCall, replyWith } from '../routes/route.js'
import { claimsText } from '../json/task-text.js'
import { callbackFor, isOwn, ofAgent, type Tenants } from '../routes/tenants.js'
import { quoteAll } from '../json/text.js'
import { isoMemo } from '../../iso-time.js'
import {
  type CallbackBody,
  ClaimBody,
  type CompleteBody,
  type FailBody,
  type HeartbeatBody,
  outcomeBodies,
  type OutcomeBody,
  type ParkBody,
  type ReleaseBody,
} from '../json/wire.js'
import { refusedText, tooMany } from './tasks.js'

export const claimBody = ({ claimWaitSecondsMax }: HttpLimits) =>
  t.intersection([ClaimBody, t.partial({ wait: between(0, claimWaitSecondsMax) })], 'ClaimRequest')

/** `memory`: memories of earlier tasks come with the claim. */
export const claim = (memory: MemoryService | undefined) => async ({ daybook, body, queue, caller, gone, meter, tenants }: QueueCall<ClaimBody>): Promise<Handled> => {
  const asked = ofAgent(tenants, body)
  if (E.isLeft(asked)) return asked
  const { agentId, max = 1, wait = 0, ...where } = asked.right
  const command = { type: 'Claim' as const, agent: agentId, max, ...where }
  const waitMs = Math.round(wait * 1_000)
  const outcome = await queue.claim(command, caller, waitMs === 0 ? {} : { waitMs, signal: gone() })
  if (E.isLeft(outcome)) return E.left(problemOf(outcome.left))
  const { value: claims, revision } = outcome.right
  if (claims.length === 0) return nothing(queue, command, revision, tenants)
  meter.claimed(queue.name, claims, daybook.now() + queue.status().aheadMs)
  // If the answer is lost, the agent does not know of its tasks. Others get them at once instead of when the leases end.
  const undelivered = () => queue.takeBack(claims, 'the connection ended before the answer to the claim was out')
  const recalled = memory === undefined ? undefined : await memory.recallFor(queue.name, claims)
  return E.right({ status: 200, text: claimsText(claims, agentId, recalled), revision, undelivered, needsCaller: true })
}

/** An answer without tasks, with the reason if matching tasks are ready. */
const nothing = async (queue: QueueCall['queue'], request: ClaimRequest, revision: number, tenants: Tenants): Promise<Handled> => {
  const why = await queue.read((state, at) => whyNothing(state, request, at))
  const reasons = E.isLeft(why) || why.right.value === undefined ? [] : shownReasons([why.right.value], tenants)
  return E.right({ status: 200, text: JSON.stringify({ claims: [], reason: reasons[0] }), revision, needsCaller: true })
}

// ------------------------------------------------------------------------------- one outcome at a time

type Prepared = E.Either<Problem, Command>
interface Holder {
  readonly task: string
  readonly agent: string
  readonly token: number
}
const holder = (task: string, { agentId, token }: { readonly agentId: string; readonly token: number }): Holder => ({
  task,
  agent: agentId,
  token,
})

/** The refusal of values that are too large. Those that are `undefined` are passed over. */
const refusalOfSize = (values: Readonly<Record<string, unknown>>, bytesMax: number): E.Either<Problem, never> | undefined => {
  for (const [what, value] of Object.entries(values)) {
    const text = value === undefined ? undefined : printed(value, what, bytesMax)
    if (text !== undefined && E.isLeft(text)) return E.left(problemOf(text.left))
  }
  return undefined
}

const heartbeatCommand = (task: string, body: HeartbeatBody, { taskBytesMax }: HttpLimits): Prepared => {
  const { progress, checkpoint } = body
  const refused = refusalOfSize({ progress, checkpoint }, taskBytesMax)
  if (refused !== undefined) return refused
  return E.right({ type: 'Heartbeat', ...holder(task, body), ...defined({ progress, checkpoint }) })
}

const completeCommand = (task: string, body: CompleteBody, { taskBytesMax }: HttpLimits): Prepared => {
  // The contents of a result are checked when it is made canonical.
  const result = prepareResult(body.result as Result, taskBytesMax)
  if (E.isLeft(result)) return E.left(problemOf(result.left))
  return E.right({ type: 'Complete', task, agent: body.agentId, token: body.token, ...result.right })
}

const failCommand = (task: string, body: FailBody, { taskBytesMax }: HttpLimits): Prepared => {
  const { error, retryable = true, checkpoint } = body
  const refused = refusalOfSize({ checkpoint }, taskBytesMax)
  if (refused !== undefined) return refused
  const said = keptFailure(typeof error === 'string' ? { message: error } : error)
  return E.right({ type: 'Fail', ...holder(task, body), error: said, retryable, ...defined({ checkpoint }) })
}

const releaseCommand = (task: string, body: ReleaseBody): Prepared =>
  E.right({ type: 'Release', ...holder(task, body), reason: body.reason, ...(body.stopping === true ? { stopping: true } : {}) })

const parkCommand = (task: string, body: ParkBody, { taskBytesMax }: HttpLimits): Prepared => {
  const { callbackKey, timeoutSeconds, onTimeout, checkpoint } = body
  const refused = refusalOfSize({ checkpoint }, taskBytesMax)
  if (refused !== undefined) return refused
  return E.right({ type: 'Park', ...holder(task, body), callbackKey, timeoutSeconds, ...defined({ onTimeout, checkpoint }) })
}

const commandOf = (body: OutcomeBody, limits: HttpLimits): Prepared => {
  switch (body.kind) {
    case 'heartbeat':
      return heartbeatCommand(body.taskId, body, limits)
    case 'complete':
      return completeCommand(body.taskId, body, limits)
    case 'fail':
      return failCommand(body.taskId, body, limits)
    case 'release':
      return releaseCommand(body.taskId, body)
    case 'park':
      return parkCommand(body.taskId, body, limits)
  }
}

type Kind = OutcomeBody['kind']

const settle =
  <B>(kind: Kind, commandFor: (task: string, body: B, limits: HttpLimits) => Prepared) =>
  async ({ body, queue, params, caller, limits }: QueueCall<B>): Promise<Handled> => {
    const command = commandFor(params.id ?? '', body, limits)
    if (E.isLeft(command)) return command
    return replyWith(await queue.submit(command.right, caller), answerText(kind))
  }

export const heartbeat = settle('heartbeat', heartbeatCommand)
export const complete = settle('complete', completeCommand)
export const fail = settle('fail', failCommand)
export const release = settle('release', releaseCommand)
export const park = settle('park', parkCommand)

export const callback = async ({ body, queue, params, caller, limits, tenants }: QueueCall<CallbackBody>): Promise<Handled> => {
  const key = callbackFor(tenants, params.key ?? '')
  if (E.isLeft(key)) return key
  const callbackKey = key.right
  if (!Name.is(callbackKey)) return E.left(invalid([{ path: 'key', message: `must be ${Name.name}` }]))
  // The contents of the payload are checked when it is made canonical.
  const content = prepareCallback(body.payload as Json | undefined, limits.taskBytesMax)
  if (E.isLeft(content)) return E.left(problemOf(content.left))
  return replyWith(await queue.submit({ type: 'Callback', callbackKey, content: content.right }, caller), (answer) => JSON.stringify(answer))
}

/** Makes the answers to outcomes of one kind. It caches the time that it last printed, so use one function per batch. */
const answerText = (kind: Kind): ((reply: Replies[CommandType]) => string) => {
  const iso = isoMemo()
  return (reply) => {
    switch (kind) {
      case 'heartbeat': {
        const { token, expiresAt } = reply as Replies['Heartbeat']
        return `{"lease":{"token":${token},"expiresAt":"${iso(expiresAt)}"}}`
      }
      case 'complete':
        return completedText(reply as Replies['Complete'])
      case 'fail': {
        const { status, availableAt } = reply as Replies['Fail']
        return availableAt === undefined ? `{"status":"${status}"}` : `{"status":"${status}","availableAt":"${iso(availableAt)}"}`
      }
      case 'release':
      case 'park':
        return `{"status":"${(reply as Replies['Release']).status}"}`
    }
  }
}

const completedText = ({ status, spawned = [], approvals = [], left = 0 }: Replies['Complete']): string =>
  `{"status":"${status}","spawned":${quoteAll(spawned)}${approvals.length === 0 ? '' : `,"approvals":${quoteAll(approvals)}`}${left === 0 ? '' : `,"left":${left}`}${status === 'incomplete' ? reportMissing : ''}}`
const reportMissing = `,"detail":${JSON.stringify('the queue wants a decision report: complete the task again with result.decisionReport before the lease ends; what was handed in is kept. Or set decisionReport to optional, and complete the task again without one')}`

// -------------------------------------------------------------------------------------- many at once

const OneOutcome = t.union([outcomeBodies.heartbeat, outcomeBodies.complete, outcomeBodies.fail, outcomeBodies.release, outcomeBodies.park])
const Outcomes = t.type({ outcomes: listOf(OneOutcome) }, 'Outcomes')
/** The body without its outcomes. Each outcome is checked on its own: an invalid one must not block the 499 others. */
const Around = t.type({ outcomes: t.UnknownArray })
export type OutcomesBody = t.TypeOf<typeof Around>

export const outcomesInput: Input<OutcomesBody> = { schema: Outcomes, check: validate(Around), mayBeAbsent: false }

const isKind = (kind: unknown): kind is Kind => typeof kind === 'string' && Object.hasOwn(outcomeBodies, kind)
const forEachKind = <A>(of: (kind: Kind) => A): Readonly<Record<Kind, A>> =>
  Object.fromEntries(Object.keys(outcomeBodies).map((kind) => [kind, of(kind as Kind)])) as Record<Kind, A>
type Check = (input: unknown) => E.Either<ReadonlyArray<FieldError>, OutcomeBody>
const checkOf = (kind: Kind, path = ''): Check => {
  // What this codec accepts is a member of the union. The types do not show it.
  const codec = outcomeBodies[kind] as t.Type<OutcomeBody, unknown>
  return validate(codec as t.Type<OutcomeBody>, path)
}
const checks = forEachKind((kind) => checkOf(kind))

/** Reads `kind` first and then uses the codec of that kind, because a union's errors would name all kinds. */
const checkOutcome = (input: unknown, index: number): E.Either<Problem, OutcomeBody> => {
  const kind: unknown = typeof input === 'object' && input !== null && 'kind' in input ? input.kind : undefined
  if (!isKind(kind)) {
    const path = `outcomes[${index}].kind`
    // Anything but a text is not printed: it may be of any size and depth.
    const what = kind === undefined ? 'is required' : typeof kind === 'string' ? `${JSON.stringify(clipped(kind, 60))} is unknown` : 'is not a text'
    return E.left(invalid([{ path, message: `${what}: heartbeat, complete, fail, release or park` }]))
  }
  const checked = checks[kind](input)
  if (E.isRight(checked)) return checked
  // Checked again for paths that include the index. Valid outcomes need not pay for that.
  return E.mapLeft(invalid)(checkOf(kind, `outcomes[${index}]`)(input))
}

/** The reference to the task of each outcome: its number, as for the routes of one task. `undefined` for a task of another tenant. */
const ownTasks = async (queue: QueueEngine, { outcomes: given }: OutcomesBody, tenants: Tenants): Promise<E.Either<Problem, (id: string) => string | undefined>> => {
  if (tenants === undefined) return E.right((id) => id)
  const ids = new Set(given.flatMap((outcome) => (typeof outcome === 'object' && outcome !== null && 'taskId' in outcome && typeof outcome.taskId === 'string' ? [outcome.taskId] : [])))
  const read = await queue.read((state, at) => [...ids].flatMap((id) => {
    const task = taskOf(state, id, at)
    return task !== undefined && isOwn(tenants, task.tenant) ? [[id, `#${task.number}`] as const] : []
  }))
  if (E.isLeft(read)) return E.left(problemOf(read.left))
  const refs = new Map(read.right.value)
  return E.right((id) => refs.get(id))
}

export const outcomes = async ({ body, queue, caller, limits, meter, tenants }: QueueCall<OutcomesBody>): Promise<Handled> => {
  const refused = tooMany('outcomes', body.outcomes.length, limits.itemsMax)
  if (refused !== undefined) return E.left(refused)
  const results = new Array<string>(body.outcomes.length)
  const commands: Array<Command> = []
  const asked: Array<{ readonly index: number; readonly kind: Kind }> = []
  const refuse = (index: number, why: Problem): void => void (results[index] = refusedText(why, meter))
  const refOf = await ownTasks(queue, body, tenants)
  if (E.isLeft(refOf)) return refOf
  for (let index = 0; index < results.length; index++) {
    const checked = checkOutcome(body.outcomes[index], index)
    const ref = E.isLeft(checked) ? undefined : refOf.right(checked.right.taskId)
    if (E.isLeft(checked)) refuse(index, checked.left)
    else if (ref === undefined) refuse(index, noSuchTask(queue, checked.right.taskId))
    else {
      const command = commandOf({ ...checked.right, taskId: ref }, limits)
      if (E.isLeft(command)) {
        refuse(index, command.left)
        continue
      }
      commands.push(command.right)
      asked.push({ index, kind: checked.right.kind })
    }
  }
  const done: ReadonlyArray<Outcome<Replies[CommandType]>> = await queue.submitAll(commands, caller)
  const writers = forEachKind(answerText)
  let revision = queue.status().revision
  for (let i = 0; i < asked.length; i++) {
    const { index, kind } = asked[i] as (typeof asked)[number]
    const outcome = done[i] as Outcome<Replies[CommandType]>
    if (E.isLeft(outcome)) results[index] = refusedText(problemOf(outcome.left), meter)
    else {
      results[index] = writers[kind](outcome.right.value)
      revision = Math.max(revision, outcome.right.revision)
    }
  }
  return E.right({ status: 200, text: `{"results":[${results.join(',')}]}`, revision })
}
