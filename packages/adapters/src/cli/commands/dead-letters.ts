/** The review of dead letters (LK-11). */
import { Command } from 'commander'
import type { DeadLetterFilter } from '@daybook/core'
import type { TaskView } from '../../client/index.js'
import { type Cli, examples, type Session } from '../cli.js'
import { UsageError } from '../exit-codes.js'
import { taskTable } from '../task-table.js'
import { clean, clock, plural, since } from '../text.js'
import { defined, positive } from '../values.js'
import { defaultReviewer } from '../who.js'
import { showTask } from './show.js'

const listing = (cli: Cli): Command =>
  new Command('list')
    .description('dead letters, with the error that killed them')
    .option('-t, --type <pattern>', 'exact, eng-* or *')
    .option('--signature <signature>', 'that failed alike (see: dlq patterns)')
    .option('-n, --limit <n>', 'at most so many', positive, 50)
    .addHelpText('after', examples("daybook dlq list --type 'eng-*'"))
    .action(cli.connected<{ readonly type?: string; readonly signature?: string; readonly limit: number }>(async ({ printer, client }, { type, signature, limit }) => {
      const tasks: Array<TaskView> = []
      for (let cursor: string | undefined; tasks.length < limit; ) {
        const page = await client.deadLetters.list({ ...defined({ type, signature, cursor }), limit: Math.min(limit - tasks.length, 1_000) })
        tasks.push(...page.tasks)
        if (page.nextCursor === undefined || page.nextCursor === null) break
        cursor = page.nextCursor
      }
      printer.answer({ tasks }, () => taskTable(printer, tasks, 'no dead letters'))
    }))

const patterns = (cli: Cli): Command =>
  new Command('patterns')
    .description('dead letters grouped by what went wrong, most frequent first')
    .addHelpText('after', examples('daybook dlq patterns', 'daybook dlq retry --signature SIGNATURE --reason "the disk has room again"'))
    .action(cli.connected(async ({ printer, client }) => {
      const found = await client.deadLetters.patterns()
      printer.answer({ patterns: found }, () =>
        printer.table(
          ['COUNT', 'TYPE', 'SIGNATURE', 'LAST', 'FOR EXAMPLE', 'TASKS'],
          found.map(({ count, type, signature, lastAt, sample, tasks }) => [
            String(count), clean(type, 30), clean(signature, 24), since(lastAt), clean(sample, 60), clean(tasks.slice(0, 3).join(', '), 40) + (tasks.length > 3 ? ' …' : ''),
          ]),
          'no dead letters',
        ))
    }))

const show = (cli: Cli): Command =>
  new Command('show')
    .description('one dead letter: its error, its attempts, its past')
    .argument('<id>', 'its id, or #number')
    .addHelpText('after', examples('daybook dlq show M1-001'))
    .action(cli.connected<object, [string]>(async ({ printer, client }, _, id) => {
      const [task, events] = await Promise.all([client.task(id), client.history(id)])
      const failures = events.filter(({ type }) => type === 'Failed' || type === 'ClaimExpired' || type === 'DeadLettered')
      printer.answer({ task, events: failures }, () => {
        showTask(printer, task)
        printer.line()
        printer.table(
          ['TIME', 'EVENT', 'AGENT', 'WHY'],
          failures.map(({ at, type, data }) => {
            const { agent, error, reason, cause } = data as { agent?: string; error?: { message?: string }; reason?: string; cause?: string }
            return [clock(at), type, clean(agent ?? '', 30), clean(error?.message ?? reason ?? cause ?? '', 100)]
          }),
        )
      })
    }))

interface ReviewOptions {
  readonly reason: string
  readonly reviewer?: string
  readonly type?: string
  readonly signature?: string
  readonly error?: string
  readonly all?: boolean
}

const review = (cli: Cli, verb: 'retry' | 'discard', description: string, ...shown: ReadonlyArray<string>): Command =>
  new Command(verb)
    .description(description)
    .argument('[id]', 'one: its id, or #number')
    .requiredOption('--reason <text>', 'why; it stands in the log for good')
    .option('--reviewer <name>', 'who decides (default: you)')
    .option('-t, --type <pattern>', 'all of these types: exact, eng-* or *')
    .option('--signature <signature>', 'all that failed alike')
    .option('--error <text>', 'all whose last error contains this')
    .option('--all', 'all dead letters')
    .addHelpText('after', examples(...shown, '', 'A filter meets at most 1,000 at a time; it says how many it met.'))
    .action(cli.connected<ReviewOptions, [string | undefined]>(async (session, options, id) => decide(session, verb, options, id)))

const decide = async ({ io, printer, client }: Session, verb: 'retry' | 'discard', options: ReviewOptions, id: string | undefined): Promise<void> => {
  const { type, signature, error, all } = options
  const filter: DeadLetterFilter = defined({ type, signature, error })
  const isFiltered = all === true || Object.keys(filter).length > 0
  if (id === undefined && !isFiltered) throw new UsageError(`name one dead letter, or say which: --type, --signature, --error, or --all`)
  if (id !== undefined && isFiltered) throw new UsageError('give an id or a filter, not both')
  const said = { reviewer: options.reviewer ?? defaultReviewer(io.env), reason: options.reason }
  const { deadLetters } = client
  if (verb === 'retry') {
    const answer = id === undefined ? await deadLetters.retryAll(filter, said) : await deadLetters.retry(id, said)
    printer.answer(answer, () => printer.line(`${plural(answer.retried.length, 'dead letter')} sent back: ${clean(answer.retried.join(', '), 500) || 'none'}`))
  } else {
    const answer = id === undefined ? await deadLetters.discardAll(filter, said) : await deadLetters.discard(id, said)
    printer.answer(answer, () => {
      printer.line(`${plural(answer.discarded.length, 'dead letter')} thrown away: ${clean(answer.discarded.join(', '), 500) || 'none'}`)
      if (answer.cancelled.length > 0) printer.line(`with ${plural(answer.cancelled.length, 'task')} that depended on them: ${clean(answer.cancelled.join(', '), 500)}`)
    })
  }
}

export const dlqCommand = (cli: Cli): Command =>
  new Command('dlq')
    .description('dead letters: what the queue has given up, for people to decide on')
    .addCommand(listing(cli), { isDefault: true })
    .addCommand(patterns(cli))
    .addCommand(show(cli))
    .addCommand(review(cli, 'retry', 'send dead letters back to the queue, their retries reset',
      'daybook dlq retry M1-001 --reason "the disk has room again"',
      "daybook dlq retry --type 'eng-*' --error ENOSPC --reason \"the disk has room again\""))
    .addCommand(review(cli, 'discard', 'throw dead letters away, and cancel what depends on them',
      'daybook dlq discard M1-001 --reason "not wanted any more"'))
