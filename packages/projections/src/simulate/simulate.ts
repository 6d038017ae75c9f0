/** Simulates a scenario, or any workload, under each policy. */
import { matchesType, patchSettings, settingsDefault, type Settings, type SettingsPatch } from '@daybook/core'
import type { Figures } from './figures.js'
import { generate } from './generate.js'
import { Ledger, mayTake, weightIn } from './ledger.js'
import { policies, type Policy, under } from './policies.js'
import { nameOf } from './read-scenario.js'
import { type QueueRules, run } from './run.js'
import { type Scenario, seedDefault } from './scenario.js'
import type { Workload } from './workload.js'

export interface Simulation {
  readonly name: string
  readonly seed: number
  readonly durationSeconds: number
  /** What the reader should know before the figures. */
  readonly notes: ReadonlyArray<string>
  readonly policies: Readonly<Record<Policy, Figures>>
}

/** The figures of a workload under these rules. */
export const figuresOf = (workload: Workload, rules: QueueRules, policy: Policy = 'settings'): Figures => {
  const { assignment: { tenants }, score } = settingsOf(rules)
  // The record uses the real priorities, tenants and deadlines of the tasks.
  const ledger = new Ledger(workload, { weightOf: weightIn(tenants), starvationLimit: score.starvationLimit })
  const its = under(policy, workload, rules)
  run(its.workload, its.rules, ledger)
  return ledger.figures()
}

/** `patch`: settings in addition to the scenario's. */
export const simulate = (scenario: Scenario, options: { readonly seed?: number; readonly patch?: SettingsPatch } = {}): Simulation => {
  const seed = options.seed ?? scenario.seed ?? seedDefault
  const workload = generate(scenario, seed)
  const patches = [scenario.settings ?? {}, options.patch ?? {}]
  const rules: QueueRules = { patches: patches.map(shared), limits: scenario.limits ?? {} }
  return {
    name: scenario.name ?? 'simulation',
    seed,
    durationSeconds: (workload.until - workload.from) / 1_000,
    notes: [...notesOf(scenario, workload, settingsOf({ patches }))],
    policies: Object.fromEntries(policies.map((policy) => [policy, figuresOf(workload, rules, policy)])) as Record<Policy, Figures>,
  }
}

/** Agents of a scenario work for all tenants, and its tasks have no ids that begin with a tenant's name, as they have where tenants are isolated. */
const shared = ({ tenants: _, ...patch }: SettingsPatch): SettingsPatch => patch

const settingsOf = ({ patches }: Pick<QueueRules, 'patches'>): Settings => patches.reduce(patchSettings, settingsDefault)

function* notesOf({ streams, agents, outages = [] }: Scenario, workload: Workload, settings: Settings): Generator<string, void> {
  const { maxConcurrentAgents } = settings.capacity
  const count = agents.reduce((sum, pool) => sum + pool.count, 0)
  if (settings.tenants === 'isolated') yield 'tenants: isolated changes nothing here, because the agents work for all tenants'
  if (count > maxConcurrentAgents) yield `there are ${count} agents, and capacity.maxConcurrentAgents lets ${maxConcurrentAgents} of them work at a time`
  for (const stream of streams) {
    if (!workload.pools.some((pool) => mayTake(pool, stream))) yield `no agents take the tasks of ${nameOf(stream)}: see types, phases and skills`
  }
  for (const { types } of outages) {
    if (!streams.some(({ type }) => types.some((pattern) => matchesType(pattern, type)))) yield `no stream has tasks of the types ${types.join(', ')}, which have an outage`
  }
}
