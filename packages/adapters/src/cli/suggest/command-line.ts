/** Errors of the command line that name the command, the sub-command, the option or the choice that was meant. */
import type { Command } from 'commander'
import { didYouMean, nearest } from './nearest.js'
import { commandWords, verbWords } from './words.js'

/** Told at the most, of commands that may be meant. */
const toldMax = 3

const pathOf = (command: Command): string => {
  const names: Array<string> = []
  for (let at: Command | null = command; at !== null; at = at.parent) names.unshift(at.name())
  return names.join(' ')
}

/** All commands below this one, as people type them behind its name. */
const pathsBelow = (command: Command): ReadonlyArray<string> =>
  command.commands.flatMap((child) => [child.name(), ...pathsBelow(child).map((path) => `${child.name()} ${path}`)])

/** What `words` says that is there: its first words are a command. */
const byWords = (word: string, words: Readonly<Record<string, ReadonlyArray<string>>>, paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.entries(words)
    .filter(([line, others]) => others.includes(word) && (line.startsWith('--') || paths.some((path) => line === path || line.startsWith(`${path} --`))))
    .map(([line]) => line)

/** What was meant by a word behind this command: the nearest name, a command of a group of that name, or what others call it. */
export const commandsMeant = (command: Command, given: string): ReadonlyArray<string> => {
  const word = given.toLowerCase()
  const paths = pathsBelow(command)
  const others = byWords(word, command.parent === null ? commandWords : verbWords, paths)
  const below = paths.filter((path) => path.endsWith(` ${word}`))
  if (others.length + below.length > 0) return [...new Set([...others, ...below])].slice(0, toldMax)
  const near = nearest(word, command.commands.map((child) => child.name()))
  return near === undefined ? [] : [near]
}

const unknownCommand = (group: Command, word: string): string => {
  const meant = commandsMeant(group, word).map((line) => `${pathOf(group)} ${line}`)
  const told = `error: unknown command '${group.parent === null ? word : `${pathOf(group)} ${word}`}'`
  if (meant.length === 0) return `${told}\n`
  return `${told}\n(Did you mean ${meant.length === 1 ? '' : 'one of: '}${meant.join(', ')}?)\n`
}

const optionsOf = (command: Command): ReadonlyArray<string> => [
  ...command.options.flatMap(({ long, hidden }) => (long === undefined || long === null || hidden ? [] : [long])),
  ...(command.parent === null ? ['--version'] : optionsOf(command.parent)),
  '--help',
]

/** The word behind a group whose default command takes no arguments: a command of the group was meant. */
const wordOfGroup = (command: Command): string | undefined => {
  const [word] = command.args
  return command.parent !== null && command.parent.parent !== null && command.parent.args[0] === word ? word : undefined
}

/** Commander's text of an error, with what was meant. */
export const withSuggestion = (command: Command, text: string): string => {
  const [, unknown] = /^error: unknown command '(.*)'/.exec(text) ?? []
  if (unknown !== undefined) return unknownCommand(command, unknown)
  const word = text.startsWith('error: too many arguments') ? wordOfGroup(command) : undefined
  if (word !== undefined && command.parent !== null) return unknownCommand(command.parent, word)
  const [, option] = /^error: unknown option '(--[^'=]*)/.exec(text) ?? []
  if (option !== undefined) return text.trimEnd() + didYouMean(option, optionsOf(command)) + '\n'
  const [, value, choices] = /argument '(.*)' is invalid\. Allowed choices are (.*)\.\n$/s.exec(text) ?? []
  return value === undefined || choices === undefined ? text : text.trimEnd() + didYouMean(value, choices.split(', ')) + '\n'
}
