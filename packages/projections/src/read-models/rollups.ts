/**
 * What happened in each quarter of an hour. During a batch it is counted in memory, once for each kind of task and once for each agent. At the end of
 * the batch it is added to the rows of all dimensions. So a batch writes each row once and reads each sketch once.
 */
import { addSketchText, addTime, intervalOf, type Sketch, sketchText } from './sketch.js'
import { type CountColumn, countColumns } from './happenings.js'
import type { Kind } from './kinds.js'
import { type Dimension, type FailureRollupRow, quarterMs, type RollupRow } from './rollup-tables.js'
import type { Rows } from './rows.js'
import type { TaskRow } from './task-tables.js'

const placeOf = Object.fromEntries(countColumns.map((column, i) => [column, i])) as Readonly<Record<CountColumn, number>>

interface Failures {
  count: number
  /** The error of the last of these failures, and its index in the batch. */
  error: string
  last: number
}

class Tally {
  /** Indexed like `countColumns`. */
  readonly counts: Array<number> = countColumns.map(() => 0)
  readonly waits: Sketch = new Map()
  readonly runs: Sketch = new Map()
  readonly failures = new Map<string, Failures>()
  waitMs = 0
  runMs = 0
  deadlines = 0
  deadlinesMet = 0

  count(column: CountColumn): void {
    this.counts[placeOf[column]]!++
  }

  claimed(interval: number, waitMs: number): void {
    this.count('claimed')
    this.waitMs += waitMs
    addTime(this.waits, interval)
  }

  ended(column: CountColumn, interval: number, runMs: number): void {
    this.count(column)
    this.runMs += runMs
    addTime(this.runs, interval)
  }

  failed(signature: string, count: number, error: string, last: number): void {
    const known = this.failures.get(signature)
    if (known === undefined) this.failures.set(signature, { count, error, last })
    else {
      known.count += count
      if (last > known.last) {
        known.error = error
        known.last = last
      }
    }
  }

  add(other: Tally): void {
    other.counts.forEach((count, i) => (this.counts[i]! += count))
    this.waitMs += other.waitMs
    this.runMs += other.runMs
    this.deadlines += other.deadlines
    this.deadlinesMet += other.deadlinesMet
    for (const [interval, count] of other.waits) addTime(this.waits, interval, count)
    for (const [interval, count] of other.runs) addTime(this.runs, interval, count)
    for (const [signature, { count, error, last }] of other.failures) this.failed(signature, count, error, last)
  }
}

const tallyIn = <K>(tallies: Map<K, Tally>, name: K): Tally => {
  let tally = tallies.get(name)
  if (tally === undefined) tallies.set(name, (tally = new Tally()))
  return tally
}

/** The tallies of one quarter of an hour. */
class Quarter {
  private readonly byKind = new Map<Kind, Tally>()
  private readonly byAgent = new Map<string, Tally>()
  private last: { readonly kind: Kind; readonly tally: Tally } | undefined

  constructor(readonly begin: number) {}

  ofKind(kind: Kind): Tally {
    if (this.last?.kind === kind) return this.last.tally
    const tally = tallyIn(this.byKind, kind)
    this.last = { kind, tally }
    return tally
  }

  ofAgent({ claimed_by }: TaskRow): Tally {
    return tallyIn(this.byAgent, claimed_by ?? '')
  }

  /** The tallies of each dimension and value. */
  *tallies(): Generator<readonly [Dimension, string, Tally]> {
    const all = new Tally()
    const dimensions = { type: new Map<string, Tally>(), phase: new Map<string, Tally>(), tenant: new Map<string, Tally>(), discovery: new Map<string, Tally>() } as const
    for (const [kind, tally] of this.byKind) {
      all.add(tally)
      for (const name of kindDimensions) tallyIn(dimensions[name], kind[name]).add(tally)
    }
    yield ['all', '', all]
    for (const name of kindDimensions) for (const [value, tally] of dimensions[name]) yield [name, value, tally]
    for (const [agent, tally] of this.byAgent) yield ['agent', agent, tally]
  }
}

const kindDimensions = ['type', 'phase', 'tenant', 'discovery'] as const

export class Rollups {
  /** The quarters of this batch. */
  private readonly quarters = new Map<number, Quarter>()
  private last = new Quarter(-1)
  private failuresSeen = 0

  constructor(
    private readonly queue: string,
    private readonly rollups: Rows<RollupRow>,
    private readonly failures: Rows<FailureRollupRow>,
  ) {}

  count(kind: Kind, task: TaskRow, column: CountColumn, at: number): void {
    const quarter = this.quarterOf(at)
    quarter.ofKind(kind).count(column)
    quarter.ofAgent(task).count(column)
  }

  claimed(kind: Kind, task: TaskRow, at: number, waitMs: number): void {
    const interval = intervalOf(waitMs)
    const quarter = this.quarterOf(at)
    quarter.ofKind(kind).claimed(interval, waitMs)
    quarter.ofAgent(task).claimed(interval, waitMs)
  }

  /** A claim ended at `at`, after `runMs` milliseconds. */
  ended(kind: Kind, task: TaskRow, column: CountColumn, at: number, runMs: number): void {
    const interval = intervalOf(runMs)
    const quarter = this.quarterOf(at)
    quarter.ofKind(kind).ended(column, interval, runMs)
    quarter.ofAgent(task).ended(column, interval, runMs)
  }

  failed(kind: Kind, task: TaskRow, signature: string, error: string, at: number): void {
    const quarter = this.quarterOf(at)
    const last = ++this.failuresSeen
    quarter.ofKind(kind).failed(signature, 1, error, last)
    quarter.ofAgent(task).failed(signature, 1, error, last)
  }

  /** Adds to the number of deadlines at this time, or subtracts from it. */
  due(kind: Kind, deadline: number, by: 1 | -1): void {
    this.quarterOf(deadline).ofKind(kind).deadlines += by
  }

  /** The task was completed before its deadline. */
  met(kind: Kind, deadline: number): void {
    this.quarterOf(deadline).ofKind(kind).deadlinesMet++
  }

  settle(): void {
    for (const quarter of this.quarters.values()) for (const [dimension, value, tally] of quarter.tallies()) this.write(dimension, quarter.begin, value, tally)
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

  private write(dimension: Dimension, quarter: number, value: string, { counts, waits, waitMs, runs, runMs, deadlines, deadlinesMet, failures }: Tally): void {
    const row = this.rollups.get(this.queue, dimension, quarter, value) ?? newRow(this.queue, dimension, quarter, value)
    countColumns.forEach((column, i) => (row[column] += counts[i]!))
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
