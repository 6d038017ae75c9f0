/** When the moment of the address was. A revision has no time by itself: the event is asked for it. */
import type { EventPage, HistoryEvent } from '@daybook/client'
import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { momentShown, queueShown } from '../address/address.js'
import { serverNow } from '../api/server-time.js'
import { may } from '../api/session.js'
import { useQuestion } from '../api/use-query.js'
import { now } from './clock.js'
import { timeIn } from './format.js'
import { pathOf } from '../address/url.js'

/** One event of the log; it never changes, so it is asked for once. */
export const useEvent = (queue: string | undefined, revision: number | string | undefined): HistoryEvent | undefined =>
  useQuestion<EventPage>(queue === undefined || revision === undefined || !may.seeAll.value ? undefined : { path: pathOf(['api', 'queues', queue, 'events']), query: { from: String(revision), limit: '1' } }).value?.events[0]

const timeOfRevision = signal<{ readonly queue: string; readonly revision: string; readonly at: number } | undefined>(undefined)

/** In the shell, once: finds out when the revision of the address was. */
export const useMomentTime = (): void => {
  const queue = queueShown.value
  const revision = momentShown.value?.revision
  const at = useEvent(queue, revision)?.at
  useEffect(() => {
    if (queue !== undefined && revision !== undefined && at !== undefined) timeOfRevision.value = { queue, revision, at: Date.parse(at) }
  }, [queue, revision, at])
}

/** Milliseconds since 1970; `undefined` for the present, and while it is not known. */
export const momentTime = computed((): number | undefined => {
  const { at, revision } = momentShown.value ?? {}
  if (at !== undefined) return timeIn(at)
  const known = timeOfRevision.value
  return known !== undefined && known.queue === queueShown.value && known.revision === revision ? known.at : undefined
})

/** What ages and countdowns are counted from: the moment shown, or the present, anew each second. `undefined` while the time of a revision is not known. */
export const nowShown = (): number | undefined => {
  if (momentShown.value !== undefined) return momentTime.value
  // Read for being told of each second. Its value may be from before the server first told its time.
  void now.value
  return serverNow()
}
