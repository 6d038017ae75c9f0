/** Tasks as people see them. */
import type { TaskView } from '../client/index.js'
import { paintStatus, type Printer } from './printer.js'
import { clean, since, until } from './text.js'

/** What there is to know beside the status. */
const situation = (task: TaskView): string => {
  switch (task.status) {
    case 'scheduled':
      return `${until(task.availableAt)}${task.lastError ? `, after: ${clean(task.lastError, 40)}` : ''}`
    case 'blocked':
      return `after ${clean(task.dependencies.join(', '), 40)}`
    case 'in-progress':
    case 'incomplete':
      return `${clean(task.claimedBy ?? '', 30)}, lease ends ${until(task.leaseExpiresAt)}`
    case 'completed':
      return since(task.completedAt ?? task.finishedAt)
    case 'dead-letter':
      return clean(task.lastError ?? '', 60)
    default:
      return ''
  }
}

/** What it is about, as far as one can tell. */
export const subjectOf = ({ description, payload }: Pick<TaskView, 'description' | 'payload'>): string => {
  if (description !== undefined) return description
  if (typeof payload === 'string') return payload
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return ''
  const known = payload as Readonly<Record<string, unknown>>
  const words = ['action', 'target'].flatMap((key) => (typeof known[key] === 'string' ? [known[key]] : []))
  return words.length > 0 ? words.join(' ') : typeof known.description === 'string' ? known.description : ''
}

export const taskTable = (printer: Printer, tasks: ReadonlyArray<TaskView>, empty: string): void =>
  printer.table(
    ['#', 'ID', 'TYPE', 'PRI', 'STATUS', 'AGE', 'TRIES', 'SITUATION', 'ABOUT'],
    tasks.map((task) => [
      String(task.number),
      clean(task.id, 40),
      clean(task.type, 30),
      String(task.priority),
      paintStatus(printer.colors, task.status),
      since(task.createdAt).replace(' ago', ''),
      task.attempts === 0 ? '' : String(task.attempts),
      situation(task),
      clean(subjectOf(task), 50),
    ]),
    empty,
  )
