import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'
import { paintStatus } from '../printer.js'
import { clean } from '../text.js'

export const restartCommand = (cli: Cli): Command =>
  new Command('restart')
    .description('do a finished task or a dead letter once more, as a new task')
    .argument('<id>', 'its id, or #number')
    .option('--reason <text>', 'why', 'restarted on the command line')
    .addHelpText('after', `
The new task has the same type, payload and fields, and names the old one as restartOf. It does not wait for tasks that were
cancelled or discarded meanwhile, nor for restarts of those. The old one keeps its status and its history; a dead letter can still be
sent back itself (daybook dlq retry) or discarded.
${examples('daybook restart M1-001 --reason "the report was lost"')}`)
    .action(cli.connected<{ readonly reason: string }, [string]>(async ({ printer, client }, { reason }, id) => {
      const restarted = await client.restart(id, reason)
      printer.answer(restarted, () => printer.line(`${clean(restarted.restartOf)} is done once more as ${clean(restarted.id)} (#${restarted.number}), ${paintStatus(printer.colors, restarted.status)}`))
    }))
