/** `daybook alerts`: the raised alerts, and whether webhooks work. */
import { Command } from 'commander'
import * as E from 'fp-ts/lib/Either.js'
import { readServeOptions } from '../../config/index.js'
import { type Cli, type Ending, examples } from '../cli.js'
import { exitCodes, UsageError } from '../exit-codes.js'
import type { Printer } from '../printer.js'
import { clean, since } from '../text.js'

export const alertsCommand = (cli: Cli): Command =>
  new Command('alerts')
    .description('the alerts that are raised now: waiting CRITICAL tasks, dead letters, open breakers, starved tasks, unusually many failures')
    .option('--test-webhooks <config>', 'send a signed test message to each webhook of this configuration file, from here, and say what came of it')
    .addHelpText('after', examples(
      'daybook alerts',
      'daybook settings set alerts.criticalDepthSeconds=30   # so long may a CRITICAL task wait',
      'daybook alerts --test-webhooks daybook.yaml',
      '',
      'The server writes each alert to its log when it is raised and when it is cleared, and sends it to the webhooks of its',
      'configuration file:',
      '',
      '  alerts:',
      '    webhooks:',
      '      - url: https://alerts.example.org/daybook',
      '        secret: env:WEBHOOK_SECRET   # whsec_… and 32 random bytes in base64',
      '        kinds: [breaker-open, dead-letters]   # default: all',
    ))
    .action(cli.local<{ readonly testWebhooks?: string }>(async (printer, { testWebhooks }, command) =>
      testWebhooks === undefined ? show(cli)({}, command) : tryWebhooks(printer, testWebhooks, cli.io.env)))

const show = (cli: Cli): ((...given: ReadonlyArray<unknown>) => Promise<void>) =>
  cli.connected(async ({ printer, client }) => {
    const alerts = await client.alerts()
    printer.answer({ alerts }, () =>
      printer.table(
        [{ head: 'ALERT', min: 12 }, { head: 'SINCE', leaveOut: 1 }, { head: 'WHAT', min: 20 }],
        alerts.map(({ key, raisedAt, message }) => [clean(key, 80), since(raisedAt), clean(message, 300)]),
        'no alerts',
      ))
  })

const tryWebhooks = async (printer: Printer, config: string, env: Readonly<Record<string, string | undefined>>): Promise<Ending> => {
  const read = await readServeOptions({ config }, env)
  if (E.isLeft(read)) throw new UsageError(read.left.join('\n'))
  const { webhooks = [] } = read.right
  if (webhooks.length === 0) throw new UsageError(`${config} has no alerts.webhooks`)
  const { openPoster, testMessage } = await import('../../webhooks/index.js')
  const tried = await Promise.all(webhooks.map(async (webhook) => {
    const poster = openPoster(webhook)
    const outcome = await poster.post(testMessage(crypto.randomUUID(), Date.now()))
    await poster.close()
    const says = outcome.kind === 'delivered' ? `it answers ${outcome.status}` : outcome.kind === 'gone' ? 'it answers 410: it wants no messages' : outcome.reason
    return { webhook: webhook.name, delivered: outcome.kind === 'delivered', says }
  }))
  printer.answer({ webhooks: tried }, () =>
    printer.table(
      [{ head: 'WEBHOOK', min: 12 }, { head: 'DELIVERED' }, { head: 'WHAT', min: 20 }],
      tried.map(({ webhook, delivered, says }) => [clean(webhook, 80), delivered ? 'yes' : 'no', clean(says, 300)]),
      'no webhooks',
    ))
  return tried.every(({ delivered }) => delivered) ? exitCodes.done : exitCodes.refused
}
