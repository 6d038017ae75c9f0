/** The notice about tasks that were not enqueued because they are duplicates. It goes to stderr, because stdout is for scripts. */
import type { Enqueued } from '../client/index.js'
import { clean, clock } from './text.js'

const common = { id: 'the same id', key: 'the same key', content: 'the same type and payload' } as const
const advice = {
  id: 'For another task, give another --id.',
  key: 'For another task, give another --key.',
  content: 'To run the same again: --key KEY, or --deduplicate off.',
} as const

/** Counts the results of tasks, and makes one line about the duplicates. */
export class Duplicates {
  private first: Enqueued | undefined
  private tasks = 0
  private count = 0

  add(enqueued: Enqueued): void {
    this.tasks++
    if (!enqueued.duplicate) return
    this.count++
    this.first ??= enqueued
  }

  /** The notice: the first such task, until when it blocks duplicates, and what to do. `undefined` if there was no duplicate. */
  notice(): string | undefined {
    if (this.first === undefined) return undefined
    const { id, number, status, duplicateBy = 'content', until } = this.first
    const what = this.count === 1 && this.tasks === 1 ? 'not enqueued' : `${this.count} of ${this.tasks} not enqueued, the first`
    const end = until === undefined ? 'until it is finished, and for the retention after that' : `until ${clock(until)}`
    return `daybook: ${what} because ${clean(id)} (#${number}, ${status}) has ${common[duplicateBy]} and stands in the way ${end}. ${advice[duplicateBy]}`
  }
}
