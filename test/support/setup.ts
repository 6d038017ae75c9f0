/** Runs before each test file: a failing test prints its seed. The JSON report has it as `meta.seed`. */
import { relative } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach } from 'vitest'
import { forgetWaits } from './in-time.js'
import { fixedSeed, isToFind, runSeed } from './seed.js'

declare module 'vitest' {
  interface TaskMeta {
    /** The seed that repeats the test: its own if it tries several, otherwise the run's. */
    seed?: number
  }
}

// Nobody reads how a planted defect was found, so its counterexample is not shrunk, which may take minutes.
const endOnFailure = isToFind

fc.configureGlobal({ seed: runSeed, endOnFailure })

interface Titled {
  readonly name: string
  readonly suite?: Titled
}
/** Whether a test must find something: see `fixedSeed`. */
const mustFind = ({ name, suite }: Titled): boolean => /\bteeth\b/u.test(name) || (suite !== undefined && mustFind(suite))

beforeEach(({ task, onTestFailed }) => {
  fc.configureGlobal({ seed: mustFind(task) ? fixedSeed : runSeed, endOnFailure })
  task.meta.seed = runSeed
  onTestFailed(() => console.error(`${task.name}\nwith the same examples again: SEED=${task.meta.seed} npm test -- ${relative(process.cwd(), task.file.filepath)}`))
})

afterEach(forgetWaits)
