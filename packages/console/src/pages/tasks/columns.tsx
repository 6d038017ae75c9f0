/** The columns of the list of tasks. The address says which are shown. */
import type { TaskView } from '@daybook/client'
import type { ComponentChildren } from 'preact'
import { queueLink } from '../../address/address.js'
import { Moment } from '../../parts/moment.js'
import { StatusChip } from '../../parts/status.js'

export interface TaskColumn {
  readonly key: string
  readonly title: string
  readonly kind?: 'number'
  /** Its part in the order of the list, which is that of the API: lists of a million are not sorted in the browser. */
  readonly order?: { readonly place: 1 | 2 | 3; readonly direction: 'ascending' | 'descending'; readonly words: string }
  readonly cell: (task: TaskView, queue: string) => ComponentChildren
}

/** Columns are narrow: what is cut off is shown on hover. */
const Cut = ({ text }: { readonly text: string | null | undefined }) => <span title={text ?? undefined}>{text}</span>

export const taskColumns: ReadonlyArray<TaskColumn> = [
  { key: 'id', title: 'Task', cell: ({ id }, queue) => <a href={queueLink(queue, 'tasks', id)} data-row-link title={id}>{id}</a> },
  { key: 'type', title: 'Type', cell: ({ type }) => <Cut text={type} /> },
  { key: 'status', title: 'Status', order: { place: 1, direction: 'ascending', words: 'The list is sorted by status first' }, cell: ({ status }) => <StatusChip status={status} /> },
  { key: 'priority', title: 'Priority', kind: 'number', order: { place: 2, direction: 'descending', words: 'Within a status, the highest priority comes first' }, cell: ({ priority, priorityBoosted }) => <>{priority}{priorityBoosted === true && <span title="bumped: it goes before all others"> ↑</span>}</> },
  { key: 'tenant', title: 'Tenant', cell: ({ tenant }) => <Cut text={tenant} /> },
  { key: 'age', title: 'Enqueued', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { key: 'attempt', title: 'Attempt', cell: ({ attempt, attemptsMax }) => (attempt === 0 ? '' : `${attempt} of ${attemptsMax}`) },
  { key: 'agent', title: 'Agent', cell: ({ claimedBy }) => <Cut text={claimedBy} /> },
  { key: 'error', title: 'Last error', cell: ({ lastError }) => <Cut text={lastError} /> },
  { key: 'description', title: 'Description', cell: ({ description }) => <Cut text={description} /> },
  { key: 'ticket', title: 'Ticket', cell: ({ ticketId }) => <Cut text={ticketId} /> },
  { key: 'phase', title: 'Phase', cell: ({ phase }) => <Cut text={phase} /> },
  { key: 'deadline', title: 'Deadline', cell: ({ deadlineAt }) => (deadlineAt === undefined ? '' : <Moment at={deadlineAt} />) },
  { key: 'available', title: 'Available', cell: ({ availableAt }) => (availableAt === undefined ? '' : <Moment at={availableAt} />) },
  { key: 'number', title: 'Number', kind: 'number', order: { place: 3, direction: 'ascending', words: 'Within a priority, what was enqueued first comes first' }, cell: ({ number }) => `#${number}` },
]

const byDefault = ['id', 'type', 'status', 'priority', 'tenant', 'age', 'attempt', 'agent', 'error']

/** `text`: keys separated by commas, as in the address. */
export const columnsOf = (text: string | undefined): ReadonlyArray<TaskColumn> => {
  const keys = text === undefined ? byDefault : text.split(',')
  const found = taskColumns.filter(({ key }) => key === 'id' || keys.includes(key))
  return found
}

/** `undefined` for the default columns. */
export const columnsText = (keys: ReadonlyArray<string>): string | undefined => {
  const text = taskColumns.filter(({ key }) => keys.includes(key)).map(({ key }) => key).join(',')
  return text === taskColumns.filter(({ key }) => byDefault.includes(key)).map(({ key }) => key).join(',') ? undefined : text
}
