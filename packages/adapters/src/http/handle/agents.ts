/** The agents of a queue. */
import { agentsOf, type AgentView, type Replies } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { ifDefined } from '../../defined.js'
import type { Caller, QueueEngine } from '../../engine/index.js'
import { type Problem, problemOf } from '../problem.js'
import type { ReasonQuery } from '../query.js'
import { type Handled, type QueueCall, replyWith, type ViewCall } from '../routes/route.js'
import { ofAgent } from '../routes/tenants.js'
import { isoOf } from '../../iso-time.js'
import type { RegisterBody } from '../json/wire.js'

export const agents = async ({ queue }: ViewCall): Promise<Handled> =>
  replyWith(await queue.read((state, at) => agentsOf(state, at)), (found) => JSON.stringify({ agents: found.map(shownAgent) }))

/** Only the holder of a lease knows its token. */
export const shownAgent = ({ leases, lastSeenAt, registeredUntil, sleepsUntil, ...agent }: AgentView): object => ({
  ...agent,
  leases: leases.map(({ task, expiresAt }) => ({ task, expiresAt: isoOf(expiresAt) })),
  lastSeenAt: ifDefined(lastSeenAt, isoOf),
  registeredUntil: ifDefined(registeredUntil, isoOf),
  sleepsUntil: ifDefined(sleepsUntil, isoOf),
})

export const registerAgent = async ({ queue, body, caller, tenants }: QueueCall<RegisterBody>): Promise<Handled> => {
  const asked = ofAgent(tenants, body)
  if (E.isLeft(asked)) return asked
  const { agentId, ...abilities } = asked.right
  return replyWith(await queue.submit({ type: 'RegisterAgent', agent: agentId, ...abilities }, caller), ({ endsAt }) =>
    JSON.stringify({ agentId, registeredUntil: isoOf(endsAt) }),
  )
}

type Terminated = Replies['TerminateAgent']['tasks']

/** Ends the registration and all leases of an agent. */
export const terminate = async (
  queue: QueueEngine,
  agent: string,
  reason: string,
  caller: Caller,
): Promise<E.Either<Problem, { readonly tasks: Terminated; readonly revision: number }>> => {
  const tasks: Array<Terminated[number]> = []
  let ended = -1
  // An agent may have more leases than one append can end. Each part is durable before the next is submitted.
  for (let remaining = 1; remaining > 0; ) {
    const outcome = await queue.submit({ type: 'TerminateAgent', agent, reason }, caller)
    // The remaining leases may have ended by themselves meanwhile.
    if (E.isLeft(outcome) && outcome.left.code === 'not-found' && ended >= 0) break
    if (E.isLeft(outcome)) return E.left(problemOf(outcome.left))
    ended = outcome.right.revision
    tasks.push(...outcome.right.value.tasks)
    remaining = outcome.right.value.remaining
  }
  return E.right({ tasks, revision: ended })
}

export const terminateAgent = async ({ queue, params, query, caller }: QueueCall<unknown, ReasonQuery>): Promise<Handled> => {
  const { agentId = '' } = params
  const ended = await terminate(queue, agentId, query.reason ?? 'terminated by an operator', caller)
  if (E.isLeft(ended)) return ended
  const { tasks, revision } = ended.right
  return E.right({ status: 200, text: JSON.stringify({ agentId, terminated: true, reassignedTasks: tasks.map(({ id }) => id), tasks }), revision })
}
