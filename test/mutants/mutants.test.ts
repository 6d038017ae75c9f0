/** The point of this file: the tool distinguishes killed plants, survivors, and plants that prove nothing. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chosen, readOptions } from './options.js'
import { place } from './place.js'
import type { Plant } from './plant.js'
import { allPlants } from './plants/index.js'
import { provenBy } from './proven.js'
import { type Result, runPlants } from './run-plants.js'

const repository = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

const testFile = (title: string, body: string): string =>
  `import { expect, test } from 'vitest'\nimport { add } from '../packages/sums/dist/add.js'\ntest('${title}', async () => { ${body} }, 1_500)\n`

/** A small repository of the same structure, with a package of one function and tests of all kinds. */
const files: Readonly<Record<string, string>> = {
  'packages/sums/src/add.ts': 'export const add = (a: number, b: number): number => a + b\nexport const unused = 1\n',
  'packages/sums/dist/add.js': 'export const add = (a, b) => a + b\nexport const unused = 1\n',
  // What is bundled, as the console is: the tests see the bundle alone.
  'packages/console/src/page.tsx': "export const safe = 'text'\n",
  'packages/console/dist/modules/page.js': "export const safe = 'text'\n",
  'packages/console/dist/site/page.txt': "export const safe = 'text'\n",
  'packages/console/build.mjs': `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
const at = (path) => new URL(path, import.meta.url)
const text = readFileSync(at('src/page.tsx'), 'utf8')
if (text.includes('unbundled')) throw new Error('no')
mkdirSync(at('dist/site'))
writeFileSync(at('dist/site/page.txt'), text)
`,
  'test/bundled.test.ts': `import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
test('shows text', () => { expect(readFileSync(new URL('../packages/console/dist/site/page.txt', import.meta.url), 'utf8')).toContain("'text'") })
`,
  'test/vitest.config.ts': `export default { root: ${JSON.stringify('ROOT')}, test: { include: ['test/**/*.test.ts'], pool: 'forks' } }\n`,
  'test/sound.test.ts': testFile('adds', 'expect(add(2, 3)).toBe(5)'),
  'test/failing.test.ts': testFile('always fails', 'expect(add(2, 3)).toBe(6)'),
  'test/waiting.test.ts': testFile('waits', 'while (add(2, 3) !== 5) await new Promise((resolve) => setTimeout(resolve, 10))'),
}

