/** A task in a queue file, with the fields of LK-01. */
import type { TaskView } from '@daybook/core'
import { sentFields } from '../../sent-fields.js'

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())

/**
 * The JSON text of one task. `content` is the text of `{payload?, description?, metadata?, result?}` from the log. It is copied without being parsed.
 * `result` is the text of the completion's result.
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
    // Most tasks have none of the following. Members that are `undefined` are left out.
    cancelledAt: status === 'cancelled' || status === 'discarded' ? iso(finishedAt) : undefined,
    availableAt: iso(view.availableAt) ?? undefined,
    ...sentFields(view),
    deadLetter: view.deadLetterReason === undefined ? undefined : { at: iso(view.deadLetteredAt), reason: view.deadLetterReason },
    requires: skills.length === 0 ? undefined : { skills },
  })
  const members = content === undefined ? '' : content.slice(1, -1)
  // The content comes last, and the result after it: of two members with the same name, JSON readers take the last.
  return `${head.slice(0, -1)}${members === '' ? '' : `,${members}`}${result === undefined ? '' : `,"result":${result}`}}`
}
