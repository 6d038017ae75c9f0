/** The figures of a simulation as tables for people. */
import { lengthText } from '@daybook/projections/charts'
import type { Figures, GroupFigures, Policy, Simulation } from '@daybook/projections/simulate'
import { plural } from '@daybook/core/common'
import type { Printer } from '../printer.js'
import type { Row } from '../table.js'
import { clean } from '../text.js'

const titles: Readonly<Record<Policy, string>> = { settings: 'THESE SETTINGS', fifo: 'PLAIN FIFO', strict: 'STRICT PRIORITY' }

export const printSimulation = (printer: Printer, simulation: Simulation): void => {
  const { name, seed, durationSeconds, notes, policies } = simulation
  const { settings, fifo, strict } = policies
  printer.line(`${clean(name)}: ${lengthText(durationSeconds)}, seed ${seed}, ${plural(settings.arrived, 'task')}`)
  for (const note of notes) printer.line(`note: ${clean(note)}`)

  printer.line()
  printer.table(['', ...Object.values(titles)], comparison([settings, fifo, strict]))

  printer.line('\nWaits by priority, from arrival to the first claim')
  const ofPriority = (figures: Figures, priority: number) => figures.byPriority.find((group) => group.priority === priority)
  printer.table(
    ['PRIORITY', ...groupHeads],
    settings.byPriority.map(({ priority, ...group }) => [String(priority), ...groupCells(group, ofPriority(fifo, priority), ofPriority(strict, priority))]),
  )
  printer.line('\nWaits by tenant')
  const ofTenant = (figures: Figures, tenant: string | null) => figures.byTenant.find((group) => group.tenant === tenant)
  printer.table(
    ['TENANT', ...groupHeads],
    settings.byTenant.map(({ tenant, ...group }) => [tenantText(tenant), ...groupCells(group, ofTenant(fifo, tenant), ofTenant(strict, tenant))]),
  )
  tellShares(printer, policies)

  printer.line('\nAgents')
  printer.table(
    ['NAME', 'AGENTS', 'BUSY', 'CRASHES'],
    settings.pools.map(({ name: pool, agents, utilisation, crashes }) => [clean(pool, 40), String(agents), percent(utilisation), String(crashes)]),
  )
  printer.line('\nWith these settings:')
  for (const line of says(settings)) printer.line(`- ${line}`)
}

/** The figures of several runs, one column for each. */
export const comparison = (figures: ReadonlyArray<Figures>): ReadonlyArray<Row> => {
  const row = (name: string, cell: (of: Figures) => string): Row => [name, ...figures.map(cell)]
  return [
    row('completed', ({ completed }) => String(completed)),
    row('dead letters', ({ all }) => String(all.deadLetters)),
    row('open at the end', ({ waitingAtEnd, runningAtEnd }) => String(waitingAtEnd + runningAtEnd)),
    row('deadlines met', ({ all }) => metText(all)),
    row('wait P50', ({ all: { waits } }) => lengthText(waits.p50)),
    row('wait P95', ({ all: { waits } }) => lengthText(waits.p95)),
    row('wait P99', ({ all: { waits } }) => lengthText(waits.p99)),
    row('longest wait', ({ all: { waits } }) => lengthText(waits.max)),
    row('fairness (Jain)', ({ fairness: { jain } }) => (jain === null ? '-' : jain.toFixed(2))),
    row('agents busy', ({ utilisation }) => percent(utilisation)),
  ]
}

const groupHeads = ['TASKS', 'P50', 'P95', 'P99', 'LONGEST', 'FIFO P95', 'STRICT P95', 'DEADLINES MET', 'FIFO', 'STRICT']
const groupCells = (group: GroupFigures, fifo: GroupFigures | undefined, strict: GroupFigures | undefined): Row => [
  String(group.waits.tasks),
  ...[group.waits.p50, group.waits.p95, group.waits.p99, group.waits.max].map(lengthText),
  ...[fifo, strict].map((other) => (other === undefined ? '' : lengthText(other.waits.p95))),
  ...[group, fifo, strict].map((of) => (of === undefined ? '' : metText(of))),
]

const tellShares = (printer: Printer, { settings, fifo, strict }: Simulation['policies']): void => {
  if (settings.fairness.tenants.length < 2) return
  printer.line('\nShares of claims, while tenants had tasks waiting all the time (claims that a tenant got, of those due by its weight)')
  const share = ({ fairness: { tenants } }: Figures, index: number): string => {
    const { due = 0, got = 0 } = tenants[index] ?? {}
    return due === 0 ? '-' : `${got} of ${Math.round(due)}`
  }
  printer.table(
    ['TENANT', 'WEIGHT', ...Object.values(titles)],
    settings.fairness.tenants.map(({ tenant, weight }, i) => [tenantText(tenant), String(weight), ...[settings, fifo, strict].map((of) => share(of, i))]),
  )
}

/** What happened, in words. */
export function* says({ attempts, deadLetters, breakers, starvation, all, waitingAtEnd, runningAtEnd }: Figures): Generator<string, void> {
  const { started, failed, leasesExpired, rateLimited, retries } = attempts
  yield `${plural(started, 'attempt')}, ${retries} of them not a task's first: ${failed} failed, ${plural(rateLimited, 'rate limit')}, ${plural(leasesExpired, 'lease')} ended without a report`
  const reasons = Object.entries(deadLetters)
  yield reasons.length === 0 ? 'no dead letters' : `dead letters: ${reasons.map(([reason, count]) => `${count} ${reason}`).join(', ')}`
  if (breakers.length === 0) yield 'no breaker opened'
  for (const { type, opened, heldSeconds } of breakers) yield `the breaker of ${clean(type, 60)} opened ${plural(opened, 'time')} and held its tasks back for ${lengthText(heldSeconds)}`
  if (waitingAtEnd + runningAtEnd > 0) yield `open at the end: ${waitingAtEnd} waiting, ${runningAtEnd} with an agent`
  if (all.waits.notStarted > 0) yield `${plural(all.waits.notStarted, 'task')} had not begun at the end; ${all.waits.notStarted === 1 ? 'it counts' : 'they count'} with the wait until then`
  yield starvation.starved === 0
    ? `no task waited longer than the starvation limit (${lengthText(starvation.limit)})`
    : `${plural(starvation.starved, 'task')} waited longer than the starvation limit (${lengthText(starvation.limit)}), the longest ${lengthText(starvation.longestWait)}`
}

export const tenantText = (tenant: string | null): string => (tenant === null ? '(none)' : clean(tenant, 40))
const percent = (share: number | null): string => (share === null ? '-' : `${(share * 100).toFixed(1)} %`)
export const metText = ({ deadlines: { decided, met } }: GroupFigures): string => (decided === 0 ? '-' : percent(met / decided))
