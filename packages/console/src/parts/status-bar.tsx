/** How many tasks have which status, as one bar and in words. */
import type { Status } from '@daybook/core'
import { queueLink } from '../address/address.js'
import { numberText, shortNumber } from './format.js'
import { StatusMark, statusOrder } from './status.js'

/** Finished tasks are many and need nobody, so they are beside the bar, not in it. */
const finished: ReadonlySet<Status> = new Set(['completed', 'cancelled', 'discarded'])

export const StatusBar = ({ queue, byStatus }: { readonly queue: string; readonly byStatus: Readonly<Partial<Record<Status, number>>> }) => {
  const counts = statusOrder.map((status) => ({ status, count: byStatus[status] ?? 0 })).filter(({ count }) => count > 0)
  const open = counts.filter(({ status }) => !finished.has(status))
  const total = open.reduce((sum, { count }) => sum + count, 0)
  return (
    <div class="status-bar">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={`${numberText(total)} unfinished: ${open.map(({ status, count }) => `${count} ${status}`).join(', ')}`}>
        <rect class="track" width="100" height="8" />
        {open.map(({ status, count }, i) => {
          const before = open.slice(0, i).reduce((sum, each) => sum + each.count, 0)
          return <rect key={status} data-status={status} x={(before / total) * 100} width={Math.max(0.6, (count / total) * 100)} height="8" />
        })}
      </svg>
      <ul>
        {counts.map(({ status, count }) => (
          <li key={status}>
            <a href={`${queueLink(queue, 'tasks')}${queueLink(queue, 'tasks').includes('?') ? '&' : '?'}q=status:${status}`} title={`${numberText(count)} ${status}`}>
              <StatusMark status={status} /> {shortNumber(count)} <span class="quiet">{status}</span>
            </a>
          </li>
        ))}
        {counts.length === 0 && <li class="quiet">no tasks</li>}
      </ul>
    </div>
  )
}
