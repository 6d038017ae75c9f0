/** Options that select tasks, shared by `list` and `cancel`. */
import type { Command } from 'commander'
import { type Band, type Phase, type Status, statuses } from '@daybook/core/common'
import { defined } from '../defined.js'
import { UsageError } from './exit-codes.js'
import { didYouMean } from './suggest/nearest.js'
import { statusWords } from './suggest/words.js'
import { filledList, priority } from './values.js'

export interface FilterOptions {
  readonly status?: ReadonlyArray<string>
  readonly type?: string
  readonly phase?: string
  readonly priority?: number | Band
  readonly ticket?: string
  readonly batch?: string
  readonly tenant?: string
  readonly agent?: string
  readonly search?: string
}

export const addFilterOptions = (command: Command, known: ReadonlyArray<Status> = statuses): Command =>
  command
    .option('-s, --status <names>', `with commas: ${known.join(', ')}`, filledList)
    .option('-t, --type <pattern>', 'exact, eng-* or *')
    .option('--phase <phase>', 'of this phase')
    .option('-p, --priority <n>', 'a number, or CRITICAL (10), HIGH (8), MEDIUM (5), LOW (3)', priority)
    .option('--ticket <id>', 'of this ticket')
    .option('--batch <id>', 'of this batch')
    .option('--tenant <name>', 'of this tenant')
    .option('--agent <name>', 'held, or completed, by this agent')
    .option('--search <text>', 'part of the id, type, ticket or last error')

/** The filter for the client, without the statuses. */
export const filterOf = (options: FilterOptions) =>
  defined({
    type: options.type,
    phase: options.phase?.toUpperCase() as Phase | undefined,
    priority: options.priority,
    ticketId: options.ticket,
    batchId: options.batch,
    tenant: options.tenant,
    agent: options.agent,
    q: options.search,
  })

/** @throws UsageError for an unknown status. */
export const statusesOf = ({ status }: FilterOptions, known: ReadonlyArray<Status> = statuses): ReadonlyArray<Status> | undefined => {
  const wrong = status?.find((name) => !(known as ReadonlyArray<string>).includes(name))
  if (wrong !== undefined) throw new UsageError(`--status ${wrong} is not known here: ${known.join(', ')}${didYouMean(wrong, known, statusWords)}`)
  return status as ReadonlyArray<Status> | undefined
}
