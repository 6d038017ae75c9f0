/** The agents of a queue. */
import { agentsOf, type AgentView, type Replies } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { Outcome } from '../../engine/index.js'
import type { ReasonQuery } from '../query.js'
import { type Handled, type QueueCall, replyWith } from '../route.js'
import { isoOf } from '../time.js'
import type { RegisterBody } from '../wire.js'

export const agents = async ({ queue }: QueueCall): Promise<Handled> =>
  replyWith(await queue.read((state, at) => agentsOf(state, at)), (found) => JSON.stringify({ agents: found.map(shown) }))

/** A lease's token is known to its holder alone. */
const shown = ({ leases, lastSeenAt, registeredUntil, ...agent }: AgentView): object => ({
  ...agent,
  leases: leases.map(({ task, expiresAt }) => ({ task, expiresAt: isoOf(expiresAt) })),
  ...(lastSeenAt === undefined ? {} : { lastSeenAt: isoOf(lastSeenAt) }),
  ...(registeredUntil === undefined ? {} : { registeredUntil: isoOf(registeredUntil) }),
})

export const registerAgent = async ({ queue, body, caller }: QueueCall<RegisterBody>): Promise<Handled> => {
  const { agentId, ...abilities } = body
  return replyWith(await queue.submit({ type: 'RegisterAgent', agent: agentId, ...abilities }, caller), ({ endsAt }) =>
    JSON.stringify({ agentId, registeredUntil: isoOf(endsAt) }),
  )
}

export const terminateAgent = async ({ queue, params, query, caller }: QueueCall<unknown, ReasonQuery>): Promise<Handled> => {
  const { agentId = '' } = params
  const { reason = 'terminated by an operator' } = query
  const tasks: Array<Replies['TerminateAgent']['tasks'][number]> = []
  let ended: Outcome<unknown> | undefined
  // An agent may have more leases than one append can end. Each part is durable before the next is submitted.
  for (let remaining = 1; remaining > 0; ) {
    const outcome = await queue.submit({ type: 'TerminateAgent', agent: agentId, reason }, caller)
    // The leases that the last part left may have ended by themselves since.
    if (E.isLeft(outcome) && outcome.left.code === 'not-found' && ended !== undefined) break
    ended = outcome
    if (E.isLeft(outcome)) break
    tasks.push(...outcome.right.value.tasks)
    remaining = outcome.right.value.remaining
  }
  return replyWith(ended as Outcome<unknown>, () =>
    JSON.stringify({ agentId, terminated: true, reassignedTasks: tasks.map(({ id }) => id), tasks }),
  )
}
