/** Completions for the text in the search field. No browser needed. */
import { bandNames, phaseNames, qualifiers, quoted, statusNames, termsOf } from './parse.js'

export interface Suggestion {
  /** The whole text after accepting the suggestion, and the cursor in it. */
  readonly text: string
  readonly cursor: number
  readonly label: string
  readonly hint?: string
}

/** The values in this queue, the most frequent first. */
export interface KnownValues {
  readonly type?: ReadonlyArray<string>
  readonly tenant?: ReadonlyArray<string>
  readonly agent?: ReadonlyArray<string>
}

const fixed: Readonly<Record<string, ReadonlyArray<string>>> = {
  status: statusNames,
  phase: phaseNames,
  priority: [...bandNames, '>=8', '5-7', '<=4'],
  age: ['>1h', '>10m', '>1d', '<10m', '<1h'],
}
const suggestionsMax = 8

/** The suggestions at the cursor: names of qualifiers, or values of the qualifier before it. */
export const complete = (text: string, cursor: number, known: KnownValues = {}): ReadonlyArray<Suggestion> => {
  const term = termsOf(text).find(({ from, to }) => from <= cursor && cursor <= to)
  const from = term?.from ?? cursor
  const to = term?.to ?? cursor
  const taken = (written: string, label: string, hint?: string): Suggestion => {
    const rest = text.slice(to)
    const space = written.endsWith(':') || rest.startsWith(' ') ? '' : ' '
    return { text: `${text.slice(0, from)}${written}${space}${rest}`, cursor: from + written.length + (written.endsWith(':') ? 0 : 1), label, ...(hint === undefined ? {} : { hint }) }
  }
  if (term?.name !== undefined) {
    const { name, value } = term
    const earlier = name === 'status' && value.includes(',') ? `${value.slice(0, value.lastIndexOf(','))},` : ''
    const begun = value.slice(earlier.length).toLowerCase()
    const all: Readonly<Record<string, ReadonlyArray<string> | undefined>> = { ...known, ...fixed }
    const values = (Object.hasOwn(all, name) ? all[name] : undefined) ?? []
    const beginning = values.filter((each) => each.toLowerCase().startsWith(begun))
    const containing = begun === '' ? [] : values.filter((each) => !beginning.includes(each) && each.toLowerCase().includes(begun))
    return [...beginning, ...containing].filter((each) => each.toLowerCase() !== begun).slice(0, suggestionsMax).map((each) => taken(`${name}:${earlier}${quoted(each)}`, each))
  }
  const begun = (term?.value ?? '').toLowerCase()
  const used = new Set(termsOf(text).flatMap(({ name }) => name ?? []))
  return Object.entries(qualifiers)
    .filter(([name]) => name.startsWith(begun) && !used.has(name))
    .map(([name, hint]) => taken(`${name}:`, `${name}:`, hint))
}
