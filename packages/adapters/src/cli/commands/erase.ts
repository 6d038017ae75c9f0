import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'
import { clean } from '../text.js'

export const eraseCommand = (cli: Cli): Command =>
  new Command('erase')
    .description('throw away what a finished task contained, in an erasable queue: this cannot be undone')
    .argument('<id>', 'its id, or #number')
    .requiredOption('--reason <text>', 'why; it stays in the log, so write nothing there that has to go')
    .addHelpText('after', `
The key of the task is thrown away, and with it payload, results, errors and checkpoints. Its facts stay: id, type, times, agents.
The log is not changed otherwise, so daybook audit verify finds it whole. The queue must have been erasable when the task was
enqueued (daybook settings set erasable=true). Backups of the keys have to go as well.
${examples('daybook erase M1-001 --reason "request 2026-118"')}`)
    .action(cli.connected<{ readonly reason: string }, [string]>(async ({ printer, client }, { reason }, id) => {
      const erased = await client.erase(id, reason)
      printer.answer(erased, () => printer.line(`${clean(erased.id)} is erased: nobody can read any more what it contained`))
    }))
