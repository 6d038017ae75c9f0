/** The names that queue files use for the fields of a task. */
import type { Json, JsonObject } from '@daybook/core'
import { type PlainField, plainFields } from './fields.js'

/** Other names of fields. */
const alsoCalled = {
  id: ['taskId'],
  type: ['taskType', 'agentType'],
  status: ['state', 'taskStatus'],
  payload: [],
  description: ['title', 'taskName', 'name'],
  priority: ['prio'],
  idempotencyKey: [],
  dependencies: ['dependsOn', 'deps', 'blockedBy', 'blockers', 'prerequisites'],
  requires: [],
  timeout: ['timeoutSeconds'],
  backoffSeconds: ['backoff'],
  availableAt: ['scheduledAt', 'notBefore'],
  deadlineAt: ['deadline', 'dueAt', 'due', 'dueDate'],
  ticketId: ['ticket'],
  tenant: ['tenantId'],
  parentTaskId: ['parentTask', 'parentId', 'parent'],
  metadata: ['meta'],
  createdAt: ['created', 'enqueuedAt', 'queuedAt'],
  claimedAt: ['startedAt', 'started'],
  claimedBy: ['assignedTo', 'assignee'],
  completedAt: ['completed', 'finishedAt', 'finished', 'cancelledAt', 'canceledAt', 'skippedAt', 'failedAt', 'deadLetteredAt', 'discardedAt'],
  retries: ['retryCount'],
  lastError: ['error', 'errorMessage', 'failureReason'],
  result: [],
  batchId: [],
  reason: ['cancelReason', 'cancellationReason', 'skipReason'],
} as const
export type Field = keyof typeof alsoCalled | PlainField

const othersOf: Readonly<Record<string, ReadonlyArray<string>>> = alsoCalled
/**
 * The first of these names that a task has is used. Values under its other names are kept in the metadata. Case, spaces, hyphens and underscores are
 * ignored: `completedAt` also matches `completed_at`.
 */
const fieldNames: ReadonlyMap<Field, ReadonlyArray<string>> = new Map(
  [...(Object.keys(alsoCalled) as ReadonlyArray<Field>), ...plainFields].map((field) => [field, [field, ...(othersOf[field] ?? [])]]),
)

/** A field of a task, as the file has it. */
export interface Given {
  readonly field: Field
  /** The name in the file. */
  readonly name: string
  readonly value: Json
}

/** Whether the file uses the field's own name, in any spelling. */
export const hasOwnName = ({ field, name }: Given): boolean => normal(name) === normal(field)

const normal = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '')

const meanings = new Map<string, { readonly field: Field; readonly place: number }>()
for (const [field, names] of fieldNames) {
  names.forEach((name, place) => meanings.set(normal(name), { field, place }))
}

/** The fields of one task. Each is taken once; the rest is unknown at the end. */
export class Fields {
  private readonly byField = new Map<Field, Array<Given & { readonly place: number }>>()
  private readonly others: Array<readonly [name: string, value: Json]> = []

  constructor(entry: JsonObject) {
    for (const [name, value] of Object.entries(entry)) {
      const meaning = meanings.get(normal(name))
      if (meaning === undefined) {
        this.others.push([name, value])
        continue
      }
      // `null` means that the task does not have the field.
      if (value === null) continue
      const { field, place } = meaning
      const given = { field, name, value, place }
      const known = this.byField.get(field)
      if (known === undefined) this.byField.set(field, [given])
      else known.push(given)
    }
    for (const given of this.byField.values()) given.sort((a, b) => a.place - b.place)
  }

  take(field: Field): Given | undefined {
    return this.byField.get(field)?.shift()
  }

  /** All values of the field, under any of its names. */
  takeAll(field: Field): ReadonlyArray<Given> {
    const all = this.byField.get(field) ?? []
    this.byField.delete(field)
    return all
  }

  rest(): ReadonlyMap<string, Json> {
    const named = [...this.byField.values()].flat().map(({ name, value }) => [name, value] as const)
    return new Map([...named, ...this.others])
  }
}
