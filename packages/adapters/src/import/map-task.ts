/** One entry of a queue file, in any shape, as a task that Daybook takes. Nothing that it says is lost. */
import { createHash } from 'node:crypto'
import { canonicalJson, type Json, type JsonObject, NotJson, Result, TaskType, textMax } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { isRecord, readCount, readId, readInstant, readName, simpleFields } from './fields.js'
import { readPriority } from './priority.js'
import { stageOf } from './status.js'
import type { Found, ImportStatus, ImportTask, Refused, Stage } from './types.js'

/** Where the entry stands. */
export interface Place {
  readonly file: string
  /** Counted from 1. */
  readonly index: number
  /** What the file's name says about all of its tasks. */
  readonly stage: Stage | undefined
  readonly note: (what: string, task: string) => void
}

type Draft = { -readonly [K in keyof ImportTask]?: ImportTask[K] }

const typeDefault = 'task'

const statusOf: Readonly<Record<Stage, ImportStatus>> = {
  pending: 'pending',
  'in-progress': 'pending',
  'dead-letter': 'dead-letter',
  cancelled: 'cancelled',
  completed: 'completed',
}

export const mapTask = (entry: Json, place: Place): E.Either<Refused, Found> => {
  try {
    if (typeof entry === 'string') return mapText(entry, place)
    if (!isRecord(entry)) return refused(place, undefined, `is ${entry === null ? 'null' : Array.isArray(entry) ? 'a list' : `a ${typeof entry}`}, not a task`)
    return mapObject(entry, place)
  } catch (error) {
    if (error instanceof NotJson) return refused(place, undefined, `${error.path} is ${error.message}`)
    throw error
  }
}

const refused = (place: Place, id: string | undefined, why: string): E.Either<Refused, never> =>
  E.left({ file: place.file, task: id ?? `#${place.index}`, why })

/** The same entry gets the same id each time, so that a second import finds it there. */
const idOf = (entry: Json): string => `task-${createHash('sha256').update(canonicalJson(entry, 'task')).digest('hex').slice(0, 16)}`

const mapText = (text: string, place: Place): E.Either<Refused, Found> => {
  if (text.trim() === '') return refused(place, undefined, 'is an empty text')
  place.note(`texts became tasks of type "${typeDefault}" with that text as description, and an id made from it`, idOf(text))
  return mapObject({ id: idOf(text), type: typeDefault, description: text }, place)
}

const mapObject = (entry: JsonObject, place: Place): E.Either<Refused, Found> => {
  // 1. Who it is: refused when that cannot be settled, because others may depend on it.
  const rest = new Map(Object.entries(entry))
  const take = (key: string): Json => {
    const value = rest.get(key) ?? null
    rest.delete(key)
    return value
  }
  const givenId = take('id')
  const id = givenId === null ? idOf(entry) : readId(givenId)
  if (id === undefined) return refused(place, undefined, `id ${short(givenId)} is not 1–128 printable characters, or starts with #`)
  const say = (what: string): void => place.note(what, id)
  if (givenId === null) say('had no id: one was made from their content')
  if (typeof givenId === 'number') say('numeric ids became texts')

  const givenType = take('type')
  const type = givenType ?? typeDefault
  if (!TaskType.is(type)) return refused(place, id, `type ${short(type)} is not 1–128 printable characters without *`)
  if (givenType === null) say(`had no type: "${typeDefault}"`)

  // 2. Where it stands.
  const givenStatus = take('status')
  const own = typeof givenStatus === 'string' ? stageOf(givenStatus) : undefined
  if (givenStatus !== null && own === undefined) return refused(place, id, `status ${short(givenStatus)} is not known: it cannot be told whether the task is done`)
  const stage = own ?? place.stage ?? 'pending'
  if (own !== undefined && place.stage !== undefined && own !== place.stage) say(`say ${String(givenStatus)} in a file named for ${place.stage}: the task's own word counts`)
  if (own === undefined && place.stage === undefined) say('say nothing of their status, nor does the file\'s name: pending')
  if (stage === 'in-progress') say('in-progress → pending: the lease that an agent had elsewhere is not one here')
  if (stage === 'dead-letter' && /^fail/i.test(String(givenStatus ?? place.file))) say('failed → dead-letter')

  const dependencies = readDependencies(take('dependencies'))
  if (dependencies === undefined) return refused(place, id, `dependencies ${short(entry.dependencies ?? null)} are not a list of task ids`)
  if (dependencies.renamed) say('numeric ids became texts')

  // 3. What it is about. What cannot be used as it is stays, word for word, in the metadata.
  const task: Draft = { id, type, status: statusOf[stage], idempotencyKey: id }
  const kept = new Map<string, Json>()
  const keep = (key: string, value: Json, what: string): void => {
    kept.set(key, value)
    say(what)
  }
  if (dependencies.ids.length > 0) task.dependencies = dependencies.ids
  const payload = take('payload')
  if (payload !== null) task.payload = payload

  const priority = take('priority')
  if (priority !== null) {
    const read = readPriority(priority)
    if (read === undefined) keep('priority', priority, `priority ${short(priority)} is not known: the queue's default`)
    else {
      task.priority = read
      if (typeof priority === 'string') say(`priority ${short(priority)} → ${read}`)
      else if (read !== priority) keep('priority', priority, `priority ${short(priority)} → ${read}`)
    }
  }
  const key = take('idempotencyKey')
  const readKey = key === null ? undefined : readName(key)
  if (readKey !== undefined) task.idempotencyKey = readKey
  else if (key === null) say('had no idempotencyKey: their id is the key')
  else keep('idempotencyKey', key, 'an idempotencyKey over 128 characters stays in metadata, the id is the key')

  const description = take('description')
  if (typeof description === 'string') {
    task.description = description.length <= textMax ? description : `${description.slice(0, textMax - 1)}…`
    if (description.length > textMax) keep('description', description, `a description over ${textMax} characters was cut, and stays whole in metadata`)
  } else if (description !== null) keep('description', description, 'a description that is not a text stays in metadata')

  for (const field of Object.keys(simpleFields) as ReadonlyArray<keyof typeof simpleFields>) {
    const value = take(field)
    if (value === null) continue
    const read = simpleFields[field](value)
    if (read === undefined) keep(field, value, `${field} ${short(value)} cannot be used: it stays in metadata`)
    else Object.assign(task, { [field]: read })
  }

  // 4. What became of it.
  mapPast(task, stage, take, keep)

  // 5. Everything else.
  const ownMetadata = take('metadata')
  for (const field of ['claimedBy', 'claimedAt']) if (rest.get(field) === null) rest.delete(field)
  if (rest.size > 0) say(`fields without a place of their own stay in metadata: ${[...rest.keys()].sort().join(', ')}`)
  const metadata = joinMetadata(ownMetadata, new Map([...kept, ...rest]))
  if (metadata !== undefined) task.metadata = metadata

  // Depth and numbers that JSON text can hold but Daybook does not take.
  for (const field of ['payload', 'metadata', 'result'] as const) canonicalJson(task[field] ?? null, field)
  return E.right({ task: task as ImportTask, stage, file: place.file })
}

