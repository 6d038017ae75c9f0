/** Orders tasks: dependencies first, otherwise as given. Tasks that could never start are refused. */
import { withMember } from './metadata.js'
import type { Notes } from './notes.js'
import type { Found, ImportTask, KnownTasks, Refused } from './types.js'

export interface Ordered {
  readonly took: ReadonlyArray<ImportTask>
  readonly refused: ReadonlyArray<Refused>
}

/**
 * An unfinished task is refused if one of its dependencies is missing or will never complete; so is every task that depends on it. Finished tasks and
 * dead letters are accepted without such a dependency, and without one that depends on them, because they no longer wait for it.
 */
export const inOrder = (tasks: ReadonlyMap<string, Found>, known: KnownTasks, said: Notes): Ordered => {
  const verdicts = new Map<string, 'taken' | 'refused'>()
  const took: Array<ImportTask> = []
  const refused: Array<Refused> = []
  const refuse = ({ task, file }: Found, why: string): void => {
    verdicts.set(task.id, 'refused')
    refused.push({ file, task: task.id, why, tasks: 1 })
  }
  /** Why the task cannot be accepted with this dependency. */
  const whyNot = ({ status }: ImportTask, id: string): string | undefined => {
    // A task that is in the queue already keeps its status, whatever the files say, and whether its entry is refused now.
    const there = known.get(id) ?? (verdicts.get(id) === 'taken' ? tasks.get(id)?.task.status : undefined)
    if (there === undefined) return tasks.has(id) ? 'was refused' : 'is in none of the files, nor in the queue'
    const isOver = there === 'cancelled' || there === 'discarded'
    return isOver && (status === 'pending' || status === 'dead-letter') ? `is ${there} and will never complete` : undefined
  }

  const settle = (found: Found): void => {
    const { task } = found
    if (verdicts.has(task.id)) return
    const lost = (task.dependencies ?? []).filter((id) => whyNot(task, id) !== undefined)
    const [first] = lost
    if (first !== undefined && task.status === 'pending') return refuse(found, `depends on ${first}, which ${whyNot(task, first) ?? ''}`)
    took.push(first === undefined ? task : without(found, lost, said))
    verdicts.set(task.id, 'taken')
  }

  // An explicit stack: a chain of a hundred thousand dependencies must not exhaust the call stack.
  const open = new Set<string>()
  const visit = (root: Found): void => {
    const stack = [{ found: root, next: 0 }]
    open.add(root.task.id)
    for (let frame = stack[0]; frame !== undefined; frame = stack[stack.length - 1]) {
      const id = frame.found.task.dependencies?.[frame.next++]
      if (id === undefined) {
        settle(frame.found)
        open.delete(frame.found.task.id)
        stack.pop()
      } else if (open.has(id)) {
        const circle = stack.slice(stack.findIndex(({ found }) => found.task.id === id))
        const done = circle.findLastIndex(({ found }) => found.task.status !== 'pending')
        if (done === -1) {
          const why = `depends on itself: ${shownCircle(circle.map(({ found }) => found.task.id))}`
          for (const { found } of circle) if (!verdicts.has(found.task.id)) refuse(found, why)
        } else {
          // A task that waits for nothing breaks the circle. Those that it names are left for later, and it is taken without them.
          for (const { found } of stack.splice(stack.length - circle.length + done + 1)) open.delete(found.task.id)
        }
      } else {
        const dependency = tasks.get(id)
        if (dependency !== undefined && !verdicts.has(id)) {
          open.add(id)
          stack.push({ found: dependency, next: 0 })
        }
      }
    }
  }
  for (const found of tasks.values()) if (!verdicts.has(found.task.id)) visit(found)
  return { took, refused }
}

/** The largest number of ids in a message: each task of a circle gets it. */
const circleShownMax = 10

const shownCircle = (ids: ReadonlyArray<string>): string =>
  [...(ids.length > circleShownMax ? [...ids.slice(0, circleShownMax), `… (${ids.length} tasks)`] : ids), ids[0]].join(' → ')

const without = ({ task, file }: Found, lost: ReadonlyArray<string>, said: Notes): ImportTask => {
  const { dependencies = [], metadata, ...rest } = task
  const there = dependencies.filter((id) => !lost.includes(id))
  const kind = task.status === 'dead-letter' ? 'dead letter' : 'finished task'
  said.note(file, `a ${kind} was taken without dependencies that it cannot have (${lost.join(', ')}); its list of them stays in metadata`, task.id)
  return { ...rest, ...(there.length === 0 ? {} : { dependencies: there }), metadata: withMember(metadata, 'dependencies', dependencies) }
}
