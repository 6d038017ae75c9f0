/** The log of a queue, event by event, from a revision on. */
import { useRef } from 'preact/hooks'
import { address, linkTo, momentShown, queueLink } from '../../address/address.js'
import { useQueue } from '../../api/use-query.js'
import { DataTable } from '../../parts/data-table.js'
import { Loaded } from '../../parts/loaded.js'
import { Moment } from '../../parts/moment.js'
import type { PageParams } from '../page-params.js'
import type { HistoryEvent } from '../task/life.js'

const pageEvents = 50

export const LogPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const { from } = address.value.query
  const summary = useQueue<{ readonly revision: number }>(queue, [])
  const head = summary.value?.revision
  const first = from === undefined ? Math.max(0, (head ?? 0) - pageEvents + 1) : Math.max(0, Number(from) || 0)
  const shown = useQueue<{ readonly events: ReadonlyArray<HistoryEvent> }>(queue, ['events'], { query: { from: String(first), limit: String(pageEvents) }, when: from !== undefined || head !== undefined })
  // The newest events move on with the queue. What is shown stays until the next answer has come, and with it what somebody has opened.
  const newest = useRef<typeof shown.value>(undefined)
  if (from !== undefined || momentShown.value !== undefined) newest.current = undefined
  else if (shown.value !== undefined) newest.current = shown.value
  const kept = shown.value === undefined && shown.error === undefined ? newest.current : undefined
  const to = (revision: number): string => linkTo(['q', queue, 'log'], { from: String(Math.max(0, revision)) })
  return (
    <>
      <h1>Log</h1>
      <p class="bar">
        <a href={to(first - pageEvents)}>← earlier</a> <a href={to(first + pageEvents)}>later →</a> <a href={linkTo(['q', queue, 'log'])}>latest</a>
      </p>
      <Loaded shown={kept === undefined ? shown : { ...shown, value: kept }} lines={10}>
        {({ events }) => (
          <DataTable
            caption="Events" rows={events} rowKey={({ revision }) => String(revision)} empty="No events there."
            columns={[
              { key: 'revision', title: 'Revision', kind: 'number', cell: ({ revision }) => <a href={to(revision)}>{revision}</a> },
              { key: 'at', title: 'When', cell: ({ at }) => <Moment at={at} as="clock" /> },
              { key: 'type', title: 'Event', cell: ({ type }) => type },
              { key: 'actor', title: 'By', cell: ({ actor }) => actor ?? <span class="quiet">the queue</span> },
              { key: 'task', title: 'Task', cell: ({ data: { task } }) => (typeof task === 'string' ? <a href={queueLink(queue, 'tasks', task)}>{task}</a> : '') },
              { key: 'data', title: 'Data', cell: ({ data }) => <details><summary class="quiet">{Object.keys(data).join(', ')}</summary><pre>{JSON.stringify(data, null, 2)}</pre></details> },
            ]}
          />
        )}
      </Loaded>
    </>
  )
}
