/** Converts one entry of a queue file to a task that Daybook accepts. Everything in the entry is kept. */
import { createHash } from 'node:crypto'
import { canonicalJson, clipped, type FieldError, type Json, type JsonObject, NotJson, TaskType, textMax } from '@daybook/core/common'
import * as E from 'fp-ts/lib/Either.js'
import { isGiven, maybeDependencies, readDependencies } from './dependencies.js'
import { Fields, type Given, hasOwnName } from './field-names.js'
import { isRecord, plainFields, readField, readId, readName, readNumber, readSkills } from './fields.js'
import { mapPast } from './map-past.js'
import { Kept } from './metadata.js'
import { readPriority } from './priority.js'
import { short } from './short.js'
import { blockerIn, isOwnWord, stageOf } from './status.js'
import type { Found, ImportStatus, ImportTask, Refused, Stage } from './types.js'

/** The position of the entry. */
export interface Place {
  readonly file: string
  /** Names an entry without an id: `#3`. */
  readonly position: string
  /** The stages that the names of its list and its file mean. */
  readonly list: NamedStage | undefined
  readonly around: NamedStage | undefined
  /** A number in the entry that would be rounded. */
  readonly inexact: FieldError | undefined
  readonly note: (what: string, task: string) => void
}

export interface NamedStage {
  readonly name: string
  readonly stage: Stage
}

export type Draft = { -readonly [K in keyof ImportTask]?: ImportTask[K] }

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
    if (error instanceof NotJson) return refused(place, undefined, `${error.path}: ${error.message}`)
    throw error
  }
}

const refused = (place: Place, id: string | undefined, why: string): E.Either<Refused, never> =>
  E.left({ file: place.file, task: id ?? place.position, why, tasks: 1 })

/** The same entry always gets the same id, so that a second import recognises it. */
const idOf = (entry: Json): string => `task-${createHash('sha256').update(canonicalJson(entry, 'task')).digest('hex').slice(0, 16)}`

const mapText = (text: string, place: Place): E.Either<Refused, Found> => {
  if (text.trim() === '') return refused(place, undefined, 'is an empty text')
  place.note(`texts became tasks of type "${typeDefault}" with that text as description, and an id made from it`, idOf(text))
  return mapObject({ id: idOf(text), type: typeDefault, description: text }, place)
}

const mapObject = (entry: JsonObject, place: Place): E.Either<Refused, Found> => {
  // 1. Id and type. An entry without a usable id is refused, because others may depend on it.
  const fields = new Fields(entry)
  const givenId = fields.take('id')
  if (place.inexact !== undefined) return refused(place, typeof givenId?.value === 'string' ? readId(givenId.value) : undefined, `${place.inexact.path}: ${place.inexact.message}`)
  // Refuses values that JSON text can have but Daybook does not accept: nested too deeply, half surrogate pairs.
  for (const [name, value] of Object.entries(entry)) canonicalJson(value, name)
  const id = givenId === undefined ? idOf(entry) : readId(givenId.value)
  if (id === undefined) return refused(place, undefined, `${givenId?.name ?? 'id'} ${short(givenId?.value ?? null)} is not 1–128 printable characters, or starts with #`)
  const say = (what: string): void => place.note(what, id)
  if (givenId === undefined) say('had no id: one was made from their content')
  if (typeof givenId?.value === 'number') say('numeric ids became texts')

  const givenType = fields.take('type')
  const type = givenType?.value ?? typeDefault
  if (!TaskType.is(type)) return refused(place, id, `type ${short(type)} is not 1–128 printable characters without *`)
  if (givenType === undefined) say(`had no type: "${typeDefault}"`)

  // 2. Status and dependencies.
  const givenStatus = fields.take('status')
  const stage = stageFor(givenStatus, place, say)
  if (stage === undefined) return refused(place, id, `status ${short(givenStatus?.value ?? null)} is not known: it cannot be told whether the task is done`)
  const givenDependencies = fields.takeAll('dependencies')
  const dependencies = readDependencies([...givenDependencies, ...blockerOf(givenStatus)])
  if (isGiven(dependencies)) return refused(place, id, `${dependencies.name} ${short(dependencies.value)} are not task ids`)
  if (dependencies.hadNumbers) say('numeric ids became texts')
  for (const given of [givenId, givenType, givenStatus, ...givenDependencies]) sayName(given, say)

  // 3. Content and settings. A value that cannot be used is kept unchanged in the metadata.
  const task: Draft = { id, type, status: statusOf[stage], idempotencyKey: id }
  const kept = new Kept(fields.take('metadata')?.value ?? null, say)
  if (dependencies.ids.length > 0) task.dependencies = dependencies.ids
  const payload = fields.take('payload')
  if (payload !== undefined) task.payload = payload.value
  const number = mapPriority(task, fields.take('priority'), kept, say)
  mapKey(task, fields.take('idempotencyKey'), kept, say)
  mapDescription(task, fields.take('description'), kept, say)
  for (const field of plainFields) {
    const given = fields.take(field)
    if (given === undefined) continue
    const read = readField(field, given.value)
    if (read === undefined) kept.keep(given, `${given.name} ${short(given.value)} cannot be used: it stays in metadata`)
    else Object.assign(task, { [field]: read })
    if (read !== undefined) sayName(given, say)
  }
  const requires = fields.take('requires')
  const skills = requires === undefined ? undefined : readSkills(requires.value)
  if (skills !== undefined) task.requires = skills
  const keptRequires = requires === undefined || skills !== undefined ? undefined : { given: requires, keptAs: kept.keep(requires) }

  const batch = fields.take('batchId')
  if (batch !== undefined) kept.keep(batch, `${batch.name} stays in metadata, because the batch is another queue's`)

  // 4. Its past.
  mapPast(task, stage, fields, kept)

  // 5. Unknown fields.
  kept.keepAll(fields.rest())
  const metadata = kept.all()
  if (metadata !== undefined) task.metadata = metadata
  // What is kept is nested one level deeper than it was.
  canonicalJson(metadata ?? null, 'metadata')
  canonicalJson(task.result ?? null, 'result')
  const maybe = maybeDependencies(keptRequires, task.payload)
  return E.right({ task: task as ImportTask, stage, file: place.file, maybe, ...(number === undefined ? {} : { number }) })
}

