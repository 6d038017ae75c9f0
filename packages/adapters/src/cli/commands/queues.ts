import { Command } from 'commander'
import { QueueName } from '@daybook/core/common'
import { type Cli, examples } from '../cli.js'
import { UsageError } from '../exit-codes.js'
import { pauseText } from '../pause.js'

/** Statuses with a column of their own. The finished ones share a column. */
const shown = ['pending', 'scheduled', 'waiting', 'blocked', 'in-progress', 'dead-letter'] as const

const listing = (cli: Cli): Command =>
  new Command('list')
    .description('all queues of the server')
    .addHelpText('after', examples('daybook queues', "daybook queues --json | jq -r '.queues[].name'"))
    .action(cli.connected(async ({ printer, client }) => {
      const { queues, refused } = await client.listQueues()
      for (const { queue, reason } of refused) printer.note(`queue ${queue} cannot be read: ${reason}`)
      printer.answer({ queues, ...(refused.length === 0 ? {} : { refused }) }, () =>
        printer.table(
          [
            { head: 'QUEUE', min: 8 }, 'PENDING', { head: 'SCHEDULED', leaveOut: 3 }, { head: 'WAITING', leaveOut: 5 }, { head: 'BLOCKED', leaveOut: 4 }, { head: 'IN PROGRESS', leaveOut: 1 },
            { head: 'DEAD', leaveOut: 2 }, { head: 'FINISHED', leaveOut: 5 }, { head: 'REVISION', leaveOut: 6 }, { head: 'PAUSED', min: 8 },
          ],
          [...queues].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, revision, paused, byStatus }) => {
            const { completed, cancelled, discarded } = byStatus
            const inProgress = byStatus['in-progress'] + byStatus.incomplete
            const counts = { ...byStatus, pending: byStatus.pending + byStatus.queued, 'in-progress': inProgress }
            return [name, ...shown.map((status) => String(counts[status])), String(completed + cancelled + discarded), String(revision), paused === null ? '' : pauseText(paused)]
          }),
          refused.length === 0 ? 'no queues yet: a queue is created by its first task' : 'no queue can be read',
        ))
    }))

const deleting = (cli: Cli): Command =>
  new Command('delete')
    .description('forget a queue without unfinished tasks, for example one with a mistyped name')
    .argument('<name>', 'its name')
    .option('--reason <text>', 'why; it stands in the log for good', 'deleted on the command line')
    .addHelpText('after', examples(
      'daybook queues delete defualt',
      'daybook --queue defualt cancel --all --yes && daybook queues delete defualt',
      '',
      'Settings, breakers and finished tasks are forgotten. The log stays, for auditors. A task with this queue begins it anew.',
    ))
    .action(cli.connected<{ readonly reason: string }, [string]>(async ({ printer, client }, { reason }, name) => {
      if (!QueueName.is(name)) throw new UsageError(`${JSON.stringify(name)} is not a ${QueueName.name}`)
      await client.in(name).deleteQueue(reason)
      printer.answer({ name, deleted: true }, () => printer.line(`${name} is deleted; its log stays`))
    }))

export const queuesCommand = (cli: Cli): Command =>
  new Command('queues')
    .description('the queues of the server: their tasks, and whether they are paused')
    .addCommand(listing(cli), { isDefault: true })
    .addCommand(deleting(cli))
