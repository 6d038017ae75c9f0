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

export const ladderDefault: LadderLimits = { count: 200, bytes: 2 ** 30 }

export interface Rung {
  readonly name: string
  readonly revision: number
  readonly bytes: number
  /** The row files that it names. Default: none. */
  readonly rows?: ReadonlySet<string>
  /** The revision of the snapshot on which it is based. Default: none, it is whole. */
  readonly base?: number
}

/** Those that are whole, or based on one of the others that is. */
export const withoutBaseless = (rungs: ReadonlyArray<Rung>): ReadonlyArray<Rung> => {
  const usable = new Set<number>()
  for (const { base, revision } of rungs.toSorted((a, b) => a.revision - b.revision)) if (base === undefined || usable.has(base)) usable.add(revision)
  return rungs.filter(({ revision }) => usable.has(revision))
}

/**
 * The newest `keep` of these rungs, which must be sorted with the newest first, and all on which they are based. If all of them are based on one
 * whole snapshot and `keep` is 2 or more, the newest of the others is among them, too, so that one is left if that snapshot is damaged.
 */
export const newestRungs = (rungs: ReadonlyArray<Rung>, keep: number): ReadonlyArray<Rung> => {
  const byRevision = new Map(rungs.map((rung) => [rung.revision, rung]))
  const chainOf = (rung: Rung): ReadonlyArray<Rung> => {
    const before = rung.base === undefined ? undefined : byRevision.get(rung.base)
    return before === undefined ? [rung] : [rung, ...chainOf(before)]
  }
  const wholeOf = (rung: Rung): Rung | undefined => chainOf(rung).at(-1)
  const first = rungs.slice(0, keep)
  const wholes = new Set(first.map(wholeOf))
  const other = keep > 1 && wholes.size === 1 ? rungs.slice(keep).find((rung) => !wholes.has(wholeOf(rung))) : undefined
  return [...new Set([...first, ...(other === undefined ? [] : [other])].flatMap(chainOf))]
}

/**
 * The names of the rungs to delete, so that the rest is within the limits. One after the other, it deletes the rung that leaves the shortest gap in
 * relation to its distance from `newest`, the revision of the newest snapshot. A rung on which a kept one is based stays. A rung beyond `newest` is of
 * another log, and is deleted. `rowBytes`: the room that row files take that only rungs need. Several rungs may name one file, which takes its space once.
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
  const bases = new Set(rungs.map(({ base }) => base))
  let weakest = 0
  let least = Number.POSITIVE_INFINITY
  for (let index = 0; index < rungs.length; index++) {
    if (bases.has(revisionOf(index))) continue
    const gap = (revisionOf(index + 1) - revisionOf(index - 1)) / (newest - revisionOf(index))
    if (gap < least) [weakest, least] = [index, gap]
  }
  return weakest
}
