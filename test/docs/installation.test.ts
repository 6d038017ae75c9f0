/** The commands that install packed packages name all that are needed: npm looks for those that are left out on the registry, where they are not. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../cli/program.js'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The packages that a command names, without their scope. `*` is all. */
const namedIn = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...text.matchAll(/npm install [^\n`]*daybook-(?:\{([a-z,]+)\}-)?\*\.tgz/g)].map(([, names]) => names?.split(',') ?? readdirSync(join(root, 'packages')))

const lackingFrom = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(names.flatMap((name) => Object.keys((JSON.parse(read(`packages/${name}/package.json`)) as { readonly dependencies?: object }).dependencies ?? {})))]
    .filter((dependency) => dependency.startsWith('@daybook/') && !names.includes(dependency.replace('@daybook/', '')))

test.each([
  ['README.md', 'client'], ['docs/embedded.md', 'adapters'],
  ['packages/client/README.md', 'client'], ['packages/adapters/README.md', 'adapters'], ['packages/testing/README.md', 'testing'],
])('%s: what installs @daybook/%s names all packages that it depends on', (page, name) => {
  const [names = [], ...more] = namedIn(read(page))
  expect(more).toEqual([])
  expect(names).toContain(name)
  expect(lackingFrom(names)).toEqual([])
})

test('teeth: a package that is left out is noticed', () => {
  expect(namedIn('`npm install ../daybook-packages/daybook-{core,projections,client,adapters}-*.tgz`').map(lackingFrom)).toEqual([['@daybook/console']])
})
