/** What opened a breaker: the event, and the failures before it. */
import type { TaskPage } from '@daybook/client'
import { linkTo, queueLink } from '../../address/address.js'
import { useQueue } from '../../api/use-query.js'
import { Moment } from '../../parts/moment.js'

interface OpenedEvents {
  readonly events: ReadonlyArray<{ readonly revision: number; readonly at: string; readonly actor?: string; readonly data: { readonly taskType?: string; readonly cause?: string; readonly reason?: string } }>
}

const shownMax = 5
const causes: Readonly<Record<string, string>> = { threshold: 'too many failures in a row', 'probe-failed': 'the test task failed', manual: 'by hand' }

export const TrippedBy = ({ queue, type, openedAt }: { readonly queue: string; readonly type: string; readonly openedAt: string }) => {
  const { value: opened } = useQueue<OpenedEvents>(queue, ['events'], { query: { type: 'BreakerOpened', from: openedAt, limit: '50' }, presentOnly: true })
  const { value: letters } = useQueue<TaskPage>(queue, ['dead-letters'], { query: { type, limit: '200' } })
  const event = opened?.events.find(({ data }) => data.taskType === type)
  const until = Date.parse(openedAt)
  const failed = (letters?.tasks ?? []).flatMap(({ id, lastError, deadLetter }) => (deadLetter === undefined || Date.parse(deadLetter.at) > until ? [] : [{ id, lastError, at: deadLetter.at }]))
  const last = failed.sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, shownMax)
  return (
    <>
      {event !== undefined && (
        <p>
          Opened <Moment at={event.at} />: {causes[event.data.cause ?? ''] ?? event.data.cause}{event.data.reason !== undefined && <>, {event.data.reason}</>}.{' '}
          <a href={linkTo(['q', queue, 'log'], { from: String(Math.max(0, event.revision - 10)) })}>event {event.revision}, and those before it</a>
        </p>
      )}
      {last.length > 0 && (
        <>
          <h3>The failures before it</h3>
          <ul class="failures">
            {last.map(({ id, lastError, at }) => <li key={id}><a href={queueLink(queue, 'tasks', id)}>{id}</a> <span class="quiet"><Moment at={at} /></span> <span class="error">{lastError}</span></li>)}
          </ul>
        </>
      )}
    </>
  )
}
