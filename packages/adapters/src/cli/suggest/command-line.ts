/** Adds to errors of the command line which command, sub-command, option or choice was probably meant. */
import type { Command } from 'commander'
import { namesOf } from '../command-path.js'
import { didYouMean, nearest } from './nearest.js'
import { commandWords, verbWords } from './words.js'

/** The largest number of suggested commands. */
const toldMax = 3

/** All commands below this one, as people type them after its name. */
const pathsBelow = (command: Command): ReadonlyArray<string> =>
  command.commands.flatMap((child) => [child.name(), ...pathsBelow(child).map((path) => `${child.name()} ${path}`)])

/** The entries of `words` for this word whose first words are an existing command. */
const byWords = (word: string, words: Readonly<Record<string, ReadonlyArray<string>>>, paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.entries(words)
    .filter(([line, others]) => others.includes(word) && (line.startsWith('--') || paths.some((path) => line === path || line.startsWith(`${path} --`))))
    .map(([line]) => line)

/** The commands that a word after this command may mean: the nearest name, a command of the group with that name, or a word of other queues. */
const commandsMeant = (command: Command, given: string): ReadonlyArray<string> => {
  const word = given.toLowerCase()
  const paths = pathsBelow(command)
  const others = byWords(word, command.parent === null ? commandWords : verbWords, paths)
  const below = paths.filter((path) => path.endsWith(` ${word}`))
  if (others.length + below.length > 0) return [...new Set([...others, ...below])].slice(0, toldMax)
  const near = nearest(word, command.commands.map((child) => child.name()))
  return near === undefined ? [] : [near]
}

const unknownCommand = (group: Command, word: string): string => {
  const path = namesOf(group).join(' ')
  const meant = commandsMeant(group, word).map((line) => `${path} ${line}`)
  const told = `error: unknown command '${group.parent === null ? word : `${path} ${word}`}'`
  if (meant.length === 0) return `${told}\n`
  return `${told}\n(Did you mean ${meant.length === 1 ? '' : 'one of: '}${meant.join(', ')}?)\n`
}

const optionsOf = (command: Command): ReadonlyArray<string> => [
  ...command.options.flatMap(({ long, hidden }) => (long === undefined || long === null || hidden ? [] : [long])),
  ...(command.parent === null ? ['--version'] : optionsOf(command.parent)),
  '--help',
]

/** The word after a group whose default command takes no arguments. It was meant as a command of the group. */
const wordOfGroup = (command: Command): string | undefined => {
  const [word] = command.args
  return command.parent !== null && command.parent.parent !== null && command.parent.args[0] === word ? word : undefined
}

/** Commander's error text, with the suggestion. */
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
