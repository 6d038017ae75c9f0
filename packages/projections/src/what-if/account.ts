/** The figures of a recording: those of reality, and those of a model of it. */
import { breakersOf, patchSettings, type QueueEvent, type Settings, type SettingsPatch } from '@daybook/core'
import type { Figures } from '../simulate/figures.js'
import { type Accounted, Ledger, weightIn } from '../simulate/ledger.js'
import type { Abilities, RecordedAgent, Recording } from './recording.js'
import { isEntered, taskPlaces } from './task-places.js'

/** Agents grouped into pools: all agents of a pool claim the same tasks. */
export interface Pools {
  readonly pools: Accounted['pools']
  readonly agents: Accounted['agents']
  readonly poolOf: (agent: Pick<RecordedAgent, 'name'>) => number
}

export const poolsOf = (agents: ReadonlyArray<RecordedAgent>): Pools => {
  const byAbilities = new Map<string, number>()
  const pools: Array<Accounted['pools'][number]> = []
  const byName = new Map<string, number>()
  for (const { name, abilities } of agents) {
    const { types, phases, skills, tenant } = abilities
    const key = JSON.stringify([types, phases, skills, tenant])
    let pool = byAbilities.get(key)
    if (pool === undefined) {
      pool = pools.length
      byAbilities.set(key, pool)
      pools.push({ name: wordsOf(abilities), claim: { ...(types === undefined ? {} : { types }), ...(phases === undefined ? {} : { phases }), ...(skills === undefined ? {} : { skills }), ...(tenant === undefined ? {} : { tenant }) } })
    }
    byName.set(name, pool)
  }
  return { pools, agents: agents.map(({ name }) => ({ pool: byName.get(name) ?? 0 })), poolOf: ({ name }) => byName.get(name) ?? 0 }
}

const wordsOf = ({ types, phases, skills, tenant }: Abilities): string => {
  const parts = [types?.join(', '), phases?.join(', '), skills === undefined ? undefined : `with ${skills.join(', ')}`, tenant === undefined ? undefined : `for ${tenant}`]
  return parts.filter((part) => part !== undefined && part !== '').join('; ') || 'any task'
}

/** A ledger of this recording, at its beginning. */
export const openAccount = (recording: Recording, { pools, agents, poolOf }: Pools, settings: Settings): Ledger => {
  const { from, until, start, tasks } = recording
  const arrivals = tasks.map(({ at, facts: { type, priority, tenant, phase, skills, deadlineAt, availableAt = 0 } }) => ({
    at: Math.max(at, availableAt), type, priority,
    ...(tenant === undefined ? {} : { tenant }), ...(phase === undefined ? {} : { phase }), ...(skills === undefined ? {} : { skills }), ...(deadlineAt === undefined ? {} : { deadlineAt }),
  }))
  const { assignment: { tenants }, score } = settings
  const ledger = new Ledger({ from, until, arrivals, pools, agents }, {
    weightOf: weightIn(tenants),
    starvationLimit: score.starvationLimit,
    places: taskPlaces(recording),
  })
  for (const [type, { state }] of Object.entries(breakersOf(start))) if (state !== 'closed') ledger.beginOpen(type)
  for (const [index, { before }] of tasks.entries()) {
    if (before === undefined) continue
    ledger.begin(index, before)
    if (before.held !== undefined) ledger.beginRunning(poolOf({ name: before.held.agent }))
  }
  return ledger
}

/** The settings by which shares and starvation are judged: those at the end of the period, with a patch applied. */
export const settingsOf = ({ settings }: Recording, patch: SettingsPatch): Settings => patchSettings(settings, patch)

interface Attendance {
  readonly agent: Pick<RecordedAgent, 'name' | 'concurrency'>
  isThere: boolean
  running: number
  places: number
}

/** The figures of what really happened. */
export const realFigures = (recording: Recording, pools: Pools): Figures => {
  const { events, agents, tasks, until } = recording
  const ledger = openAccount(recording, pools, settingsOf(recording, {}))
  const places = taskPlaces(recording)
  const holders = new Map<string, string>()
  const there = new Map(agents.map((agent): [string, Attendance] => [agent.name, { agent, isThere: false, running: 0, places: 0 }]))
  const count = (name: string, at: number): void => {
    const one = there.get(name)
    if (one === undefined) return
    const now = one.isThere ? one.agent.concurrency : one.running
    if (now !== one.places) ledger.places(at, pools.poolOf(one.agent), now - one.places)
    one.places = now
  }
  const run = (name: string, by: 1 | -1, at: number): void => {
    let one = there.get(name)
    // The agent left before the period, and finishes its tasks.
    if (one === undefined) there.set(name, (one = { agent: { name, concurrency: 0 }, isThere: false, running: 0, places: 0 }))
    one.running += by
    count(name, at)
  }
  for (const { facts, before } of tasks) {
    if (before?.held === undefined) continue
    holders.set(facts.task, before.held.agent)
    run(before.held.agent, 1, recording.from)
  }
  const signs = agents.flatMap(({ name, signs }) => signs.map((sign) => ({ name, ...sign }))).sort((a, b) => a.at - b.at)
  let next = 0
  const passTo = (at: number): void => {
    for (let sign = signs[next]; sign !== undefined && sign.at <= at; sign = signs[++next]) {
      const one = there.get(sign.name)
      if (one === undefined || sign.isThere === undefined) continue
      one.isThere = sign.isThere
      count(sign.name, Math.max(recording.from, sign.at))
    }
  }
  for (const event of events) {
    const { at } = event
    passTo(at)
    if (isEntered(event)) places.enter(event.data.task)
    const ended = endOf(event)
    const holder = ended === undefined ? undefined : holders.get(ended)
    if (ended !== undefined && holder !== undefined) {
      holders.delete(ended)
      ledger.ended(at, pools.poolOf({ name: holder }))
      run(holder, -1, at)
    }
    ledger.event(event)
    if (event.type !== 'Claimed') continue
    const { task, agent } = event.data
    const index = places.of(task)
    if (index === undefined) continue
    holders.set(task, agent)
    run(agent, 1, at)
    ledger.started(at, pools.poolOf({ name: agent }), index)
  }
  passTo(until - 1)
  return ledger.figures()
}

/** The task whose claim this event ends, if it had one. */
const endOf = (event: QueueEvent): string | undefined => {
  switch (event.type) {
    case 'Completed':
    case 'Failed':
    case 'RateLimited':
    case 'Released':
    case 'ClaimReturned':
    case 'ClaimRevoked':
    case 'ClaimExpired':
    case 'TaskParked':
    case 'Cancelled':
      return event.data.task
    default:
      return undefined
  }
}
