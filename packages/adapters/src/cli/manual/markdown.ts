/** The reference of the command line, as a document. */
import { exitCodesText } from '../help-ending.js'
import type { Block, Named, Page } from './page.js'

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
const table = (items: ReadonlyArray<Named>): ReadonlyArray<string> => (items.length === 0 ? [] : ['', '| | |', '|---|---|', ...items.map(({ name, about }) => `| \`${name.replaceAll('|', '\\|')}\` | ${cell(about)} |`)])
const blocks = (all: ReadonlyArray<Block>): ReadonlyArray<string> =>
  all.flatMap(({ kind, lines }) => ['', ...(kind === 'prose' ? lines.map((line) => line.trim().replaceAll('<', '&lt;')) : ['```', ...lines, '```'])])

const titleOf = (page: Page, depth: number): string => `${'#'.repeat(depth)} daybook ${page.path}`

const commandText = (page: Page, depth: number): ReadonlyArray<string> => [
  '',
  titleOf(page, depth),
  '',
  `${page.about.charAt(0).toUpperCase()}${cell(page.about.slice(1))}.`,
  '',
  '```',
  page.usage,
  '```',
  ...table([...page.arguments, ...page.options]),
  ...blocks(page.text),
  ...blocks(page.examples),
  ...(depth > 3 || page.related.length === 0 ? [] : ['', `See also: ${page.related.map((other) => `[daybook ${other}](#daybook-${other.replaceAll(' ', '-')})`).join(', ')}.`]),
  ...page.commands.flatMap((child) => commandText(child, depth + 1)),
]

/** All commands, by group. */
export const markdownOf = (root: Page): string => {
  const groups = [...new Set(root.commands.map(({ group }) => group))]
  return [
    'Options of every command but `serve`:',
    ...table(root.options),
    '',
    `Exit codes: ${exitCodesText}.`,
    ...groups.flatMap((group) => ['', `## ${group}`, ...root.commands.filter((command) => command.group === group).flatMap((command) => commandText(command, 3))]),
    '',
  ].join('\n')
}
