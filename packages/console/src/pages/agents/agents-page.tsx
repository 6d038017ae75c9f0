/** Agents: what each can take, what it holds and since when, and how much it has done. */
import type { AgentView, Report, TaskPage, TaskView, Terminated } from '@daybook/client'
import { momentShown, queueLink } from '../../address/address.js'
import { command, revisionOf } from '../../api/command.js'
import { may } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { type Action, ActionButton } from '../../parts/action.js'
import { DataTable } from '../../parts/data-table.js'
import { Empty } from '../../parts/empty.js'
import { counted, numberText } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { Moment } from '../../parts/moment.js'
import { sinceHours } from '../../parts/period.js'
import { StatusMark } from '../../parts/status.js'
import type { PageParams } from '../page-params.js'

/** By agent, for the last hours. */
interface Figures {
  readonly completed: number
  readonly failed: number
}
const hours = 6

export const AgentsPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const shown = useQueue<{ readonly agents: ReadonlyArray<AgentView> }>(queue, ['agents'], { everyMs: 5_000 })
  const { value: held } = useQueue<TaskPage>(queue, ['tasks'], { query: { status: 'in-progress,incomplete', limit: '1000' } })
  const { value: report } = useQueue<Report>(queue, ['reports', 'summary'], { query: { ...sinceHours(hours), by: 'agent', bucket: 'total', top: '1000' }, everyMs: 60_000, presentOnly: true })
  const byId = new Map((held?.tasks ?? []).map((task) => [task.id, task]))
  const figures = report === undefined ? undefined : new Map(report.rows.map(({ agent, completed, failed }) => [String(agent), { completed: Number(completed), failed: Number(failed) }]))
  return (
    <>
      <h1>Agents</h1>
      <Loaded shown={shown} lines={6}>
        {({ agents }) =>
          agents.length === 0 ? (
            <Empty title="No agents"><p>An agent stands here while it is registered or holds a task: <code>npx daybook work --types 'eng-*' -- ./agent.sh</code></p></Empty>
          ) : (
            <>
              <p class="quiet">{counted(agents.filter(({ status }) => status === 'working').length, 'agent')} of {agents.length} at work.</p>
              <Agents queue={queue} agents={agents} held={byId} figures={figures} />
            </>
          )
        }
      </Loaded>
    </>
  )
}

interface AgentsProps {
  readonly queue: string
  readonly agents: ReadonlyArray<AgentView>
  readonly held: ReadonlyMap<string, TaskView>
  readonly figures: ReadonlyMap<string, Figures> | undefined
}

const Agents = ({ queue, agents, held, figures }: AgentsProps) => {
  const canTerminate = may.operate.value && momentShown.value === undefined
  return (
    <DataTable<AgentView>
      caption="Agents" rows={agents} rowKey={({ agentId }) => agentId}
      columns={[
        { key: 'agent', title: 'Agent', cell: ({ agentId, status, tenant, sleepsUntil }) => <><StatusMark status={status === 'working' ? 'in-progress' : 'cancelled'} /> <strong class="name">{agentId}</strong> <span class="quiet">{status}{tenant !== undefined && <>, for {tenant}</>}</span>{sleepsUntil !== undefined && <div class="quiet">met a rate limit, gets no task until <Moment at={sleepsUntil} /></div>}</> },
        { key: 'takes', title: 'Takes', cell: ({ types, phases, skills }) => <Abilities types={types} phases={phases} skills={skills} /> },
        { key: 'holds', title: 'Holds', cell: (agent) => <Holds queue={queue} agent={agent} held={held} /> },
        { key: 'seen', title: 'Heard of', cell: ({ lastSeenAt, registeredUntil }) => (lastSeenAt === undefined ? <span class="quiet">not registered</span> : <><Moment at={lastSeenAt} />{registeredUntil !== undefined && <div class="quiet">registered, ends <Moment at={registeredUntil} /></div>}</>) },
        { key: 'done', title: `Done, ${hours} h`, kind: 'number', cell: ({ agentId }) => <Count of={figures?.get(agentId)?.completed} isKnown={figures !== undefined} /> },
        { key: 'failed', title: `Failed, ${hours} h`, kind: 'number', cell: ({ agentId }) => <Count of={figures?.get(agentId)?.failed} isKnown={figures !== undefined} /> },
        ...(canTerminate ? [{ key: 'act', title: 'Action', cell: (agent: AgentView) => <ActionButton action={() => terminate(queue, agent)}>Terminate …</ActionButton> }] : []),
      ]}
    />
  )
}

/** Without a rate per hour: how long an agent has been there is not known. */
const Count = ({ of: count = 0, isKnown }: { readonly of: number | undefined; readonly isKnown: boolean }) => (isKnown ? <>{numberText(count)}</> : <span class="quiet">–</span>)

const Abilities = ({ types = ['*'], phases = [], skills = [] }: { readonly types: ReadonlyArray<string> | undefined; readonly phases: ReadonlyArray<string> | undefined; readonly skills: ReadonlyArray<string> | undefined }) => (
  <>
    <div>{types.map((type) => <code key={type} class="tag">{type}</code>)}</div>
    {skills.length > 0 && <div class="quiet">skills: {skills.join(', ')}</div>}
    {phases.length > 0 && <div class="quiet">{phases.map((phase) => phase.toLowerCase()).join(', ')}</div>}
  </>
)

const Holds = ({ queue, agent: { tasks, leases, maxTasks }, held }: { readonly queue: string; readonly agent: AgentView; readonly held: ReadonlyMap<string, TaskView> }) => {
  const ends = new Map(leases.map(({ task, expiresAt }) => [task, expiresAt]))
  return (
    <>
      {tasks.map((id) => {
        const since = held.get(id)?.claimedAt
        const until = ends.get(id)
        return <div key={id}><a href={queueLink(queue, 'tasks', id)}>{id}</a> <span class="quiet">{since !== null && since !== undefined && <Moment at={since} as="for" />}{until !== undefined && <>, lease ends <Moment at={until} /></>}</span></div>
      })}
      <div class="quiet">{maxTasks === undefined ? counted(tasks.length, 'task') : `${numberText(tasks.length)} of ${counted(maxTasks, 'task')}`}</div>
    </>
  )
}

const terminate = (queue: string, { agentId, tasks }: AgentView): Action => ({
  title: `Terminate ${agentId}`,
  does: <p>Its registration ends. {tasks.length === 0 ? 'It holds no task.' : `It loses ${counted(tasks.length, 'task, which goes', 'tasks, which go')} back to the queue, without an attempt being counted.`} The program itself is not stopped: it may claim again.</p>,
  verb: 'Terminate it',
  isDestructive: true,
  run: async ({ reason }) => {
    const answer = await command<Terminated>('DELETE', queue, ['agents', agentId], undefined, { reason })
    return { said: `${agentId} is terminated, and ${counted(answer.value.reassignedTasks.length, 'task')} went back to the queue.`, queue, ...revisionOf(answer) }
  },
})
