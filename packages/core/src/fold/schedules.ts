/** The effects of events on schedules. */
import type { EventOf, QueueEvent } from '../model/events.js'
import { type PastRun, runsKept, type Schedule } from '../state/schedules.js'
import type { Tables } from '../state/tables.js'
import { isFinal } from '../model/task.js'
import { misfit } from './change.js'

/** Whether the task neither runs nor will run by itself: it is finished, a dead letter, or no longer known. */
export const isOver = (tables: Tables, id: string): boolean => {
  const task = tables.byId.get(id)
  return task === undefined || isFinal(task.status) || task.status === 'dead-letter'
}

export const scheduleSet = (tables: Tables, { data }: EventOf<'ScheduleSet'>): void => {
  const { name, cron, every, timeZone, missed, overlap, paused, template, nextAt = null } = data
  const known = tables.schedules.get(name)
  if ((cron === undefined) === (every === undefined)) return misfit(tables)
  tables.schedules.put({
    name,
    rule: cron === undefined ? { every: every as number, timeZone } : { cron, timeZone },
    missed,
    overlap,
    paused,
    task: template,
    size: JSON.stringify(template).length,
    nextAt,
    lastTask: known?.lastTask ?? null,
    held: known?.held ?? null,
    runs: known?.runs ?? [],
  })
}

export const scheduleRemoved = (tables: Tables, { data: { name } }: EventOf<'ScheduleRemoved'>): void => {
  if (!tables.schedules.delete(name)) misfit(tables)
}

/** Applies the outcome of an instant at which the schedule was due. */
export const scheduleCame = (tables: Tables, event: EventOf<'ScheduleRan'> | EventOf<'ScheduleSkipped'> | EventOf<'ScheduleHeld'>): void => {
  const { name, dueAt, nextAt = null } = event.data
  const schedule = tables.schedules.get(name)
  if (schedule === undefined) return misfit(tables)
  // A run that waited is listed once.
  const earlier = schedule.runs.filter((run) => run.dueAt !== dueAt)
  tables.schedules.put({ ...schedule, nextAt, runs: [...earlier, pastRun(event)].slice(-runsKept), ...heldAfter(tables, schedule, event) })
}

type Came = Parameters<typeof scheduleCame>[1]

const pastRun = ({ type, at, data }: Came): PastRun => {
  const { dueAt } = data
  switch (type) {
    case 'ScheduleRan':
      return { dueAt, at, task: data.task }
    case 'ScheduleSkipped':
      return { dueAt, at, skipped: data.why, ...(data.since === undefined ? {} : { since: data.since }) }
    case 'ScheduleHeld':
      return { dueAt, at, waits: true }
  }
}

const heldAfter = (tables: Tables, { lastTask, held }: Schedule, { type, data }: Came): Pick<Schedule, 'lastTask' | 'held'> => {
  if (type === 'ScheduleHeld') return { lastTask, held: { dueAt: data.dueAt, after: lastTask === null || isOver(tables, lastTask) ? null : lastTask } }
  return { lastTask: type === 'ScheduleRan' ? data.task : lastTask, held: held?.dueAt === data.dueAt ? null : held }
}

/** Called after the fold of an event that may have ended the task for which a run waits; only if some run waits. */
export const wakeSchedule = (tables: Tables, { data }: QueueEvent): void => {
  if (!('task' in data)) return
  const schedule = tables.schedules.waitingFor(data.task)
  if (schedule === undefined || schedule.held === null || !isOver(tables, data.task)) return
  tables.schedules.put({ ...schedule, held: { ...schedule.held, after: null } })
}
