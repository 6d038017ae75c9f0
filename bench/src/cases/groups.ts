/** Many groups of tasks, of which an agent may take a few: claims, waiting claims, pages. */
import { openMemoryStore } from '@daybook/adapters/memory'
import { evolve, initial, listTasks, type QueueState, type TaskFilter } from '@daybook/core'
import type { Daybook, QueueEngine } from '@daybook/adapters/engine'
import { type Case, type Figures, scaled } from '../case.js'
import { newTask, nowMs, percentile } from '../measure.js'
import { caller, enqueue, fill, openQueue, right } from '../queue.js'
import { enqueuedEvent } from './fold.js'

const few = 10
const many = 10_000
const waiting = 1_000
const minute = 60_000

/** `few` groups with `tasks` tasks each, which the agent may take, and others with 2 each. */
const fillGroups = async (engine: QueueEngine, groups: number, tasks: number): Promise<void> => {
  let made = 0
  await fill(engine, few * tasks, () => ({ ...newTask(), type: `mine.${made++ % few}` }))
  await fill(engine, 2 * (groups - few), () => ({ ...newTask(), type: `other.${made++ % (groups - few)}` }))
}

/** Milliseconds of each of `count` claims of one task. */
const claimTimes = async (engine: QueueEngine, count: number): Promise<ReadonlyArray<number>> => {
  const times: Array<number> = []
  const types = Array.from({ length: few }, (_, i) => `mine.${i}`)
  for (let i = 0; i < count; i++) {
    const start = nowMs()
    const [claim] = right(await engine.claim({ type: 'Claim', agent: 'bench', max: 1, types }, caller)).value
    times.push(nowMs() - start)
    if (claim === undefined) throw new Error('nothing to claim')
    const { task, token } = claim
    right(await engine.submit({ type: 'Complete', task, agent: 'bench', token, content: '{}', hasReport: false }, caller))
  }
  return times
}

/** Waiting claims of one task each: each for a different type, or all for the same. */
const startPolls = (engine: QueueEngine, count: number, typeOf: (i: number) => string): void => {
  for (let i = 0; i < count; i++) {
    void engine.claim({ type: 'Claim', agent: `poll-${i}`, max: 1, types: [typeOf(i)] }, caller, { waitMs: 10 * minute })
  }
}

const allWait = async (engine: QueueEngine, count: number): Promise<void> => {
  while (engine.status().waitingClaims < count) await new Promise((resolve) => setImmediate(resolve))
}

export const claimGroups: Case = {
  name: 'claim-groups',
  what: 'claim of one task with 10,000 ready groups of which the agent may take ten, and with 1,000 claims waiting for other types, against ten groups; in memory',
  goals: { 'groups over ten': ['≤', 2], 'waiting over ten': ['≤', 2] },
  run: async (folder, scale) => {
    const count = scaled(4_000, scale, 1_000)
    const opened: Array<Daybook> = []
    const open = async (name: string, groups: number): Promise<QueueEngine> => {
      const { daybook, engine } = await openQueue(folder, { store: openMemoryStore(), queue: name })
      opened.push(daybook)
      await fillGroups(engine, groups, count)
      return engine
    }
    const [ten, groups, polled] = [await open('ten', few), await open('groups', many), await open('polled', many)]
    startPolls(polled, waiting, (i) => `poll.${i}`)
    await allWait(polled, waiting)
    const times: [Array<number>, Array<number>, Array<number>] = [[], [], []]
    // Measured alternately, after one round of warm-up.
    for (let round = 0; round < 6; round++) {
      for (const [i, engine] of [ten, groups, polled].entries()) {
        const taken = await claimTimes(engine, Math.floor(count / 6))
        if (round > 0) times[i]!.push(...taken)
      }
    }
    for (const daybook of opened) await daybook.close()
    const middle = times.map((each) => percentile(each, 0.5)) as [number, number, number]
    return {
      'ms with ten groups': middle[0],
      'ms with 10,000': middle[1],
      'ms with 1,000 waiting': middle[2],
      'groups over ten': middle[1] / middle[0],
      'waiting over ten': middle[2] / middle[0],
    }
  },
}

const polls = (name: string, what: string, typeOf: (i: number) => string): Case => ({
  name,
  what: `1,000 polls ${what} that arrive at once beside 1,000 groups: until all wait, and the slowest answer to others meanwhile`,
  goals: { 'ms until all wait': ['≤', 200], 'slowest answer ms': ['≤', 50] },
  run: async (folder) => {
    const { daybook, engine } = await openQueue(folder)
    let made = 0
    await fill(engine, 2_000, () => ({ ...newTask(), type: `other.${made++ % 1_000}` }))
    for (let i = 0; i < 2_000; i++) await enqueue(engine, [newTask()])
    const answers: Array<number> = []
    let isOver = false
    const others = async (): Promise<void> => {
      while (!isOver) {
        const start = nowMs()
        await enqueue(engine, [newTask()])
        answers.push(nowMs() - start)
      }
    }
    const running = Array.from({ length: 4 }, others)
    await new Promise((resolve) => setTimeout(resolve, 20))
    answers.length = 0
    const start = nowMs()
    startPolls(engine, waiting, typeOf)
    await allWait(engine, waiting)
    const ms = nowMs() - start
    isOver = true
    await Promise.all(running)
    await daybook.close()
    return { 'ms until all wait': ms, 'slowest answer ms': Math.max(...answers) }
  },
})

export const pollsEqual = polls('polls-equal', 'for the same type', () => 'poll')
export const pollsDifferent = polls('polls-different', 'for 1,000 different types', (i) => `poll.${i}`)

const stateOf = (tasks: number, groups: number): QueueState => {
  let state = initial('bench')
  // Priorities repeat every ten tasks: each type has all of them, however many types there are.
  for (let i = 0; i < tasks; i++) state = evolve(state, enqueuedEvent(i, { type: `type.${Math.floor(i / 10) % groups}` }))
  return state
}

const pageMs = (state: QueueState, filter: TaskFilter): number => {
  const start = nowMs()
  const { tasks } = listTasks(state, filter, 1_000)
  if (tasks.length < 1_000) throw new Error(`a page of ${tasks.length}`)
  return nowMs() - start
}

const filters: Readonly<Record<string, TaskFilter>> = {
  pending: { statuses: ['pending'] },
  'by type': { statuses: ['pending'], type: 'type.1*' },
}

export const pageGroups: Case = {
  name: 'page-groups',
  what: 'a page of 1,000 pending tasks out of 10,000 groups against ten, of all types and of some',
  goals: { 'pending, ratio': ['≤', 2], 'by type, ratio': ['≤', 2] },
  run: (_, scale) => {
    const tasks = scaled(1_000_000, scale, 50_000)
    const states = [stateOf(tasks, few), stateOf(tasks, many)]
    const figures: Record<string, number> = {}
    for (const [name, filter] of Object.entries(filters)) {
      const times: [Array<number>, Array<number>] = [[], []]
      for (let i = 0; i < 60; i++) for (const [at, state] of states.entries()) if (i < 10) pageMs(state, filter); else times[at]!.push(pageMs(state, filter))
      const [small, large] = times.map((each) => percentile(each, 0.5)) as [number, number]
      Object.assign(figures, { [`${name}, ms of ten`]: small, [`${name}, ms of 10,000`]: large, [`${name}, ratio`]: large / small })
    }
    return Promise.resolve(figures satisfies Figures)
  },
}
