import { Command } from 'commander'
import { cancellable, plural } from '@daybook/core/common'
import type { CancelFilter, CancelledAll, DaybookClient } from '../../client/index.js'
import { isWanted } from '../ask-first.js'
import { type Cli, type Ending, examples, type Session } from '../cli.js'
import { exitCodes, UsageError } from '../exit-codes.js'
import { createProgress } from '../progress.js'
import { addFilterOptions, type FilterOptions, filterOf, statusesOf } from '../task-filter.js'
import { clean } from '../text.js'

interface Options extends FilterOptions {
  readonly reason: string
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export const cancelCommand = (cli: Cli): Command =>
  addFilterOptions(
    new Command('cancel').description('cancel a task, or all that match; and everything that depends on them').argument('[id]', 'one: its id, or #number'),
    cancellable,
  )
    .option('--all', 'all that can be cancelled')
    .option('--dry-run', 'say how many match, and cancel nothing')
    .option('-y, --yes', 'do not ask before many are cancelled')
    .option('--reason <text>', 'why', 'cancelled on the command line')
    .addHelpText('after', examples(
      'daybook cancel M1-001 --reason "replaced by M2"',
      'daybook cancel --ticket OPS-7 --dry-run',
      "daybook cancel --type 'eng-*' --status pending,scheduled --yes --reason \"the release is off\"",
      '',
      'A filter shows how many tasks match and asks; where nobody can be asked, it wants --yes. Tasks are cancelled in pages of',
      'about 1,000, each all or none. Finished tasks stay as they are, and dead letters are discarded (daybook dlq). When nothing',
      'matches, the exit code is 1.',
    ))
    .action(cli.connected<Options, [string | undefined]>(async (session, options, id) => {
      const filter: CancelFilter = { ...filterOf(options), ...statusPart(options) }
      const isFiltered = options.all === true || Object.keys(filter).length > 0
      if (id === undefined) {
        if (!isFiltered) throw new UsageError('name a task, or say which: --status, --type, --phase, --priority, --ticket, --batch, --tenant, --agent, --search, or --all')
        return cancelAll(session, filter, options)
      }
      if (isFiltered || options.dryRun === true) throw new UsageError('give an id or a filter, not both')
      const answer = await session.client.cancel(id, options.reason)
      session.printer.answer(answer, () => tell(session, answer.cancelled))
    }))

const statusPart = (options: Options): CancelFilter => {
  const status = statusesOf(options, cancellable)
  return status === undefined ? {} : { status }
}

const tell = ({ printer }: Session, ids: ReadonlyArray<string>): void =>
  printer.line(`${plural(ids.length, 'task')} cancelled${ids.length === 0 ? '' : `: ${clean(ids.join(', '), 500)}`}`)

/** Cancels page by page. Each page is durable before the next is requested. */
const pagesOf = async function* (client: DaybookClient, filter: CancelFilter, reason: string, dryRun: boolean): AsyncGenerator<CancelledAll> {
  for (let cursor: string | undefined; ; ) {
    const page = await client.cancelAll(filter, reason, { dryRun, cursor })
    yield page
    if (page.nextCursor === null) return
    cursor = page.nextCursor
  }
}

const cancelAll = async (session: Session, filter: CancelFilter, { reason, dryRun = false, yes = false }: Options): Promise<Ending> => {
  const { io, printer, client } = session
  const progress = createProgress(io, printer)
  const matching: Array<string> = []
  for await (const { cancelled } of pagesOf(client, filter, reason, true)) {
    matching.push(...cancelled)
    progress(`looking: ${matching.length}`)
  }
  if (matching.length === 0 || dryRun) {
    printer.answer({ dryRun, count: matching.length, matching, cancelled: [] }, () =>
      printer.line(matching.length === 0
        ? 'no task matches that can be cancelled'
        : `${plural(matching.length, 'task')} would be cancelled, with all that depend on them: ${clean(matching.join(', '), 500)}`))
    return matching.length === 0 ? exitCodes.refused : exitCodes.done
  }
  const what = `${plural(matching.length, 'task')} would be cancelled, with all that depend on them`
  if (!yes && !(await isWanted(session, what, 'Cancel', 'cancelled'))) return exitCodes.refused

  const done = new Set<string>()
  try {
    for await (const { cancelled } of pagesOf(client, filter, reason, false)) {
      for (const id of cancelled) done.add(id)
      progress(`cancelling: ${done.size}`)
    }
  } catch (error) {
    // The pages before this one stay cancelled.
    printer.note(`${plural(done.size, 'task')} cancelled before this went wrong; the same again cancels the rest`)
    throw error
  }
  printer.answer({ dryRun, count: done.size, cancelled: [...done] }, () => tell(session, [...done]))
  return exitCodes.done
}
