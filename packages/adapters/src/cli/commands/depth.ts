import { Command } from 'commander'
import { type Cli, examples } from '../cli.js'
import { pauseOf, tellPause } from '../pause.js'
import { statusCell } from '../printer.js'
import { clean, duration } from '../text.js'

export const depthCommand = (cli: Cli): Command =>
  new Command('depth')
    .description('how many tasks there are, by status; pending ones by priority, type, phase and tenant')
    .addHelpText('after', examples("daybook depth", "daybook depth --json | jq '.byStatus.pending'"))
    .action(cli.connected(async ({ printer, client }) => {
      const [depth, paused] = await Promise.all([client.depth(), pauseOf(client)])
      printer.answer({ ...depth, paused }, () => {
        const rows = (record: Readonly<Record<string, number>>): ReadonlyArray<readonly [string, number]> => Object.entries(record).filter(([, n]) => n > 0)
        printer.table(['STATUS', 'TASKS'], rows(depth.byStatus).map(([status, n]) => [statusCell(printer.colors, status), String(n)]), 'no tasks')
        for (const [title, record] of [['PRIORITY', depth.byPriority], ['TYPE', depth.byType], ['PHASE', depth.byPhase], ['TENANT', depth.byTenant]] as const) {
          const found = rows(record)
          if (found.length === 0) continue
          printer.line()
          printer.table([{ head: `PENDING BY ${title}`, min: 12 }, 'TASKS'], found.map(([name, n]) => [clean(name), String(n)]))
        }
        if (depth.oldestPendingAt !== null) printer.line(`\noldest pending task: waiting for ${duration(depth.oldestWaitSeconds * 1_000)}`)
        tellPause(printer, paused)
      })
    }))
