/** How many unfinished tasks there are, by type, tenant, priority band and phase: now, and at the end of each minute. */
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

export class Levels {
  private minute = 0
  /** What changed in this minute and is not written as of it yet. */
  private readonly changed = new Set<DepthRow>()

  constructor(
    private readonly queue: string,
    private readonly depth: Rows<DepthRow>,
    private readonly byMinute: Rows<RowOf<typeof depthByMinute>>,
  ) {}

  /** Before an event of this time. */
  passTime(at: number): void {
    if (at < this.minute + minuteMs) return
    this.settle()
    this.minute = at - (at % minuteMs)
  }

  /** The task has another status or band than before; '' for none. */
  moved(task: TaskRow, status: string, band: string): void {
    const before = columnOf(status)
    const now = columnOf(task.status)
    if (before === now && band === task.band) return
    if (before !== undefined) this.add(task, band, before, -1)
    if (now !== undefined) this.add(task, task.band, now, 1)
  }

  /** Writes the levels of the minute under way as they are now. */
  settle(): void {
    for (const level of this.changed) this.byMinute.put({ ...level, minute: this.minute })
    this.changed.clear()
  }

  private add(task: TaskRow, band: string, column: LevelColumn, by: 1 | -1): void {
    const tenant = task.tenant ?? ''
    const phase = task.phase ?? ''
    const level = this.depth.get(this.queue, task.type, tenant, band, phase) ?? {
      queue: this.queue, type: task.type, tenant, band, phase, pending: 0, scheduled: 0, waiting: 0, blocked: 0, in_progress: 0, dead_letter: 0,
    }
    level[column] += by
    this.depth.put(level)
    this.changed.add(level)
  }
}
