/** Tests, examples and scripts read only files of the project: no path leads out of it. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Relative paths in a file that lead out of the project. Those in a module are relative to it, all others to the root. */
const leadsOut = (file: string, text: string): ReadonlyArray<string> => {
  const isModule = /\.(ts|mjs|js)$/.test(file)
  // In a module only quoted text can be a path.
  const paths = [...text.matchAll(isModule ? /['"`]((?:\.\.\/)+[^'"`$]*)/g : /(?:^|[\s='":-])((?:\.\.\/)+[\w./-]*)/gm)].map((match) => match[1] as string)
  return paths.filter((path) => relative(root, resolve(isModule ? dirname(file) : root, path)).startsWith('..'))
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !['node_modules', 'dist', 'out', '.tmp'].includes(name))
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]))

test('no path in tests, benchmarks, examples and scripts leads out of the project', () => {
  const files = ['test', 'bench', 'examples', 'scripts', '.ci'].flatMap((name) => filesIn(join(root, name)))
  expect(files.length).toBeGreaterThan(100)
  const out = files.filter((file) => /(\.(ts|mjs|js|sh)|run)$/.test(file)).flatMap((file) => leadsOut(file, readFileSync(file, 'utf8')).map((path) => `${relative(root, file)}: ${path}`))
  expect(out).toEqual([])
})

test('teeth: a path beside the project is found in a module and in a script', () => {
  const up = '../'.repeat(3)
  expect(leadsOut(join(root, 'test/cli/a.test.ts'), `const at = new URL('${up}data', import.meta.url)`)).toEqual([`${up}data`])
  expect(leadsOut(join(root, 'examples/a.sh'), 'folder=${1:-../data/queue}')).toEqual(['../data/queue'])
  expect(leadsOut(join(root, 'test/cli/a.test.ts'), "import { a } from '../support/a.js'")).toEqual([])
})
