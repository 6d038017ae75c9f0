/** The words of a text as a query of SQLite's full-text search. */

const wordsMax = 16
/** Words so common that they match everything. */
const common = new Set('the and for with this that from into have has are was were not but all any can its their they when what which while will would should could out use via per'.split(' '))

/** A query for memories with any of the words. Each word is quoted, so that nothing in the text is taken for syntax. `undefined` if there are no words. */
export const matchOf = (text: string): string | undefined => {
  const words = new Set<string>()
  for (const [word] of text.slice(0, 4_000).toLowerCase().matchAll(/[\p{L}\p{N}_]{3,64}/gu)) {
    if (!common.has(word)) words.add(word)
    if (words.size === wordsMax) break
  }
  return words.size === 0 ? undefined : [...words].map((word) => `"${word}"`).join(' OR ')
}
