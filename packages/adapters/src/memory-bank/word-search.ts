/** Searches memories by words, at a cost that does not grow with the number of memories. */
import type { Database } from 'better-sqlite3'

/** How many occurrences of words one search reads at most. Among 600,000 memories it then takes up to 45 ms of CPU, and a claim waits for 50. */
const occurrencesMax = 20_000

/** The memories with any of the words, as their texts, the best first. */
export type WordSearch = (words: ReadonlyArray<string>, queue: string, limit: number) => ReadonlyArray<string>

/**
 * Rare words say most about a text. So the rarest words are searched, as many as have no more than `readMax` occurrences together, and the memories are
 * ordered by rank (BM25). If each word alone has more, the best are the newest memories with most of the words: a rank counts all occurrences of a word.
 */
export const wordSearch = (db: Database, readMax = occurrencesMax): WordSearch => {
  const count = db.prepare('SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)').pluck()
  const ranked = db.prepare('SELECT memory FROM words JOIN memories ON number = words.rowid WHERE words MATCH ? AND queue = ? ORDER BY rank LIMIT ?').pluck()
  const newest = db.prepare('SELECT max(number) FROM memories').pluck()
  const since = db.prepare('SELECT rowid FROM words WHERE words MATCH ? AND rowid > ?').pluck()
  const inQueue = db.prepare('SELECT memory FROM memories WHERE number = ? AND queue = ?').pluck()

  const amongNewest = (words: ReadonlyArray<string>, queue: string, limit: number): ReadonlyArray<string> => {
    // As an integer: a number would be bound as a floating-point one, for which the index of words cannot be used.
    const after = BigInt(Number(newest.get()) - Math.floor(readMax / words.length))
    const hits = new Map<number, number>()
    for (const word of words) for (const number of since.all(word, after) as ReadonlyArray<number>) hits.set(number, (hits.get(number) ?? 0) + 1)
    const found: Array<string> = []
    for (const [number] of [...hits].sort(([a, hitsOfA], [b, hitsOfB]) => hitsOfB - hitsOfA || b - a)) {
      const memory = inQueue.get(number, queue)
      if (memory !== undefined && found.push(memory as string) === limit) break
    }
    return found
  }

  return (words, queue, limit) => {
    const counted = words
      // In quotes, so that nothing in the text is taken for syntax.
      .map((word) => ({ word: `"${word}"`, occurrences: Number(count.get(`"${word}"`, readMax + 1)) }))
      .filter(({ occurrences }) => occurrences > 0)
      .sort((a, b) => a.occurrences - b.occurrences)
    if (counted.length === 0) return []
    let read = 0
    const rare = counted.filter(({ occurrences }) => (read += occurrences) <= readMax)
    if (rare.length === 0) return amongNewest(counted.map(({ word }) => word), queue, limit)
    return ranked.all(rare.map(({ word }) => word).join(' OR '), queue, limit) as ReadonlyArray<string>
  }
}
