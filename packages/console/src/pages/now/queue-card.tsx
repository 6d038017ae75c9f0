/** One queue on the first page: its depth, its rates, and whether it needs somebody. */
import type { AlertView, QueueSummary, Report, ReportRows } from '@daybook/client'
import { useEffect, useState } from 'preact/hooks'
import { linkTo, momentShown, queueLink } from '../../address/address.js'
import { request } from '../../api/request.js'
import { serverNow } from '../../api/server-time.js'
import { may } from '../../api/session.js'
import { useQuestion, useQueue } from '../../api/use-query.js'
import { type Action, ActionButton } from '../../parts/action.js'
import { counted, durationText, numberText } from '../../parts/format.js'
import { Moment } from '../../parts/moment.js'
import { quarterBefore } from '../../parts/period.js'
import { StatusBar } from '../../parts/status-bar.js'
import { StatusMark } from '../../parts/status.js'
import { pathOf } from '../../address/url.js'
import { termText } from '../../search/parse.js'
import { needOf } from './need.js'
import { Rates } from './rates.js'

/** The answer of `GET /api/queue_status`. */
export interface QueueStatus {
  readonly active_agents: number
  readonly max_concurrent_agents: number
  readonly at_capacity: boolean
  readonly oldest_wait_seconds: number
}

const statusMs = 5_000
const alertsMs = 5_000
const ratesMs = 60_000

export interface QueueCardProps {
  readonly queue: QueueSummary
  /** Called whenever the urgency of this queue changes. */
  readonly onNeed: (queue: string, need: number) => void
}

export const QueueCard = (props: QueueCardProps) => (may.seeAll.value ? <WholeQueue {...props} /> : <OwnPart {...props} />)

const WholeQueue = ({ queue, onNeed }: QueueCardProps) => {
  const { name, paused, byStatus } = queue
  const moment = momentShown.value
  const alerts = useQueue<{ readonly alerts: ReadonlyArray<AlertView> }>(name, ['alerts'], { everyMs: alertsMs })
  const status = useQuestion<QueueStatus>({ path: '/api/queue_status', query: { queue: name, ...moment }, ...(moment === undefined ? { everyMs: statusMs } : {}) })
  const rates = useQueue<Report<ReportRows['throughput']>>(name, ['reports', 'throughput'], { query: inQuarters(6), everyMs: ratesMs, presentOnly: true, when: moment === undefined })
  const raised = alerts.value?.alerts ?? []
  const need = needOf({ alerts: raised, isPaused: paused !== null, deadLetters: byStatus['dead-letter'], oldestWaitSeconds: status.value?.oldest_wait_seconds ?? 0 })
  useEffect(() => onNeed(name, need), [name, need])
  const unfinished = byStatus.pending + byStatus.queued
  // There is one alert for each breaker that is not closed.
  const breakers = raised.filter(({ kind }) => kind === 'breaker-open').length
  return (
    <article class="queue-card" aria-label={`queue ${name}`}>
      <header>
        <h2><a href={queueLink(name, 'tasks')}>{name}</a></h2>
        <Paused paused={paused} />
        <span class="grow" />
        {may.operate.value && moment === undefined && <ActionButton action={() => pauseOrResume(name, paused, unfinished)}>{paused === null ? 'Pause …' : 'Resume …'}</ActionButton>}
      </header>
      <Alerts queue={name} raised={raised} />
      <StatusBar queue={name} byStatus={byStatus} />
      <dl class="figures">
        <div><dt>oldest wait</dt><dd>{status.value === undefined ? '…' : unfinished === 0 ? '–' : durationText(status.value.oldest_wait_seconds)}</dd></div>
        <div><dt>agents at work</dt><dd>{status.value === undefined ? '…' : <>{numberText(status.value.active_agents)} <span class="quiet">of {numberText(status.value.max_concurrent_agents)}{status.value.at_capacity && ', full'}</span></>}</dd></div>
        <div><dt>breakers open</dt><dd>{alerts.value === undefined ? '…' : breakers === 0 ? '–' : <a href={queueLink(name, 'breakers')}>{numberText(breakers)}</a>}</dd></div>
        <Rates shown={rates} />
      </dl>
    </article>
  )
}