const readDependencies = (value: Json): { readonly ids: ReadonlyArray<string>; readonly renamed: boolean } | undefined => {
  if (value === null) return { ids: [], renamed: false }
  if (!Array.isArray(value)) return undefined
  const ids: Array<string> = []
  for (const one of value) {
    const id = readId(one)
    if (id === undefined) return undefined
    if (!ids.includes(id)) ids.push(id)
  }
  return { ids, renamed: value.some((one) => typeof one === 'number') }
}

const mapPast = (
  task: Draft,
  stage: Stage,
  take: (key: string) => Json,
  keep: (key: string, value: Json, what: string) => void,
): void => {
  const isOpen = task.status === 'pending'
  const past = (field: string): string => `${field} of an open task stays in metadata: the queue keeps its own`
  const noTime = (field: string, value: Json): string => `${field} ${short(value)} is no time that exists: it stays in metadata`

  const createdAt = take('createdAt')
  const created = readInstant(createdAt)
  if (created !== undefined) task.createdAt = created
  if (createdAt !== null && (isOpen || created === undefined)) keep('createdAt', createdAt, created === undefined ? noTime('createdAt', createdAt) : past('createdAt'))

  for (const field of ['completedAt', 'finishedAt', 'cancelledAt', 'failedAt', 'deadLetteredAt']) {
    const value = take(field)
    if (value === null) continue
    const at = readInstant(value)
    if (isOpen || at === undefined || task.completedAt !== undefined) keep(field, value, isOpen ? past(field) : at === undefined ? noTime(field, value) : `${field} stays in metadata`)
    else task.completedAt = at
  }

  const retries = take('retries')
  const count = readCount(retries)
  if (isOpen ? retries !== 0 && retries !== null : retries !== null && count === undefined) keep('retries', retries, past('retries'))
  else if (!isOpen && count !== undefined) task.retries = count

  const lastError = take('lastError')
  if (lastError !== null) {
    if (isOpen) keep('lastError', lastError, past('lastError'))
    else task.lastError = typeof lastError === 'string' ? lastError : JSON.stringify(lastError)
  }

  const result = take('result')
  if (result === null) return
  if (stage !== 'completed') keep('result', result, 'the result of a task that is not completed stays in metadata')
  else readResult(result, task, keep)
}

const resultFields = new Set(Object.keys(Result.props))

const readResult = (result: Json, task: Draft, keep: (key: string, value: Json, what: string) => void): void => {
  if (!isRecord(result)) {
    task.result = { output: result }
    return
  }
  const given = Object.entries(result).filter(([, value]) => value !== null)
  const usable = given.filter(([key, value]) => resultFields.has(key) && Result.is({ [key]: value }))
  const others = given.filter((field) => !usable.includes(field))
  task.result = Object.fromEntries(usable) as Result
  if (others.length > 0) {
    const names = others.map(([key]) => key).sort().join(', ')
    keep('result', Object.fromEntries(others) as Json, `fields of a result without a place of their own stay in metadata.result: ${names}`)
  }
}

/** The task's own metadata, and beside it what else has to be kept, under a free name. */
const joinMetadata = (own: Json, kept: ReadonlyMap<string, Json>): JsonObject | undefined => {
  const all = new Map<string, Json>(isRecord(own) ? Object.entries(own) : own === null ? [] : [['metadata', own]])
  for (const [key, value] of kept) {
    let free = key
    while (all.has(free)) free += '_'
    all.set(free, value)
  }
  return all.size === 0 ? undefined : (Object.fromEntries(all) as JsonObject)
}

const short = (value: Json): string => {
  const text = JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}
