/** What can be at the cursor of a command line, from the declarations of the commands. */
import type { Argument, Command, Option } from 'commander'
import { defined } from '../../defined.js'
import { pathOf } from '../command-path.js'
import { type Kind, kindOfArgument, kindOfOption } from './kinds.js'

export interface Candidate {
  readonly word: string
  readonly about?: string
}

/** What is to be completed at the cursor. */
export interface Wanted {
  /** Commands, options and choices that the declarations list. */
  readonly candidates: ReadonlyArray<Candidate>
  /** Set if the values have to be looked up, or are names of files. */
  readonly kind?: Kind
  /** The beginning of the word that is kept, as in `--queue=` and `a,b,`. */
  readonly before: string
  /** The rest of the word, with which candidates must begin. */
  readonly partial: string
  /** Options of the line so far, with their values: `--url`, `--queue`. */
  readonly given: Readonly<Record<string, string>>
}

const optionsOf = ({ options, parent }: Command): ReadonlyArray<Option> => [...options.filter(({ hidden }) => !hidden), ...(parent === null ? [] : optionsOf(parent))]
const takesValue = ({ required, optional }: Option): boolean => required || optional

interface Place {
  readonly command: Command
  readonly given: Readonly<Record<string, string>>
  /** Number of arguments so far, without options. */
  readonly operands: number
  /** The option whose value is at the cursor. */
  readonly valueOf: Option | undefined
}

/** Parses the words before the cursor. */
const placeOf = (root: Command, words: ReadonlyArray<string>): Place => {
  let command = root
  let operands = 0
  let valueOf: Option | undefined
  const given: Record<string, string> = {}
  for (const word of words) {
    // Bash splits `--queue=x` into three words.
    if (word === '=' && valueOf !== undefined) continue
    if (valueOf !== undefined) {
      given[valueOf.long ?? ''] = word
      valueOf = undefined
      continue
    }
    const [name = '', value] = word.startsWith('--') ? word.split('=', 2) : [word]
    const option = name.startsWith('-') ? optionsOf(command).find(({ short, long }) => short === name || long === name) : undefined
    if (option !== undefined) {
      given[option.long ?? name] = value ?? ''
      if (takesValue(option) && value === undefined) valueOf = option
      continue
    }
    const child = operands === 0 ? command.commands.find((each) => each.name() === word) : undefined
    if (child === undefined) operands++
    else command = child
  }
  return { command, given, operands, valueOf }
}

const valueWanted = (command: Command, option: Option): { readonly candidates: ReadonlyArray<Candidate>; readonly kind?: Kind } => {
  const kind = kindOfOption(pathOf(command), option.long ?? '')
  return { candidates: (option.argChoices ?? []).map((word) => ({ word })), ...defined({ kind }) }
}

const argumentWanted = (command: Command, operands: number): { readonly candidates: ReadonlyArray<Candidate>; readonly kind?: Kind } => {
  const { registeredArguments } = command
  const last = registeredArguments[registeredArguments.length - 1]
  const argument: Argument | undefined = registeredArguments[operands] ?? (last?.variadic === true ? last : undefined)
  const kind = argument === undefined ? undefined : kindOfArgument(pathOf(command), argument.name())
  return { candidates: (argument?.argChoices ?? []).map((word) => ({ word })), ...defined({ kind }) }
}

/** `words`: the words without the program's name; the last is the one at the cursor, which may be empty. */
export const wantedAt = (root: Command, words: ReadonlyArray<string>): Wanted => {
  const at = words[words.length - 1] ?? ''
  const { command, given, operands, valueOf } = placeOf(root, words.slice(0, -1))
  const [name = '', ofOption] = at.startsWith('--') ? [at.slice(0, at.indexOf('=') < 0 ? undefined : at.indexOf('=')), at.includes('=') ? at.slice(at.indexOf('=') + 1) : undefined] : [at]
  const inWord = ofOption === undefined ? undefined : optionsOf(command).find(({ long }) => long === name)
  const option = valueOf ?? inWord
  if (option !== undefined) {
    const value = ofOption ?? (at === '=' ? '' : at)
    // In a list, the last element is completed.
    const comma = value.lastIndexOf(',') + 1
    return { ...valueWanted(command, option), before: (inWord === undefined ? '' : `${name}=`) + value.slice(0, comma), partial: value.slice(comma), given }
  }
  if (at.startsWith('-')) {
    const candidates = optionsOf(command).flatMap(({ long, description }) => (long === undefined || long === null || long in given ? [] : [{ word: long, about: description }]))
    return { candidates: [...candidates, { word: '--help', about: 'what it does, with examples' }], before: '', partial: at, given }
  }
  const children = operands > 0 ? [] : command.commands.filter((child) => !(child as Command & { readonly _hidden?: boolean })._hidden)
  const argument = argumentWanted(command, operands)
  return { ...argument, candidates: [...children.map((child) => ({ word: child.name(), about: child.description() })), ...argument.candidates], before: '', partial: at, given }
}
