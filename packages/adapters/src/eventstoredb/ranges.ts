/** Reading up to this many unwanted events costs less than another call. */
const gapMax = 50

/** A few spans (first and last revision) that cover all these revisions. */
export const rangesOf = (revisions: ReadonlyArray<number>): Array<[low: number, high: number]> => {
  const ranges: Array<[number, number]> = []
  for (const revision of [...revisions].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && revision - last[1] <= gapMax) last[1] = revision
    else ranges.push([revision, revision])
  }
  return ranges
}
