/** The first page of a snapshot: everything except the tasks. */
import type { RowStore } from '../rows/row-store.js'
import type { Limit } from '../model/limit.js'
import type { MeterEntry } from '../limits/limits.js'
import type { PoolEntry } from '../ready/fair-share.js'
import { policyOf } from '../ready/policy.js'
import type { RegisteredAgent } from '../state/agent-register.js'
import type { Alert, FailureCounts } from '../state/alerts.js'
import { type Approval, byAge, type Chain } from '../state/approvals.js'
import type { Batch } from '../state/batches.js'
import { byType } from '../state/breakers.js'
import type { Deadline } from '../state/deadlines.js'
import type { Schedule } from '../state/schedules.js'
import type { Breaker, Head } from '../records/records.js'
import { countTenants } from '../state/settings-changed.js'
import { Tables } from '../state/tables.js'
import { NumberSet } from '../structures/number-set.js'
import type { SnapshotPage } from './snapshot-page.js'

export type HeadText = Omit<Head, 'savedFor'> & {
  readonly queue: string
  /** Number of finished tasks. */
  readonly finished: number
  /** The seed of the hashes. An increment and its bases have the same. */
  readonly seed: number
  /** Number of unfinished tasks. An increment and its bases must have this many together. */
  readonly unfinished: number
  readonly limits: ReadonlyArray<readonly [string, Limit]>
  readonly meters: ReadonlyArray<MeterEntry>
  readonly turns: ReadonlyArray<PoolEntry>
  readonly schedules: ReadonlyArray<Schedule>
  /** Which of their tasks are not final follows from these. */
  readonly batches: ReadonlyArray<Omit<Batch, 'live'>>
  readonly agents: ReadonlyArray<RegisteredAgent>
  readonly slowdowns: ReadonlyArray<Deadline>
  readonly sleepers: ReadonlyArray<Deadline>
  readonly chains: ReadonlyArray<Omit<Chain, 'savedFor'>>
  readonly approvals: ReadonlyArray<Approval>
  readonly alerts: ReadonlyArray<Alert>
  readonly failures: ReadonlyArray<readonly [phase: string, counts: FailureCounts]>
  readonly breakers: ReadonlyArray<Omit<Breaker, 'savedFor' | 'probe'> & { readonly probe: number | null }>
}

export const headPage = (tables: Tables): SnapshotPage => {
  const { savedFor: _, ...head } = tables.head
  const text: HeadText = {
    ...head,
    queue: tables.queue,
    finished: tables.finished.size,
    seed: tables.seed,
    unfinished: tables.unfinished.size,
    limits: [...tables.limits.set],
    meters: tables.limits.entries(),
    turns: tables.shares.entries(),
    schedules: tables.schedules.all(),
    batches: tables.batches.all().map(({ live: _live, ...batch }) => batch),
    agents: tables.agents.entries(),
    slowdowns: [...tables.slowdowns],
    sleepers: [...tables.sleepers],
    chains: [...tables.chains.values()].map(({ savedFor: ___, ...chain }) => chain).sort((a, b) => (a.root < b.root ? -1 : 1)),
    approvals: [...tables.approvals.values()].sort(byAge),
    alerts: tables.alerts.all(),
    failures: [...tables.alerts.failures].sort(([a], [b]) => (a < b ? -1 : 1)),
    breakers: [...tables.breakers.values()]
      .sort(byType)
      .map(({ savedFor: __, probe, ...breaker }) => ({ ...breaker, probe: probe?.number ?? null })),
  }
  return { kind: 'head', text: JSON.stringify(text), rows: 0, numbers: new Float64Array(0) }
}

export const headIn = ({ text }: SnapshotPage): HeadText => JSON.parse(text) as HeadText

/** An increment and a base that do not belong together, although each of them may be right. */
export class WrongBase extends Error {}

/** Throws {@link WrongBase} if a base has hashes with another seed than its increment. Then another process made it, of the same moment. */
export const haveSameSeed = (increment: Pick<HeadText, 'seed'>, base: Pick<HeadText, 'seed'>): void => {
  if (base.seed !== increment.seed) throw new WrongBase('its base has hashes with another seed')
}

/** Tables without tasks, as the head says. {@link restoreRest} must follow when they have their tasks. `store`: see `initial`. */
export const tablesFrom = (text: HeadText, store: RowStore | undefined): Tables => {
  const { finished, limits, schedules, batches, agents, chains, approvals, alerts, failures } = text
  const tables = new Tables(text.queue, text.seed, store)
  tables.ready.putAside()
  // The text has these fields among its own.
  Object.assign(tables.head, Object.fromEntries(Object.entries(text).filter(([name]) => name in tables.head)))
  tables.finished.reserve(finished)
  tables.ready.reorder(policyOf(tables.head.settings))
  countTenants(tables)
  for (const chain of chains) tables.chains.set(chain.root, { savedFor: 0, ...chain })
  // Before the batches, which have counted them.
  for (const approval of approvals) tables.approvals.set(approval.id, approval)
  for (const [key, limit] of limits) tables.limits.set.set(key, limit)
  for (const schedule of schedules) tables.schedules.put(schedule)
  for (const batch of batches) tables.batches.put({ ...batch, live: new NumberSet() })
  for (const agent of agents) tables.agents.byName.set(agent.agent, agent)
  for (const alert of alerts) tables.alerts.raise(alert)
  for (const [about, counts] of failures) tables.alerts.setFailures(about, counts)
  return tables
}

/** Restores what refers to tasks, or what tasks that become ready change. */
export const restoreRest = ({ breakers, slowdowns, sleepers, meters, turns }: HeadText, tables: Tables): void => {
  for (const { probe, ...fields } of breakers) {
    tables.breakers.update(tables.breakers.of(fields.type), (breaker) => {
      Object.assign(breaker, fields)
      breaker.probe = probe === null ? null : (tables.byNumber.get(probe) ?? null)
    })
  }
  for (const { name, until } of slowdowns) tables.slowdowns.set(name, until)
  for (const { name, until } of sleepers) tables.sleepers.set(name, until)
  tables.limits.restore(meters)
  tables.shares.restore(turns)
}
