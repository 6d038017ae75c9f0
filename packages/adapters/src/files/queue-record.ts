/** A task as it stands in a queue file, in the fields of LK-01. */
import type { TaskView } from '@daybook/core'

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())

/**
 * The JSON text of one task. `content` is the text of `{payload?, description?, metadata?, result?}` as it
 * stands in the log, and is taken over as it is, not parsed; `result` is that of its completion.
 */
export const recordText = (view: TaskView, content: string | undefined, result: string | undefined): string => {
  const { status, finishedAt, skills } = view
  const head = JSON.stringify({
    id: view.id,
    idempotencyKey: view.idempotencyKey,
    type: view.type,
    priority: view.priority,
    status,
    dependencies: view.dependencies,
    createdAt: iso(view.createdAt),
    claimedBy: view.claimedBy ?? null,
    claimedAt: iso(view.claimedAt),
    timeout: view.timeout,
    retries: view.retries,
    maxRetries: view.maxRetries,
    backoffSeconds: view.backoffSeconds,
    lastError: view.lastError ?? null,
    completedAt: iso(status === 'completed' ? finishedAt : undefined),
    // `undefined` is left out: what most tasks do not have.
    cancelledAt: status === 'cancelled' || status === 'discarded' ? iso(finishedAt) : undefined,
    availableAt: iso(view.availableAt) ?? undefined,
    deadlineAt: iso(view.deadlineAt) ?? undefined,
    deadLetter: view.deadLetterReason === undefined ? undefined : { at: iso(view.deadLetteredAt), reason: view.deadLetterReason },
    ticketId: view.ticketId,
    phase: view.phase,
    tenant: view.tenant,
    parentTaskId: view.parentTaskId,
    requires: skills.length === 0 ? undefined : { skills },
  })
  const members = content === undefined ? '' : content.slice(1, -1)
  // The content comes last, and a result after it: of two members with one name, JSON readers take the last.
  return `${head.slice(0, -1)}${members === '' ? '' : `,${members}`}${result === undefined ? '' : `,"result":${result}`}}`
}

/** Where a completed task's result is: its last event is its completion. One that was imported has it in its content. */
export const resultRevisionOf = ({ status, lastRevision, enqueuedRevision }: TaskView): number | undefined =>
  status === 'completed' && lastRevision !== enqueuedRevision ? lastRevision : undefined
