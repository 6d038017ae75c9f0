/** Tasks of a queue: search, list, and bulk changes. */
import type { AgentView, Depth, QueueSummary } from '@daybook/client'
import type { Status } from '@daybook/core'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { address, go, type Moment, momentShown, withQuery } from '../../address/address.js'
import { serverNow } from '../../api/server-time.js'
import { may, tenantAsked, tenantsOfToken } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { type Action, notice, offer, offerHere } from '../../parts/action.js'
import { Empty } from '../../parts/empty.js'
import { counted, numberText } from '../../parts/format.js'
import type { KnownValues } from '../../search/complete.js'
import { filterAt, parseSearch } from '../../search/parse.js'
import { SearchBox } from '../../search/search-box.js'
import { momentTime } from '../../parts/moment-time.js'
import type { PageParams } from '../page-params.js'
import { bumpMany, cancellableIn, cancelMany, type Chosen, countCancellable, countMatching, exportMany, reprioritiseMany } from './bulk.js'
import { columnsOf, columnsText, taskColumns } from './columns.js'
import { TaskList } from './task-list.js'
import { TaskPages } from './task-pages.js'

/** Ages are exact to this many milliseconds, so that the request stays the same in between. */
const ageStepMs = 10_000

/** What ages are counted back from. While somebody reads the list, or has selected tasks of it, it stays: another list would begin at its top, without a selection. */
const useAgesFrom = (queue: string, text: string, isHeld: boolean): number => {
  const from = useRef({ queue, text, at: 0 })
  if (!isHeld || from.current.queue !== queue || from.current.text !== text) from.current = { queue, text, at: Math.floor(serverNow() / ageStepMs) * ageStepMs }
  return from.current.at
}

export const TasksPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const { query } = address.value
  const text = query.q ?? ''
  const moment = momentShown.value
  const search = useMemo(() => parseSearch(text), [text])
  const [pages, setPages] = useState<TaskPages | undefined>(undefined)
  const [selected, select] = useState<ReadonlySet<string>>(new Set())
  const agesFrom = useAgesFrom(queue, text, selected.size > 0 || pages?.isHeld === true)
  const present = momentTime.value ?? agesFrom
  const hasAge = search.olderThanSeconds !== undefined || search.youngerThanSeconds !== undefined
  const tenant = tenantAsked.value
  const filter = useMemo(() => ({ ...(tenant === undefined ? {} : { tenant }), ...filterAt(search, present) }), [search, hasAge ? present : 0, tenant])
  const filterKey = JSON.stringify([queue, filter, moment])
  useEffect(() => {
    // While the user types, the previous list stays.
    let made: TaskPages | undefined
    const begin = (): void => setPages((made = new TaskPages(queue, { ...filter, ...moment }, moment === undefined)))
    const timer = setTimeout(begin, pages === undefined ? 0 : 150)
    return () => {
      clearTimeout(timer)
      made?.stop()
    }
  }, [filterKey])
  useEffect(() => select(new Set()), [filterKey])

  const summary = useQueue<QueueSummary>(queue, [])
  const depth = useQueue<Depth>(queue, ['depth'], { when: may.seeAll.value })
  const agents = useQueue<{ readonly agents: ReadonlyArray<AgentView> }>(queue, ['agents'], { when: may.seeAll.value })
  const known: KnownValues = { type: byCount(depth.value?.byType), tenant: tenantsOfToken.value ?? byCount(depth.value?.byTenant), agent: agents.value?.agents.map(({ agentId }) => agentId) ?? [] }
  const expected = expectedOf(filter, summary.value?.byStatus)
  void pages?.version.value
  const total = pages?.total(expected)
  const isChangeable = may.operate.value && moment === undefined
  const toggle = (id: string): void => select((before) => new Set(before.has(id) ? [...before].filter((each) => each !== id) : [...before, id]))

  return (
    <div class="tasks-page">
      <div class="title"><h1>Tasks</h1>{total !== undefined && (total.isExact || total.rows > 0) && <p class="quiet" role="status">{total.isExact ? counted(total.rows, 'task') : `more than ${counted(total.rows, 'task')}`}</p>}<p class="quiet small">By status, then the highest priority, then the oldest.</p></div>
      <SearchBox text={text} known={known} onChange={(q) => go(withQuery({ q }), { replace: true })} />
      <div class="bar">
        <BulkBar queue={queue} filter={filter} moment={moment} matching={total?.isExact === true ? total.rows : undefined} isUnderstood={search.problems.length === 0} selected={selected} isChangeable={isChangeable} clear={() => select(new Set())} />
        <span class="grow" />
        <ColumnChoice text={query.columns} />
      </div>
      {pages !== undefined && total !== undefined && total.isExact && total.rows === 0 && pages.hasAnswer
        ? <Nothing isFiltered={text !== ''} queue={queue} />
        : pages !== undefined && <TaskList queue={queue} pages={pages} columns={columnsOf(query.columns)} expected={expected} selection={{ ids: selected, toggle }} />}
    </div>
  )
}

