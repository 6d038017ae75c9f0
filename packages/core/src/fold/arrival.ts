/** Adds a task to the state. */
import type { EventOf } from '../model/events.js'
import { keptError } from '../model/last-error.js'
import { freeId, freeKey } from '../state/retention.js'
import { blocksDuplicates, newTaskRecord, noExtras, type TaskExtras } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { isFinal, type Status } from '../model/task.js'
import { extraFields, type TaskFacts } from '../model/task-fields.js'
import { copierOf, hasAnyOf } from '../structures/unrolled.js'
import { addDependent } from '../state/dependents.js'
import { misfit, rest } from './change.js'

export const enqueued = (tables: Tables, event: EventOf<'TaskEnqueued'>): void =>
  arrive(tables, event.data, event.at, 'pending', 0, noExtras, 0)

export const imported = (tables: Tables, event: EventOf<'TaskImported'>): void => {
  const { status, createdAt, finishedAt, retries, lastError } = event.data
  const history: TaskExtras = {
    ...(lastError === undefined ? {} : { lastError: keptError(lastError) }),
    ...(status === 'dead-letter' ? { deadLetter: { at: event.at, reason: 'imported' } as const } : {}),
  }
  // Retention begins at the import, so that imported tasks stay visible.
  const finished = isFinal(status) ? Math.max(finishedAt ?? event.at, event.at) : 0
  arrive(tables, event.data, createdAt, status, retries, history, finished)
}

const arrive = (
  tables: Tables,
  facts: TaskFacts,
  createdAt: number,
  status: Status,
  retries: number,
  history: TaskExtras,
  finishedAt: number,
): void => {
  const { head } = tables
  // Each number belongs to an event, so none is higher than the number of events.
  const isItsTurn = facts.number > head.lastNumber && facts.number <= head.revision + 1
  if (isItsTurn) {
    freeId(tables, facts.task)
    freeKey(tables, facts.idempotencyKey)
  }
  const isKeyTaken = blocksDuplicates(status) && tables.byKey.has(facts.idempotencyKey)
  if (!isItsTurn || isKeyTaken || tables.byId.has(facts.task)) return misfit(tables)
  head.lastNumber = facts.number
  if (facts.tenant !== undefined) head.hasTenants = true
  const dependencies = facts.dependencies ?? noIds
  let missing = 0
  for (const id of dependencies) {
    const dependency = tables.byId.get(id)
    if (dependency !== undefined && dependency.status !== 'completed') missing++
  }
  const waits = missing
  if (facts.orderingKey !== undefined && tables.lines.has(facts.orderingKey)) missing++
  const task = newTaskRecord({
    number: facts.number,
    id: facts.task,
    key: facts.idempotencyKey,
    group: tables.group(facts.type, facts.phase, facts.skills ?? noIds, facts.tenant, facts.concurrencyKey),
    priority: facts.priority,
    timeout: facts.timeout,
    maxRetries: facts.maxRetries,
    backoffSeconds: facts.backoffSeconds,
    enqueuedAt: createdAt,
    enqueuedRevision: head.revision,
    dependencies,
    status,
    retries,
    missing: isFinal(status) ? 0 : missing,
    delayedUntil: 0,
    finishedAt,
    extras: extrasOf(facts, history),
  })
  if (status === 'pending') rest(task, facts.availableAt ?? 0, head.at)
  tables.insert(task)
  if (waits > 0 && !isFinal(status)) {
    for (const id of dependencies) {
      const dependency = tables.byId.get(id)
      // A cancelled dependency never completes. Only a foreign log has a task that waits for one.
      if (dependency !== undefined && !isFinal(dependency.status)) addDependent(tables, dependency, task)
    }
  }
}
const noIds: ReadonlyArray<string> = []

const hasExtras = hasAnyOf(extraFields)
const copyExtras = copierOf(extraFields)

const extrasOf = (facts: TaskFacts, history: TaskExtras): TaskExtras => {
  if (!hasExtras(facts)) return history
  const extras = { ...history }
  copyExtras(facts, extras)
  return extras
}
