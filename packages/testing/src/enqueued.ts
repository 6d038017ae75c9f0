/** What a test expects to be in the queue, and the error that lists what is there instead. */
import { AssertionError } from 'node:assert'
import type { TaskView } from '@daybook/client'

/** A part of a task: `type`, and any other members that it must have. Objects may have more members than are given here. */
export type WantedTask = { readonly type: string } & { readonly [K in keyof TaskView]?: unknown }

/** The first task that matches. @throws AssertionError with a list of the tasks that are there. */
export const findWanted = (wanted: WantedTask, tasks: ReadonlyArray<TaskView>): TaskView => {
  const found = tasks.find((task) => isPart(wanted, task))
  if (found !== undefined) return found
  const fields = Object.keys(wanted) as ReadonlyArray<keyof TaskView>
  const shown = (task: Partial<Record<keyof TaskView, unknown>>): string => fields.map((field) => `${field}: ${JSON.stringify(task[field])}`).join(', ')
  // Tasks of the type come first: one of them is probably meant.
  const nearest = [...tasks].sort((a, b) => Number(b.type === wanted.type) - Number(a.type === wanted.type))
  const list = nearest.slice(0, shownMax).map((task) => `  ${task.id} (${task.status}) ${shown(task)}`)
  if (nearest.length > shownMax) list.push(`  and ${nearest.length - shownMax} more`)
  const instead = list.length === 0 ? 'nothing was enqueued' : `enqueued were:\n${list.join('\n')}`
  throw new AssertionError({ message: `no task with ${shown(wanted as Partial<TaskView>)}; ${instead}`, actual: nearest.slice(0, shownMax), expected: wanted, operator: 'assertEnqueued', stackStartFn: findWanted })
}
const shownMax = 20

const isPart = (wanted: unknown, value: unknown): boolean => {
  // In the queue a time is its text.
  if (wanted instanceof Date) return isPart(wanted.toJSON(), value)
  if (typeof wanted !== 'object' || wanted === null) return Object.is(wanted, value)
  if (typeof value !== 'object' || value === null || Array.isArray(wanted) !== Array.isArray(value)) return false
  if (Array.isArray(wanted)) return wanted.length === (value as Array<unknown>).length && wanted.every((each, i) => isPart(each, (value as Array<unknown>)[i]))
  return Object.entries(wanted).every(([key, member]) => member === undefined || isPart(member, (value as Record<string, unknown>)[key]))
}
