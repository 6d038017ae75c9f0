import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'
import { clean } from '../text.js'

/** The reason for which a queue is paused; `null` if it is not, and `undefined` for a token that may pause and resume but not ask. */
type Before = string | null | undefined

const command = (cli: Cli, verb: 'pause' | 'resume', description: string, done: (before: Before) => string, example: string): Command =>
  new Command(verb)
    .description(description)
    .option('--reason <text>', 'why', `${verb}d on the command line`)
    .addHelpText('after', examples(example))
    .action(cli.connected<{ readonly reason: string }>(async ({ printer, client }, { reason }) => {
      const before = await client.summary().then(({ paused }): Before => paused, () => undefined)
      await client[verb](reason)
      printer.answer({ queue: client.queue, paused: verb === 'pause' }, () => printer.line(`${client.queue}: ${done(before)}`))
    }))

/** A second pause changes nothing: the reason of the first one stays. */
const paused = (before: Before): string => (typeof before === 'string' ? `it was paused already${before === '' ? '' : ` (${clean(before, 200)})`}; no task is handed out` : 'paused; no task is handed out')
const resumed = (before: Before): string => (before === null ? 'it was not paused; tasks are handed out as before' : 'tasks are handed out again')

export const pauseCommand = (cli: Cli): Command =>
  command(cli, 'pause', 'hand out no tasks; what is being worked on may be finished', paused, 'daybook pause --reason "deploying"')
export const resumeCommand = (cli: Cli): Command =>
  command(cli, 'resume', 'hand tasks out again', resumed, 'daybook resume --reason "deployed"')
