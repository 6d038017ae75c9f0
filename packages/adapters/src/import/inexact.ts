/** Finds entries with numbers that would be rounded. These entries are refused, and all others are accepted. */
import type { FieldError } from '@daybook/core'
import { inexactNumbers, pathOf, type Steps } from '../read-json.js'

/** Returns a function. For the steps to an entry (see `Entry`), it returns the first such number in the entry, with its path there. */
export const inexactIn = (text: string): ((at: Steps) => FieldError | undefined) => {
  const byEntry = new Map<string, FieldError>()
  for (const { steps, message } of inexactNumbers(text)) {
    // The file itself is the list, or its members are lists.
    const depth = typeof steps[0] === 'number' ? 1 : 2
    const entry = JSON.stringify(steps.slice(0, depth))
    if (!byEntry.has(entry)) byEntry.set(entry, { path: pathOf(steps.slice(depth)), message })
  }
  return (at) => byEntry.get(JSON.stringify(at))
}
