/** Entries of a queue file whose numbers would be rounded: refused one by one, and the others are taken. */
import type { FieldError } from '@daybook/core'
import { inexactNumbers } from '../read-json.js'

/** By the entry's place, `[3]` or `tasks[3]`: the first such number in it, with its place within the entry. */
export const inexactEntries = (text: string): ReadonlyMap<string, FieldError> => {
  const found = new Map<string, FieldError>()
  for (const { path, message } of inexactNumbers(text)) {
    const [, entry, within = ''] = /^([^[]*\[\d+\])\.?(.*)$/s.exec(path) ?? []
    if (entry !== undefined && !found.has(entry)) found.set(entry, { path: within, message })
  }
  return found
}
