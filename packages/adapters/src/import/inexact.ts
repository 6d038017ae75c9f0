/** Finds entries with numbers that would be rounded. These entries are refused, and all others are accepted. */
import type { FieldError } from '@daybook/core'
import { inexactNumbers } from '../read-json.js'

/** Returns a function. For the path of an entry (`[3]`, `tasks[3]`, `tasks.T-1`), it returns the first such number in the entry, with its path there. */
export const inexactIn = (text: string): ((path: string) => FieldError | undefined) => {
  const inexact = inexactNumbers(text)
  const inLists = new Map<string, FieldError>()
  for (const error of inexact) {
    const [entry] = /^[^[]*\[\d+\]/.exec(error.path) ?? []
    if (entry !== undefined && !inLists.has(entry)) inLists.set(entry, error)
  }
  return (entry) => {
    const found = entry.endsWith(']') ? inLists.get(entry) : inexact.find(({ path }) => path === entry || path.startsWith(`${entry}.`))
    return found === undefined ? undefined : { ...found, path: found.path.slice(entry.length).replace(/^\./, '') }
  }
}
