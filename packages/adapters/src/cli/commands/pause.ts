import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'

const command = (cli: Cli, verb: 'pause' | 'resume', description: string, done: string, example: string): Command =>
  new Command(verb)
    .description(description)
    .option('--reason <text>', 'why', `${verb}d on the command line`)
    .addHelpText('after', examples(example))
    .action(cli.connected<{ readonly reason: string }>(async ({ printer, client }, { reason }) => {
      await client[verb](reason)
      printer.answer({ queue: client.queue, paused: verb === 'pause' }, () => printer.line(`${client.queue}: ${done}`))
    }))

export const pauseCommand = (cli: Cli): Command =>
  command(cli, 'pause', 'hand out no tasks; what is being worked on may be finished', 'paused; no task is handed out', 'daybook pause --reason "deploying"')
export const resumeCommand = (cli: Cli): Command =>
  command(cli, 'resume', 'hand tasks out again', 'tasks are handed out again', 'daybook resume --reason "deployed"')
