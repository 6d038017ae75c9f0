/** Schedules: recurring tasks. */
import { type PastRun, scheduleOf, schedulesOf, type ScheduleView } from '@daybook/core'
import { ifDefined } from '../../defined.js'
import { problem } from '../problem.js'
import { find, type Handled, type QueueCall, replyFound, replyWith, type ViewCall } from '../routes/route.js'
import type { NewScheduleBody, SchedulePatch } from '../routes/schedule-routes.js'
import { isoOf } from '../../iso-time.js'

const shownRun = ({ dueAt, at, since, ...run }: PastRun): object => ({ ...run, dueAt: isoOf(dueAt), at: isoOf(at), since: ifDefined(since, isoOf) })

const shown = ({ next, last, ...schedule }: ScheduleView): object => ({ ...schedule, next: next.map(isoOf), last: last.map(shownRun) })

export const list = async ({ queue }: ViewCall): Promise<Handled> =>
  replyWith(await queue.read(schedulesOf), (found, revision) => JSON.stringify({ schedules: found.map(shown), revision }))

export const show = async ({ queue, params }: ViewCall): Promise<Handled> => {
  const { name = '' } = params
  return replyFound(await find(queue, (state) => scheduleOf(state, name), () => problem('not-found', `queue ${queue.name} has no schedule ${name}`)), (schedule) => JSON.stringify(shown(schedule)))
}

export const create = async ({ queue, body, caller }: QueueCall<NewScheduleBody>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'CreateSchedule', ...body }, caller), (schedule) => JSON.stringify(shown(schedule)), 201)

export const change = async ({ queue, params, body, caller }: QueueCall<SchedulePatch>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'ChangeSchedule', name: params.name ?? '', ...body }, caller), (schedule) => JSON.stringify(shown(schedule)))

export const remove = async ({ queue, params, caller }: QueueCall): Promise<Handled> => {
  const { name = '' } = params
  return replyWith(await queue.submit({ type: 'RemoveSchedule', name }, caller), () => JSON.stringify({ name, removed: true }))
}
