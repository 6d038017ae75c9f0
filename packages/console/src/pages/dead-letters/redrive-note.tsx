/** The progress of the last redrive, and the button that stops it. */
import type { FailurePattern, Redrive } from '@daybook/client'
import { momentShown } from '../../address/address.js'
import { may } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { ActionButton } from '../../parts/action.js'
import { counted } from '../../parts/format.js'
import { Moment } from '../../parts/moment.js'
import { shortSignature } from './group.js'
import { stopRedrive } from './reviews.js'

const causes = { 'nothing-left': 'all are back', 'breaker-opened': 'a breaker opened', 'by-hand': 'somebody stopped it' } as const

export const RedriveNote = ({ queue, patterns }: { readonly queue: string; readonly patterns: ReadonlyArray<FailurePattern> }) => {
  const { value } = useQueue<{ readonly redrive: Redrive | null }>(queue, ['dead-letters', 'redrive'], { everyMs: 5_000 })
  const redrive = value?.redrive
  if (redrive === undefined || redrive === null) return null
  const { filter, perMinute, reviewer, reason, startedAt, retried, nextAt, stopped } = redrive
  const left = patterns.filter(({ type, signature }) => (filter.type === undefined || filter.type === type) && (filter.signature === undefined || filter.signature === signature)).reduce((sum, { count }) => sum + count, 0)
  const all = retried + left
  return (
    <section class="panel redrive" aria-label="Redrive">
      <header class="bar">
        <h2>{stopped === undefined ? 'Redrive under way' : 'Last redrive'}</h2>
        <span class="quiet">{perMinute} a minute{filter.type !== undefined && <> of <code>{filter.type}</code></>}{filter.signature !== undefined && <> <code>{shortSignature(filter.signature)}</code></>}</span>
        <span class="grow" />
        {stopped === undefined && may.operate.value && momentShown.value === undefined && <ActionButton action={() => stopRedrive(queue)}>Stop …</ActionButton>}
      </header>
      {stopped === undefined && (
        <progress max={all} value={retried} aria-label={`${retried} of ${all} are back in the queue`}>{retried} of {all}</progress>
      )}
      <p>
        <strong>{counted(retried, 'task')}</strong> back in the queue{stopped === undefined ? <>, {left} to go{nextAt !== null && <>; the next <Moment at={nextAt} /></>}</> : <>, stopped <Moment at={stopped.at} />: {causes[stopped.cause]}</>}.{' '}
        <span class="quiet">Begun <Moment at={startedAt} /> by {reviewer}: {reason}</span>
      </p>
    </section>
  )
}
