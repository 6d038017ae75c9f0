/** One queue: its present and past depth, how long tasks wait, how busy its agents are, and what keeps tasks from running. */
import type { BreakerView, Depth, LimitView, QueueSummary, Report, TaskPage } from '@daybook/client'
import { linkTo, momentShown, queueLink } from '../../address/address.js'
import { serverNow } from '../../api/server-time.js'
import { useQuestion, useQueue } from '../../api/use-query.js'
import { Bars } from '../../parts/bars.js'
import { durationText, numberText } from '../../parts/format.js'
import { LineChart } from '../../parts/line-chart.js'
import { Loaded } from '../../parts/loaded.js'
import { sinceHours } from '../../parts/period.js'
import { StatusBar } from '../../parts/status-bar.js'
import type { PageParams } from '../page-params.js'
import type { QueueStatus } from '../now/queue-card.js'
import { termText } from '../../search/parse.js'
import { blockedBy, isForEach } from './blocked-by.js'
import { depthOverTime } from './depth-over-time.js'

const hours = 6
const quarter = '15'

export const QueuePage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const moment = momentShown.value
  const summary = useQueue<QueueSummary>(queue, [])
  const depth = useQueue<Depth>(queue, ['depth'], { everyMs: 5_000 })
  const status = useQuestion<QueueStatus>({ path: '/api/queue_status', query: { queue, ...moment }, ...(moment === undefined ? { queue, everyMs: 5_000 } : {}) })
  const period = { ...sinceHours(hours), bucket: quarter }
  const throughput = useQueue<Report>(queue, ['reports', 'throughput'], { query: period, everyMs: 60_000, presentOnly: true })
  // The rows of a past moment end with a quarter, so the depth is that of its end.
  const depthAtEnd = useQueue<Depth>(queue, ['depth'], { query: { at: period.to }, presentOnly: true, isAskedOnce: true, when: period.to !== undefined })
  const depthOfChart = (moment === undefined ? depth : depthAtEnd).value
  const latency = useQueue<Report>(queue, ['reports', 'latency'], { query: period, everyMs: 60_000, presentOnly: true })
  const overall = useQueue<Report>(queue, ['reports', 'latency'], { query: { ...sinceHours(1), bucket: 'total' }, everyMs: 60_000, presentOnly: true })
  return (
    <>
      <h1>{queue}</h1>
      <Loaded shown={summary}>{({ byStatus }) => <StatusBar queue={queue} byStatus={byStatus} />}</Loaded>
      <Loaded shown={depth}>
        {(found) => (
          <dl class="figures wide">
            <Figure name="oldest wait" value={found.oldestPendingAt === null ? '–' : durationText(found.oldestWaitSeconds)} />
            <Waits row={overall.value?.rows[0]} />
            {status.value !== undefined && <Utilisation status={status.value} />}
          </dl>
        )}
      </Loaded>
      <div class="halves">
        <section class="panel" aria-label="What keeps tasks from running">
          <h2>What keeps tasks from running</h2>
          {depth.value !== undefined && summary.value !== undefined && status.value !== undefined && <Blocked queue={queue} depth={depth.value} paused={summary.value.paused} status={status.value} />}
        </section>
        <section class="panel" aria-label="Pending tasks by type">
          <h2>Pending, by type</h2>
          {depth.value !== undefined && <ByType queue={queue} byType={depth.value.byType} />}
        </section>
        <section class="panel" aria-label="Depth over time">
          <h2>Depth, {hours} hours</h2>
          <Loaded shown={throughput}>{({ rows }) => (depthOfChart === undefined ? null : <DepthChart rows={rows} depth={unfinished(depthOfChart)} end={period.to} />)}</Loaded>
        </section>
        <section class="panel" aria-label="Waits over time">
          <h2>Waits, {hours} hours</h2>
          <Loaded shown={latency}>{({ rows }) => <WaitChart rows={rows} />}</Loaded>
        </section>
      </div>
    </>
  )
}

const unfinished = ({ byStatus }: Depth): number =>
  byStatus.pending + byStatus.queued + byStatus.scheduled + byStatus.blocked + byStatus.waiting + byStatus['in-progress'] + byStatus.incomplete

