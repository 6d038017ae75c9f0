import { Command } from 'commander'
import { plural } from '@daybook/core/common'
import type { AgentView, Terminated } from '../../client/index.js'
import { defined } from '../../defined.js'
import { askedBy, type ClaimOptions } from '../claim-options.js'
import { type Cli, examples } from '../cli.js'
import { paintStatus } from '../printer.js'
import { clean, since, until } from '../text.js'
import { filledList, list, positive, secondsFrom } from '../values.js'

const byStatus = (tasks: Terminated['tasks']): ReadonlyMap<string, ReadonlyArray<string>> => {
  const ids = new Map<string, Array<string>>()
  for (const { id, status } of tasks) ids.set(status, [...(ids.get(status) ?? []), id])
  return ids
}

/** What a registered agent takes. */
const takes = ({ types, phases, skills, tenant, registeredUntil }: AgentView): string =>
  registeredUntil === undefined
    ? ''
    : [(types ?? ['*']).join(','), ...(phases === undefined ? [] : [phases.join(',')]), ...(skills === undefined ? [] : [`skills ${skills.join(',')}`]), ...(tenant === undefined ? [] : [`tenant ${tenant}`])].join(' ')

/** After a rate limit an agent gets no task for a while. */
const statusOf = ({ status, sleepsUntil }: AgentView): string => (sleepsUntil === undefined ? status : `${status === 'idle' ? '' : `${status}, `}sleeps, wakes ${until(sleepsUntil)}`)

interface Registering extends Omit<ClaimOptions, 'agent'> {
  readonly maxTasks?: number
  readonly ttl?: number
}

export const agentsCommand = (cli: Cli): Command =>
  new Command('agents')
    .description('who is working on what')
    .addCommand(
      new Command('list')
        .description('registered agents, and those that hold tasks')
        .addHelpText('after', examples('daybook agents list'))
        .action(cli.connected(async ({ printer, client }) => {
          const agents = await client.agents.list()
          printer.answer({ agents }, () =>
            printer.table(
              [
                { head: 'AGENT', min: 12 }, 'STATUS', 'TASKS', { head: 'IDS', min: 8, leaveOut: 3 }, { head: 'TAKES', min: 8, leaveOut: 2 },
                { head: 'SEEN', leaveOut: 1 },
              ],
              agents.map((agent) => [
                clean(agent.agentId), statusOf(agent), `${agent.tasks.length}${agent.maxTasks === undefined ? '' : ` of ${agent.maxTasks}`}`,
                clean(agent.tasks.join(', '), 80), clean(takes(agent), 80), since(agent.lastSeenAt),
              ]),
              'no agent is registered or holds a task',
            ))
        })),
      { isDefault: true },
    )
    .addCommand(
      new Command('register')
        .description('say what an agent can take; this fills in what its claims do not say')
        .argument('<agent>', 'its name')
        .option('--types <patterns>', 'only these types: exact, eng-* or *, with commas', filledList)
        .option('--phases <names>', 'only these phases', filledList)
        .option('--skills <names>', 'what it can do; tasks that require more are left', list)
        .option('--tenant <name>', 'only tasks of this tenant')
        .option('--max-tasks <n>', 'the most tasks at the same time', positive)
        .option('--ttl <seconds>', 'the registration ends so long after the agent was last heard of (600)', secondsFrom(0.001))
        .addHelpText('after', `
An agent that failed a task gets it again only after all others, and not while another
registered agent could take it, for a minute after its longest backoff at most.
\`daybook work\` registers itself.
${examples('daybook agents register coder-1 --types "eng-*" --skills go,sql --max-tasks 2')}`)
        .action(cli.connected<Registering, [string]>(async ({ printer, client }, { maxTasks, ttl, ...options }, agent) => {
          const answer = await client.agents.register({ ...askedBy(options), agentId: agent, ...defined({ maxTasks, ttlSeconds: ttl }) })
          printer.answer(answer, () => printer.line(`${clean(agent)} is registered; this ends ${until(answer.registeredUntil)} unless it is heard of`))
        })),
    )
    .addCommand(
      new Command('terminate')
        .description('end the registration and all leases of an agent; its tasks go to others, and lose no attempt by it')
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
