/** The past depth of a queue, computed backwards from its depth at the end by arrivals and departures. */

export interface DepthPoint {
  /** Milliseconds since 1970: the end of the bucket. */
  readonly at: number
  readonly depth: number
}

type Row = Readonly<Record<string, string | number | null>>

/**
 * `rows`: those of the throughput report, oldest first. `now`: unfinished tasks at `present`, without dead letters. The report does not have dead
 * letters that were sent back, so earlier values are a little too high.
 */
export const depthOverTime = (rows: ReadonlyArray<Row>, now: number, present: number): ReadonlyArray<DepthPoint> => {
  const points: Array<DepthPoint> = []
  let depth = now
  for (const row of [...rows].reverse()) {
    points.push({ at: Math.min(present, Date.parse(String(row['to']))), depth: Math.max(0, depth) })
    depth += Number(row['completed']) + Number(row['deadLettered']) + Number(row['cancelled']) - Number(row['enqueued'])
  }
  return points.reverse()
}
