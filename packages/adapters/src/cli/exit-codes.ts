/** Exit codes, and the errors that lead to them. */
import { CommanderError } from 'commander'
import { DaybookError } from '../client/index.js'
import { errorText } from '../error-text.js'
import { StoreUnreachable } from '../store/event-store.js'

export const exitCodes = { done: 0, refused: 1, usage: 2, unreachable: 3, interrupted: 130 } as const

/** Wrong usage that is found only after the command line was parsed. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** For the `catch` of what reads a file that was named. */
export const cannotRead = (file: string) => (error: unknown): never => {
  throw new UsageError(`${file} cannot be read: ${errorText(error)}`)
}

/** A failure outside the queue: of a file or a store. */
export class CliError extends Error {
  override readonly name = 'CliError'
}

/** The command was ended by a signal, and has cleaned up. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

export const exitCodeOf = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  if (error instanceof UsageError) return exitCodes.usage
  if (error instanceof Interrupted) return exitCodes.interrupted
  if (error instanceof DaybookError) {
    if (error.code === 'unreachable' || error.code === 'unexpected-answer') return exitCodes.unreachable
    if (error.code === 'aborted' || error.code === 'closed') return exitCodes.interrupted
  }
  // A log that was altered has another code than a cluster that is away.
  if (error instanceof StoreUnreachable) return exitCodes.unreachable
  return exitCodes.refused
}
