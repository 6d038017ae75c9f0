/** The routes of schedules. */
import { readers } from './access.js'
import { Interval, MissedRuns, OverlappingRuns, ScheduledTask, scheduleFields, ScheduleName, SkipReason } from '@daybook/core'
import * as t from 'io-ts'
import * as schedules from '../handle/schedules.js'
import * as q from '../query.js'
import { input, parameters, queueRoute, type Route, viewRoute } from './route.js'
import { Time } from '../../iso-time.js'

export const NewScheduleBody = t.intersection([t.type({ name: ScheduleName, task: ScheduledTask }), t.partial(scheduleFields)], 'NewSchedule')
export type NewScheduleBody = t.TypeOf<typeof NewScheduleBody>
export const SchedulePatch = t.partial({ ...scheduleFields, task: ScheduledTask }, 'SchedulePatch')
export type SchedulePatch = t.TypeOf<typeof SchedulePatch>

/** Exactly one of `task`, `skipped` and `waits` is given. With `since`, all instants from that one on were skipped. */
const PastRun = t.intersection(
  [t.type({ dueAt: Time, at: Time }), t.partial({ task: t.string, skipped: SkipReason, since: Time, waits: t.literal(true) })],
  'PastRun',
)
const ScheduleAnswer = t.intersection(
  [
    t.type({
      name: t.string,
      timeZone: t.string,
      missed: MissedRuns,
      overlap: OverlappingRuns,
      paused: t.boolean,
      task: ScheduledTask,
      next: t.readonlyArray(Time),
      last: t.readonlyArray(PastRun),
    }),
    t.partial({ cron: t.string, every: Interval }),
  ],
  'Schedule',
)
const SchedulesAnswer = t.type({ schedules: t.readonlyArray(ScheduleAnswer), revision: t.number }, 'Schedules')
const ScheduleRemovedAnswer = t.type({ name: t.string, removed: t.literal(true) }, 'Removed schedule')

export const scheduleRoutes = (of: string): ReadonlyArray<Route> => {
  const view = parameters(q.MomentQuery)
  return [
    viewRoute({
      path: `${of}/schedules`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'schedules', summary: 'All schedules, each with its next run and its last five.',
      query: view, answers: { 200: SchedulesAnswer }, handle: schedules.list,
    }),
    queueRoute({
      method: 'POST', path: `${of}/schedules`, who: ['operator'], tenants: 'refused', unused: 'opened',
      tag: 'schedules', summary: 'Creates a schedule.',
      description: 'Creates a schedule, which enqueues its task whenever it is due: by `cron` in `timeZone`, or `every` so many seconds.',
      refusals: ['conflict'],
      body: input(NewScheduleBody), answers: { 201: ScheduleAnswer }, handle: schedules.create,
    }),
    viewRoute({
      path: `${of}/schedules/{name}`, who: readers, tenants: 'refused',
      tag: 'schedules', summary: 'A schedule with its next five runs and its last five.',
      query: view, answers: { 200: ScheduleAnswer }, handle: schedules.show,
    }),
    queueRoute({
      method: 'PATCH', path: `${of}/schedules/{name}`, who: ['operator'], tenants: 'refused',
      tag: 'schedules', summary: 'Changes a schedule, pauses or resumes it.',
      description: 'Changes a schedule, pauses or resumes it. What is not given stays as it is; a `task` is replaced as a whole.',
      body: input(SchedulePatch), answers: { 200: ScheduleAnswer }, handle: schedules.change,
    }),
    queueRoute({
      method: 'DELETE', path: `${of}/schedules/{name}`, who: ['operator'], tenants: 'refused',
      tag: 'schedules', summary: 'Removes a schedule. The tasks that it enqueued stay.',
      answers: { 200: ScheduleRemovedAnswer }, handle: schedules.remove,
    }),
  ]
}
