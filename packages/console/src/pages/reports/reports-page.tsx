/**
 * Reports: what happened in a period, as the server tells it. The picture is the server's own, so it is the one of the command line and of the file that one saves;
 * its figures stand below it, for those who cannot see it, and because figures are what one quotes.
 */
import type { Report, ReportName, ReportRow } from '@daybook/client'
import { address, go, withQuery } from '../../address/address.js'
import { pathOf } from '../../address/url.js'
import { request } from '../../api/request.js'
import { useQuestion } from '../../api/use-query.js'
import { DataTable } from '../../parts/data-table.js'
import { Empty } from '../../parts/empty.js'
import { counted, numberText } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { type periods, periodShown, type ShownPeriod } from '../../parts/period.js'
import { PeriodChoice } from '../../parts/period-choice.js'
import { SaveButton, saveFile } from '../../parts/save-file.js'
import type { PageParams } from '../page-params.js'
import { columnsOf, columnTitle, figureText, haveOneBucket } from './figures.js'

interface Kind {
  readonly title: string
  readonly says: string
  /** What its rows can be grouped by. */
  readonly by: ReadonlyArray<string>
  readonly hasBuckets: boolean
}

const dimensions = ['all', 'type', 'phase', 'tenant', 'agent', 'discovery']

const kinds: Readonly<Record<ReportName, Kind>> = {
  summary: { title: 'Summary', says: 'What was done, how long tasks waited until a claim, and how long they ran.', by: dimensions, hasBuckets: true },
  throughput: { title: 'Throughput', says: 'What came in and what was done.', by: dimensions, hasBuckets: true },
  latency: { title: 'Latency', says: 'Waits from when a task became ready to its claim, and run times from a claim to its end.', by: dimensions, hasBuckets: true },
  retries: { title: 'Retries', says: 'Attempts that failed, and what became of them.', by: dimensions, hasBuckets: true },
  deadlines: { title: 'Deadlines', says: 'Deadlines of this time, and how many were met.', by: dimensions.filter((each) => each !== 'agent'), hasBuckets: true },
  failures: { title: 'Failures', says: 'Attempts that failed, by signature: failures that are alike have one.', by: dimensions, hasBuckets: true },
  breakers: { title: 'Breakers', says: 'Each time that a breaker was open, half-open or closed again.', by: [], hasBuckets: false },
  fairness: { title: 'Fairness', says: 'What tenants got of what they were due by their weight, while they had ready tasks.', by: [], hasBuckets: true },
}
const names = Object.keys(kinds) as ReadonlyArray<ReportName>
const isReport = (name: string | undefined): name is ReportName => names.some((each) => each === name)

const buckets = { '': 'automatic', total: 'one for all', '15': '15 minutes', hour: 'an hour', day: 'a day', week: 'a week', month: 'a month' } as const
const hoursDefault: keyof typeof periods = '24'
const zoneHere = Intl.DateTimeFormat().resolvedOptions().timeZone
const rowsMax = 500

interface Asked {
  readonly name: ReportName
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly period: ShownPeriod
}

/** What the address asks for. */
const askedFor = (queue: string): Asked => {
  const { report, bucket = '', by = 'all', zone = zoneHere, top } = address.value.query
  const name = isReport(report) ? report : 'summary'
  const { by: possible, hasBuckets } = kinds[name]
  const period = periodShown(hoursDefault)
  return {
    name,
    period,
    path: pathOf(['api', 'queues', queue, 'reports', name]),
    query: {
      from: period.from, ...(period.to === undefined ? {} : { to: period.to }), zone,
      ...(hasBuckets && bucket !== '' ? { bucket } : {}),
      ...(by !== 'all' && possible.includes(by) ? { by } : {}),
      ...(top === undefined ? {} : { top }),
    },
  }
}

export const ReportsPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const asked = askedFor(queue)
  const { name, path, query } = asked
  const again = asked.period.to === undefined ? { everyMs: 60_000 } : {}
  const shown = useQuestion<Report>({ path, query, ...again })
  const picture = useQuestion<string>({ path, query: { ...query, format: 'svg' }, isText: true, ...again })
  return (
    <>
      <h1>Reports</h1>
      {shown.error?.code === 'disabled' ? <ReportsOff /> : (
        <>
          <div class="tabs" role="group" aria-label="Reports">{names.map((each) => <a key={each} href={withQuery({ report: each === 'summary' ? undefined : each })} aria-current={each === name ? 'true' : undefined}>{kinds[each].title}</a>)}</div>
          <p class="quiet">{kinds[name].says}</p>
          <PeriodChoice shown={asked.period} />
          <Choices asked={asked} />
          {picture.value !== undefined && <Picture svg={picture.value} name={name} />}
          <Loaded shown={shown} lines={8}>{(report) => <Figures queue={queue} report={report} asked={asked} />}</Loaded>
        </>
      )}
    </>
  )
}

