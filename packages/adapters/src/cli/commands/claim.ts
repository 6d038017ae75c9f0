import { Command } from 'commander'
import { defined } from '../../defined.js'
import { askedBy, type ClaimOptions } from '../claim-options.js'
import { type Cli, examples } from '../cli.js'
import { pauseOf, tellPause } from '../pause.js'
import { defaultAgent } from '../who.js'
import { memoryLine } from './memory.js'
import { attemptText, subjectOf } from '../task-table.js'
import { clean, until } from '../text.js'
import { filledList, list, number, positive, secondsFrom } from '../values.js'

interface Options extends ClaimOptions {
  readonly max?: number
  readonly wait?: number
  readonly lease?: number
}

export const claimCommand = (cli: Cli): Command =>
  new Command('claim')
    .description('take tasks to work on; each comes with a lease')
    .option('--agent <name>', 'who holds them (env DAYBOOK_AGENT; default: this host and user)')
    .option('--types <patterns>', 'only these types: exact, eng-* or *, with commas', filledList)
    .option('--phases <names>', 'only these phases', filledList)
    .option('--skills <names>', 'what the agent can do; tasks that require more are left', list)
    .option('--tenant <name>', 'only tasks of this tenant')
    .option('--max <n>', 'at most so many', positive, 1)
    .option('--wait <seconds>', 'how long to wait for one if there is none', number, 0)
    .option('--lease <seconds>', "how long the lease lasts without a heartbeat, at most as long as the task's timeout (default)", secondsFrom(0.001))
    .addHelpText('after', examples(
      "daybook claim --types 'eng-*' --wait 30",
      'task=$(daybook claim --json) # {"claims":[{"task":{…},"lease":{"token":7,…}}]}',
      '',
      'Then: daybook complete ID --lease TOKEN …, or fail, release, heartbeat. Exit code 0 also when there was none.',
    ))
    .action(cli.connected<Options>(async ({ io, printer, client }, { max, wait, lease, ...options }) => {
      const agentId = options.agent ?? defaultAgent(io.env)
      const claims = await client.claim({ ...askedBy(options), agentId, ...defined({ max, wait, leaseSeconds: lease }) })
      // Without a task, the reason may be that the queue is paused.
      const paused = claims.length > 0 ? null : await pauseOf(client)
      printer.answer({ agentId, claims, paused }, () => {
        printer.table(
          [
            { head: 'ID', min: 12 }, { head: 'TYPE', min: 8, leaveOut: 3 }, { head: 'PRI', leaveOut: 4 }, { head: 'ATTEMPT', leaveOut: 5 },
            'LEASE', { head: 'ENDS', leaveOut: 1 }, { head: 'ABOUT', min: 10, leaveOut: 2 },
          ],
          claims.map(({ task, lease }) => [clean(task.id), clean(task.type), String(task.priority), attemptText(task), String(lease.token), until(lease.expiresAt), clean(subjectOf(task), 60)]),
          'nothing to claim',
        )
        for (const { task, memories = [] } of claims) {
          if (memories.length === 0) continue
          printer.line(`\nremembered for ${clean(task.id)}:`)
          for (const memory of memories) printer.line(`- ${memoryLine(memory)}`)
        }
        tellPause(printer, paused)
      })
    }))
