import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'
import { clean, clock } from '../text.js'

/** The facts of an event without the task's own id, and without its content, which `show` shows. */
const facts = (data: unknown): string => {
  if (typeof data !== 'object' || data === null) return ''
  const { task: _, content: __, ...rest } = data as Readonly<Record<string, unknown>>
  return Object.entries(rest).map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`).join(' ')
}

export const historyCommand = (cli: Cli): Command =>
  new Command('history')
    .description('everything that has happened to a task, oldest first')
    .argument('<id>', 'its id, or #number')
    .addHelpText('after', examples('daybook history M1-001', "daybook history M1-001 --json | jq '.events[].type'"))
    .action(cli.connected<object, [string]>(async ({ printer, client }, _, id) => {
      const events = await client.history(id)
      printer.answer({ events }, () =>
        printer.table(
          [{ head: 'REVISION', leaveOut: 2 }, 'TIME', { head: 'EVENT', min: 8 }, { head: 'BY', min: 5, leaveOut: 3 }, { head: 'FACTS', min: 10, leaveOut: 1 }],
          events.map(({ revision, at, type, actor, data }) => [String(revision), clock(at), type, clean(actor ?? '', 20), clean(facts(data), 90)]),
        ))
    }))
