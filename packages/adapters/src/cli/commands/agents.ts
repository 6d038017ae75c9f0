import { Command } from 'commander'
import type { Terminated } from '../../client/index.js'
import { type Cli, examples } from '../cli.js'
import { paintStatus } from '../printer.js'
import { clean, plural } from '../text.js'

const byStatus = (tasks: Terminated['tasks']): ReadonlyMap<string, ReadonlyArray<string>> => {
  const ids = new Map<string, Array<string>>()
  for (const { id, status } of tasks) ids.set(status, [...(ids.get(status) ?? []), id])
  return ids
}

export const agentsCommand = (cli: Cli): Command =>
  new Command('agents')
    .description('who is working on what')
    .addCommand(
      new Command('list')
        .description('agents that hold tasks')
        .addHelpText('after', examples('daybook agents list'))
        .action(cli.connected(async ({ printer, client }) => {
          const agents = await client.agents.list()
          printer.answer({ agents }, () =>
            printer.table(
              [{ head: 'AGENT', min: 12 }, 'TASKS', { head: 'IDS', min: 8 }],
              agents.map(({ agentId, tasks }) => [clean(agentId), String(tasks.length), clean(tasks.join(', '), 80)]),
              'nobody holds a task',
            ))
        })),
      { isDefault: true },
    )
    .addCommand(
      new Command('terminate')
        .description('end all leases of an agent; its tasks go to others, and lose no attempt by it')
        .argument('<agent>', 'its name')
        .option('--reason <text>', 'why', 'terminated on the command line')
        .addHelpText('after', examples('daybook agents terminate worker-3 --reason "it hangs"'))
        .action(cli.connected<{ readonly reason: string }, [string]>(async ({ printer, client }, { reason }, agent) => {
          const answer = await client.agents.terminate(agent, reason)
          printer.answer(answer, () => {
            printer.line(`${clean(agent)} terminated`)
            for (const [status, ids] of byStatus(answer.tasks)) printer.line(`${plural(ids.length, 'task')} back in the queue, ${paintStatus(printer.colors, status)}: ${clean(ids.join(', '), 500)}`)
          })
        })),
    )
