/**
 * Random histories. Each is generated and folded once, with all checkers watching. They are made in blocks with their own seeds, so
 * that a failing block can be repeated quickly. Two test files take one half each, so that two processes share the work.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { isReplay, runSeed } from '../support/seed.js'
import { checkers, type Invariant, together } from './checkers.js'
import { historiesPerRun } from './settings.js'
import { type Scenario, scenarios } from './steps.js'
import { World } from './world.js'

const blockSize = 250
const stepsMax = 120

export interface Complaint {
  /** An invariant's id, or `crash` for an error that no checker made. */
  readonly about: string
  readonly seed: number
  readonly message: string
}

export interface Findings {
  readonly histories: number
  /** Seed of the first block. The next blocks have the next seeds. */
  readonly firstSeed: number
  /** The first violation of each invariant. */
  readonly complaints: ReadonlyArray<Complaint>
  /** By kind: how often it happened. */
  readonly seen: ReadonlyMap<string, number>
}

export const allInvariants = Object.keys(checkers) as ReadonlyArray<Invariant>

export type Half = 'first' | 'second'

/** The seeds of one half, one for each block. Only the given seed when a block is repeated. */
const seedsOf = (half: Half): ReadonlyArray<number> => {
  if (isReplay) return [runSeed]
  const blocks = Math.ceil(historiesPerRun / blockSize)
  const inFirst = Math.ceil(blocks / 2)
  return Array.from({ length: half === 'first' ? inFirst : blocks - inFirst }, (_, i) => runSeed + i + (half === 'first' ? 0 : inFirst))
}

export const runHistories = (half: Half): Findings => {
  const complaints: Array<Complaint> = []
  const seen = new Map<string, number>()
  const seeds = seedsOf(half)
  const findings: Findings = { histories: seeds.length * blockSize, firstSeed: seeds[0] ?? runSeed, complaints, seen }
  for (const seed of seeds) {
    // Repeated with the remaining checkers when an invariant was broken.
    for (let left = remaining(complaints); left.length > 0; left = remaining(complaints)) {
      const found = runBlock(seed, left, complaints.length === 0 ? seen : new Map())
      if (found === undefined) break
      complaints.push(found)
      if (!left.includes(found.about as Invariant)) return findings
    }
  }
  return findings
}

const remaining = (complaints: ReadonlyArray<Complaint>): ReadonlyArray<Invariant> => allInvariants.filter((id) => !complaints.some(({ about }) => about === id))

const runBlock = (seed: number, ids: ReadonlyArray<Invariant>, seen: Map<string, number>): Complaint | undefined => {
  const property = fc.property(scenarios(stepsMax), (scenario) => {
    const world = new World(() => together(ids)).run(scenario)
    for (const [what, count] of world.seen) seen.set(what, (seen.get(what) ?? 0) + count)
  })
  const found = fc.check(property, { seed, numRuns: blockSize })
  if (!found.failed) return undefined
  const message = found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance)
  const [scenario] = found.counterexample ?? []
  return { about: aboutOf(message), seed, message: `${message}\n${keep(scenario)}` }
}

/** The invariant that an error message is about. */
export const aboutOf = (message: string): string => /^INV-\d+(?=:)/u.exec(message)?.[0] ?? 'crash'

// ------------------------------------------------------- regressions

const folder = new URL('./regressions/', import.meta.url)

/** Histories that once broke an invariant, shrunk as far as possible. */
export const regressions = (): ReadonlyArray<readonly [name: string, scenario: Scenario]> =>
  readdirSync(folder).filter((name) => name.endsWith('.json')).map((name) => [name, JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Scenario])

export const replay = (scenario: Scenario): World => new World(() => together(allInvariants)).run(scenario)

/** With `KEEP=name` and the seed, the history is saved and run for ever. */
const keep = (scenario: Scenario | undefined): string => {
  const name = process.env['KEEP']
  if (name === undefined || scenario === undefined) return 'KEEP=some-name beside the seed keeps this history among the regressions'
  const file = new URL(`${name}.json`, folder)
  writeFileSync(file, `${JSON.stringify(scenario, null, 1)}\n`)
  return `kept as ${file.pathname}`
}
