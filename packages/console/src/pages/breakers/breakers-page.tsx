/** Circuit breakers: the history of each type's breaker, what tripped it, and when it is tested. */
import type { BreakerView, Report } from '@daybook/client'
import { linkTo, momentShown } from '../../address/address.js'
import { command, revisionOf } from '../../api/command.js'
import { may } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { type Action, ActionButton } from '../../parts/action.js'
import { Empty } from '../../parts/empty.js'
import { counted, durationText } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { Moment } from '../../parts/moment.js'
import { endOfShown, sinceHours } from '../../parts/period.js'
import { StatusChip } from '../../parts/status.js'
import { termText } from '../../search/parse.js'
import { Strip } from '../../parts/strip.js'
import { nowShown } from '../../parts/moment-time.js'
import type { PageParams } from '../page-params.js'
import { inOrder, stretchesOf } from './strips.js'
import { TrippedBy } from './tripped-by.js'

const hours = 24

export const BreakersPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const shown = useQueue<{ readonly breakers: Readonly<Record<string, BreakerView>> }>(queue, ['breakers'], { everyMs: 5_000 })
  const period = sinceHours(hours)
  const { value: report } = useQueue<Report>(queue, ['reports', 'breakers'], { query: period, everyMs: 30_000, presentOnly: true })
  const canChange = may.operate.value && momentShown.value === undefined
  return (
    <>
      <header class="title">
        <h1>Breakers</h1>
        {canChange && <ActionButton action={() => openOther(queue)}>Open for another type …</ActionButton>}
      </header>
      <p class="quiet">A type whose tasks fail too often in a row is held back: its breaker is open. After a while one test task is let through. The strips are the last {hours} hours.</p>
      <Loaded shown={shown} lines={6}>
        {({ breakers }) => {
          const all = inOrder(breakers)
          if (all.length === 0) return <Empty title="Nothing has failed"><p>A type stands here from its first failure on.</p></Empty>
          return (
            <ul class="stack">
              {all.map(([type, breaker]) => <Breaker key={type} queue={queue} type={type} breaker={breaker} rows={report?.rows} from={Date.parse(period.from)} canChange={canChange} />)}
            </ul>
          )
        }}
      </Loaded>
    </>
  )
}

interface BreakerProps {
  readonly queue: string
  readonly type: string
  readonly breaker: BreakerView
  readonly rows: Report['rows'] | undefined
  readonly from: number
  readonly canChange: boolean
}

const Breaker = ({ queue, type, breaker, rows, from, canChange }: BreakerProps) => {
  const { state, failures, lastFailure, openedAt, halfOpenAt, probe } = breaker
  return (
    <li class="panel">
      <header class="bar">
        <StatusChip status={state} />
        <h2>{type}</h2>
        <span class="grow" />
        {canChange && (state === 'closed' ? <ActionButton action={() => openBreaker(queue, type)}>Open …</ActionButton> : <ActionButton action={() => closeBreaker(queue, type)}>Close …</ActionButton>)}
      </header>
      {rows !== undefined && <Strip stretches={stretchesOf(rows, type, from, endOfShown())} from={from} to={endOfShown()} label={`the breaker of ${type} in ${hours} hours: ${state} at their end`} />}
      <p class="quiet">
        {counted(failures, 'failure')} in a row{lastFailure !== undefined && <>; the last failure <Moment at={lastFailure} /></>}. Tasks of this type: <a href={linkTo(['q', queue, 'tasks'], { q: `${termText('type', type)} status:pending,queued` })}>ready</a>, <a href={linkTo(['q', queue, 'tasks'], { q: `${termText('type', type)} status:dead-letter` })}>dead letters</a>.
      </p>
      {state === 'open' && halfOpenAt !== undefined && <Countdown until={Date.parse(halfOpenAt)} />}
      {probe !== undefined && <p>The test task is <code>{probe}</code>.</p>}
      {state !== 'closed' && openedAt !== undefined && <TrippedBy queue={queue} type={type} openedAt={openedAt} />}
    </li>
  )
}

const Countdown = ({ until }: { readonly until: number }) => {
  const present = nowShown()
  if (present === undefined) return null
  const left = Math.max(0, Math.round((until - present) / 1_000))
  return <p>{left === 0 ? 'The next task of the type is the test.' : <>A test task is let through in <strong>{durationText(left)}</strong>.</>}</p>
}

const openBreaker = (queue: string, type: string): Action => ({
  title: `Open the breaker of ${type}`,
  does: <p>No agent gets a task of this type until the breaker is closed, or a test task succeeds. What agents hold goes on.</p>,
  verb: 'Open it',
  run: async ({ reason }) => ({ said: `The breaker of ${type} is open.`, queue, ...revisionOf(await command('POST', queue, ['breakers', type, 'open'], { reason })) }),
})

const openOther = (queue: string): Action => ({
  ...openBreaker(queue, 'a type'),
  fields: [{ name: 'type', label: 'Type', kind: 'text', required: true }],
  run: (given) => openBreaker(queue, given.fields['type'] ?? '').run(given),
})

const closeBreaker = (queue: string, type: string): Action => ({
  title: `Close the breaker of ${type}`,
  does: <p>Agents get tasks of this type at once, without a test, and its failures are counted from zero. If what made them fail is still there, it opens again.</p>,
  verb: 'Close it',
  run: async ({ reason }) => ({ said: `The breaker of ${type} is closed.`, queue, ...revisionOf(await command('POST', queue, ['breakers', type, 'close'], { reason })) }),
})
