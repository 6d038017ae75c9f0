/** A queue as a whole: its depth, breakers and settings. */
import {
  breakerOf,
  breakersOf,
  type BreakerView,
  type Depth,
  depthOf,
  headOf,
  type QueueState,
  type QueueSummary,
  type SettingsPatch,
  summaryForTenants,
  summaryOf,
  TaskType,
} from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { ifDefined } from '../../defined.js'
import type { RefusedQueue } from '../../engine/index.js'
import { mayUse } from '../routes/access.js'
import { invalid, type Problem, problem, problemOf } from '../problem.js'
import type { ReasonQuery } from '../query.js'
import { type Call, find, type Handled, type QueueCall, replyFound, replyWith, type ViewCall } from '../routes/route.js'
import type { Tenants } from '../routes/tenants.js'
import { isoOf, secondsSince } from '../../iso-time.js'
import type { OptionalReasonBody, ReasonBody } from '../json/wire.js'

/** With a token for tenants: of their tasks alone. `undefined` for a queue whose tenants are not isolated, which such a token does not see. */
const summaryFor = (tenants: Tenants): ((state: QueueState, at: number) => QueueSummary | undefined) => {
  if (tenants === undefined) return summaryOf
  const asked = new Set(tenants)
  return (state, at) => summaryForTenants(state, asked, at)
}

/** A queue that cannot be read must not hide the others, and must not look as if it were not there. If none can be read, the request is refused. */
export const listQueues = async ({ daybook, grant, tenants }: Call): Promise<Handled> => {
  const queues = []
  // Whether the tenants of a queue that is not open are isolated is not known, so a token for tenants is not told of it.
  const refused: Array<RefusedQueue> = tenants === undefined ? daybook.refused().filter(({ queue }) => mayUse(grant, queue)) : []
  const unread: Array<Problem> = []
  // All at once: each answers when its turn comes, and hundreds one after the other would take seconds.
  const summary = summaryFor(tenants)
  const asked = daybook.queues().filter(({ name }) => mayUse(grant, name))
  const outcomes = await Promise.all(asked.map(async (queue) => ({ queue, outcome: await queue.read(summary) })))
  for (const { queue, outcome } of outcomes) {
    if (E.isLeft(outcome)) {
      const refusal = problemOf(outcome.left)
      unread.push(refusal)
      refused.push({ queue: queue.name, reason: refusal.detail })
      continue
    }
    const { value, revision } = outcome.right
    if (value !== undefined) queues.push({ name: queue.name, revision, ...value })
  }
  const [first] = unread
  if (first !== undefined && (queues.length === 0 || tenants !== undefined)) return E.left(first)
  return E.right({ status: 200, text: JSON.stringify({ queues, ...(refused.length === 0 ? {} : { refused }) }) })
}

export const showQueue = async ({ queue, tenants }: ViewCall): Promise<Handled> => {
  // The setting may have changed since the request was let in.
  const found = await find(queue, summaryFor(tenants), () => problem('forbidden', `the tenants of queue ${queue.name} are not isolated`))
  return replyFound(found, (summary, revision) => JSON.stringify({ name: queue.name, revision, ...summary }))
}

export const deleteQueue = async ({ queue, query, caller }: QueueCall<unknown, ReasonQuery>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'DeleteQueue', reason: query.reason ?? 'deleted by an operator' }, caller), (_, revision) =>
    JSON.stringify({ name: queue.name, deleted: true, revision }),
  )

export const depth = async ({ queue }: ViewCall): Promise<Handled> =>
  replyWith(await queue.read((state, at) => shownDepth(depthOf(state, at), at)), (counts, revision) => JSON.stringify({ ...counts, revision }))

export const shownDepth = ({ oldestPendingAt, ...counts }: Depth, at: number): object => ({
  ...counts,
  oldestPendingAt: ifDefined(oldestPendingAt, isoOf) ?? null,
  oldestWaitSeconds: secondsSince(oldestPendingAt, at),
})

// ----------------------------------------------------------------------------------------- breakers

export const shownBreaker = ({ lastFailure, openedAt, halfOpenAt, ...breaker }: BreakerView): object => ({
  ...breaker,
  lastFailure: ifDefined(lastFailure, isoOf),
  openedAt: ifDefined(openedAt, isoOf),
  halfOpenAt: ifDefined(halfOpenAt, isoOf),
})

export const breakers = async ({ queue }: ViewCall): Promise<Handled> =>
  replyWith(await queue.read(breakersOf), (found) =>
    JSON.stringify({ breakers: shownBreakers(found) }),
  )

export const shownBreakers = (found: Readonly<Record<string, BreakerView>>): object =>
  Object.fromEntries(Object.entries(found).map(([type, breaker]) => [type, shownBreaker(breaker)]))

const moveBreaker =
  (type: 'OpenBreaker' | 'CloseBreaker') =>
  async ({ queue, params, body, caller }: QueueCall<ReasonBody>): Promise<Handled> => {
    const { type: taskType = '' } = params
    if (!TaskType.is(taskType)) return E.left(invalid([{ path: 'type', message: `${JSON.stringify(taskType)} is not a ${TaskType.name}` }]))
    const moved = await queue.submit({ type, taskType, reason: body.reason }, caller)
    if (E.isLeft(moved)) return E.left(problemOf(moved.left))
    const shown = await queue.read((state) => breakerOf(state, taskType))
    // The revision is that of the command: an alert may have followed it.
    return replyWith(E.isLeft(shown) ? shown : E.right({ ...shown.right, revision: moved.right.revision }), (breaker) =>
      JSON.stringify({ type: taskType, breaker: shownBreaker(breaker ?? { state: 'closed', failures: 0 }) }),
    )
  }

export const openBreaker = moveBreaker('OpenBreaker')
export const closeBreaker = moveBreaker('CloseBreaker')

// ----------------------------------------------------------------------------------------- settings

export const settings = async ({ queue }: ViewCall): Promise<Handled> =>
  replyWith(await queue.read(headOf), (head) => JSON.stringify(head.settings))

export const configure = async ({ queue, body, caller }: QueueCall<SettingsPatch>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'Configure', patch: body }, caller), (configured) => JSON.stringify(configured))

const turn =
  (type: 'Pause' | 'Resume') =>
  async ({ queue, body, caller }: QueueCall<OptionalReasonBody>): Promise<Handled> => {
    const turned = await queue.submit({ type, reason: body.reason ?? '' }, caller)
    if (E.isLeft(turned)) return E.left(problemOf(turned.left))
    return replyWith(await queue.read(headOf), ({ paused }) => JSON.stringify({ paused }))
  }

export const pause = turn('Pause')
export const resume = turn('Resume')
