/** `daybook limits`: limits on how much runs at once and how often it starts. */
import { Command, InvalidArgumentError } from 'commander'
import type { Limit, LimitView } from '../../client/index.js'
import { defined } from '../../defined.js'
import { type Cli, examples } from '../cli.js'
import { UsageError } from '../exit-codes.js'
import { clean, until } from '../text.js'
import { number, whole } from '../values.js'

const spans = { s: 1, m: 60, h: 3_600 } as const
type Span = keyof typeof spans

/** Starts per period: `100/m`, `5/10s`, or `5/10` in seconds. */
export const rate = (text: string): NonNullable<Limit['rate']> => {
  const [, starts, amount = '', unit = 's'] = /^(\d+)\/(\d*\.?\d*)([smh]?)$/.exec(text) ?? []
  if (starts === undefined || text.endsWith('/')) throw new InvalidArgumentError('a rate like 100/m, 5/10s or 2/h is wanted')
  const perSeconds = (amount === '' ? 1 : number(amount)) * spans[(unit === '' ? 's' : unit) as Span]
  if (perSeconds === 0) throw new InvalidArgumentError('a rate like 100/m, 5/10s or 2/h is wanted, and a time above 0')
  return { starts: whole(starts), perSeconds }
}

const rateText = ({ rate: given }: LimitView): string => (given === undefined ? '' : `${given.starts} in ${given.perSeconds} s`)

const listing = (cli: Cli): Command =>
  new Command('list')
    .description('all limits, with the number of live leases under each')
    .addHelpText('after', examples('daybook limits list'))
    .action(cli.connected(async ({ printer, client }) => {
      const limits = await client.limits.list()
      printer.answer({ limits }, () =>
        printer.table(
          [{ head: 'LIMIT', min: 10 }, 'AT ONCE', 'LIVE', 'STARTS', { head: 'NEXT START', leaveOut: 1 }],
          limits.map((limit) => {
            const { key, concurrency, live, shutUntil } = limit
            return [clean(key), concurrency === undefined ? '' : String(concurrency), live === undefined ? '' : String(live), rateText(limit), shutUntil === undefined ? '' : until(shutUntil)]
          }),
          'no limits',
        ))
    }))

const setting = (cli: Cli): Command =>
  new Command('set')
    .description('how many tasks of a concurrency key, a type or a tenant may run at once, and how often they may start; replaces the limit that is there')
    .argument('<key>', 'a concurrency key, type:TYPE or tenant:TENANT; *, type:* or tenant:* for each that has no limit of its own')
    .option('-c, --concurrency <n>', 'the most tasks at once; 0 lets nothing start', whole)
    .option('-r, --rate <n/time>', 'the most starts in any such time: 100/m, 5/10s, 2/h', rate)
    .addHelpText('after', examples(
      'daybook limits set db --concurrency 5                   # tasks with --concurrency-key db',
      'daybook limits set type:send-mail --rate 100/m',
      'daybook limits set tenant:acme --concurrency 20 --rate 10/s',
      "daybook limits set 'tenant:*' --concurrency 5           # each tenant that has no limit of its own",
      "daybook limits set '*' --concurrency 1                  # each concurrency key",
    ))
    .action(cli.connected<Limit, [string]>(async ({ printer, client }, { concurrency, rate: given }, key) => {
      if (concurrency === undefined && given === undefined) throw new UsageError('give --concurrency, --rate or both')
      const limit = await client.limits.set(key, defined({ concurrency, rate: given }))
      const words = [...(concurrency === undefined ? [] : [`${concurrency} at once`]), ...(given === undefined ? [] : [`${rateText(limit)}`])]
      printer.answer(limit, () => printer.line(`${clean(key)}: ${words.join(', ')}`))
    }))

const removing = (cli: Cli): Command =>
  new Command('remove')
    .description('remove a limit')
    .argument('<key>')
    .addHelpText('after', examples('daybook limits remove type:send-mail'))
    .action(cli.connected<object, [string]>(async ({ printer, client }, _, key) => {
      await client.limits.remove(key)
      printer.answer({ key, removed: true }, () => printer.line(`${clean(key)}: no limit`))
    }))

export const limitsCommand = (cli: Cli): Command =>
  new Command('limits')
    .description('how many tasks of a concurrency key, a type or a tenant may run at once, and how often they may start')
    .addCommand(listing(cli), { isDefault: true })
    .addCommand(setting(cli))
    .addCommand(removing(cli))
