/** What comes with a task from earlier ones (TQM-MEM-001). */
import type { Json } from '@daybook/core'

/** What is remembered of a completion with discoveries or errors. Without secrets, and of bounded size. */
export interface Memory {
  /** Of the queue, the task and the attempt. Remembering it again changes nothing. */
  readonly id: string
  readonly queue: string
  readonly task: string
  readonly type: string
  readonly phase?: string
  readonly ticketId?: string
  /** When the task was completed, in ISO 8601. */
  readonly at: string
  /** The task's description, or its payload. */
  readonly goal?: string
  /** What came of it. */
  readonly summary?: string
  /** Paths that the result names. */
  readonly files?: ReadonlyArray<string>
  readonly discoveries?: ReadonlyArray<Json>
  readonly errors?: ReadonlyArray<string>
}
