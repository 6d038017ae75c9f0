/**
 * Older snapshots, from which past revisions are replayed. The newer they are, the closer together they are: an auditor mostly asks about the last
 * days, and what is kept for older times does not grow with the log.
 */

export interface LadderLimits {
  /** The largest number of older snapshots of one queue. 0 keeps none. */
  readonly count: number
  /** Their largest total size in bytes. */
  readonly bytes: number
}

export const ladderDefault: LadderLimits = { count: 32, bytes: 2 ** 30 }

export interface Rung {
  readonly name: string
  readonly revision: number
  readonly bytes: number
  /** The row files that it names. Default: none. */
  readonly rows?: ReadonlySet<string>
}

/**
 * The names of the rungs to delete, so that the rest is within the limits. One after the other, it deletes the rung that leaves the shortest gap in
 * relation to its distance from `newest`, the revision of the newest snapshot. A rung beyond `newest` is of another log, and is deleted. `rowBytes`:
 * the sizes of row files that only rungs need. Several rungs may name one file, which takes its space once.
 */
export const superfluousRungs = (rungs: ReadonlyArray<Rung>, newest: number, { count, bytes }: LadderLimits, rowBytes: ReadonlyMap<string, number> = noFiles): ReadonlyArray<string> => {
  const left = rungs.filter(({ revision }) => revision < newest).sort((a, b) => a.revision - b.revision)
  while (left.length > count || bytesOf(left, rowBytes) > bytes) left.splice(weakestOf(left, newest), 1)
  const kept = new Set(left.map(({ name }) => name))
  return rungs.flatMap(({ name }) => (kept.has(name) ? [] : [name]))
}

const noFiles: ReadonlyMap<string, number> = new Map()

const bytesOf = (rungs: ReadonlyArray<Rung>, rowBytes: ReadonlyMap<string, number>): number => {
  let sum = 0
  for (const { bytes } of rungs) sum += bytes
  for (const file of new Set(rungs.flatMap(({ rows = [] }) => [...rows]))) sum += rowBytes.get(file) ?? 0
  return sum
}

const weakestOf = (rungs: ReadonlyArray<Rung>, newest: number): number => {
  const revisionOf = (index: number): number => (index < 0 ? -1 : (rungs[index]?.revision ?? newest))
  let weakest = 0
  let least = Number.POSITIVE_INFINITY
  for (let index = 0; index < rungs.length; index++) {
    const gap = (revisionOf(index + 1) - revisionOf(index - 1)) / (newest - revisionOf(index))
    if (gap < least) [weakest, least] = [index, gap]
  }
  return weakest
}
