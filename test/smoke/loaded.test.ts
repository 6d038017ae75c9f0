/** Programs that only ask a server do not load decisions, the fold and queries: a service would pay for them at each start, and so would each command. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const packages = fileURLToPath(new URL('../../packages', import.meta.url))
const program = join(packages, 'adapters/dist/program')

/** Modules of the core by the names that other packages import. */
const ofCore: Readonly<Record<string, string>> = { '@daybook/core': join(packages, 'core/dist/index.js'), '@daybook/core/common': join(packages, 'core/dist/common.js') }

/** A file and all files of ours that are loaded with it. */
const loadedWith = (file: string, loaded = new Set<string>()): ReadonlySet<string> => {
  if (loaded.has(file)) return loaded
  loaded.add(file)
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export|\})[^'"\n]*["']([^'"]+)["'];/gm)) {
    const other = name.startsWith('.') ? join(dirname(file), name) : ofCore[name]
    if (other !== undefined) loadedWith(other, loaded)
  }
  return loaded
}

/** The file of the bundle that has a command. */
const fileOf = (command: string): string => {
  const file = readdirSync(program).find((name) => new RegExp(String.raw`^${command}-\w{8}\.js$`).test(name))
  if (file === undefined) throw new Error(`no file of the bundle has ${command}`)
  return join(program, file)
}

/** Whether a file of the bundle contains the fold. */
const hasFold = (file: string): boolean => /^\/\/ .*core\/dist\/fold\/evolve\.js$/m.test(readFileSync(file, 'utf8'))

test.each(['index', 'worker/index', 'outbox/index'])('of the core, @daybook/client (%s) loads the model and texts', (entry) => {
  const folders = [...loadedWith(join(packages, 'client/dist', `${entry}.js`))].filter((file) => file.startsWith(join(packages, 'core/dist'))).map((file) => file.slice(join(packages, 'core/dist/').length).split('/')[0])
  expect([...new Set(folders)].sort()).toEqual(expect.arrayContaining(['common.js', 'model', 'text']))
  expect(folders).not.toContain('decide')
  expect(folders).not.toContain('fold')
})

test.each(['enqueue', 'import', 'batch', 'work', 'claim', 'settle', 'top', 'list', 'show', 'depth', 'watch', 'explain', 'history', 'result', 'report', 'cancel', 'amend', 'dead-letters', 'breakers'])('`%s` does not load the fold', (command) => {
  expect([...loadedWith(join(program, 'main.js')), ...loadedWith(fileOf(command))].filter(hasFold)).toEqual([])
})

test('teeth: what loads the core or the fold is found', () => {
  expect([...loadedWith(join(packages, 'core/dist/index.js'))].some((file) => file.endsWith('core/dist/fold/evolve.js'))).toBe(true)
  expect([...loadedWith(fileOf('serve'))].filter(hasFold)).toHaveLength(1)
})
