/** INV-15: after a rollback the queue is as before and goes on as if nothing had happened. Here: tasks that depend on others. */
import { type Command, decide, mark, rollback } from '@daybook/core'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { differenceOf, textOf } from '../support/states/index.js'
import { Queue, task } from './queue.js'

type Step = 'one more waits' | 'one is cancelled' | 'time passes' | 'something happens'
const steps = fc.array(fc.constantFrom<Step>('one more waits', 'one is cancelled', 'time passes', 'something happens'), { maxLength: 12 })

/** A task on which others depend. Some of these are cancelled, and evicted when their retention is over. */
class Waiting extends Queue {
  private count = 0
  constructor() {
    super()
    this.configure({ retentionSeconds: 60 })
    this.enqueue(task('root'))
  }

  take(step: Step): void {
    if (step === 'one more waits') this.enqueue(task(`w${this.count++}`, { dependencies: ['root'] }))
    else if (step === 'one is cancelled') {
      const waiting = Array.from({ length: this.count }, (_, i) => `w${i}`).filter((id) => this.status(id) === 'blocked')
      const first = waiting[waiting.length >> 1]
      if (first !== undefined) this.do({ type: 'Cancel', task: first, reason: 'not needed' })
    } else if (step === 'time passes') this.wait(40)
    else {
      this.do({ type: 'Pause', reason: 'lunch' })
      this.do({ type: 'Resume', reason: 'back' })
    }
  }

  /** The tasks that would be cancelled with the task, in order. */
  cascade(): ReadonlyArray<string> {
    const before = mark(this.state)
    const { cancelled } = this.ask({ type: 'Cancel', task: 'root', reason: 'not needed' })
    this.state = rollback(this.state, before)
    return cancelled
  }
}

test('INV-15: after a rollback, exactly the same tasks depend on the task, in the same order', () => {
  fc.assert(
    fc.property(steps, steps, (before, undone) => {
      const q = new Waiting()
      for (const step of before) q.take(step)
      const [text, cascade, at] = [textOf(q.state), q.cascade(), q.at]
      expect(differenceOf(text, textOf(q.state))).toBe('')
      const point = mark(q.state)
      for (const step of undone) q.take(step)
      q.state = rollback(q.state, point)
      q.at = at
      expect(differenceOf(text, textOf(q.state))).toBe('')
      expect(q.cascade()).toEqual(cascade)
    }),
    { numRuns: 1_000 },
  )
})

const keySteps = ['enqueue', 'kill', 'complete', 'cancel', 'escalate', 'retry', 'time passes'] as const
type KeyStep = (typeof keySteps)[number]
const keyed = fc.array(fc.constantFrom<KeyStep>(...keySteps), { maxLength: 10 })

/** Tasks that share one key. Each step is about the oldest task to which it can apply. */
class Sharing extends Queue {
  private count = 0
  constructor() {
    super()
    this.configure({ retentionSeconds: 60 })
  }

  take(step: KeyStep): void {
    const ids = Array.from({ length: this.count }, (_, i) => `t${i}`)
    const first = (status: string): string => ids.find((id) => this.status(id) === status) ?? 'none'
    if (step === 'time passes') this.wait(70)
    else if (step === 'enqueue') this.attempt({ type: 'Enqueue', tasks: [task(`t${this.count++}`, { idempotencyKey: 'shared', deduplicate: 'key' })] })
    else if (step === 'cancel') this.attempt({ type: 'Cancel', task: first('pending'), reason: 'not needed' })
    else if (step === 'escalate') this.attempt({ type: 'Escalate', task: first('dead-letter'), reviewer: 'r', reason: 'look' })
    else if (step === 'retry') this.attempt({ type: 'Retry', task: first('dead-letter'), reviewer: 'r', reason: 'again' })
    else {
      const { ids: [id], token } = this.claim()
      if (id === undefined) return
      if (step === 'kill') this.fail(id, token, false)
      else this.complete(id, token)
    }
  }

  /** Nothing happens where the queue refuses. */
  private attempt(command: Command): void {
    const decision = decide(command, { at: this.at, random: 0 })(this.state)
    if (decision._tag === 'Right') for (const event of decision.right) this.fold(event)
  }
}

const goesBack = (before: ReadonlyArray<KeyStep>, undone: ReadonlyArray<KeyStep>): void => {
  const q = new Sharing()
  for (const step of before) q.take(step)
  const text = textOf(q.state)
  const point = mark(q.state)
  for (const step of undone) q.take(step)
  q.state = rollback(q.state, point)
  expect(differenceOf(text, textOf(q.state))).toBe('')
}

describe('INV-15, LK-05: after a rollback, a key belongs to the same task as before', () => {
  test('a dead letter was retried, another of its key left the state, and then the first was cancelled', () => {
    goesBack(['enqueue', 'kill', 'enqueue', 'cancel'], ['retry', 'time passes', 'time passes', 'cancel'])
  })

  test('whatever happened', () => {
    fc.assert(fc.property(keyed, keyed, goesBack), { numRuns: 2_000 })
  })
})
