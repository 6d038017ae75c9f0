/** The pages as a whole: the index leads to each, each says for whom it is, and its examples are run or say why not. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../cli/program.js'

const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md') && !name.startsWith('adr/') && name !== 'README.md')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const linksIn = (text: string): ReadonlySet<string> => new Set([...text.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => target))

/** What stands before the first heading below the title. */
const opening = (text: string): string => text.split(/^## /m)[0] ?? ''
const saysForWhom = (text: string): boolean => /^For [a-z]|^It is for /m.test(opening(text))

test('docs/README.md leads to every page', () => {
  const links = linksIn(read('docs/README.md'))
  expect(pages.filter((page) => !links.has(page))).toEqual([])
})

test('every page says at its top for whom it is', () => {
  const documents = [...pages.filter((page) => page !== 'progress.md').map((page) => `docs/${page}`), 'docs/README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md']
  expect(documents.filter((document) => !saysForWhom(read(document)))).toEqual([])
})

const languages = /^ *```(sh|ts|js|python|yaml|sql)$/
/** A block without a language is an example, too, if it begins with a command. */
const isExample = (fence: string, first: string): boolean => languages.test(fence) || (/^ *```(text)?$/.test(fence) && /^(npx|daybook|curl|zcat|python3|docker|duckdb|sqlite3) /.test(first))

/** Examples without a comment above them that says what runs them, or why nothing does. */
const unmarked = (text: string): ReadonlyArray<string> => {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => (isExample(line, lines[at + 1] ?? '') && !/^ *<!-- .+ -->$/.test(lines[at - 1] ?? '') ? [lines[at + 1] ?? ''] : []))
}

test('every example is run, or says why not: <!-- run --> or <!-- not run: … --> stands above it', () => {
  // The reference of the command line is printed by the program; test/cli/help-examples.test.ts runs its examples.
  const documents = ['README.md', ...pages.filter((page) => page !== 'progress.md' && page !== 'command-line.md').map((page) => `docs/${page}`)]
  expect(documents.flatMap((document) => unmarked(read(document)).map((example) => `${document}: ${example}`))).toEqual([])
})

test('ARCHITECTURE.md has every package, and every folder of those whose README has no map', () => {
  const [map = ''] = /```[\s\S]*?```/.exec(read('ARCHITECTURE.md')) ?? []
  const folders = (path: string): ReadonlyArray<string> => readdirSync(join(root, path), { withFileTypes: true }).flatMap((each) => (each.isDirectory() ? [each.name] : []))
  const packages = folders('packages')
  expect(packages.filter((name) => !map.includes(`\npackages/${name} `))).toEqual([])
  const mapped = packages.filter((name) => name !== 'console')
  expect(mapped.flatMap((name) => folders(`packages/${name}/src`).filter((folder) => !new RegExp(`[ \\n]${folder}/`).test(map)).map((folder) => `${name}/${folder}`))).toEqual([])
})

test('docs/reference/glossary.md explains each term once', () => {
  const terms = [...read('docs/reference/glossary.md').matchAll(/^\| \*\*(.+?)\*\*.* \| (.+) \|$/gm)].map(([, term]) => term)
  expect(terms.length).toBeGreaterThan(80)
  expect(terms.filter((term, at) => terms.indexOf(term) !== at)).toEqual([])
})

test('teeth: a page that the index leaves out, one that does not say for whom it is, and an example that nothing runs', () => {
  expect(unmarked('<!-- run -->\n```sh\nnpx daybook list\n```\n\n```sh\nnpx daybook depth\n```')).toEqual(['npx daybook depth'])
  expect(unmarked('```\nan answer\n```\n\n```\ndaybook depth\n```')).toEqual(['daybook depth'])
  expect(linksIn('[a](a.md), [b](how-to/b.md#there)')).toEqual(new Set(['a.md', 'how-to/b.md']))
  expect(saysForWhom('# Limits\n\nA limit says how many run.\n\n## More\n\nFor people who read on.')).toBe(false)
  expect(saysForWhom('# Limits\n\nFor people who protect a service.\n')).toBe(true)
})
