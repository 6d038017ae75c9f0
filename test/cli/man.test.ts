/** The manual: pages for `man` and the reference, both made from the commands. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goesWithout, mandoc } from '../support/needs.js'
import { root, runHere } from './program.js'

let dir = ''
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-man-'))
  expect(await runHere(['man', '--write', dir])).toEqual({ code: 0, out: '', err: '' })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('there is a page for each command, and one for the program that names them all', () => {
  const files = readdirSync(dir).sort()
  expect(files).toEqual(expect.arrayContaining(['daybook.1', 'daybook-enqueue.1', 'daybook-dlq.1', 'daybook-top.1']))
  const main = readFileSync(join(dir, 'daybook.1'), 'utf8').replaceAll('\\-', '-')
  for (const file of files.filter((name) => name !== 'daybook.1')) expect(main).toContain(`${file.slice(0, -2)}(1)`)
})

test('npm installs each of them with the package, which names them', () => {
  const { man } = JSON.parse(readFileSync(join(root, 'packages/adapters/package.json'), 'utf8')) as { readonly man: ReadonlyArray<string> }
  expect([...man].sort(), 'name the pages of all commands in packages/adapters/package.json').toEqual(readdirSync(dir).map((page) => `./man/${page}`).sort())
})

test.skipIf(goesWithout(mandoc))('mandoc has nothing to say about them, and shows options, examples and exit codes', () => {
  const files = readdirSync(dir).map((name) => join(dir, name))
  // It ends with another code than 0 if there is a warning.
  execFileSync('mandoc', ['-Tlint', '-Wwarning', ...files])
  // eslint-disable-next-line no-control-regex -- bold letters are printed twice, with a backspace between them
  const shown = execFileSync('mandoc', ['-Tascii', join(dir, 'daybook-dlq.1')], { encoding: 'utf8' }).replace(/.\u0008/g, '')
  for (const text of ['daybook dlq retry', '--reason <text>', 'EXIT STATUS', '2 wrong usage', 'daybook-breakers(1)', "daybook dlq patterns"]) expect(shown).toContain(text)
})

test('one page is printed, and an unknown command is refused with what was meant', async () => {
  expect((await runHere(['man', 'enqueue'])).out).toBe(readFileSync(join(dir, 'daybook-enqueue.1'), 'utf8'))
  expect(await runHere(['man', 'enqueu'])).toMatchObject({ code: 2, err: expect.stringContaining('(did you mean enqueue?)') as string })
})

test('docs/command-line.md has every command as it is; npx daybook man --markdown prints the reference', async () => {
  const page = readFileSync(join(root, 'docs/command-line.md'), 'utf8')
  const [, shown = ''] = /<!-- reference -->\n([\s\S]*)<!-- end of the reference -->/.exec(page) ?? []
  expect(shown, 'put the new reference on the page').toBe((await runHere(['man', '--markdown'])).out)
})
