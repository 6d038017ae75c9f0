/** Tasks in tables, for people. */
import { plural } from '@daybook/core/common'
import type { TaskView } from '../client/index.js'
import { type Colors, statusCell } from './printer.js'
import type { Column, Row } from './table.js'
import { clean, since, until } from './text.js'

/** Details of the status. */
const situation = (task: TaskView): string => {
  switch (task.status) {
    case 'scheduled':
      return `${until(task.availableAt)}${task.lastError ? `, after: ${clean(task.lastError, 40)}` : ''}`
    case 'waiting':
      return `callback ${clean(task.parked?.callbackKey ?? '', 40)}, ${until(task.parked?.until)}`
    case 'blocked':
      return `after ${clean(task.dependencies.join(', '), 40)}`
    case 'in-progress':
    case 'incomplete':
      return `${clean(task.claimedBy ?? '', 30)}, lease ends ${until(task.leaseExpiresAt)}${progressOf(task)}`
    case 'completed':
      return since(task.completedAt ?? task.finishedAt)
    case 'dead-letter':
      return [clean(task.lastError ?? '', 60), holdsUpText(task) === undefined ? '' : `(holds up ${holdsUpText(task)})`].filter((part) => part !== '').join(' ')
    default:
      return ''
  }
}

/** What cannot run before a dead letter is finished. */
export const holdsUpText = ({ deadLetter }: Pick<TaskView, 'deadLetter'>): string | undefined => {
  const { dependents = 0, inLine = 0 } = deadLetter?.holdsUp ?? {}
  const parts = [...(dependents === 0 ? [] : [plural(dependents, 'dependent')]), ...(inLine === 0 ? [] : [`${inLine} in its line`])]
  return parts.length === 0 ? undefined : parts.join(' and ')
}

const progressOf = ({ progress }: TaskView): string =>
  progress === undefined ? '' : `, at ${clean(typeof progress === 'string' ? progress : JSON.stringify(progress), 30)}`

/** `2 of 3`: the current or the last attempt. */
export const attemptText = ({ attempt, attemptsMax }: Pick<TaskView, 'attempt' | 'attemptsMax'>): string =>
  attempt === 0 ? 'none yet' : `${attempt} of ${attemptsMax}`

/** The same, and how the earlier attempts ended. */
export const attemptsText = (task: Pick<TaskView, 'attempt' | 'attemptsMax' | 'attempts' | 'retries'>): string => {
  const { attempt, attempts, retries } = task
  if (attempt === 0 && retries > 0) return `none here, ${retries} failed before the import`
  const givenBack = Math.max(0, attempts - retries)
  return [attemptText(task), retries === 0 ? '' : `${retries} failed`, givenBack === 0 ? '' : `${givenBack} given back`].filter((part) => part !== '').join(', ')
}

/** The subject of the task: its description, or well-known members of its payload. */
export const subjectOf = ({ description, payload }: Pick<TaskView, 'description' | 'payload'>): string => {
  if (description !== undefined) return description
  if (typeof payload === 'string') return payload
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return ''
  const known = payload as Readonly<Record<string, unknown>>
  const words = ['action', 'target'].flatMap((key) => (typeof known[key] === 'string' ? [known[key]] : []))
  return words.length > 0 ? words.join(' ') : typeof known.description === 'string' ? known.description : ''
}

/** The number is never cut, because it can be used wherever an id can. */
export const taskColumns: ReadonlyArray<Column> = [
  { head: '#' },
  { head: 'ID', min: 8 },
  { head: 'TYPE', min: 8, leaveOut: 4 },
  { head: 'PRI', leaveOut: 5 },
  { head: 'STATUS', min: 7 },
  { head: 'AGE', leaveOut: 3 },
  { head: 'ATTEMPT', leaveOut: 6 },
  { head: 'SITUATION', min: 10, leaveOut: 1 },
  { head: 'ABOUT', min: 10, leaveOut: 2 },
]

export const taskRow = (colors: Colors, task: TaskView): Row => [
  String(task.number),
  clean(task.id),
  clean(task.type),
  String(task.priority),
  statusCell(colors, task.status),
  since(task.createdAt).replace(' ago', ''),
  task.attempt === 0 ? '' : attemptText(task),
  situation(task),
  clean(subjectOf(task), 50),
]
