/** Prepares what a user sends for the decision: makes ids, serialises contents once, hashes keys. */
import * as crypto from 'node:crypto'
import {
  canonicalJson,
  clipped,
  type Findings,
  hasDecisionReport,
  type ImportedField,
  type ImportedTask,
  invalid,
  type Json,
  LongJson,
  copierOf,
  type NewTask,
  NotJson,
  preparedFields,
  type PreparedTask,
  priorityDefault,
  priorityOf,
  quote,
  reject,
  type Rejection,
  type Result,
  Text,
  textMax,
} from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { findingsOf } from './findings.js'
import { newTaskId } from '@daybook/client/common'

/** Default limit on one task's content as JSON text, in bytes. */
export const taskBytesMaxDefault = 256 * 1024

// `crypto.hash` is twice as fast as a hash object; Node has it since 20.12.
const sha256: (text: string) => string =
  'hash' in crypto
    ? (text) => crypto.hash('sha256', text, 'hex')
    : (text) => crypto.createHash('sha256').update(text).digest('hex')

/** SHA-256 over the canonical JSON of `{payload, type}` (LK-05), as 64 hex digits. */
export const contentKey = (type: string, payloadText: string): string => sha256(keyed(`{"payload":${payloadText}`, type))

/** Equal content is compared within a batch. */
const keyed = (opening: string, type: string, batchId?: string): string => `${opening},"type":${quote(type)}${batchId === undefined ? '' : `,"batchId":${quote(batchId)}`}}`

/**
 * Determines a task's id, key, priority and content. `makeId` is called if the task has no id.
 *
 * Gotchas: by default the idempotency key covers only type and payload, and the batch if there is one. Tasks that differ only in other fields are
 * duplicates of each other, unless they have their own keys or `deduplicate` says otherwise.
 */
export const prepareTask = (
  task: NewTask,
  bytesMax = taskBytesMaxDefault,
  path = 'payload',
  makeId = newTaskId,
): E.Either<Rejection, PreparedTask> => {
  /** The common beginning of the content and of the text that is hashed. */
  let opening: string
  let rest: string
  try {
    opening = `{"payload":${canonicalJson(task.payload ?? null, path, bytesMax)}`
    rest = closing(task, path, bytesMax)
    if (isOver(bytesMax, opening, rest)) throw new LongJson()
  } catch (error) {
    return E.left(refusalOf(error, `the task's payload, description and metadata are over ${bytesMax} bytes: keep large inputs elsewhere and enqueue a reference`))
  }
  let { idempotencyKey } = task
  // A concatenated string is a tree of parts in V8, which every use would walk again. Hashing flattens it, and so does `join`.
  let content: string
  if (idempotencyKey === undefined) {
    const whole = keyed(opening, task.type, task.batchId)
    idempotencyKey = sha256(whole)
    content = whole.slice(0, opening.length) + rest
  } else content = [opening, rest].join('')
  const { priority = priorityDefault, requires } = task
  const prepared: { -readonly [K in keyof PreparedTask]: PreparedTask[K] } = {
    id: task.id ?? makeId(),
    type: task.type,
    idempotencyKey,
    content,
    // An unknown priority is passed on, and the engine refuses it.
    priority: typeof priority === 'number' ? priority : (priorityOf[priority] ?? priority),
  }
  if (task.id === undefined) prepared.isMadeId = true
  if (task.idempotencyKey === undefined) prepared.isContentKey = true
  if (requires?.skills !== undefined) prepared.skills = requires.skills
  copyGiven(task, prepared)
  return E.right(prepared)
}

/** Copies the fields that both have under the same name. */
const copyGiven = copierOf(preparedFields.filter((name) => name !== 'skills'))

/** Whether both together exceed `bytesMax`. The bytes are counted only if that is possible. */
const isOver = (bytesMax: number, opening: string, rest = ''): boolean =>
  (opening.length + rest.length) * 3 > bytesMax && Buffer.byteLength(opening) + Buffer.byteLength(rest) > bytesMax

/** @throws NotJson if it is not a {@link Text}. */
const textOf = (text: string, path: string): string => {
  if (Text.is(text)) return text
  throw new NotJson(path, `must be a ${Text.name}`)
}

/** The refusal of a value that is not JSON, or whose text is too long; `tooLarge`: what that says. Any other error is rethrown. */
const refusalOf = (error: unknown, tooLarge: string): Rejection => {
  if (error instanceof LongJson) return reject('too-large', tooLarge)
  if (!(error instanceof NotJson)) throw error
  const { path, message } = error
  return invalid([{ path, message }])
}

/** The part of the content after the payload, as one flat string. */
const closing = ({ description, metadata }: NewTask, path: string, bytesMax: number): string => {
  let text = ''
  if (description !== undefined) text += `,"description":${quote(textOf(description, path.replace(/payload$/, 'description')))}`
  if (metadata !== undefined) text += `,"metadata":${canonicalJson(metadata, path.replace(/payload$/, 'metadata'), bytesMax)}`
  return text === '' ? '}' : [text, '}'].join('')
}

/** An imported task's status and history. Times are in milliseconds. */
export interface History extends Pick<ImportedTask, ImportedField> {
  readonly status: ImportedTask['status']
  readonly createdAt?: number
  readonly finishedAt?: number
  readonly retries?: number
  readonly lastError?: string
  readonly result?: Result
}

export const prepareImport = (task: NewTask, history: History): E.Either<Rejection, ImportedTask> => {
  const prepared = prepareTask(task)
  if (E.isLeft(prepared)) return prepared
  const { result, ...past } = history
  const rest = past.lastError === undefined ? past : { ...past, lastError: clipped(past.lastError, textMax) }
  if (result === undefined) return E.right({ ...prepared.right, ...rest })
  const text = prepareResult(result)
  if (E.isLeft(text)) return text
  const content = `${prepared.right.content.slice(0, -1)},"result":${text.right.content}}`
  return E.right({ ...prepared.right, ...rest, content })
}

/** The canonical text of a value. `what`: its name in a refusal. */
export const printed = (value: unknown, what: string, bytesMax: number): E.Either<Rejection, string> => {
  try {
    const text = canonicalJson(value, what, bytesMax)
    if (isOver(bytesMax, text)) throw new LongJson()
    return E.right(text)
  } catch (error) {
    return E.left(refusalOf(error, `the ${what} is over ${bytesMax} bytes: keep large data elsewhere and hand in a reference`))
  }
}

/** The content of a callback: `{payload?}`. */
export const prepareCallback = (payload: Json | undefined, bytesMax: number): E.Either<Rejection, string> =>
  payload === undefined ? E.right('{}') : E.map((text: string) => `{"payload":${text}}`)(printed(payload, 'payload', bytesMax))

export interface PreparedResult {
  readonly content: string
  readonly hasReport: boolean
  /** The findings that may become tasks. */
  readonly found?: Findings
}

export const prepareResult = (result: Result, bytesMax = Number.POSITIVE_INFINITY): E.Either<Rejection, PreparedResult> => {
  const content = printed(result, 'result', bytesMax)
  if (E.isLeft(content)) return content
  const prepared = { content: content.right, hasReport: hasDecisionReport(result) }
  const found = findingsOf(result)
  return E.right(found === undefined ? prepared : { ...prepared, found })
}
