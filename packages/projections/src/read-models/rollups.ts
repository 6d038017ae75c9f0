/**
 * What happened in each quarter of an hour. It is counted in memory during a batch, and added to the rows at its end, so that a batch writes each row once
 * and reads each sketch once.
 */
import { addSketchText, addTime, intervalOf, type Sketch, sketchText } from '../reports/sketch.js'
import { type CountColumn, countColumns } from './happenings.js'
import { type Dimension, type FailureRollupRow, quarterMs, type RollupRow } from './rollup-tables.js'
import type { Rows } from './rows.js'
import type { TaskRow } from './task-tables.js'

class Tally {
  readonly counts: Partial<Record<CountColumn, number>> = {}
  readonly waits: Sketch = new Map()
  readonly runs: Sketch = new Map()
  readonly failures = new Map<string, { count: number; error: string }>()
  waitMs = 0
  runMs = 0
  deadlines = 0
  deadlinesMet = 0

  constructor(
    readonly dimension: Dimension,
    readonly quarter: number,
    readonly value: string,
  ) {}
}

/** The tallies of one quarter of an hour. */
class Quarter {
  private readonly all: Tally
  private readonly byType = new Map<string, Tally>()
  private readonly byPhase = new Map<string, Tally>()
  private readonly byTenant = new Map<string, Tally>()
  private readonly byAgent = new Map<string, Tally>()
  private readonly byDiscovery = new Map<string, Tally>()

  constructor(readonly begin: number) {
    this.all = new Tally('all', begin, '')
  }

  /** One of each dimension, that of the agent last. */
  of({ type, phase, tenant, discovery, claimed_by }: TaskRow): ReadonlyArray<Tally> {
    return [
      this.all,
      this.in(this.byType, 'type', type),
      this.in(this.byPhase, 'phase', phase ?? ''),
      this.in(this.byTenant, 'tenant', tenant ?? ''),
      this.in(this.byDiscovery, 'discovery', discovery ?? ''),
      this.in(this.byAgent, 'agent', claimed_by ?? ''),
    ]
  }

  *tallies(): Generator<Tally> {
    yield this.all
    for (const tallies of [this.byType, this.byPhase, this.byTenant, this.byDiscovery, this.byAgent]) yield* tallies.values()
  }

  private in(tallies: Map<string, Tally>, dimension: Dimension, value: string): Tally {
    let tally = tallies.get(value)
    if (tally === undefined) tallies.set(value, (tally = new Tally(dimension, this.begin, value)))
    return tally
  }
}

export class Rollups {
  /** Those of this batch. */
  private readonly quarters = new Map<number, Quarter>()
  private last = new Quarter(-1)

  constructor(
    private readonly queue: string,
    private readonly rollups: Rows<RollupRow>,
    private readonly failures: Rows<FailureRollupRow>,
  ) {}

  count(task: TaskRow, column: CountColumn, at: number): void {
    for (const tally of this.quarterOf(at).of(task)) tally.counts[column] = (tally.counts[column] ?? 0) + 1
  }

  claimed(task: TaskRow, at: number, waitMs: number): void {
    const interval = intervalOf(waitMs)
    for (const tally of this.quarterOf(at).of(task)) {
      tally.counts.claimed = (tally.counts.claimed ?? 0) + 1
      tally.waitMs += waitMs
      addTime(tally.waits, interval)
    }
  }

  /** A claim has ended after this time. */
  ended(task: TaskRow, column: CountColumn, at: number, runMs: number): void {
    const interval = intervalOf(runMs)
    for (const tally of this.quarterOf(at).of(task)) {
      tally.counts[column] = (tally.counts[column] ?? 0) + 1
      tally.runMs += runMs
      addTime(tally.runs, interval)
    }
  }

  failed(task: TaskRow, signature: string, error: string, at: number): void {
    for (const { failures } of this.quarterOf(at).of(task)) {
      const known = failures.get(signature)
      if (known === undefined) failures.set(signature, { count: 1, error })
      else {
        known.count++
        known.error = error
      }
    }
  }

  /** So many deadlines more at this time. */
  due(task: TaskRow, deadline: number, by: 1 | -1): void {
    for (const tally of this.quarterOf(deadline).of(task)) if (tally.dimension !== 'agent') tally.deadlines += by
  }

  /** The task is completed before its deadline. */
  met(task: TaskRow, deadline: number): void {
    for (const tally of this.quarterOf(deadline).of(task)) if (tally.dimension !== 'agent') tally.deadlinesMet++
  }

  settle(): void {
    for (const quarter of this.quarters.values()) for (const tally of quarter.tallies()) this.write(tally)
    this.quarters.clear()
    this.last = new Quarter(-1)
  }

  private quarterOf(at: number): Quarter {
    const begin = at - (at % quarterMs)
    if (this.last.begin === begin) return this.last
    let quarter = this.quarters.get(begin)
    if (quarter === undefined) this.quarters.set(begin, (quarter = new Quarter(begin)))
    this.last = quarter
    return quarter
  }

  private write({ dimension, quarter, value, counts, waits, waitMs, runs, runMs, deadlines, deadlinesMet, failures }: Tally): void {
    const row = this.rollups.get(this.queue, dimension, quarter, value) ?? newRow(this.queue, dimension, quarter, value)
    for (const column of countColumns) row[column] += counts[column] ?? 0
    row.wait_ms += waitMs
    row.wait_sketch = added(row.wait_sketch, waits)
    row.run_ms += runMs
    row.run_sketch = added(row.run_sketch, runs)
    row.deadlines += deadlines
    row.deadlines_met += deadlinesMet
    this.rollups.put(row)
    for (const [signature, { count, error }] of failures) {
      const known = this.failures.get(this.queue, dimension, quarter, value, signature) ?? { queue: this.queue, dimension, quarter_hour: quarter, value, signature, failures: 0, error }
      known.failures += count
      known.error = error
      this.failures.put(known)
    }
  }
}

const added = (text: string, more: Sketch): string => {
  if (more.size === 0) return text
  const sketch: Sketch = new Map(more)
  addSketchText(sketch, text)
  return sketchText(sketch)
}

const newRow = (queue: string, dimension: Dimension, quarter: number, value: string): RollupRow => ({
  queue, dimension, quarter_hour: quarter, value, ...(Object.fromEntries(countColumns.map((name) => [name, 0])) as Record<CountColumn, number>),
  wait_ms: 0, run_ms: 0, deadlines: 0, deadlines_met: 0, wait_sketch: '[]', run_sketch: '[]',
})
