/** Suggestions for a word that does not exist. */
import { distance } from 'fastest-levenshtein'

const letters = (word: string): string => [...word].sort().join('')

/** Two swapped letters count as one typing error: `lsit`. */
const slipsOf = (word: string, candidate: string): number => (word !== candidate && letters(word) === letters(candidate) ? 1 : distance(word, candidate))

/** How many typing errors are forgiven in a word of this length. */
const slipsMax = (length: number): number => (length < 4 ? 1 : length < 8 ? 2 : 3)

/** The most similar candidate, or one with the same beginning; `undefined` if none is similar. */
export const nearest = (given: string, candidates: ReadonlyArray<string>): string | undefined => {
  const word = given.toLowerCase()
  const found = candidates
    .map((candidate) => ({ candidate, slips: slipsOf(word, candidate.toLowerCase()) }))
    .filter(({ candidate, slips }) => slips <= Math.min(slipsMax(word.length), candidate.length - 1))
    .sort((a, b) => a.slips - b.slips)
  if (found[0] !== undefined) return found[0].candidate
  return word.length < 3 ? undefined : candidates.find((candidate) => candidate.toLowerCase().startsWith(word))
}

/** ` (did you mean X?)` for the end of a message; empty if no candidate is similar. `others`: other words for a candidate. */
export const didYouMean = (given: string, candidates: ReadonlyArray<string>, others: Readonly<Record<string, ReadonlyArray<string>>> = {}): string => {
  const known = Object.entries(others).find(([candidate, words]) => candidates.includes(candidate) && words.includes(given.toLowerCase()))?.[0]
  const meant = known ?? nearest(given, candidates)
  return meant === undefined ? '' : ` (did you mean ${meant}?)`
}
