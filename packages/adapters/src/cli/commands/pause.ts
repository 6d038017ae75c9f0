import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'

const command = (cli: Cli, verb: 'pause' | 'resume', description: string, done: string, example: string): Command =>
  new Command(verb)
    .description(description)
    .option('--reason <text>', 'why', `${verb}d on the command line`)
    .addHelpText('after', examples(example))
    .action(cli.connected<{ readonly reason: string }>(async ({ printer, client }, { reason }) => {
      // A token that may resume but not read the summary is just told what was done.
      const wasPaused = verb === 'pause' || (await client.summary().then(({ paused }) => paused !== null, () => true))
      await client[verb](reason)
      printer.answer({ queue: client.queue, paused: verb === 'pause' }, () => printer.line(`${client.queue}: ${wasPaused ? done : 'it was not paused; tasks are handed out as before'}`))
    }))

export const pauseCommand = (cli: Cli): Command =>
  command(cli, 'pause', 'hand out no tasks; what is being worked on may be finished', 'paused; no task is handed out', 'daybook pause --reason "deploying"')
export const resumeCommand = (cli: Cli): Command =>
  command(cli, 'resume', 'hand tasks out again', 'tasks are handed out again', 'daybook resume --reason "deployed"')
