/** The schedules of a {@link Shadow}: what the events say. Every other question is a scan. */
import type { DataOf, QueueEvent } from '@daybook/core'

export interface ShadowSchedule {
  readonly set: DataOf<'ScheduleSet'>
  nextAt: number | undefined
  lastTask: string | undefined
  /** The instant of a waiting run, and the task for which it waits; `undefined` once that task has ended. */
  held: { readonly dueAt: number; after: string | undefined } | undefined
}

export class ShadowSchedules extends Map<string, ShadowSchedule> {
  /** Folds an event. `isOver`: whether a task neither runs nor will run by itself. */
  fold(event: QueueEvent, isOver: (task: string) => boolean): void {
    switch (event.type) {
      case 'ScheduleSet': {
        const known = this.get(event.data.name)
        this.set(event.data.name, { lastTask: undefined, held: undefined, ...known, set: event.data, nextAt: event.data.nextAt })
        break
      }
      case 'ScheduleRemoved':
        this.delete(event.data.name)
        break
      case 'ScheduleRan':
      case 'ScheduleSkipped':
      case 'ScheduleHeld':
        this.came(event.data, event.type === 'ScheduleRan' ? event.data.task : undefined, event.type === 'ScheduleHeld')
        break
      case 'QueueDeleted':
        this.clear()
        break
    }
    for (const { held } of this.values()) if (held?.after !== undefined && isOver(held.after)) held.after = undefined
  }

  private came({ name, dueAt, nextAt }: DataOf<'ScheduleHeld'>, task: string | undefined, isHeld: boolean): void {
    const schedule = this.get(name)
    if (schedule === undefined) return
    schedule.nextAt = nextAt
    if (schedule.held?.dueAt === dueAt) schedule.held = undefined
    if (isHeld) schedule.held = { dueAt, after: schedule.lastTask }
    if (task !== undefined) schedule.lastTask = task
  }

  /** The times when schedules have something to do. */
  dueTimes(): ReadonlyArray<number> {
    return this.dueByName().map(([, due]) => due)
  }

  dueByName(): ReadonlyArray<readonly [name: string, due: number]> {
    return [...this].flatMap(([name, { set, held, nextAt }]): ReadonlyArray<readonly [string, number]> => {
      if (set.paused) return []
      if (held !== undefined && held.after === undefined) return [[name, held.dueAt]]
      return nextAt === undefined ? [] : [[name, nextAt]]
    })
  }
}
