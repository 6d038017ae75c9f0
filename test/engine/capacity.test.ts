/** Auto-processing (TQM-CAP-003, TQM-PROC-001): whatever makes an agent inactive serves the waiting claims, in the order in which they came. */
import type { Command, QueueState, SettingsPatch } from '@daybook/core'
import { activeAgentsOf, listTasks } from '@daybook/core'
import { expect, test } from 'vitest'
import { caller, claim, complete, configure, enqueue, fail, isSettled, ok, openQueue, settle, sleep, task } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const hourMs = 3_600_000
const activeIn = (state: QueueState): number => activeAgentsOf(state).size

/** One agent may work, and `ann` does. The claims of bob and cy wait, and so do tasks. */
const atCapacity = async (capacity: SettingsPatch['capacity'] = {}) => {
  const { engine, store } = await openQueue({ defaults: { capacity: { maxConcurrentAgents: 1, ...capacity }, defaults: { backoffSeconds: 3_600 } } })
  const submit = async (command: Command) => ok(await engine.submit(command, caller))
  const wait = (agent: string) => engine.claim(claim(agent), { actor: agent }, { waitMs: hourMs })
  await submit(enqueue(task('held', { timeout: 60 }), 'a', 'b', 'c'))
  const [held] = ok(await engine.claim(claim('ann'), caller))
  const waiting = [wait('bob'), wait('cy')] as const
  await settle()
  expect(await Promise.all(waiting.map(isSettled))).toEqual([false, false])
  return { engine, store, submit, wait, waiting, held: held! }
}
type AtCapacity = Awaited<ReturnType<typeof atCapacity>>

const triggers: ReadonlyArray<readonly [string, (q: AtCapacity) => Promise<unknown>]> = [
  ['the task is completed', ({ submit, held }) => submit(complete(held))],
  ['the task fails', ({ submit, held }) => submit(fail(held))],
  ['the agent is terminated', ({ submit }) => submit({ type: 'TerminateAgent', agent: 'ann', reason: 'gone' })],
  ['the lease ends', () => sleep(62_000)],
  ['the task is given back', ({ submit, held }) => submit({ type: 'Release', task: 'held', agent: 'ann', token: held.token, reason: 'not mine' })],
  ['the task that it held is cancelled', ({ submit }) => submit({ type: 'Cancel', task: 'held', reason: 'not needed' })],
  ['the task is parked', ({ submit, held }) => submit({ type: 'Park', task: 'held', agent: 'ann', token: held.token, callbackKey: 'k', timeoutSeconds: 900 })],
  ['capacity is raised', ({ submit }) => submit(configure({ capacity: { maxConcurrentAgents: 2 } }))],
]
test.each(triggers)('TQM-CAP-003, TQM-PROC-001: the claim that waited longest is served when %s', async (_, trigger) => {
  const q = await atCapacity()
  await trigger(q)
  expect(ok(await q.waiting[0])).toHaveLength(1)
  expect(await isSettled(q.waiting[1])).toBe(false)
})

test('TQM-CAP-003: agents follow each other without a poll until nothing is queued, and never more work than may', async () => {
  const { engine, submit, held, wait, waiting } = await atCapacity()
  const all = [...waiting, wait('dot')]
  let last = held
  let agent = 'ann'
  for (const next of all) {
    await submit(complete(last, agent))
    const [claimed] = ok(await next)
    last = claimed!
    agent = last.agent
    expect(ok(await engine.read(activeIn))).toBe(1)
  }
  expect([last.task, agent]).toEqual(['c', 'dot'])
})

test('TQM-CAP-001: at capacity the waiting claims of agents that work are served, before those of others that came earlier', async () => {
  const { engine, submit, waiting } = await atCapacity()
  const own = engine.claim({ ...claim('ann', 1), types: ['late'] }, caller, { waitMs: hourMs })
  await settle()
  await submit(enqueue(task('x', { type: 'late' })))
  expect(ok(await own)[0]?.task).toBe('x')
  expect(await Promise.all(waiting.map(isSettled))).toEqual([false, false])
})

test('INV-28: at capacity an arrival asks the claims of the agents that work, and not a thousand others', async () => {
  const { engine, submit } = await atCapacity()
  for (let i = 0; i < 1_000; i++) void engine.claim(claim(`agent ${i}`), caller, { waitMs: hourMs })
  await settle()
  expect(engine.status().waitingClaims).toBe(1_002)
  const own = Array.from({ length: 5 }, () => engine.claim({ ...claim('ann') }, caller, { waitMs: hourMs }))
  await submit(enqueue('d', 'e'))
  // Ann takes all ready tasks, though others asked before.
  expect((await Promise.all(own)).map((each) => ok(each)[0]?.task)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(engine.status().waitingClaims).toBe(1_002)
})

test('TQM-BUMP-001: a bump serves a waiting claim at once, beyond capacity, in one append', async () => {
  const { engine, store, submit, waiting, held } = await atCapacity()
  const before = store.appends.length
  await submit({ type: 'Bump', task: 'c', reason: 'the customer waits' })
  expect(ok(await waiting[0])).toMatchObject([{ task: 'c', agent: 'bob' }])
  expect(store.appends.slice(before)).toEqual([2])
  expect(ok(await engine.read(activeIn))).toBe(2)
  // One more is refused, and no agent starts when another becomes inactive: the queue returns to its capacity by itself.
  expect(await engine.submit({ type: 'Bump', task: 'a', reason: 'r' }, caller)).toMatchObject({ _tag: 'Left', left: { code: 'capacity-exceeded' } })
  await submit(complete(held))
  expect([ok(await engine.read(activeIn)), await isSettled(waiting[1])]).toEqual([1, false])
  expect(ok(await engine.read((state) => listTasks(state, { statuses: ['queued'] }, 9).tasks.map(({ id }) => id)))).toEqual(['a', 'b'])
})

test('INV-28: claims wait and nothing is asked while over capacity', async () => {
  const { engine, submit, waiting } = await atCapacity({ overcapLimit: 2 })
  await submit({ type: 'Bump', task: 'c', reason: 'r' })
  const [claimed] = ok(await waiting[0])
  await submit(enqueue('more'))
  expect(await isSettled(waiting[1])).toBe(false)
  await submit(complete(claimed!, 'bob'))
  expect(await isSettled(waiting[1])).toBe(false)
  expect(engine.status().waitingClaims).toBe(1)
})
