import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'
import { createProgress } from '../progress.js'
import { clean, clock } from '../text.js'

const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The facts of an event, without the task's own id and without its content, which `show` prints. */
const facts = (data: unknown): string => {
  if (typeof data !== 'object' || data === null) return ''
  const { task: _, content: __, ...rest } = data as Readonly<Record<string, unknown>>
  const text = (value: unknown): string => (typeof value !== 'string' ? JSON.stringify(value) : isTime.test(value) ? clock(value).replace(' ', 'T') : value)
  return Object.entries(rest).map(([key, value]) => `${key}=${text(value)}`).join(' ')
}

export const historyCommand = (cli: Cli): Command =>
  new Command('history')
    .description('everything that has happened to a task, oldest first')
    .argument('<id>', 'its id, or #number')
    .addHelpText('after', examples(
      'daybook history M1-001',
      "daybook history M1-001 --json | jq '.events[].type'",
      '',
      'A task whose retention is over is searched in the log by its id, newest events first: that takes as long as the log is.',
    ))
    .action(cli.connected<object, [string]>(async ({ io, printer, client }, _, id) => {
      const progress = createProgress(io, printer)
      const events = await client
        .history(id, { onSearch: (before) => progress.show(`searching the log: not above revision ${before}`) })
        .finally(() => progress.clear())
      printer.answer({ events }, () =>
        printer.table(
          [{ head: 'REVISION', leaveOut: 2 }, 'TIME', { head: 'EVENT', min: 8 }, { head: 'BY', min: 5, leaveOut: 3 }, { head: 'FACTS', min: 10, leaveOut: 1 }],
          events.map(({ revision, at, type, actor, data }) => [String(revision), clock(at), type, clean(actor ?? '', 20), clean(facts(data), 500)]),
        ))
    }))
