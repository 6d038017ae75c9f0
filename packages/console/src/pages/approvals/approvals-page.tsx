/** What waits for a guardian: discoveries about other tickets, halted chains of fixes, dead letters in such chains. */
import type { Approval, ApprovalContext, Approved, WaitingTask } from '@daybook/client'
import { momentShown, queueLink } from '../../address/address.js'
import { command, revisionOf } from '../../api/command.js'
import { may } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { type Action, ActionButton } from '../../parts/action.js'
import { Empty } from '../../parts/empty.js'
import { counted } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { Moment } from '../../parts/moment.js'
import { StatusChip } from '../../parts/status.js'
import type { PageParams } from '../page-params.js'

const titles = { spawn: 'A discovery asks for work', loop: 'A chain of fixes was halted', 'dead-letter': 'A task of a chain is a dead letter' } as const
const causes: Readonly<Record<Approval['cause'], string>> = {
  'other-ticket': 'it is about another ticket',
  'too-many-generations': 'it is too many steps from the first task of its chain',
  'signature-repeated': 'validation failed in the same way too often',
  'rounds-exhausted': 'the chain has had too many rounds',
  'retries-exhausted': 'its last attempt failed',
  'attempts-exhausted': 'it was claimed too often without success',
  'not-retryable': 'its failure cannot be retried',
  imported: 'it was imported as a dead letter',
}

export const ApprovalsPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const shown = useQueue<{ readonly approvals: ReadonlyArray<Approval> }>(queue, ['approvals'])
  return (
    <>
      <h1>Approvals</h1>
      <Loaded shown={shown} lines={6}>
        {({ approvals }) =>
          approvals.length === 0 ? (
            <Empty title="Nothing waits for a guardian"><p>What agents discover about other tickets waits here, and so do chains of fixes that go round in circles.</p></Empty>
          ) : (
            <>
              <p class="quiet">{counted(approvals.length, 'proposal waits', 'proposals wait')} for a guardian, the oldest first. Until then, nothing is enqueued for them.</p>
              <ul class="stack">{approvals.map((approval) => <Proposal key={approval.id} queue={queue} approval={approval} />)}</ul>
            </>
          )
        }
      </Loaded>
    </>
  )
}

const Proposal = ({ queue, approval }: { readonly queue: string; readonly approval: Approval }) => {
  const { id, kind, cause, parent, root, at, rounds, error, tasks } = approval
  // Once: as soon as it is decided, by whomever, there is no such proposal any more, and the list says so by itself.
  const context = useQueue<ApprovalContext>(queue, ['approvals', id], { isAskedOnce: true })
  const canDecide = may.guard.value && momentShown.value === undefined
  return (
    <li class="panel">
      <header class="bar">
        <h2>{titles[kind]}</h2>
        <span class="quiet"><Moment at={at} /></span>
        <span class="grow" />
        {canDecide && <ActionButton primary action={() => approve(queue, approval)}>Approve …</ActionButton>}
        {canDecide && <ActionButton action={() => refuse(queue, approval)}>Refuse …</ActionButton>}
      </header>
      <p>
        By <a href={queueLink(queue, 'tasks', parent)}>{parent}</a>{root !== parent && <>, in the chain that began with <a href={queueLink(queue, 'tasks', root)}>{root}</a></>}. It waits because {causes[cause]}{rounds !== undefined && <>, after {counted(rounds, 'round')}</>}.
      </p>
      {error !== undefined && <pre>{error}</pre>}
      <Loaded shown={context}>
        {({ tasks: whole, chain, signatures }) => (
          <>
            {whole.length > 0 && <><h3>What would be enqueued</h3><ul>{whole.map((task) => <Waiting key={task.id} task={task} />)}</ul></>}
            {chain.length > 0 && (
              <details>
                <summary>The chain: {counted(chain.length, 'task')}</summary>
                <ul>{chain.map(({ id: each, type, status, lastError }) => <li key={each}><StatusChip status={status} /> <a href={queueLink(queue, 'tasks', each)}>{each}</a> <code>{type}</code> {lastError !== null && <span class="error">{lastError}</span>}</li>)}</ul>
                {Object.entries(signatures).map(([signature, count]) => <p key={signature} class="quiet"><code>{signature.slice(0, 12)}</code> {counted(count, 'time')}</p>)}
              </details>
            )}
          </>
        )}
      </Loaded>
      {tasks.length === 0 && kind === 'dead-letter' && <p class="quiet">If it is approved, the dead letter goes back to the queue.</p>}
    </li>
  )
}

const Waiting = ({ task: { type, priority, phase, ticketId, tenant, description, payload } }: { readonly task: WaitingTask }) => (
  <li>
    <p>
      <code>{type}</code> <span class="quiet">priority {priority}{phase !== undefined && `, ${phase.toLowerCase()}`}{ticketId !== undefined && `, ticket ${ticketId}`}{tenant !== undefined && `, for ${tenant}`}</span>
      {description !== undefined && <><br />{description}</>}
    </p>
    {payload !== undefined && payload !== null && <details><summary class="quiet">payload</summary><pre>{JSON.stringify(payload, null, 2)}</pre></details>}
  </li>
)

const approve = (queue: string, { id, tasks, kind }: Approval): Action => ({
  title: 'Approve this proposal',
  does: kind === 'dead-letter' ? <p>The dead letter goes back to the queue.</p> : <p>{counted(tasks.length, 'task is', 'tasks are')} enqueued.{kind === 'loop' && ' The rounds of the chain are counted from zero again.'}</p>,
  verb: 'Approve it',
  run: async ({ reason }) => {
    const answer = await command<Approved>('POST', queue, ['approvals', id, 'approve'], { reason })
    const { spawned, retried } = answer.value
    const [first] = [...spawned, ...retried]
    return { said: `Approved: ${counted(spawned.length + retried.length, 'task is', 'tasks are')} in the queue.`, queue, ...revisionOf(answer), ...(first === undefined ? {} : { link: { to: queueLink(queue, 'tasks', first), text: first } }) }
  },
})

const refuse = (queue: string, { id, tasks }: Approval): Action => ({
  title: 'Refuse this proposal',
  does: <p>{tasks.length === 0 ? 'Nothing is enqueued' : `${counted(tasks.length, 'task is', 'tasks are')} not enqueued`}. The proposal stays in the log.</p>,
  verb: 'Refuse it',
  isDestructive: true,
  run: async ({ reason }) => ({ said: 'Refused.', queue, ...revisionOf(await command('POST', queue, ['approvals', id, 'refuse'], { reason })) }),
})
