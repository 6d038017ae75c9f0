/** What changed between two moments: in how many tasks, in which way, and by which events. The slider has a handle for each moment. */
import type { Depth, Difference, EventReference, TaskDifference } from '@daybook/client'
import { useEffect, useState } from 'preact/hooks'
import { address, go, linkTo, momentShown, withQuery } from '../../address/address.js'
import { pathOf } from '../../address/url.js'
import { serverNow } from '../../api/server-time.js'
import { useQuestion } from '../../api/use-query.js'
import { now } from '../../parts/clock.js'
import { DataTable } from '../../parts/data-table.js'
import { Empty } from '../../parts/empty.js'
import { counted, numberText } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { fullTime } from '../../parts/moment.js'
import { StatusChip, statusOrder } from '../../parts/status.js'
import { momentOf, textOfMoment } from '../../time/compared.js'
import { isQueueItself } from '../audit/commands.js'
import type { PageParams } from '../page-params.js'
import { otherMembers, type Way, wayOf, waysOf } from './ways.js'

const tasksMax = 1_000
const rowsStep = 100
const hourMs = 3_600_000

export const ChangesPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const { from, to } = address.value.query
  // The address says what is compared: also to whom it is sent.
  useEffect(() => {
    if (from === undefined) go(withQuery({ from: textOfMoment(momentShown.peek()) ?? new Date(serverNow() - hourMs).toISOString(), at: undefined, revision: undefined }), { replace: true })
  }, [from])
  return (
    <>
      <h1>Changes</h1>
      {from !== undefined && <Compared key={`${from} ${to}`} queue={queue} from={from} to={to} />}
    </>
  )
}

interface ComparedProps {
  readonly queue: string
  readonly from: string
  /** `undefined`: now. */
  readonly to: string | undefined
}

const Compared = ({ queue, from, to }: ComparedProps) => {
  const [begunAt] = useState(serverNow)
  const shown = useQuestion<Difference>({ path: pathOf(['api', 'queues', queue, 'diff']), query: { from, to, limit: String(tasksMax) } })
  const isFirst = shown.value === undefined && shown.error === undefined
  return (
    <>
      {isFirst && <p class="quiet awaited" role="status">Comparing … <span aria-hidden="true">{Math.max(0, Math.round((now.value - begunAt) / 1_000))} s</span></p>}
      <Loaded shown={shown} lines={6}>{(difference) => <Differences queue={queue} difference={difference} to={to} again={shown.again} />}</Loaded>
    </>
  )
}

/** The last event of a moment. */
const eventText = (revision: number): string => (revision < 0 ? 'before the first event' : `event ${numberText(revision)}`)

/** A moment as a link into the console as it was. */
const At = ({ queue, of: { revision, at }, isNow = false }: { readonly queue: string; readonly of: Difference['from']; readonly isNow?: boolean }) => {
  if (isNow) return <><a href={linkTo(['q', queue])}>now</a> ({eventText(revision)})</>
  if (at === null) return <>before the first event</>
  return <><a href={linkTo(['q', queue], { at })}>{fullTime(Date.parse(at))}</a> ({eventText(revision)})</>
}

