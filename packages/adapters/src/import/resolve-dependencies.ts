/** Converts names that may be dependencies to dependencies, if they are ids of tasks. */
import type { Notes } from './notes.js'
import type { Found, ImportTask, KnownTasks, MaybeDependencies } from './types.js'

export const resolveDependencies = (tasks: ReadonlyArray<Found>, known: KnownTasks, said: Notes): ReadonlyArray<Found> => {
  const here = new Set(tasks.map(({ task }) => task.id))
  const isTask = (id: string): boolean => here.has(id) || known.has(id)
  return tasks.map((found) => found.maybe.reduce((before, maybe) => resolve(before, maybe, isTask, said), found))
}

const resolve = (found: Found, { names, field, metadata }: MaybeDependencies, isTask: (id: string) => boolean, said: Notes): Found => {
  const { task, file } = found
  const ids = names.filter((name) => name !== task.id && isTask(name))
  const others = names.filter((name) => !ids.includes(name))
  if (others.length > 0) said.note(file, `${field} names what is no task here, and stays as it is: ${others.join(', ')}`, task.id)
  if (ids.length === 0) return found
  said.note(file, `${field} names tasks: they are dependencies`, task.id)
  const waiting = { ...task, dependencies: [...new Set([...(task.dependencies ?? []), ...ids])] }
  return { ...found, task: others.length === 0 && metadata !== undefined ? without(waiting, metadata) : waiting }
}

/** Drops a member of the metadata whose value is among the dependencies now. */
const without = ({ metadata = {}, ...task }: ImportTask, member: string): ImportTask => {
  const { [member]: _, ...rest } = metadata
  return Object.keys(rest).length === 0 ? task : { ...task, metadata: rest }
}
