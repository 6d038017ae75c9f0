/**
 * Older snapshots, from which past revisions are replayed. They lie closer together the newer they are: an auditor mostly asks for the last days,
 * and what is kept for the rest does not grow with the log.
 */

export interface LadderLimits {
  /** Older snapshots of one queue. 0 keeps none. */
  readonly count: number
  /** Bytes of them together. */
  readonly bytes: number
}

export const ladderDefault: LadderLimits = { count: 32, bytes: 2 ** 30 }

export interface Rung {
  readonly name: string
  readonly revision: number
  readonly bytes: number
}

/**
 * The names of the rungs to delete, so that the rest is within the limits. One after the other goes the one that leaves the shortest gap, as a part of
 * its distance from `newest`, the revision of the newest snapshot. A rung beyond `newest` is of another log, and goes.
 */
export const superfluousRungs = (rungs: ReadonlyArray<Rung>, newest: number, { count, bytes }: LadderLimits): ReadonlyArray<string> => {
  const left = rungs.filter(({ revision }) => revision < newest).sort((a, b) => a.revision - b.revision)
  let sum = left.reduce((total, rung) => total + rung.bytes, 0)
  while (left.length > count || sum > bytes) {
    const weakest = weakestOf(left, newest)
    sum -= (left[weakest] as Rung).bytes
    left.splice(weakest, 1)
  }
  const kept = new Set(left.map(({ name }) => name))
  return rungs.flatMap(({ name }) => (kept.has(name) ? [] : [name]))
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
