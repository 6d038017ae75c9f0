import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'
import { statusCell } from '../printer.js'
import { clean, since, until } from '../text.js'

const change = (cli: Cli, verb: 'open' | 'close', description: string, done: string): Command =>
  new Command(verb)
    .description(description)
    .argument('<type>', 'the task type')
    .option('--reason <text>', 'why', `${verb === 'open' ? 'opened' : 'closed'} on the command line`)
    .addHelpText('after', examples(`daybook breakers ${verb} eng-backend --reason "the API is ${verb === 'open' ? 'down' : 'back'}"`))
    .action(cli.connected<{ readonly reason: string }, [string]>(async ({ printer, client }, { reason }, type) => {
      await client.breakers[verb](type, reason)
      printer.answer({ type, state: verb === 'open' ? 'open' : 'closed' }, () => printer.line(`${clean(type)}: ${done}`))
    }))

export const breakersCommand = (cli: Cli): Command =>
  new Command('breakers')
    .description('circuit breakers: types that are not handed out because they keep failing')
    .addCommand(
      new Command('list')
        .description('the breaker of every type that has ever failed')
        .addHelpText('after', examples('daybook breakers list'))
        .action(cli.connected(async ({ printer, client }) => {
          const breakers = await client.breakers.list()
          printer.answer({ breakers }, () =>
            printer.table(
              [
                { head: 'TYPE', min: 12 }, 'STATE', { head: 'FAILURES', leaveOut: 3 }, { head: 'LAST FAILURE', leaveOut: 4 },
                { head: 'HALF-OPEN', leaveOut: 1 }, { head: 'TEST TASK', min: 8, leaveOut: 5 }, { head: 'REASON', min: 10, leaveOut: 2 },
              ],
              Object.entries(breakers).map(([type, { state, failures, lastFailure, halfOpenAt, probe, reason }]) => [
                clean(type), statusCell(printer.colors, state), String(failures), since(lastFailure), state === 'open' ? until(halfOpenAt) || 'never' : '',
                clean(probe ?? ''), clean(reason ?? '', 60),
              ]),
              'no type has failed',
            ))
        })),
      { isDefault: true },
    )
    .addCommand(change(cli, 'open', 'hand out no task of this type until it is closed by hand', 'open; no such task is handed out'))
    .addCommand(change(cli, 'close', 'hand tasks of this type out again', 'closed; such tasks are handed out again'))