/** As an image, in which nothing can run and no style of the page counts. */
const Picture = ({ svg, name }: { readonly svg: string; readonly name: ReportName }) => (
  <div class="picture" tabIndex={0} role="region" aria-label="Picture">
    <img src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`} width="760" alt={`${kinds[name].title}: the figures of the table below as a picture`} />
  </div>
)

const ReportsOff = () => (
  <Empty title="Reports are switched off">
    <p>They are made of tables that the server keeps beside the log, and this one keeps none. Start it with a store on disk or EventStoreDB, and without <code>--read-models off</code>:</p>
    <pre><code>daybook serve --data DIR</code></pre>
    <p>The tables are filled from the log, so reports then show what happened before as well.</p>
  </Empty>
)

const Choices = ({ asked: { name, query } }: { readonly asked: Asked }) => {
  const { by: possible, hasBuckets } = kinds[name]
  const choose = (changes: Readonly<Record<string, string | undefined>>): void => go(withQuery(changes), { stay: true })
  return (
    <div class="bar choices">
      {hasBuckets && (
        <label>Buckets <select value={query['bucket'] ?? ''} onChange={({ currentTarget: { value } }) => choose({ bucket: value === '' ? undefined : value })}>{Object.entries(buckets).map(([value, title]) => <option key={value} value={value}>{title}</option>)}</select></label>
      )}
      {possible.length > 0 && (
        <label>Group by <select value={query['by'] ?? 'all'} onChange={({ currentTarget: { value } }) => choose({ by: value === 'all' ? undefined : value })}>{possible.map((value) => <option key={value} value={value}>{value === 'all' ? 'nothing' : value}</option>)}</select></label>
      )}
      <label>
        Time zone <input key={query['zone']} list="zones" defaultValue={query['zone']} spellcheck={false} autocomplete="off" onChange={({ currentTarget: { value } }) => choose({ zone: value.trim() === '' || value === zoneHere ? undefined : value.trim() })} />
      </label>
      <datalist id="zones">{['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => <option key={zone} value={zone} />)}</datalist>
    </div>
  )
}

/** In the zone of the report, as its texts are. */
const zoned = (text: string): string => text.slice(0, 16).replace('T', ' ')

/** From and to in one cell; a breaker may be open until now. */
const Times = ({ from, to }: { readonly from: string; readonly to: string | number | null | undefined }) => (
  <>{to === null && 'from '}<time class="moment" title={from} dateTime={from}>{zoned(from)}</time>{typeof to === 'string' && <> – <time class="moment" title={to} dateTime={to}>{zoned(to).slice(from.slice(0, 10) === to.slice(0, 10) ? 11 : 0)}</time></>}</>
)

const Figures = ({ queue, report, asked }: { readonly queue: string; readonly report: Report; readonly asked: Asked }) => {
  const { rows, revision, behind = 0, relativeError } = report
  const isOneBucket = kinds[asked.name].hasBuckets && haveOneBucket(rows)
  const columns = columnsOf(rows).filter((name) => name !== 'to' && (name !== 'from' || !isOneBucket))
  return (
    <div class="report">
      <div class="bar downloads">
        <span class="quiet">
          From {zoned(report.from)} to {zoned(report.to)}, {report.zone}. Up to event {numberText(revision)}{behind > 0 && `, ${counted(behind, 'event')} behind`}.
          {isOneBucket && rows[0]?.['from'] !== report.from && ` All of it from ${zoned(String(rows[0]?.['from']))} to ${zoned(String(rows[0]?.['to']))}.`}
          {relativeError !== undefined && ` Percentiles are within ${relativeError * 100} %.`}
        </span>
        <span class="grow" />
        {(['csv', 'svg', 'json'] as const).map((format) => <Save key={format} queue={queue} asked={asked} format={format} />)}
      </div>
      <DataTable<ReportRow>
        caption="Figures" rows={rows.slice(0, rowsMax)} rowKey={(row) => JSON.stringify(Object.values(row))} empty="Nothing happened in this period."
        columns={columns.map((name) => {
          const isFigure = rows.some((row) => typeof row[name] === 'number')
          return {
            key: name, title: name === 'from' ? 'time' : columnTitle(name), kind: isFigure ? ('number' as const) : ('text' as const),
            cell: (row) => (name === 'from' ? <Times from={String(row['from'])} to={row['to']} /> : <span title={isFigure || name === 'signature' ? String(row[name]) : undefined}>{figureText(row, name)}</span>),
          }
        })}
      />
      {rows.length > rowsMax && <p class="quiet">The first {numberText(rowsMax)} of {numberText(rows.length)} rows. The files have all.</p>}
    </div>
  )
}

const types = { csv: 'text/csv', svg: 'image/svg+xml', json: 'application/json' } as const

const Save = ({ queue, asked: { name, path, query }, format }: { readonly queue: string; readonly asked: Asked; readonly format: keyof typeof types }) => (
  <SaveButton
    save={async (_, signal) => {
      const { value } = await request<string>('GET', path, { query: { ...query, format }, isText: true, signal })
      saveFile(`${queue}-${name}.${format}`, [value], types[format])
    }}
  >
    {format.toUpperCase()}
  </SaveButton>
)
