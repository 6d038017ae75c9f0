/** The words of a text by which memories are searched. */

const wordsMax = 16
/** Words so common that they match everything. */
const common = new Set('the and for with this that from into have has are was were not but all any can its their they when what which while will would should could out use via per'.split(' '))

/** The first words, each once, in lower case. */
export const wordsOf = (text: string): ReadonlyArray<string> => {
  const words = new Set<string>()
  for (const [word] of text.slice(0, 4_000).toLowerCase().matchAll(/[\p{L}\p{M}\p{N}_]{3,64}/gu)) {
    if (!common.has(word)) words.add(word)
    if (words.size === wordsMax) break
  }
  return [...words]
}
