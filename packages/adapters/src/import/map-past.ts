/** Maps the past of a task: times, retries, last error, result. For an unfinished task it goes to the metadata, because the queue keeps its own record. */
import { type Json, Result } from '@daybook/core/common'
import type { Field, Fields, Given } from './field-names.js'
import { isRecord, readCount, readInstant } from './fields.js'
import type { Draft } from './map-task.js'
import type { Kept } from './metadata.js'
import { short } from './short.js'
import type { Stage } from './types.js'

export const mapPast = (task: Draft, stage: Stage, fields: Fields, kept: Kept, now = Date.now()): void => {
  const isOpen = task.status === 'pending'
  const keepPast = (given: Given): string => kept.keep(given, `${given.name} of an open task stays in metadata: the queue keeps its own`)

  const created = fields.take('createdAt')
  if (created !== undefined) {
    const at = isOpen ? readTime(created, kept) : readPast(created, kept, now)
    if (at !== undefined) task.createdAt = at
    if (at !== undefined && isOpen) keepPast(created)
  }
  const finished = fields.take('completedAt')
  if (finished !== undefined) {
    const at = isOpen ? undefined : readPast(finished, kept, now)
    if (isOpen) keepPast(finished)
    else if (at !== undefined) task.completedAt = at
  }
  const retries = fields.take('retries')
  if (retries !== undefined) {
    const count = readCount(retries.value)
    if (isOpen ? count !== 0 : count === undefined) keepPast(retries)
    else if (!isOpen && count !== undefined) task.retries = count
  }
  const error = fields.take('lastError')
  if (error !== undefined) {
    if (isOpen) keepPast(error)
    else task.lastError = typeof error.value === 'string' ? error.value : JSON.stringify(error.value)
  }
  const result = fields.take('result')
  if (result !== undefined) {
    if (stage === 'completed') mapResult(task, result, kept)
    else kept.keep(result, 'the result of a task that is not completed stays in metadata')
  }
  for (const field of ['claimedBy', 'claimedAt', 'reason'] satisfies ReadonlyArray<Field>) {
    const given = fields.take(field)
    if (given !== undefined) kept.keep(given, `${given.name} stays in metadata`)
  }
}

const readTime = (given: Given, kept: Kept): string | undefined => {
  const at = readInstant(given.value)
  if (at === undefined) kept.keep(given, `${given.name} ${short(given.value)} is no time that exists: it stays in metadata`)
  return at
}

/** A queue takes no time that is still to come. */
const readPast = (given: Given, kept: Kept, now: number): string | undefined => {
  const at = readTime(given, kept)
  if (at !== undefined && Date.parse(at) > now) kept.keep(given, `${given.name} is in the future: the time of the import counts, and it stays in metadata`)
  return at
}

const resultFields = new Set(Object.keys(Result.props))

const mapResult = (task: Draft, { name, value }: Given, kept: Kept): void => {
  if (!isRecord(value)) {
    task.result = { output: value }
    return
  }
  const given = Object.entries(value).filter(([, member]) => member !== null)
  const usable = given.filter(([key, member]) => resultFields.has(key) && Result.is({ [key]: member }))
  const others = given.filter((field) => !usable.includes(field))
  task.result = Object.fromEntries(usable) as Result
  if (others.length === 0) return
  const names = others.map(([key]) => key).sort().join(', ')
  kept.keep({ name, value: Object.fromEntries(others) as Json }, `fields of a result without a place of their own stay in metadata.result: ${names}`)
}
