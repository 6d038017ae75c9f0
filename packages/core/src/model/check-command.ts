/** The check that every command must pass before it is decided on. */
import * as E from 'fp-ts/lib/Either.js'
import type * as t from 'io-ts'
import { abilitiesMax } from './abilities.js'
import { type Command, commandCodecs, type CommandType } from './commands.js'
import { ContentText } from '../text/content-text.js'
import { isPlain as isPlainObject } from '../text/json.js'
import type { FieldError } from './rejections.js'
import { Instant } from './scalars.js'
import { Phase } from './task.js'
import { validate } from './validate.js'

/**
 * The command, or what is wrong with it, field by field.
 *
 * `commandCodecs` defines what is valid. {@link isPlain} accepts the most common commands at a tenth of the cost;
 * everything else goes to the codec.
 */
export const checkCommand = (command: unknown): E.Either<ReadonlyArray<FieldError>, Command> => {
  if (typeof command !== 'object' || command === null) return E.left([{ path: '(command)', message: 'must be an object' }])
  const { type } = command as { readonly type?: unknown }
  if (typeof type !== 'string' || !Object.hasOwn(commandCodecs, type)) {
    return E.left([{ path: 'type', message: `must be one of ${Object.keys(commandCodecs).join(', ')}` }])
  }
  if (isPlain(command as Fields)) return E.right(command as Command)
  // What the codec of one command accepts is a member of the union. The types do not show it.
  return validate(commandCodecs[type as CommandType] as t.Type<Command, unknown>)(command)
}

type Fields = Readonly<Record<string, unknown>>

/** True only for commands that the codec accepts and that have no unknown field. */
const isPlain = (command: Fields): boolean => {
  switch (command['type']) {
    case 'Enqueue':
      return hasFields(command, 2) && isPlainList(command['tasks'], isPlainTask)
    case 'Claim': {
      const { agent, max, types, skills, tenant, leaseSeconds } = command
      const count = 3 + Number(types !== undefined) + Number(skills !== undefined) + Number(tenant !== undefined) + Number(leaseSeconds !== undefined)
      return (
        hasFields(command, count) &&
        isPlainName(agent) &&
        isWhole(max, 1, 1_000) &&
        (leaseSeconds === undefined || isWhole(leaseSeconds, 1, 86_400)) &&
        (types === undefined || (isPlainList(types, isPlainType) && types.length <= abilitiesMax)) &&
        (skills === undefined || (isPlainList(skills, isPlainName) && skills.length <= abilitiesMax)) &&
        (tenant === undefined || isPlainName(tenant))
      )
    }
    case 'Complete': {
      const { task, agent, token, content, hasReport } = command
      return (
        hasFields(command, 6) &&
        isPlainId(task) &&
        isPlainName(agent) &&
        isWhole(token, 1, Number.MAX_SAFE_INTEGER) &&
        typeof hasReport === 'boolean' &&
        ContentText.is(content)
      )
    }
    default:
      return false
  }
}

const isPlainTask = (task: unknown): boolean => {
  if (typeof task !== 'object' || task === null) return false
  const { id, type, idempotencyKey, content, isMadeId, isContentKey, priority, timeout, maxRetries, backoffSeconds, deadlineAt, phase, tenant } = task as Fields
  let fields = 4
  if (isMadeId !== undefined) fields++
  if (isContentKey !== undefined) fields++
  if (priority !== undefined) fields++
  if (timeout !== undefined) fields++
  if (maxRetries !== undefined) fields++
  if (backoffSeconds !== undefined) fields++
  if (deadlineAt !== undefined) fields++
  if (phase !== undefined) fields++
  if (tenant !== undefined) fields++
  return (
    hasFields(task as Fields, fields) &&
    isPlainId(id) &&
    isPlainType(type) &&
    isPlainName(idempotencyKey) &&
    (isMadeId === undefined || isMadeId === true) &&
    (isContentKey === undefined || isContentKey === true) &&
    (priority === undefined || isWhole(priority, 1, 10)) &&
    (timeout === undefined || isWhole(timeout, 1, 86_400)) &&
    (maxRetries === undefined || isWhole(maxRetries, 0, 1_000)) &&
    (backoffSeconds === undefined || isWhole(backoffSeconds, 0, 86_400)) &&
    (deadlineAt === undefined || Instant.is(deadlineAt)) &&
    (phase === undefined || Phase.is(phase)) &&
    (tenant === undefined || isPlainName(tenant)) &&
    ContentText.is(content)
  )
}

const hasFields = (value: Fields, count: number): boolean => {
  let found = 0
  for (const _ in value) found++
  return found === count && isPlainObject(value)
}

const isPlainList = (value: unknown, isPlainItem: (item: unknown) => boolean): value is ReadonlyArray<unknown> => {
  if (!Array.isArray(value)) return false
  // With an index, because `every` would skip the holes of a sparse list.
  for (let i = 0; i < value.length; i++) if (!isPlainItem(value[i])) return false
  return true
}

const printable = /^[\x20-\x7e]{1,128}$/
const isPlainName = (value: unknown): value is string => typeof value === 'string' && printable.test(value)
const isPlainId = (value: unknown): boolean => isPlainName(value) && value[0] !== '#'

/** Cached, because most tasks and claims have the same type as the one before. */
let lastType: string | undefined
const isPlainType = (value: unknown): boolean => {
  if (value === lastType && value !== undefined) return true
  if (!isPlainName(value) || value.includes('*')) return false
  lastType = value
  return true
}

const isWhole = (value: unknown, min: number, max: number): boolean => Number.isInteger(value) && (value as number) >= min && (value as number) <= max && !Object.is(value, -0)
