/** A recorded period under other settings. */
import type { SettingsPatch } from '@daybook/core'
import type { Figures } from '../simulate/figures.js'
import { openAccount, poolsOf, realFigures, settingsOf } from './account.js'
import { type ModelNotes, runModel } from './model.js'
import type { RecordedAgent, Recording } from './recording.js'

export interface WhatIfOptions {
  /** Applied to the recorded settings, throughout. */
  readonly patch?: SettingsPatch
  /** This many agents that take everything, all the time, instead of the recorded agents. */
  readonly agents?: number
  /** Seed for what was not recorded. Default 1. */
  readonly seed?: number
}

/**
 * `recorded`: what happened. `model`: the same settings in the model; its difference to `recorded` is the model's error. `changed`: the other
 * settings in the model, to be compared with `model`.
 */
export const versions = ['recorded', 'model', 'changed'] as const
export type Version = (typeof versions)[number]

export interface WhatIf {
  /** Milliseconds since 1970. */
  readonly from: number
  readonly until: number
  readonly seed: number
  /** Whether anything differs from the recording. If not, `changed` is `model`. */
  readonly isChanged: boolean
  readonly tasks: number
  readonly agents: { readonly recorded: number; readonly changed: number }
  /** What the reader should know before the figures. */
  readonly notes: ReadonlyArray<string>
  readonly figures: Readonly<Record<Version, Figures>>
}

export const whatIf = (recording: Recording, { patch = {}, agents: count, seed = 1 }: WhatIfOptions = {}): WhatIf => {
  const { from, until, tasks } = recording
  const changedAgents = count === undefined ? recording.agents : agentsFor(recording, count)
  const [pools, changedPools] = [poolsOf(recording.agents), poolsOf(changedAgents)]
  const run = (its: SettingsPatch, agents: ReadonlyArray<RecordedAgent>, of: typeof pools): { readonly figures: Figures; readonly notes: ModelNotes } => {
    const ledger = openAccount(recording, of, settingsOf(recording, its))
    const notes = runModel(recording, { patch: its, agents, poolOf: of.poolOf, seed }, ledger)
    return { figures: ledger.figures(), notes }
  }
  const model = run({}, recording.agents, pools)
  const isChanged = Object.keys(patch).length > 0 || count !== undefined
  const changed = isChanged ? run(patch, changedAgents, changedPools) : model
  return {
    from,
    until,
    seed,
    isChanged,
    tasks: tasks.length,
    agents: { recorded: recording.agents.length, changed: changedAgents.length },
    notes: [...notesOf(recording, model.notes, 'the model of the recorded settings'), ...(isChanged ? notesOf({ ...recording, left: {} }, changed.notes, 'the changed settings') : [])],
    figures: { recorded: realFigures(recording, pools), model: model.figures, changed: changed.figures },
  }
}

/** Agents that take everything. */
const agentsFor = ({ tasks, from }: Recording, count: number): ReadonlyArray<RecordedAgent> => {
  const skills = [...new Set(tasks.flatMap(({ facts }) => facts.skills ?? []))].sort()
  return Array.from({ length: count }, (_, i) => ({ name: `what-if-${i + 1}`, abilities: skills.length === 0 ? {} : { skills }, concurrency: 1, signs: [{ at: from, isThere: true }] }))
}

function* notesOf({ left }: Recording, { drawn, refused }: ModelNotes, which: string): Generator<string, void> {
  for (const [reason, count] of Object.entries(left)) yield `left out: ${count} ${reason}`
  if (drawn === 1) yield `${which}: 1 attempt was not recorded, or not to its end; its length and end are those of another of its type, by chance`
  if (drawn > 1) yield `${which}: ${drawn} attempts were not recorded, or not to their end; their lengths and ends are those of others of their type, by chance`
  const actions = Object.entries(refused)
  if (actions.length > 0) yield `${which}: some recorded actions do not apply there: ${actions.map(([command, count]) => `${count} ${command}`).join(', ')}`
}
