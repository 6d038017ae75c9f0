import { Command } from 'commander'
import { type Band, type Phase, type Status, statuses } from '@daybook/core'
import type { TaskView } from '../../client/index.js'
import { type Cli, examples } from '../cli.js'
import { UsageError } from '../exit-codes.js'
import { taskTable } from '../task-table.js'
import { defined, list, positive, priority } from '../values.js'

interface Options {
  readonly status?: ReadonlyArray<string>
  readonly type?: string
  readonly phase?: string
  readonly priority?: number | Band
  readonly ticket?: string
  readonly tenant?: string
  readonly agent?: string
  readonly search?: string
  readonly limit: number
  readonly all?: boolean
}

/** What somebody who looks at a queue wants to see first. */
const order: ReadonlyArray<Status> = ['in-progress', 'incomplete', 'pending', 'queued', 'scheduled', 'blocked', 'dead-letter', 'completed', 'cancelled', 'discarded']

/** With --all, so many are held in memory at most before they are printed. */
const pageMax = 1_000

export const listCommand = (cli: Cli): Command =>
  new Command('list')
    .description('tasks; pending ones in the order in which they would be claimed')
    .option('-s, --status <names>', `with commas: ${statuses.join(', ')}`, list)
    .option('-t, --type <pattern>', 'exact, eng-* or *')
    .option('--phase <phase>', 'of this phase')
    .option('-p, --priority <n>', 'a number, or CRITICAL, HIGH, MEDIUM, LOW', priority)
    .option('--ticket <id>', 'of this ticket')
    .option('--tenant <name>', 'of this tenant')
    .option('--agent <name>', 'held, or completed, by this agent')
    .option('--search <text>', 'part of the id, type, ticket or last error')
    .option('-n, --limit <n>', 'at most so many', positive, 50)
    .option('--all', 'all of them, however many')
    .addHelpText('after', examples(
      'daybook list --status pending',
      "daybook list --status dead-letter --type 'eng-*' --json | jq -r '.tasks[].id'",
      'daybook list --search timeout --all',
    ))
    .action(cli.connected<Options>(async ({ printer, client }, options) => {
      const wrong = options.status?.find((status) => !(statuses as ReadonlyArray<string>).includes(status))
      if (wrong !== undefined) throw new UsageError(`--status ${wrong} is not known: ${statuses.join(', ')}`)
      const filter = defined({
        type: options.type,
        phase: options.phase?.toUpperCase() as Phase | undefined,
        priority: options.priority,
        ticketId: options.ticket,
        tenant: options.tenant,
        agent: options.agent,
        q: options.search,
      })
      const max = options.all === true ? Number.POSITIVE_INFINITY : options.limit
      const tasks: Array<TaskView> = []
      let isMore = false
      for (const status of order) {
        if (isMore || (options.status !== undefined && !options.status.includes(status))) continue
        for await (const task of client.eachTask({ ...filter, status, limit: Math.min(max + 1 - tasks.length, pageMax) })) {
          if (tasks.length === max) {
            isMore = true
            break
          }
          tasks.push(task)
        }
      }
      printer.answer({ tasks, more: isMore }, () => {
        taskTable(printer, tasks, 'no such tasks')
        if (isMore) printer.line(printer.colors.dim(`… and more: --limit or --all shows them`))
      })
    }))