const Differences = ({ queue, difference, to, again }: { readonly queue: string; readonly difference: Difference; readonly to: string | undefined; readonly again: () => void }) => {
  const { tasks, breakers, nextCursor } = difference
  const events = difference.to.revision - difference.from.revision
  return (
    <>
      <p>
        From <At queue={queue} of={difference.from} /> to <At queue={queue} of={difference.to} isNow={to === undefined} />: {counted(events, 'event')}, {nextCursor !== null && 'more than '}{counted(tasks.length, 'task')} and {counted(breakers.length, 'breaker')} differ.{' '}
        {to === undefined && <button type="button" class="plain" onClick={again}>Compare again</button>}
      </p>
      {tasks.length === 0 && breakers.length === 0 ? (
        <Empty title="Nothing differs"><p>Every task and every breaker is as it was. What changed and changed back does not stand here; the <a href={linkTo(['q', queue, 'log'], { from: String(Math.max(0, difference.from.revision + 1)) })}>log</a> has it.</p></Empty>
      ) : (
        <>
          <div class="halves">
            <section class="panel"><h2>Tasks by status</h2><Counts queue={queue} difference={difference} /></section>
            <section class="panel"><h2>What became of them</h2><Ways ways={waysOf(tasks)} />{nextCursor !== null && <p class="quiet">Of the first {numberText(tasksMax)} that differ. Moments that are closer together show all.</p>}</section>
          </div>
          {breakers.length > 0 && <section class="changed"><h2>Breakers</h2><Breakers queue={queue} breakers={breakers} /></section>}
          {tasks.length > 0 && <section class="changed"><h2>Tasks</h2><Tasks queue={queue} tasks={tasks} difference={difference} /></section>}
        </>
      )}
    </>
  )
}

/** As parameters of a question: the revision, so that the figures are those of the comparison. Before the first event there is nothing. */
const momentIn = ({ revision }: Difference['from']): { readonly revision: string } => ({ revision: String(revision) })

const Counts = ({ queue, difference: { from, to } }: { readonly queue: string; readonly difference: Difference }) => {
  const path = pathOf(['api', 'queues', queue, 'depth'])
  const before = useQuestion<Depth>(from.revision < 0 ? undefined : { path, query: momentIn(from) }).value?.byStatus
  const after = useQuestion<Depth>({ path, query: momentIn(to) }).value?.byStatus
  if (after === undefined || (before === undefined && from.revision >= 0)) return <p class="quiet" aria-busy="true">…</p>
  const rows = statusOrder.map((status) => ({ status, then: before?.[status] ?? 0, now: after[status] })).filter(({ then, now: count }) => then > 0 || count > 0)
  const search = (status: string, of: Difference['from']): string => linkTo(['q', queue, 'tasks'], { q: `status:${status}`, ...momentIn(of) })
  return (
    <DataTable
      caption="Tasks by status at both moments" rows={rows} rowKey={({ status }) => status}
      columns={[
        { key: 'status', title: 'Status', cell: ({ status }) => <StatusChip status={status} /> },
        { key: 'then', title: 'Then', kind: 'number', cell: ({ status, then }) => (then === 0 ? 0 : <a href={search(status, from)}>{numberText(then)}</a>) },
        { key: 'now', title: 'Later', kind: 'number', cell: ({ status, now: count }) => (count === 0 ? 0 : <a href={search(status, to)}>{numberText(count)}</a>) },
        { key: 'more', title: 'Difference', kind: 'number', cell: ({ then, now: count }) => (then === count ? <span class="quiet">0</span> : <strong>{count > then ? '+' : '−'}{numberText(Math.abs(count - then))}</strong>) },
      ]}
    />
  )
}

const Status = ({ status, none }: { readonly status: string | undefined; readonly none: string }) => (status === undefined ? <span class="quiet">{none}</span> : <StatusChip status={status} />)

const WayText = ({ way: { key, before, after } }: { readonly way: Omit<Way, 'count'> }) =>
  key === 'same' ? <span class="quiet">same status, otherwise changed</span> : <span class="way"><Status status={before} none="new" /> → <Status status={after} none="gone" /></span>

const Ways = ({ ways }: { readonly ways: ReadonlyArray<Way> }) => {
  const chosen = address.value.query.way
  return (
    <ul class="ways">
      {ways.map((way) => (
        <li key={way.key}>
          <a href={withQuery({ way: way.key === chosen ? undefined : way.key })} aria-current={way.key === chosen ? 'true' : undefined}><WayText way={way} /> <span class="figure">{numberText(way.count)}</span></a>
        </li>
      ))}
    </ul>
  )
}

