/**
 * A simulated Daybook 0.2.0: this build with one more type of event. It writes a pause as `QueueHeld`, which 0.1.0
 * does not know.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

export interface NewerBuild {
  /** The program to run with Node. */
  readonly bin: string
  readonly remove: () => void
}

const changes: ReadonlyArray<readonly [file: string, from: string, to: string]> = [
  ['model/version.js', "daybookVersion = '0.1.0'", "daybookVersion = '0.2.0'"],
  ['model/version.js', 'needsOf = {}', "needsOf = { QueueHeld: '0.2.0' }"],
  ['model/events.js', 'QueuePaused: t.type({ reason: Text }),', 'QueuePaused: t.type({ reason: Text }), QueueHeld: t.type({ reason: Text }),'],
  ['fold/evolve.js', 'QueuePaused: (', 'QueueHeld: ({ head }, { data }) => void (head.paused = data.reason), QueuePaused: ('],
  ['decide/index.js', "type: 'QueuePaused'", "type: 'QueueHeld'"],
]

/** The bundled program, which has the unchanged modules, is not copied. Without the bundle, `daybook` runs the modules. */
const program = join(root, 'packages/adapters/dist/program')

export const newerBuild = (): NewerBuild => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-newer-'))
  for (const name of ['core', 'projections', 'client', 'console', 'adapters']) {
    const from = join(root, 'packages', name)
    const to = join(folder, 'packages', name)
    for (const part of name === 'adapters' ? ['package.json', 'dist', 'bin'] : ['package.json', 'dist']) cpSync(join(from, part), join(to, part), { recursive: true, filter: (path) => path !== program })
    linkDependencies(join(from, 'node_modules'), join(to, 'node_modules'), folder)
  }
  for (const [file, before, after] of changes) {
    const path = join(folder, 'packages/core/dist', file)
    const text = readFileSync(path, 'utf8')
    if (!text.includes(before)) throw new Error(`${file} no longer contains ${before}: change how the newer build is made`)
    writeFileSync(path, text.replace(before, after))
  }
  return { bin: join(folder, 'packages/adapters/bin/daybook.js'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Links our packages to those of the newer build, and all others to the same ones as here. */
const linkDependencies = (from: string, to: string, folder: string): void => {
  const link = (name: string, target: string): void => {
    mkdirSync(dirname(join(to, name)), { recursive: true })
    symlinkSync(target, join(to, name))
  }
  for (const name of readdirSync(from)) {
    if (name.startsWith('.')) continue
    if (!name.startsWith('@')) link(name, realpathSync(join(from, name)))
    else for (const scoped of readdirSync(join(from, name))) link(`${name}/${scoped}`, name === '@daybook' ? join(folder, 'packages', scoped) : realpathSync(join(from, name, scoped)))
  }
}
