/** Tenants: each one's share of the claims, beside its weight and its demand. */
import type { Depth, Report } from '@daybook/client'
import type { Settings } from '@daybook/core'
import { address, momentShown, withQuery } from '../../address/address.js'
import { command, revisionOf } from '../../api/command.js'
import { may } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { type Action, ActionButton } from '../../parts/action.js'
import { DataTable } from '../../parts/data-table.js'
import { Empty } from '../../parts/empty.js'
import { counted, numberText } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { sinceHours } from '../../parts/period.js'
import type { PageParams } from '../page-params.js'
import { othersIn, type TenantFigures, tenantsOf } from './figures.js'

const periods = { '1': 'an hour', '6': 'six hours', '24': 'a day', '168': 'a week' } as const

export const TenantsPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const given = address.value.query['hours'] ?? '6'
  const hours = Object.hasOwn(periods, given) ? Number(given) : 6
  const period = { ...sinceHours(hours), bucket: 'total', top: '200' }
  const fairness = useQueue<Report>(queue, ['reports', 'fairness'], { query: period, everyMs: 60_000, presentOnly: true })
  const { value: throughput } = useQueue<Report>(queue, ['reports', 'throughput'], { query: { ...period, by: 'tenant' }, everyMs: 60_000, presentOnly: true })
  const { value: depth } = useQueue<Depth>(queue, ['depth'])
  const { value: settings } = useQueue<Settings>(queue, ['settings'])
  return (
    <>
      <h1>Tenants</h1>
      <p class="bar" role="group" aria-label="Period">
        {Object.entries(periods).map(([each, name]) => <a key={each} href={withQuery({ hours: each })} aria-current={Number(each) === hours ? 'true' : undefined}>{name}</a>)}
      </p>
      <Loaded shown={fairness} lines={6}>
        {({ rows }) => {
          const tenants = tenantsOf(rows, throughput?.rows ?? [], depth, settings?.assignment.tenants ?? { default: 1 })
          const others = othersIn(rows)
          if (tenants.length === 0) return <Empty title="No tenants"><p>A tenant stands here once a task was enqueued for it: <code>npx daybook enqueue mail --tenant acme</code></p></Empty>
          return (
            <>
              <p class="quiet">Whoever has ready tasks gets its turn by weight. A tenant that asks for less than its share gets all that it asks for, and is not compared: only tenants that had ready tasks throughout the same quarter of an hour are.{others > 0 && ` ${counted(others, 'tenant')} with fewer claims are not shown, and the shares are among those that are.`}</p>
              <Tenants queue={queue} tenants={tenants} />
            </>
          )
        }}
      </Loaded>
    </>
  )
}

const notCompared = 'Tenants are compared in quarters of an hour in which at least two of them had ready tasks throughout. There was none in which this one did.'

const percent = (share: number): string => `${numberText(share * 100)} %`

const Tenants = ({ queue, tenants }: { readonly queue: string; readonly tenants: ReadonlyArray<TenantFigures> }) => {
  const canChange = may.operate.value && momentShown.value === undefined
  return (
    <DataTable<TenantFigures>
      caption="Tenants" rows={tenants} rowKey={({ name }) => name ?? ''}
      columns={[
        { key: 'tenant', title: 'Tenant', cell: ({ name }) => (name === undefined ? <span class="quiet">without a tenant</span> : <strong class="name">{name}</strong>) },
        { key: 'shares', title: 'Claims against weight and demand', cell: (tenant) => <Shares tenant={tenant} /> },
        { key: 'claimed', title: 'Claims', kind: 'number', cell: ({ claimed }) => numberText(claimed) },
        { key: 'enqueued', title: 'Enqueued', kind: 'number', cell: ({ enqueued }) => numberText(enqueued) },
        { key: 'waiting', title: 'Ready now', kind: 'number', cell: ({ waiting }) => numberText(waiting) },
        { key: 'ratio', title: 'Got of its due', kind: 'number', cell: ({ ratio }) => (ratio === undefined ? <span class="quiet" title={notCompared}>not compared</span> : percent(ratio)) },
        { key: 'weight', title: 'Weight', kind: 'number', cell: ({ weight }) => numberText(weight) },
        ...(canChange ? [{ key: 'act', title: 'Action', cell: ({ name, weight }: TenantFigures) => name !== undefined && <ActionButton action={() => changeWeight(queue, name, weight)}>Weight …</ActionButton> }] : []),
      ]}
    />
  )
}

/** Three bars on one scale: the share that it got, the share of its weight, the share of its demand. */
const Shares = ({ tenant: { claimedShare, weightShare, demandShare } }: { readonly tenant: TenantFigures }) => (
  <dl class="shares">
    {([['claims', claimedShare, 'in-progress'], ['weight', weightShare, 'cancelled'], ['demand', demandShare, 'pending']] as const).map(([name, share, status]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="6" /><rect data-status={status} width={share * 100} height="6" /></svg> {percent(share)}</dd>
      </div>
    ))}
  </dl>
)

const changeWeight = (queue: string, tenant: string, weight: number): Action => ({
  title: `Weight of ${tenant}`,
  does: <p>A tenant with weight 3 gets three leases for each that one with weight 1 gets, as long as both have ready tasks. The event keeps who changed it.</p>,
  verb: 'Change it',
  reason: 'none',
  fields: [{ name: 'weight', label: 'Weight, from 0.01 to 1,000', kind: 'number', value: String(weight), required: true }],
  run: async ({ fields }) => ({
    said: `${tenant} has weight ${fields['weight']}.`,
    queue,
    ...revisionOf(await command('PATCH', queue, ['settings'], { assignment: { tenants: { [tenant]: Number(fields['weight']) } } })),
  }),
})
