/** The first row of a task. */
import { bandOf, type DataOf } from '@daybook/core'
import type { LoggedEvent } from '../projection.js'
import { contentIn } from './content.js'
import type { Written } from './rows.js'
import type { TaskRow } from './task-tables.js'

/** The row of a task that came at this time. */
export const newTask = ({ queue, keyOf }: Written, logged: LoggedEvent, data: DataOf<'TaskEnqueued'>, at: number): TaskRow => {
  const { revision, meta } = logged
  return {
    key: keyOf(data.number),
    queue,
    number: data.number,
    id: data.task,
    type: data.type,
    // Blocked until `rest` sets its real status.
    status: 'blocked',
    priority: data.priority,
    band: bandOf(data.priority),
    phase: data.phase ?? null,
    tenant: data.tenant ?? null,
    ticket_id: data.ticketId ?? null,
    batch_id: data.batchId ?? null,
    description: contentIn(logged, 'description') ?? null,
    skills: data.skills === undefined ? null : JSON.stringify(data.skills),
    concurrency_key: data.concurrencyKey ?? null,
    ordering_key: data.orderingKey ?? null,
    parent_task_id: data.parentTaskId ?? null,
    root_task_id: data.rootTaskId ?? null,
    discovery: data.discovery ?? null,
    restart_of: data.restartOf ?? null,
    timeout: data.timeout,
    max_retries: data.maxRetries,
    deadline_at: data.deadlineAt ?? null,
    available_at: data.availableAt ?? null,
    enqueued_at: at,
    enqueued_by: meta.actor ?? null,
    ready_at: at,
    due_at: null,
    first_claimed_at: null,
    claimed_at: null,
    claimed_by: null,
    token: null,
    lease_expires_at: null,
    finished_at: null,
    claims: 0,
    attempts: 0,
    retries: 0,
    last_error: null,
    signature: null,
    dead_letter_revision: null,
    enqueued_revision: revision,
    last_revision: revision,
    missing: 0,
    dependents: 0,
    before_in_line: null,
    after_in_line: null,
  }
}
