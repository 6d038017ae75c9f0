import { Command } from 'commander'
import type { Amendment } from '../../client/index.js'
import { defined } from '../../defined.js'
import { type Cli, examples } from '../cli.js'
import { UsageError } from '../exit-codes.js'
import { clean } from '../text.js'
import { priority, readJsonOrText, time } from '../values.js'

interface Options {
  readonly priority?: Amendment['priority']
  readonly payload?: string
  readonly deadline?: string
  readonly availableAt?: string
  readonly reason: string
}

/** A time, or the word that removes it. */
const timeOr = (word: string) => (text: string): string => (text === word ? text : time(text))

export const amendCommand = (cli: Cli): Command =>
  new Command('amend')
    .description('change the priority, the payload or a time of a task that nobody works on')
    .argument('<id>', 'its id, or #number')
    .option('-p, --priority <n>', '1 (background) to 10, or CRITICAL, HIGH, MEDIUM, LOW', priority)
    .option('--payload <json>', 'what the agent is given: JSON or text, @file, or - for standard input')
    .option('--deadline <time>', 'to be done by: 2026-01-31T12:00:00Z, or +15m; none takes it away', timeOr('none'))
    .option('--available-at <time>', 'not before; now makes it ready at once', timeOr('now'))
    .requiredOption('--reason <text>', 'why')
    .addHelpText('after', `
Former values stay in the log: daybook history shows both. While an agent works on a task, nothing of it can be changed. A
dead letter stays one: daybook dlq retry sends it back, with --payload also as another one.
${examples(
  'daybook amend M1-001 --priority CRITICAL --deadline +2h --reason "the customer called"',
  "daybook amend M1-001 --payload @fixed.json --reason \"the path was wrong\"",
  'daybook amend M1-001 --available-at now --reason "no need to wait"',
)}`)
    .action(cli.connected<Options, [string]>(async ({ io, printer, client }, options, id) => {
      const { reason, payload, deadline, availableAt } = options
      const amendment: Amendment = defined({
        priority: options.priority,
        payload: payload === undefined ? undefined : await readJsonOrText(payload, io),
        deadlineAt: deadline === 'none' ? null : deadline,
        availableAt: availableAt === 'now' ? null : availableAt,
      })
      if (Object.keys(amendment).length === 0) throw new UsageError('say what to change: --priority, --payload, --deadline or --available-at')
      const amended = await client.amend(id, amendment, reason)
      printer.answer(amended, () =>
        printer.line(amended.changed.length === 0 ? `${clean(amended.id)} is so already (${amended.status})` : `${clean(amended.id)} (${amended.status}): ${amended.changed.join(', ')} changed`))
    }))
