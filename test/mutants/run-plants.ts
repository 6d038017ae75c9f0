/**
 * Plants defects, one at a time in each copy of the repository, and runs the tests that must catch them. Each test first runs without a defect: if it
 * fails then, it proves nothing.
 */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Bundle, place, type Placed } from './place.js'
import type { Plant } from './plant.js'
import { runTests, type TestRun } from './run-tests.js'
import { copyTree } from './tree-copy.js'

export type Verdict =
  /** `by`: the title of the test. */
  | { readonly kind: 'killed'; readonly by: string }
  | { readonly kind: 'survived' }
  /** No verdict: the source has changed, the tests fail without the defect, the code does not load with it, or the tests never end. */
  | { readonly kind: 'stale' | 'unproven' | 'unloadable' | 'hung'; readonly why: string }

export interface Result {
  readonly plant: Plant
  readonly verdict: Verdict
  readonly seconds: number
}

export interface PlantOptions {
  /** Number of plants tested at a time. */
  readonly parallel: number
  /** Time limit of one run of tests. */
  readonly limitMs: number
  /** No plant is begun later than this after the start. Those that are left have no result. */
  readonly withinMs: number
  readonly onResult: (result: Result) => void
  readonly signal: AbortSignal
  /** Whether the plant's tests are known to pass without it, on the same sources. Such tests are not run without the defect. */
  readonly isProven?: (plant: Plant) => boolean
}

/** `root` is that of the repository, which must be built. It is not changed. */
export const runPlants = async (root: string, plants: ReadonlyArray<Plant>, options: PlantOptions): Promise<ReadonlyArray<Result>> => {
  const { signal, parallel } = options
  const results: Array<Result> = []
  const settle = (plant: Plant, verdict: Verdict, seconds = 0): void => {
    const result = { plant, verdict, seconds }
    results.push(result)
    options.onResult(result)
  }

  const waiting: Array<Extract<Placed, { readonly kind: 'placed' }>> = []
  for (const plant of plants) {
    const placed = place(root, plant)
    if (placed.kind === 'placed') waiting.push(placed)
    else settle(plant, { kind: 'stale', why: placed.why })
  }
  if (waiting.length === 0) return results

  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'daybook-mutants-')))
  // Some tests run programs as another user.
  await chmod(scratch, 0o755)
  try {
    const trees = Array.from({ length: Math.min(parallel, waiting.length) }, (_, index) => join(scratch, `${index}`))
    for (const tree of trees) await copyTree(root, tree)

    const proofs = new Map<string, Promise<string | undefined>>()
    const whyUnproven = async (tree: string, plant: Plant): Promise<string | undefined> => {
      if (options.isProven?.(plant) === true) return undefined
      const tests = JSON.stringify([plant.killedBy, plant.named])
      const known = proofs.get(tests) ?? failsWithout(tree, plant, options)
      proofs.set(tests, known)
      return known
    }
    const start = performance.now()
    const nextPlant = (): (typeof waiting)[number] | undefined => (performance.now() - start < options.withinMs ? waiting.shift() : undefined)
    const work = async (tree: string): Promise<void> => {
      for (let next = nextPlant(); next !== undefined; next = nextPlant()) {
        signal.throwIfAborted()
        const { plant } = next
        const why = await whyUnproven(tree, plant)
        const began = performance.now()
        if (why === undefined) settle(plant, await judge(tree, next, options), (performance.now() - began) / 1_000)
        else settle(plant, { kind: 'unproven', why })
      }
    }
    await Promise.all(trees.map(work))
    return results
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * Why the tests prove nothing; `undefined` if they do. Either they fail without the defect, or there are none. Tests that time out run once more,
 * because the machine may be slow.
 */
const failsWithout = async (tree: string, plant: Plant, options: PlantOptions): Promise<string | undefined> => {
  const first = await runTestsOf(tree, plant, options)
  const { passed, failed, caughtBy, message = '' } = isTimeOut(first) ? await runTestsOf(tree, plant, options) : first
  if (failed.length > 0 || caughtBy !== undefined) return `without it ${failed.join(', ')} fails: ${caughtBy ?? 'a test timed out'} ${message}`
  return passed === 0 ? `there is no test named ${plant.named}` : undefined
}

const runTestsOf = (tree: string, { killedBy, named }: Plant, { limitMs, signal }: PlantOptions): Promise<TestRun> =>
  runTests(tree, killedBy, { limitMs, signal, ...(named === undefined ? {} : { named }) })

const judge = async (tree: string, { plant, files, bundle }: Extract<Placed, { readonly kind: 'placed' }>, options: PlantOptions): Promise<Verdict> => {
  const sound = new Map<string, string>()
  for (const file of Object.keys(files)) sound.set(file, await readFile(join(tree, file), 'utf8'))
  try {
    for (const [file, text] of Object.entries(files)) await writeFile(join(tree, file), text)
    return bundle === undefined ? verdictOf(await runTestsOf(tree, plant, options)) : await judgeBundle(tree, plant, bundle, options)
  } finally {
    for (const [file, text] of sound) await writeFile(join(tree, file), text)
  }
}

/** The same after the changed sources were bundled. */
const judgeBundle = async (tree: string, plant: Plant, { script, folder }: Bundle, options: PlantOptions): Promise<Verdict> => {
  const [made, kept] = [join(tree, folder), join(tree, `${folder}-sound`)]
  await rename(made, kept)
  try {
    const why = await promisify(execFile)(process.execPath, [join(tree, script)], { cwd: tree }).then(() => undefined, (error: Error) => error.message)
    return why === undefined ? verdictOf(await runTestsOf(tree, plant, options)) : { kind: 'unloadable', why: `it cannot be bundled: ${why}` }
  } finally {
    await rm(made, { recursive: true, force: true })
    await rename(kept, made)
  }
}

const isTimeOut = ({ caughtBy, timedOut }: TestRun): boolean => caughtBy === undefined && timedOut

const verdictOf = (run: TestRun): Verdict => {
  const { caughtBy, unloadable } = run
  if (caughtBy !== undefined) return { kind: 'killed', by: caughtBy }
  if (isTimeOut(run)) return { kind: 'hung', why: 'a test timed out, which is no proof: it must say by itself what it waited for' }
  return unloadable === undefined ? { kind: 'survived' } : { kind: 'unloadable', why: unloadable }
}
