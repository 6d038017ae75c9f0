/** A manual page for `man`. */
import { exitCodesText } from '../help-ending.js'
import type { Block, Named, Page } from './page.js'

/** When the form of these pages last changed. */
const changed = '2026-11-25'

const signs: Readonly<Record<string, string>> = { '\\': '\\(rs', '-': '\\-', "'": '\\(aq', '`': '\\(ga', '~': '\\(ti', '^': '\\(ha' }

/** Text that is printed literally: nothing in it is a request. */
const plain = (text: string): string => {
  const escaped = [...text].map((letter) => signs[letter] ?? (letter > '\u007e' ? `\\[u${(letter.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}]` : letter)).join('')
  return escaped.startsWith('.') ? `\\&${escaped}` : escaped
}

const bold = (text: string): string => `\\fB${plain(text)}\\fR`
const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> => (lines.length === 0 ? [] : [`.SH ${title}`, ...lines])
const named = (items: ReadonlyArray<Named>): ReadonlyArray<string> => items.flatMap(({ name, about }) => ['.TP', bold(name), plain(about)])
/** The first paragraph needs no request; `man` warns of one. */
const blocks = (all: ReadonlyArray<Block>, isFirst = true): ReadonlyArray<string> =>
  all.flatMap(({ kind, lines }, i) => [...(i === 0 && isFirst ? [] : ['.PP']), ...(kind === 'prose' ? lines.map((line) => plain(line.trim())) : ['.nf', ...lines.map(plain), '.fi'])])

const subcommand = (page: Page): ReadonlyArray<string> => [
  `.SS ${plain(page.usage)}`,
  plain(page.about),
  ...named([...page.arguments, ...page.options]),
  ...blocks(page.text, false),
  ...blocks(page.examples, false),
]

/** The name of a page: `daybook`, `daybook-enqueue`. */
export const pageName = ({ path }: Page): string => ['daybook', ...(path === '' ? [] : [path.replaceAll(' ', '-')])].join('-')

const environment: ReadonlyArray<Named> = [
  { name: 'DAYBOOK_URL', about: 'the server, as --url' },
  { name: 'DAYBOOK_TOKEN', about: 'who you are, as --token, and not in the list of processes' },
  { name: 'DAYBOOK_QUEUE', about: 'the queue, as --queue' },
  { name: 'NO_COLOR', about: 'if it is not empty: no colours' },
]

/** The commands of the program are on pages of their own, by group. The commands of a group are on the group's page. */
const commandsOf = ({ path, commands }: Page): ReadonlyArray<string> => {
  if (path !== '') return section('COMMANDS', commands.flatMap(subcommand))
  const groups = [...new Set(commands.map(({ group }) => group))]
  return section('COMMANDS', groups.flatMap((group) => [
    `.SS ${plain(group)}`,
    ...named(commands.filter((command) => command.group === group).map((command) => ({ name: `${pageName(command)}(1)`, about: command.about }))),
  ]))
}

export const roffOf = (page: Page, version: string, shared: ReadonlyArray<Named>): string => {
  const name = pageName(page)
  return [
    `.TH ${name.toUpperCase()} 1 ${changed} "daybook ${version}" "Daybook"`,
    ...section('NAME', [`${plain(name)} \\- ${plain(page.about)}`]),
    ...section('SYNOPSIS', [bold(page.usage)]),
    ...section('DESCRIPTION', page.text.length === 0 ? [plain(`${page.about}.`)] : blocks(page.text)),
    ...section('ARGUMENTS', named(page.arguments)),
    ...section('OPTIONS', named([...page.options, ...(page.path === '' || page.path === 'serve' ? [] : shared)])),
    ...commandsOf(page),
    ...section('EXAMPLES', blocks(page.examples)),
    ...section('EXIT STATUS', [plain(exitCodesText)]),
    ...section('ENVIRONMENT', named(environment)),
    ...section('SEE ALSO', [[...new Set(['daybook', ...page.related.map((other) => `daybook-${other.split(' ')[0] ?? ''}`)])].filter((other) => other !== name).map((other) => `${bold(other)}(1)`).join(',\n')].filter((text) => text !== '')),
    '',
  ].join('\n')
}
