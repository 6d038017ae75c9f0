/** One task: its status and the reasons, its history, its content, and its actions. */
import type { TaskView } from '@daybook/client'
import type { ComponentChildren } from 'preact'
import { linkTo, momentShown, queueLink } from '../../address/address.js'
import { exactText } from '../../api/exact-numbers.js'
import { may } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { DataTable } from '../../parts/data-table.js'
import { durationText, numberText } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { Moment } from '../../parts/moment.js'
import { StatusChip } from '../../parts/status.js'
import { Tree } from '../../parts/tree.js'
import { termText } from '../../search/parse.js'
import { nowShown } from '../../parts/moment-time.js'
import type { PageParams } from '../page-params.js'
import { LifeDiagram } from './life-diagram.js'
import { attemptsOf, type HistoryEvent, visitsOf } from './life.js'
import { Neighbours } from './neighbours.js'
import { TaskActions } from './task-actions.js'
import { type History, useHistory } from './use-history.js'
import { Why } from './why.js'

export const TaskPage = ({ params: { queue = '', id = '' } }: { readonly params: PageParams }) => {
  const task = useQueue<TaskView>(queue, ['tasks', id], { exact: true })
  const history = useHistory(queue, id)
  return (
    <div class="task-page">
      <p class="crumbs"><a href={queueLink(queue, 'tasks')}>Tasks</a> <span aria-hidden="true">›</span></p>
      <Loaded shown={task} lines={4}>{(value) => <Known queue={queue} task={value} history={history} />}</Loaded>
      {task.error?.code !== 'not-found' || history === undefined ? null : <Events queue={queue} history={history} />}
    </div>
  )
}

const isOver = ({ status }: TaskView): boolean => ['completed', 'cancelled', 'discarded'].includes(status)

/** Who may not read the log does not know when a revision was: it was not before the last event of the task. */
const nowFor = (events: ReadonlyArray<HistoryEvent>): number => nowShown() ?? Date.parse(events.at(-1)?.at ?? '')

const Known = ({ queue, task, history }: { readonly queue: string; readonly task: TaskView; readonly history: History | undefined }) => (
  <>
    <header class="task-head">
      <h1>{task.id}</h1>
      <StatusChip status={task.status} />
      <span class="quiet">#{task.number}</span>
      <span class="grow" />
      {may.operate.value && momentShown.value === undefined && <TaskActions queue={queue} task={task} />}
    </header>
    {task.description !== undefined && <p>{task.description}</p>}
    <Facts queue={queue} task={task} />
    {task.lastError !== null && !isOver(task) && <p class="problem"><strong>Last error.</strong> {task.lastError}</p>}
    {history !== undefined && <section aria-labelledby="life"><h2 id="life">Life</h2><LifeDiagram visits={visitsOf(history.events, task.status)} now={nowFor(history.events)} /></section>}
    <div class="columns">
      {!isOver(task) && <Why queue={queue} id={task.id} />}
      <Neighbours queue={queue} task={task} />
    </div>
    {history !== undefined && <Attempts queue={queue} history={history} />}
    <div class="columns">
      <Content title="Payload" value={task.payload} withheld={task.withheld} />
      {task.result !== undefined && <Content title="Result" value={task.result} withheld={undefined} />}
      {task.checkpoint !== undefined && <Content title="Checkpoint" value={task.checkpoint} withheld={undefined} />}
      {task.metadata !== undefined && <Content title="Metadata" value={task.metadata} withheld={undefined} />}
    </div>
    {history !== undefined && <Events queue={queue} history={history} />}
  </>
)

const Facts = ({ queue, task }: { readonly queue: string; readonly task: TaskView }) => {
  const search = (name: string, value: string): string => linkTo(['q', queue, 'tasks'], { q: termText(name, value) })
  return (
    <dl class="facts">
      <div><dt>type</dt><dd><a href={search('type', task.type)}>{task.type}</a></dd></div>
      <div><dt>priority</dt><dd>{task.priority}{task.priorityBoosted === true && ', bumped'}</dd></div>
      {task.tenant !== undefined && <div><dt>tenant</dt><dd><a href={search('tenant', task.tenant)}>{task.tenant}</a></dd></div>}
      {task.ticketId !== undefined && <div><dt>ticket</dt><dd><a href={search('ticket', task.ticketId)}>{task.ticketId}</a></dd></div>}
      {task.phase !== undefined && <div><dt>phase</dt><dd>{task.phase}</dd></div>}
      <div><dt>enqueued</dt><dd><Moment at={task.createdAt} /></dd></div>
      <div><dt>attempt</dt><dd>{task.attempt === 0 ? 'none yet' : `${task.attempt} of ${task.attemptsMax}`}</dd></div>
      {task.currentClaimant !== null && <div><dt>held by</dt><dd>{task.currentClaimant}{task.leaseExpiresAt !== undefined && <span class="quiet"> lease ends <Moment at={task.leaseExpiresAt} /></span>}</dd></div>}
      {task.availableAt !== undefined && <div><dt>not before</dt><dd><Moment at={task.availableAt} /></dd></div>}
      {task.deadlineAt !== undefined && <div><dt>deadline</dt><dd><Moment at={task.deadlineAt} /></dd></div>}
      {(task.requires?.skills.length ?? 0) > 0 && <div><dt>needs skills</dt><dd>{task.requires?.skills.join(', ')}</dd></div>}
      <div><dt>timeout without heartbeat</dt><dd>{durationText(task.timeout)}</dd></div>
    </dl>
  )
}

