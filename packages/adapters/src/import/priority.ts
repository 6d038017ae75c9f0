/** Names of priorities. */

const names: Readonly<Record<string, number>> = {
  critical: 10,
  urgent: 10,
  highest: 10,
  high: 8,
  medium: 5,
  normal: 5,
  low: 3,
  lowest: 1,
  background: 1,
  p0: 10,
  p1: 8,
  p2: 5,
  p3: 3,
  p4: 1,
}

/** The priority from 1 to 10; `undefined` for an unknown name. Numbers are read by `ranks.ts`. */
export const readPriority = (value: unknown): number | undefined => {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : ''
  return Object.hasOwn(names, word) ? names[word] : undefined
}
