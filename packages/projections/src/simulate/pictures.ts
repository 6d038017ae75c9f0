/** The pictures of a simulation, by file name. */
import { scaleLinear, scaleSymlog } from 'd3-scale'
import { type Band, lengthText, lengthTicks, rowChart, timeChart } from '../charts/index.js'
import type { Figures, GroupFigures } from './figures.js'
import { policies, type Policy } from './policies.js'
import type { Simulation } from './simulate.js'

export const pictureNames = ['waiting-by-tenant', 'waiting-by-priority', 'waits', 'deadlines', 'agents'] as const
export type PictureName = (typeof pictureNames)[number]

/** The largest number of bands in a chart. The last one sums all others. */
const bandsMax = 6
/** The largest number of tenants with rows of their own. */
const tenantsMax = 20

export const picturesOf = (simulation: Simulation): Readonly<Record<PictureName, string>> => {
  const { name, seed, policies: { settings } } = simulation
  const { series } = settings
  const of = `${name}, seed ${seed}, with these settings`
  const over = { unit: 'tasks', pieceSeconds: series.pieceSeconds }
  return {
    'waiting-by-tenant': timeChart({ ...over, title: 'Waiting tasks by tenant', subtitle: of, bands: bandsOf(series.waitingByTenant.map(({ tenant, tasks }) => ({ name: tenant ?? 'no tenant', values: tasks }))) }),
    'waiting-by-priority': timeChart({ ...over, title: 'Waiting tasks by priority', subtitle: of, bands: bandsOf(series.waitingByPriority.map(({ priority, tasks }) => ({ name: `priority ${priority}`, values: tasks }))) }),
    waits: waits(`${name}, seed ${seed}`, runsOf(simulation)),
    deadlines: deadlines(`${name}, seed ${seed}`, runsOf(simulation)),
    agents: timeChart({ ...over, title: 'Agents at work', subtitle: of, bands: [{ name: 'tasks that agents work on', values: series.busy }], limit: { name: 'places for tasks', values: series.places } }),
  }
}

/** At most {@link bandsMax} bands; the rest is summed in the last. */
export const bandsOf = (bands: ReadonlyArray<Band>): ReadonlyArray<Band> => {
  if (bands.length <= bandsMax) return bands
  const total = ({ values }: Band): number => values.reduce((sum, value) => sum + value, 0)
  const largest = new Set([...bands].sort((a, b) => total(b) - total(a)).slice(0, bandsMax - 1))
  const others = bands.filter((band) => !largest.has(band))
  const sum = (bands[0]?.values ?? []).map((_, i) => others.reduce((all, { values }) => all + (values[i] ?? 0), 0))
  return [...bands.filter((band) => largest.has(band)), { name: `${others.length} others`, values: sum }]
}

const policyNames: Readonly<Record<Policy, string>> = { settings: 'these settings', fifo: 'FIFO', strict: 'strict priority' }

/** One of the runs that are compared. Each has a row of its own. */
export interface Run {
  readonly name: string
  readonly isMain: boolean
  readonly figures: Figures
}

const runsOf = (simulation: Simulation): ReadonlyArray<Run> => policies.map((policy) => ({ name: policyNames[policy], isMain: policy === 'settings', figures: simulation.policies[policy] }))

/** A row for each run. */
const rowsOf = (runs: ReadonlyArray<Run>, groupOf: (figures: Figures) => GroupFigures | undefined, marksOf: (group: GroupFigures) => { readonly marks: Parameters<typeof rowChart>[0]['groups'][number]['rows'][number]['marks']; readonly says: string }) =>
  runs.flatMap(({ name, isMain, figures }) => {
    const group = groupOf(figures)
    return group === undefined ? [] : [{ name, isMain, ...marksOf(group) }]
  })

/** The groups of all runs, each once. */
const groupsOf = <K>(runs: ReadonlyArray<Run>, keysOf: (figures: Figures) => ReadonlyArray<K>): ReadonlyArray<K> => [...new Set(runs.flatMap(({ figures }) => keysOf(figures)))]

export const waits = (of: string, runs: ReadonlyArray<Run>): string => {
  const longest = Math.max(...runs.flatMap(({ figures }) => figures.byPriority.map((group) => group.waits.p99)), 1)
  const ticks = lengthTicks(longest)
  const place = scaleSymlog([0, ticks[ticks.length - 1]?.at ?? 1], [0, 1]).constant(1)
  return rowChart({
    title: 'Waits by priority',
    subtitle: `${of}: from the arrival to the first claim; the scale is logarithmic`,
    groups: groupsOf(runs, ({ byPriority }) => byPriority.map(({ priority }) => priority)).map((priority) => ({
      name: `priority ${priority}`,
      rows: rowsOf(runs, ({ byPriority }) => byPriority.find((group) => group.priority === priority), ({ waits: { p50, p95, p99 } }) => ({
        marks: [{ mark: 'ring', value: p50 }, { mark: 'dot', value: p95 }, { mark: 'bar', value: p99 }],
        says: lengthText(p95),
      })),
    })),
    ticks,
    place,
    saysHead: 'P95',
    key: [{ mark: 'ring', name: 'P50: half wait less' }, { mark: 'dot', name: 'P95: 95 of 100 wait less' }, { mark: 'bar', name: 'P99' }],
  })
}

export const deadlines = (of: string, runs: ReadonlyArray<Run>): string => {
  const shareOf = ({ deadlines: { decided, met } }: GroupFigures): number => met / decided
  const tenants = runs.find(({ isMain }) => isMain)?.figures.byTenant.filter((group) => group.deadlines.decided > 0) ?? []
  const shown = tenants.length <= tenantsMax ? tenants : [...tenants].sort((a, b) => b.deadlines.decided - a.deadlines.decided).slice(0, tenantsMax)
  const groups: ReadonlyArray<readonly [string, (figures: Figures) => GroupFigures | undefined]> = [
    ['all tasks', ({ all }) => all],
    ...shown.map(({ tenant }) => tenant).map((tenant) => [tenant ?? 'no tenant', ({ byTenant }: Figures) => byTenant.find((group) => group.tenant === tenant)] as const),
  ]
  const having = groups.filter(([, groupOf]) => runs.every(({ figures }) => (groupOf(figures)?.deadlines.decided ?? 0) > 0))
  const least = Math.min(1, ...having.flatMap(([, groupOf]) => runs.flatMap(({ figures }) => {
    const group = groupOf(figures)
    return group === undefined || group.deadlines.decided === 0 ? [] : [shareOf(group)]
  })))
  // The axis begins a tenth below the least value, so that differences can be seen. It is labelled accordingly.
  const from = Math.max(0, Math.floor(least * 10 - 0.5) / 10)
  const place = scaleLinear([from, 1], [0, 1])
  return rowChart({
    title: 'Deadlines met',
    subtitle: having.length === 0 ? 'no deadline was met or missed by the end' : `${of}: of the tasks with a deadline${tenants.length > shown.length ? `, of the ${tenantsMax} tenants with most` : ''}; the axis begins at ${Math.round(from * 100)} %`,
    groups: having.map(([group, groupOf]) => ({
      name: group,
      rows: rowsOf(runs, groupOf, (figures) => ({ marks: [{ mark: 'dot', value: shareOf(figures) }], says: `${(shareOf(figures) * 100).toFixed(1)} %` })),
    })),
    ticks: place.ticks(5).map((at) => ({ at, label: `${Math.round(at * 100)} %` })),
    place,
    saysHead: 'met',
  })
}
