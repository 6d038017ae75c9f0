/** INV-21: a rate limit is no failure; the agent, the task and the other agents wait as long as they should. */
import { breakersOf, taskOf } from '@daybook/core'
import type { ShadowTask } from '../support/states/index.js'
import { same } from './look.js'
import { type Checker, holds } from './world.js'

/** By the words that the scenarios use. */
const isLimit = ({ message, retryAfter }: { readonly message: string; readonly retryAfter?: unknown }): boolean => retryAfter !== undefined || /^429 Too|^Rate limit/.test(message)

const daySeconds = 86_400

export const rateLimitRule = (): Checker => {
  /** Until when an agent, or the agents of a type, get nothing. */
  const sleeping = new Map<string, number>()
  const slowed = new Map<string, number>()
  let before: { readonly breakers: unknown; readonly task: ShadowTask; readonly retries: number; readonly attempts: number } | undefined
  return {
    command: (world, command, decision) => {
      before = undefined
      if (command.type !== 'Fail' || decision._tag === 'Left') return
      const { shadow, state } = world
      const task = shadow.task(command.task) as ShadowTask
      const { maxPerTask, max, base } = shadow.settings.rateLimit
      const count = (task.rateLimits ?? 0) + 1
      const [first] = decision.right
      const wanted = command.retryable && isLimit(command.error) && count <= maxPerTask
      same(first?.type, wanted ? 'RateLimited' : 'Failed', `what ${JSON.stringify(command.error)} is, the ${count}th of ${maxPerTask}`)
      if (first?.type !== 'RateLimited') return
      same(first.data.count, count, 'number of rate limits')
      const waitMs = first.data.availableAt - first.at
      holds(waitMs > 0 && waitMs <= daySeconds * 1_000, `waits ${waitMs} ms`)
      const { retryAfter } = command.error
      const isAsked = (typeof retryAfter === 'number' && retryAfter > 0) || retryAfter === '90' || command.error.message.includes('try again in')
      const least = Math.min(base * 2 ** (count - 1), max) * 1_000
      if (!isAsked) holds(waitMs >= least && waitMs <= Math.round(least * 2), `${waitMs} ms are no backoff of ${least} ms`)
      before = { breakers: withoutProbe(breakersOf(state)), task, retries: task.retries, attempts: task.attempts }
    },
    event: ({ shadow }, event) => {
      if (event.type !== 'Claimed') return
      const { agent, task } = event.data
      holds(event.at >= (sleeping.get(agent) ?? 0), `${agent} gets ${task} while it sleeps`)
      holds(event.at >= (slowed.get(shadow.task(task)?.facts.type ?? '') ?? 0), `${agent} gets ${task} while others of its type are to slow down`)
    },
    note: (event) => {
      if (event.type === 'RateLimited') sleeping.set(event.data.agent, Math.max(event.data.availableAt, sleeping.get(event.data.agent) ?? 0))
      if (event.type === 'SlowdownSignalled') slowed.set(event.data.taskType, Math.max(event.data.until, slowed.get(event.data.taskType) ?? 0))
      if (event.type === 'AgentTerminated') sleeping.delete(event.data.agent)
      if (event.type === 'QueueDeleted') {
        sleeping.clear()
        slowed.clear()
      }
    },
    step: ({ state }) => {
      if (before === undefined) return
      const { facts } = before.task
      const { retries, attempts } = taskOf(state, facts.task) ?? {}
      same({ retries, attempts }, { retries: before.retries, attempts: before.attempts }, `counts of ${facts.task} after a rate limit`)
      same(withoutProbe(breakersOf(state)), before.breakers, 'breakers after a rate limit')
      before = undefined
    },
  }
}

/** A rate limit ends the claim of a probe, which frees its place. */
const withoutProbe = (breakers: ReturnType<typeof breakersOf>): unknown =>
  Object.fromEntries(Object.entries(breakers).map(([type, { probe: _, ...breaker }]) => [type, breaker]))
