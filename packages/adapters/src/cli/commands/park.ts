/** Tasks that wait for something outside: parking one, and sending its callback. */
import { Command } from 'commander'
import type { OnTimeout } from '@daybook/core'
import { type Cli, examples } from '../cli.js'
import { UsageError } from '../exit-codes.js'
import { paintStatus } from '../printer.js'
import { clean } from '../text.js'
import { readJsonOrText, secondsFrom } from '../values.js'
import { checkpointOf, held, type Held, holderOf } from './settle.js'

interface ParkOptions extends Held {
  readonly key: string
  readonly timeout: number
  readonly onTimeout: string
  readonly checkpoint?: string
}

const isOnTimeout = (text: string): text is OnTimeout => text === 'fail' || text === 'requeue'

export const parkCommand = (cli: Cli): Command =>
  held(new Command('park').description('let a task wait for a callback: an approval, a webhook'))
    .requiredOption('--key <key>', 'of the callback; no other task may wait for the same')
    .requiredOption('--timeout <seconds>', 'how long to wait at most', secondsFrom(0.001))
    .option('--on-timeout <what>', 'without a callback: fail (as a failed attempt), or requeue (ready again)', 'fail')
    .option('--checkpoint <json>', 'what the next agent may go on from; @file or -')
    .addHelpText('after', examples(
      'daybook park deploy --lease 7 --key approve-deploy-1 --timeout 86400 --checkpoint \'{"built":true}\'',
      'daybook callback approve-deploy-1 --payload \'{"approved":true}\'',
      '',
      'The lease ends, and no attempt is counted. After the callback the task is claimed again; the claim has its payload.',
    ))
    .action(cli.connected<ParkOptions, [string]>(async ({ io, printer, client }, options, id) => {
      const { onTimeout } = options
      if (!isOnTimeout(onTimeout)) throw new UsageError('--on-timeout is fail or requeue')
      const answer = await client.park(id, {
        ...holderOf(options, io),
        callbackKey: options.key,
        timeoutSeconds: options.timeout,
        onTimeout,
        ...(await checkpointOf(options, io)),
      })
      printer.answer({ id, ...answer }, () => printer.line(`${id} ${paintStatus(printer.colors, answer.status)} for the callback ${clean(options.key)}`))
    }))

export const callbackCommand = (cli: Cli): Command =>
  new Command('callback')
    .description('answer a task that waits for a callback: it is ready again')
    .argument('<key>', 'the key for which it waits (daybook list --status waiting shows it)')
    .option('--payload <json>', 'what its next agent gets: JSON or text, @file or -')
    .addHelpText('after', examples(
      'daybook callback approve-deploy-1 --payload \'{"approved":true,"by":"ann"}\'',
      'daybook callback approve-deploy-1 --payload "not before Monday"',
      '',
      'The first callback counts. A repetition changes nothing, and gets the same answer.',
    ))
    .action(cli.connected<{ readonly payload?: string }, [string]>(async ({ io, printer, client }, { payload }, key) => {
      const answer = await client.callback(key, payload === undefined ? undefined : await readJsonOrText(payload, io))
      printer.answer({ key, ...answer }, () => printer.line(`${clean(answer.task)} ${paintStatus(printer.colors, answer.status)}`))
    }))