/** A link to the event in the log, for those who may read it. */
const InLog = ({ queue, revision, children }: { readonly queue: string; readonly revision: number; readonly children: ComponentChildren }) =>
  may.seeAll.value ? <a href={linkTo(['q', queue, 'log'], { from: String(revision) })}>{children}</a> : <>{children}</>

const Attempts = ({ queue, history: { events, next } }: { readonly queue: string; readonly history: History }) => {
  const attempts = [...attemptsOf(events)].reverse()
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      {attempts.length === 0 ? <p class="quiet">{next === null ? 'No agent has claimed it yet.' : 'None began in the events that are shown.'}</p> : (
        <DataTable
          caption="Attempts" rows={attempts} rowKey={({ number }) => String(number)}
          columns={[
            { key: 'number', title: 'Claim', kind: 'number', cell: ({ number, revision }) => <InLog queue={queue} revision={revision}>{next === null ? number : '…'}</InLog> },
            { key: 'agent', title: 'Agent', cell: ({ agent }) => agent },
            { key: 'from', title: 'Began', cell: ({ from }) => <Moment at={from} as="clock" /> },
            { key: 'took', title: 'Took', kind: 'number', cell: ({ from, to }) => durationText(((to ?? nowFor(events)) - from) / 1_000) },
            { key: 'outcome', title: 'Outcome', cell: ({ outcome }) => outcome },
            { key: 'error', title: 'Error or reason', cell: ({ error }) => error },
            { key: 'progress', title: 'Progress', cell: ({ progress }) => (progress === undefined ? '' : <Tree value={progress} isOpen={false} />) },
            { key: 'checkpoint', title: 'Checkpoint', cell: ({ checkpoint }) => (checkpoint === undefined ? '' : <Tree value={checkpoint} isOpen={false} />) },
          ]}
        />
      )}
    </section>
  )
}

const withheldWords = { erased: 'It was erased.', 'key-missing': 'The key that decrypts it is missing on this server.', damaged: 'It is damaged, and cannot be decrypted.' } as const

const Content = ({ title, value, withheld }: { readonly title: string; readonly value: unknown; readonly withheld: keyof typeof withheldWords | undefined }) => (
  <section aria-label={title}>
    <div class="content-head"><h2>{title}</h2>{withheld === undefined && <button type="button" class="plain small" onClick={() => void copy(exactText(value))}>Copy</button>}</div>
    {withheld === undefined ? <Tree value={value} /> : <p class="quiet">{withheldWords[withheld]}</p>}
  </section>
)

const Events = ({ queue, history }: { readonly queue: string; readonly history: History }) => (
  <section aria-labelledby="events">
    <h2 id="events">Events <span class="quiet small">{numberText(history.events.length)}, the newest first</span></h2>
    <DataTable
      caption="Events of this task" rows={[...history.events].reverse()} rowKey={({ revision }) => String(revision)}
      columns={[
        { key: 'revision', title: 'Revision', kind: 'number', cell: ({ revision }) => <InLog queue={queue} revision={revision}>{revision}</InLog> },
        { key: 'at', title: 'When', cell: ({ at }) => <Moment at={at} as="clock" /> },
        { key: 'type', title: 'Event', cell: ({ type }) => type },
        { key: 'actor', title: 'By', cell: ({ actor }) => actor ?? <span class="quiet">the queue</span> },
        { key: 'data', title: 'Data', cell: ({ data }) => <Tree value={data} isOpen={false} /> },
      ]}
    />
    <Older history={history} />
  </section>
)

/** The server sends the newest events of a long history, and searches the log step by step for a task that it no longer knows. */
const Older = ({ history: { next, isAsking, problem, fetchOlder } }: { readonly history: History }) =>
  next === null ? null : (
    <p>
      There may be older events: what this page tells of the task is from the newest alone. <button type="button" aria-busy={isAsking} onClick={() => void fetchOlder()}>Show older events</button>
      {problem !== undefined && <span role="alert" class="failed">{problem}</span>}
    </p>
  )

/** Browsers may refuse this, and have no clipboard on addresses that are neither HTTPS nor loopback. */
const copy = async (text: string): Promise<void> => {
  try {
    await navigator.clipboard?.writeText(text)
  } catch {
    // The shown text can still be selected.
  }
}
