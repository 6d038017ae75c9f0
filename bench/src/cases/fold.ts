/** The speed of the fold with few or many live tasks, without store and I/O. */
import { decide, evolve, initial, type QueueEvent, type QueueState, type TaskFacts } from '@daybook/core'
import type { Case } from '../case.js'
import { scaled } from '../case.js'
import { nowMs, perSecond } from '../measure.js'

const id = (i: number): string => `0193f0a0-0000-7000-8000-${String(i).padStart(12, '0')}`

/** Enqueues the task of this index, 0 for the first. */
export const enqueuedEvent = (i: number, facts: Partial<TaskFacts> = {}): QueueEvent => ({
  type: 'TaskEnqueued',
  at: 1e12 + i,
  data: {
    task: id(i),
    number: i + 1,
    type: 'code.change',
    priority: 1 + ((i * 7_919) % 10),
    idempotencyKey: String(i).padStart(64, 'f'),
    timeout: 3_600,
    maxRetries: 3,
    backoffSeconds: 60,
    ...facts,
  },
})

/**
 * Folds rounds of 500 tasks enqueued, claimed and completed, with `live` tasks in the state. The events are made
 * with another state, before the clock starts.
 */
const foldAt = (live: number, rounds: number): number => {
  let maker = initial('bench')
  let state: QueueState = initial('bench')
  for (let i = 0; i < live; i++) {
    const event = enqueuedEvent(i)
    maker = evolve(maker, event)
    state = evolve(state, event)
  }
  let folded = 0
  let spent = 0
  for (let round = 0; round < rounds; round++) {
    const events: Array<QueueEvent> = []
    for (let k = 0; k < 500; k++) events.push(enqueuedEvent(live + round * 500 + k))
    for (const event of events) maker = evolve(maker, event)
    const claimed = decide({ type: 'Claim', agent: 'a', max: 500 }, { at: 2e12, random: 0 })(maker)
    if (claimed._tag === 'Left') throw new Error(claimed.left.detail)
    for (const event of claimed.right) {
      events.push(event)
      maker = evolve(maker, event)
      if (event.type !== 'Claimed') continue
      const { task, agent, token } = event.data
      const done: QueueEvent = { type: 'Completed', at: event.at, data: { task, agent, token } }
      events.push(done)
      maker = evolve(maker, done)
    }
    const start = nowMs()
    for (const event of events) state = evolve(state, event)
    spent += nowMs() - start
    folded += events.length
  }
  return perSecond(folded, spent)
}

export const fold: Case = {
  name: 'fold',
  what: 'fold of events into state, one core; 10,000 / 100,000 / 1,000,000 live tasks',
  goals: { 'events/s at 10k': ['≥', 400_000], 'events/s at 100k': ['≥', 400_000], 'events/s at 1M': ['≥', 400_000], '1M over 10k': ['≥', 0.6] },
  run: (_, scale) => {
    const rounds = scaled(400, scale, 40)
    const small = foldAt(10_000, rounds)
    const middle = foldAt(100_000, rounds)
    const large = foldAt(scaled(1_000_000, scale), rounds)
    return Promise.resolve({
      'events/s at 10k': small,
      'events/s at 100k': middle,
      'events/s at 1M': large,
      '1M over 10k': large / small,
    })
  },
}