/** The stage by the task's own status; otherwise by its list's name; otherwise by its file's. `undefined` for an unknown status. */
const stageFor = (given: Given | undefined, { list, around }: Place, say: (what: string) => void): Stage | undefined => {
  if (given !== undefined) {
    const word = typeof given.value === 'string' ? given.value : ''
    const stage = blockerIn(word) === undefined ? stageOf(word) : 'pending'
    const by = list ?? around
    if (stage !== undefined && by !== undefined && by.stage !== stage) {
      say(`say ${word} in a ${by === list ? 'list' : 'file'} named for ${by.stage}: the task's own word counts`)
    }
    if (stage !== undefined) sayStage({ name: word, stage }, say)
    return stage
  }
  if (list !== undefined && around !== undefined && list.stage !== around.stage) {
    say(`stand in a list named for ${list.stage}, in a file named for ${around.stage}: the list counts`)
  }
  const by = list ?? around
  if (by === undefined) say("say nothing of their status, nor does the file's name: pending")
  else sayStage(by, say)
  return by?.stage ?? 'pending'
}

/** Scheduled and blocked count as pending here, because the queue derives them itself. */
const sayStage = ({ name, stage }: NamedStage, say: (what: string) => void): void => {
  if (stage === 'in-progress') say('in-progress → pending: the lease that an agent had elsewhere is not one here')
  else if (stage !== 'pending' && !isOwnWord(name, stage)) say(`${name} → ${stage}`)
}

const blockerOf = (status: Given | undefined): ReadonlyArray<Given> => {
  const blocker = typeof status?.value === 'string' ? blockerIn(status.value) : undefined
  return status === undefined || blocker === undefined ? [] : [{ ...status, value: blocker }]
}

const sayName = (given: Given | undefined, say: (what: string) => void): void => {
  if (given !== undefined && !hasOwnName(given)) say(`${given.name} is read as ${given.field}`)
}

/** Returns a number unchanged: whether it is a priority or a rank depends on the numbers in all files. */
const mapPriority = (task: Draft, given: Given | undefined, kept: Kept, say: (what: string) => void): number | undefined => {
  if (given === undefined) return undefined
  const number = readNumber(given.value)
  if (Number.isFinite(number)) return number
  const read = readPriority(given.value)
  if (read === undefined) kept.keep(given, `priority ${short(given.value)} is not known: the queue's default`)
  else {
    task.priority = read
    say(`priority ${short(given.value)} → ${read}`)
  }
  return undefined
}

const mapKey = (task: Draft, given: Given | undefined, kept: Kept, say: (what: string) => void): void => {
  const key = given === undefined ? undefined : readName(given.value)
  if (key !== undefined) task.idempotencyKey = key
  else if (given === undefined) say('had no idempotencyKey: their id is the key')
  else kept.keep(given, 'an idempotencyKey over 128 characters stays in metadata, the id is the key')
}

const mapDescription = (task: Draft, given: Given | undefined, kept: Kept, say: (what: string) => void): void => {
  if (given === undefined) return
  const { name, value } = given
  if (typeof value !== 'string') {
    kept.keep(given, `a ${name} that is not a text stays in metadata`)
    return
  }
  task.description = clipped(value, textMax)
  if (value.length > textMax) kept.keep(given, `a ${name} over ${textMax} characters was cut, and stays whole in metadata`)
  sayName(given, say)
}