/** The last ones, with a link into the log each; who did it stands after the last of several by the same. */
const Events = ({ queue, events }: { readonly queue: string; readonly events: ReadonlyArray<EventReference> }) => (
  <span class="events">
    {events.length > eventsMax && <span class="quiet">{events.length - eventsMax} before, </span>}
    {events.slice(-eventsMax).map(({ revision, type, actor }, i, shown) => (
      <span key={revision}>
        <a href={linkTo(['q', queue, 'log'], { from: String(revision) })}>{type}</a>{shown[i + 1]?.actor !== actor && <span class="quiet"> by {isQueueItself(actor) ? 'the queue' : actor}</span>}{i < shown.length - 1 && ', '}
      </span>
    ))}
  </span>
)
const eventsMax = 4

const Breakers = ({ queue, breakers }: { readonly queue: string; readonly breakers: Difference['breakers'] }) => (
  <DataTable
    caption="Breakers that differ" rows={breakers} rowKey={({ type }) => type}
    columns={[
      { key: 'type', title: 'Type', cell: ({ type }) => <strong class="name">{type}</strong> },
      { key: 'way', title: 'Change', cell: ({ before, after }) => <span class="way"><Status status={before?.state ?? 'closed'} none="" /> → <Status status={after?.state ?? 'closed'} none="" /></span> },
      { key: 'failures', title: 'Failures in a row', kind: 'number', cell: ({ before, after }) => `${before?.failures ?? 0} → ${after?.failures ?? 0}` },
      { key: 'events', title: 'By', cell: ({ events }) => <Events queue={queue} events={events} /> },
    ]}
  />
)

const shortText = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)} …` : text
}

const Tasks = ({ queue, tasks, difference }: { readonly queue: string; readonly tasks: ReadonlyArray<TaskDifference>; readonly difference: Difference }) => {
  const chosen = address.value.query.way
  const [rowsMax, setRowsMax] = useState(rowsStep)
  const found = chosen === undefined ? tasks : tasks.filter((task) => wayOf(task).key === chosen)
  const then = momentIn(difference.from)
  return (
    <>
      {chosen !== undefined && <p>{counted(found.length, 'task')} of this kind. <a href={withQuery({ way: undefined })}>Show all {numberText(tasks.length)}</a></p>}
      <DataTable<TaskDifference>
        caption="Tasks that differ" rows={found.slice(0, rowsMax)} rowKey={({ id }) => id}
        columns={[
          { key: 'task', title: 'Task', cell: ({ id, before }) => <><a href={linkTo(['q', queue, 'tasks', id], { ...momentOf(address.value.query.to) })}>{id}</a>{before !== null && <> <a class="quiet small" href={linkTo(['q', queue, 'tasks', id], then)}>as it was</a></>}</> },
          { key: 'type', title: 'Type', cell: ({ type }) => type },
          { key: 'way', title: 'Status', cell: (task) => <WayText way={wayOf(task)} /> },
          { key: 'events', title: 'By', cell: ({ events }) => <Events queue={queue} events={events} /> },
          { key: 'members', title: 'Also', cell: (task) => <Members task={task} /> },
        ]}
      />
      {found.length > rowsMax && <p><button type="button" onClick={() => setRowsMax(rowsMax + rowsStep)}>Show {numberText(Math.min(rowsStep, found.length - rowsMax))} more of {numberText(found.length - rowsMax)}</button></p>}
    </>
  )
}

const Members = ({ task }: { readonly task: TaskDifference }) => {
  const members = otherMembers(task)
  if (members.length === 0) return null
  return (
    <details>
      <summary class="quiet">{members.map(({ name }) => name).join(', ')}</summary>
      <dl class="members">{members.map(({ name, before, after }) => <div key={name}><dt>{name}</dt><dd>{shortText(before)} → {shortText(after)}</dd></div>)}</dl>
    </details>
  )
}
