/** Folds the events of an export again, one after the other. */
import { breakerOf, depthOf, evolve, headOf, initial, isUnreadable, passOver, type QueueEvent, type QueueState, skip, taskOf, taskTypeOf, type Unreadable, unreadableCount } from '@daybook/core'
import type { HistoryEvent } from '../../client/index.js'
import { decodeRecorded } from '../../engine/log/wire.js'

/** The effect of one event. */
export interface Step {
  readonly event: HistoryEvent
  /** The task that the event is about, before and after it. */
  readonly task: string | undefined
  readonly before: string | undefined
  readonly after: string | undefined
  /** The breaker of the task's type, if the event changed it. */
  readonly breaker: { readonly type: string; readonly before: string; readonly after: string } | undefined
  /** The event did not fit the state. In a whole log this is a defect. */
  readonly isMisfit: boolean
  readonly isUnreadable: boolean
}

/** An event of an answer or a file, decoded for the fold. */
export const decodedOf = ({ type, at, data, schemaVersion = 1, needs }: HistoryEvent): QueueEvent | Unreadable =>
  decodeRecorded({ type, data: JSON.stringify(data), metadata: JSON.stringify({ schemaVersion, at, ...(needs === undefined ? {} : { needs }) }), created: at })

export class Replay {
  private state: QueueState

  constructor(queue: string) {
    this.state = initial(queue)
  }

  step(event: HistoryEvent): Step {
    const { type, data, revision } = event
    // An export of some tasks has gaps. Revisions count: a task's number is at most that of the events so far.
    this.state = passOver(this.state, revision - 1)
    const decoded = decodedOf(event)
    // What another program wrote into the log may be any JSON.
    const { task: named, taskType } = (typeof data === 'object' ? data : undefined) ?? {}
    const task = typeof named === 'string' ? named : undefined
    const before = this.statusOf(task)
    const { misfits } = headOf(this.state)
    const known = typeof taskType === 'string' ? taskType : task === undefined ? undefined : taskTypeOf(this.state, task)
    const breakerBefore = this.breakerOf(known)
    this.state = isUnreadable(decoded) ? skip(this.state, type, decoded) : evolve(this.state, decoded)
    const breakerAfter = this.breakerOf(known)
    return {
      event,
      task,
      before,
      after: this.statusOf(task),
      breaker: known === undefined || breakerBefore === breakerAfter ? undefined : { type: known, before: breakerBefore, after: breakerAfter },
      isMisfit: headOf(this.state).misfits > misfits,
      isUnreadable: isUnreadable(decoded),
    }
  }

  result(): { readonly misfits: number; readonly unreadable: number; readonly byStatus: Readonly<Record<string, number>>; readonly settings: unknown } {
    const { misfits, settings } = headOf(this.state)
    return { misfits, unreadable: unreadableCount(this.state), byStatus: depthOf(this.state).byStatus, settings }
  }

  private statusOf(task: string | undefined): string | undefined {
    return task === undefined ? undefined : taskOf(this.state, task)?.status
  }

  private breakerOf(type: string | undefined): string {
    const breaker = type === undefined ? undefined : breakerOf(this.state, type)
    return breaker === undefined ? 'closed, 0 failures' : `${breaker.state}, ${breaker.failures} failures`
  }
}
