/** Checks every command before it is decided. Without this, the log could get events that cannot be read again. */
import { checkCommand, type Command, type FieldError, invalid, Name } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { Caller, Refusal } from './types.js'

/** The refusal of an invalid command or caller, with each wrong field; `undefined` if both are valid. */
export const refusalAt = (command: Command, caller: Caller): Refusal | undefined => {
  const checked = checkCommand(command)
  const wrong = callerErrors(caller)
  if (E.isRight(checked)) return wrong.length === 0 ? undefined : invalid(wrong)
  return invalid([...checked.left, ...wrong])
}

const nothing: ReadonlyArray<FieldError> = []

/** Actor and correlation id are in the metadata of each event. */
const callerErrors = ({ actor, correlationId }: Caller): ReadonlyArray<FieldError> =>
  Name.is(actor) && (correlationId === undefined || Name.is(correlationId))
    ? nothing
    : Object.entries({ actor, correlationId }).flatMap(([field, name]) =>
        (name === undefined && field === 'correlationId') || Name.is(name) ? [] : [{ path: `caller.${field}`, message: `must be ${Name.name}` }],
      )
