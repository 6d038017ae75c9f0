import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'
import { clean } from '../text.js'

export const bumpCommand = (cli: Cli): Command =>
  new Command('bump')
    .description('put a ready task before all others, and let it start beyond capacity')
    .argument('<id>', 'its id, or #number')
    .option('--reason <text>', 'why', 'bumped on the command line')
    .addHelpText('after', `
At most capacity.overcapLimit more agents start on bumped tasks than capacity.maxConcurrentAgents; nothing else starts until
they are fewer again. A bump lasts until an attempt at the task has ended.
${examples('daybook bump M1-001 --reason "the customer waits"')}`)
    .action(cli.connected<{ readonly reason: string }, [string]>(async ({ printer, client }, { reason }, id) => {
      const bumped = await client.bump(id, reason)
      printer.answer(bumped, () => {
        printer.line(bumped.agentId === null ? `${clean(bumped.id)} is next` : `${clean(bumped.id)}: ${clean(bumped.agentId)} works on it now`)
        printer.line(`${bumped.activeAgents} of ${bumped.maxConcurrentAgents} agents are working${bumped.overCapacity ? ', which is beyond capacity' : ''}`)
      })
    }))
