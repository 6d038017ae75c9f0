/** Dead letters in groups with the same failure, and what can be done about them. */
import type { FailurePattern, Report } from '@daybook/client'
import { address } from '../../address/address.js'
import { may, tenantAsked } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { Empty } from '../../parts/empty.js'
import { counted } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { endOfShown, sinceHours } from '../../parts/period.js'
import type { PageParams } from '../page-params.js'
import { failuresByHour, isOf } from './group.js'
import { GroupView } from './group-view.js'
import { Groups } from './groups.js'
import { RedriveNote } from './redrive-note.js'

const hours = 24
const failuresMs = 60_000

export const DeadLettersPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const { signature, type } = address.value.query
  const patterns = useQueue<{ readonly patterns: ReadonlyArray<FailurePattern>; readonly total: number }>(queue, ['dead-letters', 'patterns'], { query: tenantAsked.value === undefined ? {} : { tenant: tenantAsked.value } })
  const { value: report } = useQueue<Report>(queue, ['reports', 'failures'], { query: { ...sinceHours(hours), bucket: 'hour', top: '200' }, everyMs: failuresMs, presentOnly: true, when: may.seeAll.value })
  const failures = report === undefined ? undefined : failuresByHour(report.rows, hours, endOfShown())
  return (
    <>
      <h1>Dead letters</h1>
      <Loaded shown={patterns} lines={8}>
        {({ patterns: found, total }) => (
          <>
            {may.seeAll.value && <RedriveNote queue={queue} patterns={found} />}
            {signature !== undefined && type !== undefined ? (
              <GroupView queue={queue} group={{ signature, type }} pattern={found.find(isOf({ signature, type }))} />
            ) : found.length === 0 ? (
              <Empty title="No dead letters"><p>A task whose attempts have all failed comes here, and waits for somebody to decide. Nothing does now.</p></Empty>
            ) : (
              <>
                <p class="quiet">{counted(found.reduce((sum, { count }) => sum + count, 0), 'task')} in {total > found.length ? `the ${found.length} largest of ${total} groups` : `${counted(found.length, 'group')}, the largest first`}. {may.seeAll.value ? `The bars are failed attempts with the same signature, in each of the last ${hours} hours.` : 'Each is decided on its own page: decisions about a whole group are about all tenants.'}</p>
                <Groups patterns={found} failures={failures} />
              </>
            )}
          </>
        )}
      </Loaded>
    </>
  )
}