const alertsShown = 3

/** Where the tasks are that an alert is about. */
const linkOf = (queue: string, kind: AlertView['kind'], key: string): string => {
  const about = key.slice(kind.length + 1)
  const search = (q: string): string => linkTo(['q', queue, 'tasks'], { q })
  switch (kind) {
    case 'breaker-open':
      return queueLink(queue, 'breakers')
    case 'dead-letters':
      return search(`${termText('type', about)} status:dead-letter`)
    case 'attempts-exhausted':
      return queueLink(queue, 'tasks', about)
    case 'critical-waiting':
      return search('status:pending,queued priority:CRITICAL')
    case 'starvation':
      return search('status:pending,queued')
    case 'retry-spike':
      return linkTo(['q', queue, 'reports'], { report: 'failures' })
  }
}

/** The first ones, so that many alerts of one queue do not push the other queues out of sight; the others on request. */
const Alerts = ({ queue, raised }: { readonly queue: string; readonly raised: ReadonlyArray<AlertView> }) => {
  const [isWhole, setWhole] = useState(false)
  if (raised.length === 0) return null
  return (
    <div class="alerts">
      <ul aria-label={`alerts of ${queue}`}>
        {raised.slice(0, isWhole ? raised.length : alertsShown).map(({ key, kind, message, raisedAt }) => <li key={key}><StatusMark status="open" /> <strong><a href={linkOf(queue, kind, key)}>{kind.replace(/-/g, ' ')}</a></strong>: {withoutCommand(message)} <span class="quiet">· <Moment at={raisedAt} as="for" /></span></li>)}
      </ul>
      {raised.length > alertsShown && <button type="button" class="plain" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>{isWhole ? 'Fewer' : `${numberText(raised.length - alertsShown)} more`}<span class="hidden"> alerts of {queue}</span></button>}
    </div>
  )
}

/** Of the tasks of the token's tenants: everything else is about the whole queue. */
const OwnPart = ({ queue: { name, paused, byStatus }, onNeed }: QueueCardProps) => {
  const need = needOf({ alerts: [], isPaused: paused !== null, deadLetters: byStatus['dead-letter'], oldestWaitSeconds: 0 })
  useEffect(() => onNeed(name, need), [name, need])
  return (
    <article class="queue-card" aria-label={`queue ${name}`}>
      <header>
        <h2><a href={queueLink(name, 'tasks')}>{name}</a></h2>
        <Paused paused={paused} />
      </header>
      <StatusBar queue={name} byStatus={byStatus} />
    </article>
  )
}

const Paused = ({ paused }: { readonly paused: string | null }) =>
  paused === null ? null : <span class="chip" data-status="waiting"><StatusMark status="waiting" />paused{paused !== '' && `: ${paused}`}</span>

/** Alerts tell people at a terminal what to call; here the page shows it. */
const withoutCommand = (message: string): string => message.replace(/: see GET .*$/, '')

const inQuarters = (hours: number): { readonly from: string; readonly bucket: string } => ({ from: quarterBefore(serverNow() - hours * 3_600_000), bucket: '15' })

const pauseOrResume = (queue: string, paused: string | null, waiting: number): Action => {
  const [verb, path, said] = paused === null ? (['Pause', 'pause', 'is paused'] as const) : (['Resume', 'resume', 'goes on'] as const)
  return {
    title: `${verb} the queue ${queue}`,
    does: paused === null
      ? <p>No agent gets a task of this queue until it is resumed: {counted(waiting, 'task waits', 'tasks wait')} now. Tasks that agents hold may be finished.</p>
      : <p>Agents get tasks again: {counted(waiting, 'task waits', 'tasks wait')} now. It was paused{paused === '' ? '.' : `: ${paused}`}</p>,
    verb,
    reason: paused === null ? 'required' : 'optional',
    run: async ({ reason }) => {
      const { revision } = await request('POST', pathOf(['api', 'queues', queue, path]), { body: reason === '' ? {} : { reason } })
      return { said: `The queue ${queue} ${said}.`, queue, ...(revision === undefined ? {} : { revision }) }
    },
  }
}
