/** The read model of dead letters: what died, and what its reviewers decided. */
import type { RowOf } from './table.js'
import type { reviews, TaskRow, TaskRows } from './task-tables.js'

type Review = Pick<RowOf<typeof reviews>, 'revision' | 'at' | 'verdict' | 'reviewer' | 'reason' | 'until'>

export class DeadLetters {
  constructor(private readonly rows: Pick<TaskRows, 'deadLetters' | 'reviews'>) {}

  died(task: TaskRow, revision: number, at: number, reason: string): void {
    task.dead_letter_revision = revision
    this.rows.deadLetters.put({
      task_key: task.key, revision, queue: task.queue, type: task.type, died_at: at, reason, signature: task.signature, error: task.last_error, verdict: null, decided_at: null, reviewer: null, note: null,
    })
  }

  /** Closes the dead letter of the task with this verdict, if there is one. */
  decided(task: TaskRow, at: number, verdict: string, reviewer: string | null, note: string): void {
    if (task.dead_letter_revision === null) return
    const letter = this.rows.deadLetters.get(task.key, task.dead_letter_revision)
    task.dead_letter_revision = null
    if (letter === undefined) return
    letter.verdict = verdict
    letter.decided_at = at
    letter.reviewer = reviewer
    letter.note = note
    this.rows.deadLetters.put(letter)
  }

  reviewed({ queue, key, signature, last_error }: TaskRow, review: Review): void {
    this.rows.reviews.put({ queue, task_key: key, signature, error: last_error, ...review })
  }
}
