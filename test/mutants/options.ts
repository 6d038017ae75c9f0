/** The options of `npm run mutants`. */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import type { Plant } from './plant.js'

export const help = `npm run mutants -- [options]

Plants defects in copies of the built packages, one after the other, and runs for each the tests that are
to catch it. Fails unless every one of them is killed. The working tree is not touched.

  --only TEXT        plants with this in their title or in their file's path; may be given more than once
  --tenth K          every tenth plant, K is 0 to 9; auto: another tenth with each commit
  --parallel N       so many at a time (2)
  --limit SECONDS    for the tests of one plant (300)
  --minutes N        begins no other plant after so many minutes, and says how many are left (no limit)
  --proven FILE      vitest's JSON report of all tests on the same sources: tests that passed there are not run
                     without the defect first, which takes half of the time
  --list             only says what would be planted
  --help

Plants are in test/mutants/plants, by room.
`

export interface Options {
  readonly only: ReadonlyArray<string>
  readonly tenth: number | undefined
  readonly parallel: number
  readonly limitMs: number
  /** No plant is begun later than this after the start. */
  readonly withinMs: number
  /** A report of tests that pass. */
  readonly proven: string | undefined
  readonly list: boolean
  readonly help: boolean
}

/** @throws Error with a message for people. */
export const readOptions = (args: ReadonlyArray<string>, root: string): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      tenth: { type: 'string' },
      parallel: { type: 'string', default: '2' },
      limit: { type: 'string', default: '300' },
      minutes: { type: 'string' },
      proven: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { only, tenth, proven, list, help } = values
  return {
    only,
    proven,
    list,
    help,
    tenth: tenth === undefined ? undefined : tenth === 'auto' ? tenthOfToday(root) : whole('--tenth', tenth, 0, 9),
    parallel: whole('--parallel', values.parallel, 1, 64),
    limitMs: whole('--limit', values.limit, 1, 86_400) * 1_000,
    withinMs: values.minutes === undefined ? Number.POSITIVE_INFINITY : whole('--minutes', values.minutes, 1, 1_440) * 60_000,
  }
}

export const chosen = (plants: ReadonlyArray<Plant>, { only, tenth }: Pick<Options, 'only' | 'tenth'>): ReadonlyArray<Plant> =>
  plants
    .filter((_, index) => tenth === undefined || index % 10 === tenth)
    .filter(({ title, file }) => only.length === 0 || only.some((text) => title.includes(text) || file.includes(text)))

const whole = (name: string, text: string, min: number, max: number): number => {
  const value = Number(text)
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new Error(`${name} is a whole number from ${min} to ${max}, not ${text}`)
}

/** From the number of commits, so that ten pushes cover all plants. If that is unknown, as in a shallow clone, from the day. */
const tenthOfToday = (root: string): number => {
  const git = (...args: ReadonlyArray<string>): string => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    if (git('rev-parse', '--is-shallow-repository') === 'false') return Number(git('rev-list', '--count', 'HEAD')) % 10
  } catch {
    // Not in a repository.
  }
  return Math.floor(Date.now() / 86_400_000) % 10
}
