/** Reading over so many events that nobody asked for costs less than another call. */
const gapMax = 50

/** Few spans, first and last revision, that hold all of these. */
export const rangesOf = (revisions: ReadonlyArray<number>): Array<[low: number, high: number]> => {
  const ranges: Array<[number, number]> = []
  for (const revision of [...revisions].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && revision - last[1] <= gapMax) last[1] = revision
    else ranges.push([revision, revision])
  }
  return ranges
}
