/** Asks before many tasks are changed. */
import type { Session } from './cli.js'
import { UsageError } from './exit-codes.js'
import { clearProgress } from './progress.js'

/** `what`: "3 tasks would be cancelled"; `verb`: "Cancel"; `done`: "cancelled". @throws UsageError if nobody can be asked. */
export const isWanted = async ({ io, printer }: Session, what: string, verb: string, done: string): Promise<boolean> => {
  if (!io.inIsTerminal) throw new UsageError(`${what}; nobody can be asked here, so say --yes`)
  clearProgress(io)
  const answer = await io.ask(`${what}. ${verb} them? [y/N] `)
  if (/^y(es)?$/i.test(answer.trim())) return true
  printer.note(`nothing was ${done}`)
  return false
}