const Nothing = ({ isFiltered, queue }: { readonly isFiltered: boolean; readonly queue: string }) =>
  isFiltered ? (
    <Empty title="No task matches"><p>Finished tasks are known for the queue's retention, seven days by default. <a href={withQuery({ q: undefined })}>Show all tasks</a></p></Empty>
  ) : (
    <Empty title="No tasks"><p>A task comes by <code>npx daybook enqueue TYPE --queue {queue}</code>, by <code>client.enqueue()</code>, or by <code>POST /api/queues/{queue}/tasks</code>.</p></Empty>
  )

const byCount = (counts: Readonly<Record<string, number>> = {}): ReadonlyArray<string> => Object.entries(counts).sort(([, a], [, b]) => b - a).map(([name]) => name)

/** Counts by status are known without counting, but those of other filters are not. */
const expectedOf = (filter: Readonly<Record<string, string>>, byStatus: QueueSummary['byStatus'] | undefined): number | undefined => {
  if (byStatus === undefined || Object.keys(filter).some((name) => name !== 'status')) return undefined
  const wanted = filter.status?.split(',') as ReadonlyArray<Status> | undefined
  return (wanted ?? (Object.keys(byStatus) as ReadonlyArray<Status>)).reduce((sum, status) => sum + (byStatus[status] ?? 0), 0)
}

interface BulkBarProps {
  readonly queue: string
  readonly filter: Readonly<Record<string, string>>
  /** Of the tasks that are shown; `undefined` for the present. */
  readonly moment: Moment | undefined
  /** Number of tasks that match; `undefined` while it is not known. */
  readonly matching: number | undefined
  readonly selected: ReadonlySet<string>
  readonly isChangeable: boolean
  /** Terms that are not understood are left out of the filter. It then matches more than was meant, so no bulk change of all matches is allowed. */
  readonly isUnderstood: boolean
  readonly clear: () => void
}

/** The actions on the selected tasks, or without a selection on all that match. The tasks are counted before the action is offered. */
const BulkBar = ({ queue, filter, moment, matching, selected, isChangeable, isUnderstood, clear }: BulkBarProps) => {
  const [isCounting, setCounting] = useState(false)
  const ids = [...selected]
  const begin = (action: (queue: string, chosen: Chosen) => Action, count: typeof countMatching, of: Readonly<Record<string, string>>) => async (): Promise<void> => {
    if (ids.length > 0) return offer(action(queue, { kind: 'some', ids }))
    setCounting(true)
    try {
      await offerHere(async () => action(queue, { kind: 'all', filter: of, count: await count(queue, of), matching }))
    } catch (error) {
      notice.value = { said: `They could not be counted: ${error instanceof Error ? error.message : String(error)}.`, queue }
    } finally {
      setCounting(false)
    }
  }
  const button = (words: string, action: (queue: string, chosen: Chosen) => Action, { count = countMatching, of = filter }: { readonly count?: typeof countMatching; readonly of?: Readonly<Record<string, string>> | undefined } = {}) => (
    <button type="button" disabled={isCounting || (ids.length === 0 && !isUnderstood)} onClick={() => void begin(action, count, of)()}>{words} …</button>
  )
  const cancellable = cancellableIn(filter)
  return (
    <div class="bulk" role="group" aria-label="Changes of many tasks" aria-busy={isCounting}>
      <span>{isCounting ? 'counting …' : ids.length > 0 ? `${numberText(ids.length)} selected:` : isUnderstood ? 'All that match:' : 'Select tasks, or mend the search:'}</span>
      {isChangeable && (ids.length > 0 || cancellable !== undefined) && button('Cancel', cancelMany, { count: countCancellable, ...(cancellable === undefined ? {} : { of: cancellable }) })}
      {isChangeable && may.seeAll.value && button('Bump', bumpMany)}
      {isChangeable && button('Priority', reprioritiseMany)}
      {button('Export', (of, chosen) => exportMany(of, chosen, moment), { of: { ...filter, ...moment } })}
      {ids.length > 0 && <button type="button" class="plain" onClick={clear}>Select none</button>}
    </div>
  )
}

const ColumnChoice = ({ text }: { readonly text: string | undefined }) => {
  const shown = columnsOf(text).map(({ key }) => key)
  const toggle = (key: string): void => go(withQuery({ columns: columnsText(shown.includes(key) ? shown.filter((each) => each !== key) : [...shown, key]) }), { replace: true })
  return (
    <details class="menu">
      <summary>Columns</summary>
      <fieldset>
        <legend class="hidden">Columns</legend>
        {taskColumns.filter(({ key }) => key !== 'id').map(({ key, title }) => <label key={key}><input type="checkbox" checked={shown.includes(key)} onChange={() => toggle(key)} /> {title}</label>)}
      </fieldset>
    </details>
  )
}
