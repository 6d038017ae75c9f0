/** What every command passes before it is decided on, whichever door it came through: without it, the log could take what nobody can read. */
import { checkCommand, type Command, type FieldError, invalid, Name } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { Caller, Refusal } from './types.js'

/** Why this command by this caller is refused, field by field; `undefined` if it is not. */
export const refusalAt = (command: Command, caller: Caller): Refusal | undefined => {
  const checked = checkCommand(command)
  const wrong = callerErrors(caller)
  if (E.isRight(checked)) return wrong.length === 0 ? undefined : invalid(wrong)
  return invalid([...checked.left, ...wrong])
}

const nothing: ReadonlyArray<FieldError> = []

/** Both names stand in the metadata of each event. */
const callerErrors = ({ actor, correlationId }: Caller): ReadonlyArray<FieldError> =>
  Name.is(actor) && (correlationId === undefined || Name.is(correlationId))
    ? nothing
    : Object.entries({ actor, correlationId }).flatMap(([field, name]) =>
        (name === undefined && field === 'correlationId') || Name.is(name) ? [] : [{ path: `caller.${field}`, message: `must be ${Name.name}` }],
      )
