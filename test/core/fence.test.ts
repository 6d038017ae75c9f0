/** INV-2: a task is settled only by its id, the claiming agent's name and the newest token together. */
import { type Command, type CommandType, decide, evolve, fork, initial, type QueueState, taskOf } from '@daybook/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Queue, start, task } from './queue.js'

const agents = ['ann', 'bob', 'cy']
const ids = ['a', 'b', 'c', 'd', 'e']

const claim = (id: string, agent: string, token: number) => ({ task: id, agent, token })
const reports: ReadonlyArray<(of: ReturnType<typeof claim>) => Command> = [
  (of) => ({ type: 'Heartbeat', ...of }),
  (of) => ({ type: 'Complete', ...of, content: '{}', hasReport: true }),
  (of) => ({ type: 'Complete', ...of, content: '{}', hasReport: false }),
  (of) => ({ type: 'Fail', ...of, error: { message: 'no' }, retryable: true }),
  (of) => ({ type: 'Release', ...of, reason: 'not mine' }),
]

/** Some agents hold some of the tasks, some of them for the second time; one task is pending, one is finished. */
const held = fc.array(fc.tuple(fc.constantFrom(...agents), fc.integer({ min: 1, max: 2 }), fc.boolean()), { minLength: 1, maxLength: 6 }).map((claims) => {
  const q = new Queue().enqueue(...ids.map((id) => task(id, { backoffSeconds: 0, maxRetries: 9 })))
  for (const [agent, max, fails] of claims) {
    const got = q.ask({ type: 'Claim', agent, max })
    const [first] = got
    if (fails && first !== undefined) q.fail(first.task, first.token, true, agent)
  }
  return q
})

const accepted = (command: Command, state: QueueState): boolean => decide(command, { at: start, random: 0 })(state)._tag === 'Right'

describe('INV-2', () => {
  test('of all combinations, only a task with its own newest token and the agent that holds it is settled or extended', () => {
    fc.assert(
      fc.property(held, (q) => {
        const leases = new Map(
          q.log.flatMap((event) => (event.type === 'Claimed' ? [[event.data.task, event.data] as const] : [])),
        )
        const tokens = [0, ...Array.from(leases.values(), ({ token }) => token), 99]
        for (const id of ids) {
          const view = q.task(id)
          const isHeld = view.status === 'in-progress'
          for (const name of [id, `#${view.number}`]) {
            for (const agent of agents) {
              for (const token of tokens) {
                const lease = leases.get(id)
                const isHolder = isHeld && lease?.agent === agent && lease.token === token
                for (const report of reports) {
                  const command = report(claim(name, agent, token))
                  expect(accepted(command, q.state), JSON.stringify(command)).toBe(isHolder)
                }
              }
            }
          }
        }
      }),
      { numRuns: 30 },
    )
  })

  test('in the fold, too: an event with another task\'s token, or an older one, only counts as a misfit', () => {
    fc.assert(
      fc.property(held, (q) => {
        const leases = q.log.flatMap((event) => (event.type === 'Claimed' ? [event.data] : []))
        for (const id of ids) {
          for (const { agent, token } of leases) {
            const view = q.task(id)
            const isHolder = view.status === 'in-progress' && leases.findLast(({ task }) => task === id)?.token === token
            const ended = evolve(fork(q.state), { type: 'Completed', at: start, data: { task: id, agent, token }, content: '{}' })
            expect(taskOf(ended, id)?.status, `${id} by ${agent} with ${token}`).toBe(isHolder ? 'completed' : view.status)
            for (const other of ids.filter((each) => each !== id)) expect(taskOf(ended, other)).toEqual(q.task(other))
          }
        }
      }),
      { numRuns: 30 },
    )
  })

  test('an unknown task is not found, whatever the token', () => {
    const type: CommandType = 'Complete'
    expect(decide({ type, ...claim('a', 'ann', 1), content: '{}', hasReport: true }, { at: start, random: 0 })(initial('q'))).toMatchObject({ left: { code: 'not-found' } })
  })
})
