/** A priority in any of its spellings. */

const names: Readonly<Record<string, number>> = {
  critical: 10,
  high: 8,
  medium: 5,
  normal: 5,
  low: 3,
  background: 1,
  p0: 10,
  p1: 8,
  p2: 5,
  p3: 3,
}

/** The number from 1 to 10 that is meant; `undefined` when nobody could say. */
export const readPriority = (value: unknown): number | undefined => {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.min(10, Math.max(1, Math.round(value)))
  if (typeof value !== 'string') return undefined
  const word = value.trim().toLowerCase()
  if (/^\d+(\.\d+)?$/.test(word)) return readPriority(Number(word))
  return Object.hasOwn(names, word) ? names[word] : undefined
}
