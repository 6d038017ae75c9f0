/** Every command that a document names can be typed as it stands: the command is there, and has the options. And every link leads somewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root, runHere } from '../cli/program.js'

const documents = ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md') && !name.startsWith('adr/')).map((name) => `docs/${name}`)]

/** The command lines of a document: those in code, from `daybook` to the end of the line, the span or the pipe. */
const commandLines = (text: string): ReadonlyArray<string> => {
  const code = [...text.matchAll(/```(?:sh|)\n([\s\S]*?)```|`([^`\n]+)`/g)].map(([, block, span]) => block ?? span ?? '')
  return code.flatMap((each) => [...each.replaceAll('\\\n', ' ').matchAll(/(?:^|npx |[\n(;&|] *)daybook ([^\n|;#]*)/g)].map(([, line = '']) => line.trim()))
}

/** Words of a command line; quoted parts are one word. Ends at `--`, behind which another program stands. */
const wordsOf = (line: string): ReadonlyArray<string> => {
  const words = [...line.matchAll(/'[^']*'|"[^"]*"|\S+/g)].map(([word]) => word)
  const end = words.indexOf('--')
  return end < 0 ? words : words.slice(0, end)
}

const helps = new Map<string, Promise<string>>()
const helpOf = (command: ReadonlyArray<string>): Promise<string> => {
  const key = command.join(' ')
  const known = helps.get(key) ?? runHere([...command, '--help']).then(({ code, out }) => (code === 0 ? out : ''))
  helps.set(key, known)
  return known
}

/** The names of commands in a help text: they stand below headings that say what one wants to do. */
const subcommandsIn = (help: string): ReadonlyArray<string> =>
  help.split('\n').reduce<{ names: ReadonlyArray<string>; inside: boolean }>(
    ({ names, inside }, line) => {
      if (/^\S.*:$/.test(line)) return { names, inside: !/^(Global )?(Options|Arguments|Examples):$/.test(line) }
      const [, name] = /^ {2}([a-z][\w-]*)/.exec(line) ?? []
      return inside && name !== undefined ? { names: [...names, name], inside } : { names, inside }
    },
    { names: [], inside: false },
  ).names

/** What is wrong with a command line; empty if nothing is. */
const problemsOf = async (line: string): Promise<ReadonlyArray<string>> => {
  const words = wordsOf(line)
  const command: Array<string> = []
  let help = await helpOf([])
  for (const word of words) {
    if (!subcommandsIn(help).includes(word)) break
    command.push(word)
    help = await helpOf(command)
  }
  const [first = ''] = words
  // `daybook --help`, and `daybook` in a sentence.
  if (command.length === 0) return first === '' || first.startsWith('-') || !/^[a-z]/.test(first) ? [] : [`there is no command ${first}`]
  return words.filter((word) => /^--?[a-z]/.test(word)).flatMap((option) => {
    const name = option.replace(/=.*/, '')
    return help.includes(` ${name} `) || help.includes(` ${name},`) || help.includes(` ${name}\n`) ? [] : [`daybook ${command.join(' ')} has no option ${name}`]
  })
}

test.each(documents)('%s: every command that it names is there, with its options', async (document) => {
  const problems: Array<string> = []
  for (const line of commandLines(readFileSync(join(root, document), 'utf8'))) problems.push(...(await problemsOf(line)))
  expect(problems).toEqual([])
})

test('ops/prometheus/alerts.yml: every command that it names is there, with its options', async () => {
  const lines = [...readFileSync(join(root, 'ops/prometheus/alerts.yml'), 'utf8').matchAll(/daybook ([a-z][^,.;:()\n]*)/g)].map(([, line = '']) => line)
  expect(lines.length).toBeGreaterThan(10)
  expect((await Promise.all(lines.map(problemsOf))).flat()).toEqual([])
})

test.each(documents)('%s: every link to a file leads to one', (document) => {
  const text = readFileSync(join(root, document), 'utf8').replace(/```[\s\S]*?```|`[^`\n]*`/g, '')
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target).filter((target) => !/^(https?:|#|mailto:)/.test(target))
  expect(targets.filter((target) => !existsSync(join(root, dirname(document), target.replace(/#.*/, ''))))).toEqual([])
})

test('teeth: a command, a subcommand and an option that are not there are found', async () => {
  const text = 'Say `daybook enqeue mail`, `daybook dlq retry --evrything` or\n```sh\nnpx daybook audit log --last 5 | head\n```\n'
  expect(commandLines(text)).toEqual(['enqeue mail', 'dlq retry --evrything', 'audit log --last 5'])
  expect((await Promise.all(commandLines(text).map(problemsOf))).flat()).toEqual(['there is no command enqeue', 'daybook dlq retry has no option --evrything', 'daybook audit log has no option --last'])
})