describe('a run', () => {
  let root: string
  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'daybook-small-repository-')))
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      // In a copy, the root is that of the copy.
      writeFileSync(join(root, name), text.replace('"ROOT"', "new URL('..', import.meta.url).pathname"))
    }
    mkdirSync(join(root, 'test/node_modules'))
    symlinkSync(realpathSync(join(repository, 'test/node_modules/vitest')), join(root, 'test/node_modules/vitest'))
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  const plant = (title: string, replace: string, more: Partial<Plant> = {}): Plant => ({
    title, file: 'packages/sums/src/add.ts', find: 'a + b', replace, killedBy: ['test/sound.test.ts'], ...more,
  })
  const run = (plants: ReadonlyArray<Plant>, signal = new AbortController().signal): Promise<ReadonlyArray<Result>> =>
    runPlants(root, plants, { parallel: 2, limitMs: 120_000, withinMs: 600_000, onResult: () => undefined, signal })

  test('distinguishes killed plants, survivors, and plants that prove nothing', async () => {
    const expected: ReadonlyArray<readonly [kind: Result['verdict']['kind'], plant: Plant]> = [
      ['killed', plant('noticed', 'a - b')],
      ['survived', plant('noticed by nobody', '2', { find: '1' })],
      ['survived', plant('noticed only where it does no harm', 'b + a')],
      ['killed', plant('noticed by the test that is named', 'a - b', { named: 'add' })],
      ['unproven', plant('there is no test of this name', 'a - b', { named: 'subtracts' })],
      ['stale', plant('its text is gone', 'a - b', { find: 'a plus b' })],
      ['stale', plant('its text is there twice', 'c', { find: 'number' })],
      ['stale', plant('no TypeScript', 'a +')],
      ['stale', plant('changes only types', 'bigint', { find: 'a: number', replace: 'a: bigint' })],
      ['stale', plant('a test that is not there', 'a - b', { killedBy: ['test/gone.test.ts'] })],
      ['unloadable', plant('the program does not begin', "throw new Error('no')", { find: 'export const unused = 1' })],
      ['unproven', plant('its test fails always', 'a - b', { killedBy: ['test/failing.test.ts'] })],
      ['killed', plant('noticed in what is bundled', "'markup'", { file: 'packages/console/src/page.tsx', find: "'text'", killedBy: ['test/bundled.test.ts'] })],
      ['unloadable', plant('what is bundled cannot be', "'unbundled'", { file: 'packages/console/src/page.tsx', find: "'text'", killedBy: ['test/bundled.test.ts'] })],
      ['survived', plant('noticed by nobody in what is bundled', 'unsafe', { file: 'packages/console/src/page.tsx', find: 'safe', killedBy: ['test/bundled.test.ts'] })],
      ['hung', plant('noticed by a time-out', 'a - b', { killedBy: ['test/waiting.test.ts'] })],
    ]
    const results = await run(expected.map(([, each]) => each))
    const found = new Map(results.map(({ plant: { title }, verdict }) => [title, verdict.kind]))
    expect(expected.map(([, { title }]) => [title, found.get(title)])).toEqual(expected.map(([kind, { title }]) => [title, kind]))
    expect(results.find(({ plant: { title } }) => title === 'noticed')?.verdict).toEqual({ kind: 'killed', by: 'adds' })
    for (const [name, text] of Object.entries(files)) if (!name.endsWith('config.ts')) expect(readFileSync(join(root, name), 'utf8')).toBe(text)
  })

  test('takes the report of a run as the proof of its tests, and of no others', async () => {
    const report = join(root, 'report.json')
    const fileOf = (name: string, ...tests: ReadonlyArray<readonly [title: string, status: string]>) => ({
      name: join(root, name), status: tests.some(([, status]) => status === 'failed') ? 'failed' : 'passed', assertionResults: tests.map(([fullName, status]) => ({ fullName, status })),
    })
    const testResults = [fileOf('test/sound.test.ts', ['adds', 'passed'], ['divides', 'skipped']), fileOf('test/failing.test.ts', ['always fails', 'failed']), fileOf('test/skipped.test.ts', ['later', 'skipped'])]
    writeFileSync(report, JSON.stringify({ testResults }))
    const isProven = provenBy(report, root)
    const proven = (killedBy: ReadonlyArray<string>, named?: string): boolean => isProven(plant('', '', { killedBy, ...(named === undefined ? {} : { named }) }))
    expect(proven(['test/sound.test.ts'])).toBe(true)
    expect(proven(['test/sound.test.ts'], 'add')).toBe(true)
    for (const other of [proven(['test/sound.test.ts'], 'divides'), proven(['test/sound.test.ts', 'test/failing.test.ts']), proven(['test/skipped.test.ts']), proven(['test/gone.test.ts'])]) expect(other).toBe(false)
    // What is not in the report is tried as always.
    const plants = [plant('noticed', 'a - b'), plant('its test fails always', 'a - b', { killedBy: ['test/failing.test.ts'] })]
    const results = await runPlants(root, plants, { parallel: 1, limitMs: 120_000, withinMs: 600_000, onResult: () => undefined, signal: new AbortController().signal, isProven })
    expect(results.map(({ verdict }) => verdict.kind)).toEqual(['killed', 'unproven'])
  })

  test('begins no plant after its time, and those that are left have no result', async () => {
    const plants = [plant('noticed', 'a - b'), plant('noticed, too', 'a * b')]
    const limited = (withinMs: number): Promise<ReadonlyArray<Result>> =>
      runPlants(root, plants, { parallel: 1, limitMs: 120_000, withinMs, onResult: () => undefined, signal: new AbortController().signal })
    expect((await limited(100)).map(({ plant: { title } }) => title)).toEqual(['noticed'])
    expect(await limited(0)).toEqual([])
    expect(readOptions(['--minutes', '12'], repository).withinMs).toBe(720_000)
  })

  test('that is ended leaves nothing behind', async () => {
    const folders = (): ReadonlyArray<string> => readdirSync(tmpdir()).filter((name) => name.startsWith('daybook-mutants-'))
    const before = new Set(folders())
    const mine = (): ReadonlyArray<string> => folders().filter((name) => !before.has(name) && existsSync(join(tmpdir(), name, '0', 'packages', 'sums')))
    const aborted = new AbortController()
    const ended = run([plant('noticed', 'a - b')], aborted.signal)
    await Promise.race([expect.poll(mine, { timeout: 20_000, interval: 5 }).toHaveLength(1), ended])
    aborted.abort(new Error('enough'))
    await expect(ended).rejects.toThrow('enough')
    expect(mine()).toEqual([])
  })
})

describe('the plants', () => {
  test('each apply to text that occurs exactly once, and change the compiled code', () => {
    const stale = allPlants.flatMap((each) => {
      const placed = place(repository, each)
      return placed.kind === 'stale' ? [`${each.title}: ${placed.why}`] : []
    })
    expect(stale).toEqual([])
  })

  test('have unique titles, by which they can be chosen', () => {
    expect(new Set(allPlants.map(({ title }) => title)).size).toBe(allPlants.length)
  })

  test('are all covered by the ten tenths', () => {
    const tenths = Array.from({ length: 10 }, (_, tenth) => chosen(allPlants, readOptions(['--tenth', `${tenth}`], repository)))
    expect(tenths.flat().map(({ title }) => title).sort()).toEqual(allPlants.map(({ title }) => title).sort())
    const today = readOptions(['--tenth', 'auto'], repository).tenth
    expect(today).toBeGreaterThanOrEqual(0)
    expect(today).toBeLessThan(10)
    expect(() => readOptions(['--tenth', '10'], repository)).toThrow('from 0 to 9')
  })
})
