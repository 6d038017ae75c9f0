/** Statuses. Each has one hue, one shape and its word, which are the same in chips, bars, diagrams and charts. */
import type { Status } from '@daybook/core'

/** In the order of a task's life. */
export const statusOrder: ReadonlyArray<Status> = ['in-progress', 'pending', 'queued', 'scheduled', 'waiting', 'blocked', 'incomplete', 'dead-letter', 'completed', 'cancelled', 'discarded']

/** Paths in a square of 16. */
const shapes: Readonly<Record<string, string>> = {
  'in-progress': 'M5 3l8 5-8 5z',
  pending: 'M8 3a5 5 0 1 0 0 10a5 5 0 1 0 0-10zm0 2a3 3 0 1 1 0 6a3 3 0 1 1 0-6z',
  queued: 'M3 4h10v2H3zm0 3.2h10v2H3zm0 3.2h10v2H3z',
  scheduled: 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11zM7.1 5h1.6v3l2.2 1.5-.9 1.2-2.9-2z',
  waiting: 'M4 3h3v10H4zm5 0h3v10H9z',
  blocked: 'M3 3h10v10H3zm2 2v6h6V5z',
  incomplete: 'M8 3a5 5 0 0 0 0 10z',
  'dead-letter': 'M4.2 2.8L8 6.6l3.8-3.8 1.4 1.4L9.4 8l3.8 3.8-1.4 1.4L8 9.4l-3.8 3.8-1.4-1.4L6.6 8 2.8 4.2z',
  completed: 'M6.4 12.6L2.6 8.8l1.5-1.5 2.3 2.3 5.5-5.5 1.5 1.5z',
  cancelled: 'M3 7h10v2.2H3z',
  discarded: 'M4 4h8l-.8 9.5H4.8zM3 2.4h10v1.2H3z',
  closed: 'M6.4 12.6L2.6 8.8l1.5-1.5 2.3 2.3 5.5-5.5 1.5 1.5z',
  open: 'M8 1.8l6.6 12H1.4zM7.2 6v4h1.6V6zm0 5v1.6h1.6V11z',
  'half-open': 'M8 3a5 5 0 0 0 0 10z',
}

export const StatusMark = ({ status }: { readonly status: string }) => (
  <svg class="mark" data-status={status} viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
    <path d={shapes[status] ?? shapes.pending} fill-rule="evenodd" />
  </svg>
)

/** A status with its shape and its word. Also for breakers: `closed`, `open`, `half-open`. */
export const StatusChip = ({ status }: { readonly status: string }) => (
  <span class="chip" data-status={status}>
    <StatusMark status={status} />
    {status}
  </span>
)
