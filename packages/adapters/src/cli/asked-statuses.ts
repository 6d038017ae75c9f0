/** How commands that read one status after the other ask for them. */
import type { Status } from '@daybook/core/common'

/**
 * The filters to ask with, in the order of the statuses. Ready tasks are `pending` or `queued`, whichever the queue's capacity makes them at the moment.
 * Asked for one after the other, all of them could be in both answers, or in none. So they are asked for together.
 */
export const askedStatuses = (wanted: ReadonlyArray<Status>): ReadonlyArray<ReadonlyArray<Status>> => {
  const ready: ReadonlyArray<Status> = wanted.filter((status) => status === 'pending' || status === 'queued')
  return wanted.flatMap((status) => (!ready.includes(status) ? [[status]] : status === ready[0] ? [ready] : []))
}
