/** The content of a command's manual page. It is taken from the declaration and the help of the command, so that the manual agrees with the program. */
import type { Command } from 'commander'
import { relatedTo } from '../help-ending.js'

export interface Named {
  /** As it is typed: `-n, --limit <n>`. */
  readonly name: string
  readonly about: string
}

/** A block of text: lines that are filled, or lines that stay as they are. */
export interface Block {
  readonly kind: 'prose' | 'literal'
  readonly lines: ReadonlyArray<string>
}

export interface Page {
  /** Such as `dlq retry`; empty for the program itself. */
  readonly path: string
  readonly about: string
  readonly usage: string
  readonly group: string
  readonly arguments: ReadonlyArray<Named>
  readonly options: ReadonlyArray<Named>
  readonly text: ReadonlyArray<Block>
  readonly examples: ReadonlyArray<Block>
  readonly related: ReadonlyArray<string>
  readonly commands: ReadonlyArray<Page>
}

const choicesText = (choices: ReadonlyArray<string> | undefined, fallback: unknown): string =>
  `${choices === undefined ? '' : ` (one of ${choices.join(', ')})`}${typeof fallback === 'string' || typeof fallback === 'number' ? ` (default ${fallback})` : ''}`

/** Indented, or a command of a shell: also behind a pipe, a variable, or inside of `$(…)`. */
const isCode = (line: string): boolean => /^ |^export |(?:^|^\S+=\S+ |=\$\(|\| )daybook /.test(line)
const isLiteral = (lines: ReadonlyArray<string>): boolean => lines.every(isCode) || lines.some((line) => / {3,}\S/.test(line))

/** Blocks are separated by empty lines. */
const blocksOf = (text: string): ReadonlyArray<Block> =>
  text
    .split(/\n\s*\n/)
    .map((part) => part.split('\n').map((line) => line.trimEnd()).filter((line) => line !== ''))
    .filter((lines) => lines.length > 0)
    .map((lines) => ({ kind: isLiteral(lines) ? 'literal' : 'prose', lines }))

/** The part of the help after the options, without the ending that every command has. */
const textBehind = (command: Command, said: () => string): string => {
  command.outputHelp()
  const text = said().slice(command.helpInformation().length)
  const end = Math.max(0, text.search(/\n(?:See also|Exit codes): /))
  return text.slice(0, end)
}

/** `said` returns what the command has written since its last call. */
export const pageOf = (command: Command, said: () => string, path = ''): Page => {
  const text = textBehind(command, said)
  const [before = '', examples = ''] = text.split(/^(?:Examples|A first round):\n/m)
  const helper = command.createHelp()
  return {
    path,
    about: command.description(),
    usage: ['daybook', path, command.usage()].filter((part) => part !== '').join(' '),
    group: command.helpGroup().replace(/:$/, ''),
    arguments: command.registeredArguments.map((argument) => ({ name: helper.argumentTerm(argument), about: `${argument.description}${choicesText(argument.argChoices, argument.defaultValue)}` })),
    options: command.options.filter(({ hidden }) => !hidden).map((option) => ({ name: option.flags, about: `${option.description}${choicesText(option.argChoices, option.defaultValue)}` })),
    text: blocksOf(before),
    // Notes come after the examples, with the same indent.
    examples: blocksOf(examples.replace(/^ {2}/gm, '')),
    related: relatedTo(path),
    commands: helper.visibleCommands(command).map((child) => pageOf(child, said, path === '' ? child.name() : `${path} ${child.name()}`)),
  }
}
