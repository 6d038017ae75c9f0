/** The depth of a queue in the past, counted back from its depth now by what came and what went. */

export interface DepthPoint {
  /** Milliseconds since 1970: the end of the bucket. */
  readonly at: number
  readonly depth: number
}

type Row = Readonly<Record<string, string | number | null>>

/** `rows` of the report of throughput, oldest first. `now`: unfinished tasks now, without dead letters. Dead letters that were sent back are not in the report: they make it a little too high before. */
export const depthOverTime = (rows: ReadonlyArray<Row>, now: number, present: number): ReadonlyArray<DepthPoint> => {
  const points: Array<DepthPoint> = []
  let depth = now
  for (const row of [...rows].reverse()) {
    points.push({ at: Math.min(present, Date.parse(String(row['to']))), depth: Math.max(0, depth) })
    depth += Number(row['completed']) + Number(row['deadLettered']) + Number(row['cancelled']) - Number(row['enqueued'])
  }
  return points.reverse()
}