const Figure = ({ name, value, note }: { readonly name: string; readonly value: string; readonly note?: string }) => (
  <div><dt>{name}</dt><dd>{value}{note !== undefined && <> <span class="quiet">{note}</span></>}</dd></div>
)

const seconds = (value: unknown): string => (typeof value === 'number' ? durationText(value) : '–')

const Waits = ({ row }: { readonly row: Report['rows'][number] | undefined }) => (
  <>
    <Figure name="wait p50, last hour" value={seconds(row?.['waitP50Seconds'])} />
    <Figure name="wait p99, last hour" value={seconds(row?.['waitP99Seconds'])} />
    <Figure name="run p50, last hour" value={seconds(row?.['runP50Seconds'])} />
  </>
)

const Utilisation = ({ status: { active_agents: active, max_concurrent_agents: most } }: { readonly status: QueueStatus }) => (
  <Figure name="utilisation" value={`${numberText((active / most) * 100)} %`} note={`${numberText(active)} of ${numberText(most)} agents`} />
)

interface BlockedProps {
  readonly queue: string
  readonly depth: Depth
  readonly paused: string | null
  readonly status: QueueStatus
}

const Blocked = ({ queue, depth, paused, status: { at_capacity: isAtCapacity, active_agents: agentsAtWork } }: BlockedProps) => {
  const breakers = useQueue<{ readonly breakers: Readonly<Record<string, BreakerView>> }>(queue, ['breakers'])
  const limits = useQueue<{ readonly limits: ReadonlyArray<LimitView> }>(queue, ['limits'])
  const known = limits.value?.limits ?? []
  // Limits for each type or tenant say nothing of one: the tasks that run do.
  const { value: held } = useQueue<TaskPage>(queue, ['tasks'], { query: { status: 'in-progress,incomplete', limit: '1000' }, when: known.some(isForEach) })
  const reasons = blockedBy({ depth, breakers: breakers.value?.breakers ?? {}, limits: known, held: held?.tasks ?? [], paused, isAtCapacity, agentsAtWork })
  if (reasons.length === 0) return <p class="quiet">Nothing: what is ready waits only for its turn.</p>
  return (
    <Bars
      label="tasks by what keeps them from running"
      bars={reasons.map(({ key, reason, count, status, to }) => ({ key, value: count, status, name: <a href={'page' in to ? queueLink(queue, to.page) : linkTo(['q', queue, 'tasks'], { q: to.search })}>{reason}</a> }))}
    />
  )
}

const typesShown = 8

const ByType = ({ queue, byType }: { readonly queue: string; readonly byType: Readonly<Record<string, number>> }) => {
  const types = Object.entries(byType).sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
  if (types.length === 0) return <p class="quiet">No task is pending.</p>
  return <Bars label="pending tasks by type" bars={types.slice(0, typesShown).map(([type, count]) => ({ key: type, value: count, status: 'pending', name: <a href={linkTo(['q', queue, 'tasks'], { q: `${termText('type', type)} status:pending,queued` })}>{type}</a> }))} />
}

const DepthChart = ({ rows, depth: last, end }: { readonly rows: Report['rows']; readonly depth: number; readonly end: string | undefined }) => {
  const points = depthOverTime(rows, last, end === undefined ? serverNow() : Date.parse(end))
  if (points.length < 2) return <p class="quiet">Too little has happened yet.</p>
  return <LineChart times={points.map(({ at }) => at / 1_000)} label={`unfinished tasks over ${hours} hours, ${numberText(last)} at their end`} lines={[{ label: 'unfinished', status: 'pending', values: points.map(({ depth }) => depth), isFilled: true }]} />
}

const WaitChart = ({ rows }: { readonly rows: Report['rows'] }) => {
  const values = (name: string): ReadonlyArray<number | null> => rows.map((row) => (typeof row[name] === 'number' ? row[name] : null))
  if (rows.length < 2 || values('waitP50Seconds').every((value) => value === null)) return <p class="quiet">Too little has happened yet.</p>
  return (
    <LineChart
      times={rows.map((row) => Date.parse(String(row['from'])) / 1_000)} label={`waits until a claim over ${hours} hours`} textOf={durationText}
      lines={[
        { label: 'p50', status: 'in-progress', values: values('waitP50Seconds') },
        { label: 'p99', status: 'blocked', values: values('waitP99Seconds'), dash: [4, 3] },
      ]}
    />
  )
}
