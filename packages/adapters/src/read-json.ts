/**
 * Reads JSON from outside. `JSON.parse` rounds silently: 9007199254740993 becomes 9007199254740992, and two tasks with these ids in their payloads
 * would be duplicates. So inexact numbers are refused, with their paths.
 *
 * A whole number must be within ±(2^53 − 1) (RFC 7493). Any other number may have 17 significant digits, which are enough to distinguish any two
 * doubles. It must be neither too large for a double nor so small that it becomes 0.
 */
import type { FieldError, Json } from '@daybook/core'

/** The text is JSON, but has an inexact number. */
export class InexactNumber extends Error {
  override readonly name = 'InexactNumber'
  constructor(readonly field: FieldError) {
    super(`${field.path === '' ? '' : `${field.path}: `}${field.message}`)
  }
}

/** @throws SyntaxError if the text is not JSON, {@link InexactNumber} for an inexact number. */
export const parseJson = (text: string): Json => {
  const value = JSON.parse(text) as Json
  const { value: first } = scan(text).next()
  if (first !== undefined) throw new InexactNumber(fieldOf(first))
  return value
}

/** Where a number is: names of members and indexes of items, from the outermost on. */
export type Steps = ReadonlyArray<string | number>

/** The inexact numbers of a JSON text. Not for requests: the steps to each number are kept, and may be as long as the text. */
export const inexactNumbers = (text: string): ReadonlyArray<{ readonly steps: Steps; readonly message: string }> =>
  Array.from(scan(text), ({ part, open }) => ({ steps: stepsOf(open), message: messageOf(part) }))

/** Replaces each inexact number in a JSON text by an infinite one. The codecs then refuse it with its path, and other items of a list can still be accepted. */
export const infiniteForInexact = (text: string): string => {
  let exact = ''
  let from = 0
  for (const { part, end } of scan(text)) {
    exact += `${text.slice(from, end - part.length)}1e999`
    from = end
  }
  return from === 0 ? text : exact + text.slice(from)
}

/** Every inexact number has 16 digits in a row or an exponent of three digits. Most texts have neither, and need no second scan. */
const mayBeInexact = /[\d.]{16}|\d[eE][+-]?\d{3}/

const token = /\s+|[{}[\]:,]|[^\s{}[\],:"]+/y

/** The next token, or `undefined` at the end. A text is found without an expression: one of some million characters would exhaust the stack. */
const partAt = (text: string, from: number): string | undefined => {
  if (text[from] === '"') {
    const end = endOfText(text, from)
    return end === undefined ? undefined : text.slice(from, end)
  }
  // Others may have used it since the last part.
  token.lastIndex = from
  return token.exec(text)?.[0]
}

/** Behind the first quote that has an even number of backslashes before it. */
const endOfText = (text: string, from: number): number | undefined => {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text[before - 1] === '\\') before--
    if ((at - before) % 2 === 0) return at + 1
  }
  return undefined
}

interface Open {
  readonly isList: boolean
  /** As it is written, with its quotes. */
  key: string
  index: number
}

interface Inexact {
  readonly part: string
  readonly end: number
  /** The lists and objects around it. Valid only until the next number is asked for. {@link fieldOf} makes a path of them, which may be long. */
  readonly open: ReadonlyArray<Open>
}

const scan = function* (text: string): Generator<Inexact, void> {
  if (!mayBeInexact.test(text)) return
  const open: Array<Open> = []
  let end = 0
  for (;;) {
    const part = partAt(text, end)
    if (part === undefined) return
    end += part.length
    const inside = open[open.length - 1]
    const first = part[0] as string
    if (first === '{' || first === '[') open.push({ isList: first === '[', key: '""', index: 0 })
    else if (first === '}' || first === ']') open.pop()
    else if (first === ',' && inside !== undefined) inside.index++
    else if (first === '"' && inside?.isList === false && isKey(text, end)) inside.key = part
    else if ((first === '-' || (first >= '0' && first <= '9')) && !isHeld(part)) yield { part, end, open }
  }
}

/**
 * Members whose name is in their object a second time, not deeper than `depthMax`. `JSON.parse` keeps only the last of them. Each repetition is there
 * once. The text must be JSON.
 */
export const repeatedMembers = (text: string, depthMax: number): ReadonlyArray<Steps> => {
  const repeated: Array<Steps> = []
  const open: Array<Open & { readonly names: Set<string> }> = []
  let end = 0
  for (;;) {
    const part = partAt(text, end)
    if (part === undefined) return repeated
    end += part.length
    const inside = open[open.length - 1]
    const first = part[0] as string
    if (first === '{' || first === '[') open.push({ isList: first === '[', key: '""', index: 0, names: new Set() })
    else if (first === '}' || first === ']') open.pop()
    else if (first === ',' && inside !== undefined) inside.index++
    else if (first === '"' && inside?.isList === false && open.length <= depthMax && isKey(text, end)) {
      inside.key = part
      // The same name may be written in several ways.
      const name = JSON.parse(part) as string
      if (inside.names.has(name)) repeated.push(stepsOf(open))
      else inside.names.add(name)
    }
  }
}

const fieldOf = ({ part, open }: Inexact): FieldError => ({ path: pathOf(stepsOf(open)), message: messageOf(part) })

const isKey = (text: string, end: number): boolean => {
  let at = end
  while (/\s/.test(text[at] ?? '')) at++
  return text[at] === ':'
}

const stepsOf = (open: ReadonlyArray<Open>): Steps => open.map(({ isList, key, index }) => (isList ? index : (JSON.parse(key) as string)))

/** The steps as a path: `tasks[3].payload.id`. */
export const pathOf = (steps: Steps): string =>
  steps.reduce<string>((path, step) => (typeof step === 'number' ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`), '').toWellFormed()

const isHeld = (number: string): boolean => {
  const value = Number(number)
  if (/^-?\d+$/.test(number)) return Number.isSafeInteger(value)
  const [mantissa = ''] = number.split(/[eE]/)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '')
  return Number.isFinite(value) && digits.length <= 17 && (value !== 0 || digits === '')
}

const messageOf = (number: string): string => {
  const shown = number.length > 40 ? `${number.slice(0, 39)}…` : number
  return `${shown} is more than a JSON number holds exactly (whole numbers up to ±9007199254740991, others of 17 digits): send it as text`
}
