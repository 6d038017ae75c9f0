/** Memories: what a task gets from earlier tasks (TQM-MEM-001). */
import type { Json } from '@daybook/core'

/** The memory of a completion with discoveries or errors. It contains no secrets, and its size is bounded. */
export interface Memory {
  /** Made from the queue, the task and the attempt. Remembering the same id again changes nothing. */
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
  /** What the task led to. */
  readonly summary?: string
  /** Paths that the result names. */
  readonly files?: ReadonlyArray<string>
  readonly discoveries?: ReadonlyArray<Json>
  readonly errors?: ReadonlyArray<string>
}
