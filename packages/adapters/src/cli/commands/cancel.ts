import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'
import { clean, plural } from '../text.js'

export const cancelCommand = (cli: Cli): Command =>
  new Command('cancel')
    .description('cancel a task, and everything that depends on it')
    .argument('<id>', 'its id, or #number')
    .option('--reason <text>', 'why', 'cancelled on the command line')
    .addHelpText('after', examples('daybook cancel M1-001 --reason "replaced by M2"'))
    .action(cli.connected<{ readonly reason: string }, [string]>(async ({ printer, client }, { reason }, id) => {
      const answer = await client.cancel(id, reason)
      printer.answer(answer, () => printer.line(`${plural(answer.cancelled.length, 'task')} cancelled: ${clean(answer.cancelled.join(', '), 500)}`))
    }))
