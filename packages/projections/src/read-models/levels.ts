/** How many unfinished tasks there are, by type, tenant, priority band and phase: now, and at the end of each minute. */
import type { Kind } from './kinds.js'
import type { Rows } from './rows.js'
import type { DepthRow, depthByMinute, LevelColumn, TaskRow } from './task-tables.js'
import type { RowOf } from './table.js'

const minuteMs = 60_000

/** The column that counts tasks with this status; `undefined` for a final one. */
const columnOf = (status: string): LevelColumn | undefined => {
  switch (status) {
    case 'pending':
    case 'scheduled':
    case 'waiting':
    case 'blocked':
      return status
    case 'in-progress':
    case 'incomplete':
      return 'in_progress'
    case 'dead-letter':
      return 'dead_letter'
    default:
      return undefined
  }
}

/** The levels of one kind of task and band in this batch. */
interface Level {
  readonly row: DepthRow
  /** The minute in which the level last changed. */
  minute: number
}

export class Levels {
  private minute = 0
  /** Levels that changed in this minute and are not written as of it yet. */
  private changed: Array<Level> = []
  /** The levels of this batch, by kind of task and by band. */
  private readonly found = new Map<Kind, Map<string, Level>>()

  constructor(
    private readonly queue: string,
    private readonly depth: Rows<DepthRow>,
    private readonly byMinute: Rows<RowOf<typeof depthByMinute>>,
  ) {}

  /** Called before an event of this time. */
  passTime(at: number): void {
    if (at < this.minute + minuteMs) return
    this.writeMinute()
    this.minute = at - (at % minuteMs)
  }

  /** The task has changed its status or band. `status` and `band`: the former ones; `''` for none. */
  moved(kind: Kind, task: TaskRow, status: string, band: string): void {
    const before = columnOf(status)
    const now = columnOf(task.status)
    if (before === now && band === task.band) return
    if (before !== undefined) this.changing(kind, band)[before]--
    if (now !== undefined) this.changing(kind, task.band)[now]++
  }

  /** Called at the end of a batch. */
  settle(): void {
    this.writeMinute()
    this.found.clear()
  }

  /** Writes the levels of the current minute as they are now. */
  private writeMinute(): void {
    for (const level of this.changed) {
      this.byMinute.put({ ...level.row, minute: this.minute })
      level.minute = -1
    }
    this.changed = []
  }

  private changing(kind: Kind, band: string): DepthRow {
    const level = this.levelOf(kind, band)
    if (level.minute !== this.minute) {
      level.minute = this.minute
      this.changed.push(level)
    }
    return level.row
  }

  private levelOf(kind: Kind, band: string): Level {
    let bands = this.found.get(kind)
    if (bands === undefined) this.found.set(kind, (bands = new Map()))
    let level = bands.get(band)
    if (level === undefined) bands.set(band, (level = { row: this.rowOf(kind, band), minute: -1 }))
    return level
  }

  private rowOf({ type, tenant, phase }: Kind, band: string): DepthRow {
    const row = this.depth.get(this.queue, type, tenant, band, phase) ?? { queue: this.queue, type, tenant, band, phase, pending: 0, scheduled: 0, waiting: 0, blocked: 0, in_progress: 0, dead_letter: 0 }
    this.depth.put(row)
    return row
  }
}
