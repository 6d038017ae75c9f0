import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'
import { clean, since } from '../text.js'

export const alertsCommand = (cli: Cli): Command =>
  new Command('alerts')
    .description('the alerts that are raised now: waiting CRITICAL tasks, dead letters, open breakers, starved tasks, unusually many failures')
    .addHelpText('after', examples(
      'daybook alerts',
      'daybook settings set alerts.criticalDepthSeconds=30   # so long may a CRITICAL task wait',
      '',
      'The server writes each alert to its log when it is raised and when it is cleared.',
    ))
    .action(cli.connected(async ({ printer, client }) => {
      const alerts = await client.alerts()
      printer.answer({ alerts }, () =>
        printer.table(
          [{ head: 'ALERT', min: 12 }, { head: 'SINCE', leaveOut: 1 }, { head: 'WHAT', min: 20 }],
          alerts.map(({ key, raisedAt, message }) => [clean(key, 80), since(raisedAt), clean(message, 300)]),
          'no alerts',
        ))
    }))
