/** All files of a folder together: each task once, every dependency before its dependents. */
import { canonicalJson } from '@daybook/core'
import { type Notes, notes } from './notes.js'
import { type Found, type ImportPlan, type ImportTask, type QueueFile, type Refused, stages } from './types.js'

/**
 * Which ids to take, and in what order.
 *
 * `known` says which of the dependencies that stand in none of the files are in the queue already. An open
 * task whose dependency is nowhere is refused by name, and so is what depends on it; a finished one is
 * taken without it, because for that task it no longer decides anything.
 */
export const planImport = (files: ReadonlyArray<QueueFile>, known: ReadonlySet<string> = new Set()): ImportPlan => {
  const said = notes()
  const refused: Array<Refused> = files.flatMap((file) => file.refused)
  const unique = chooseFurthest(files, said, refused)
  ownKeys(unique, said)
  const took = inOrder(unique, known, said, refused)
  return {
    files: files.map(({ name, found }) => ({ name, tasks: found.length })),
    took,
    mapped: [...files.flatMap((file) => file.mapped), ...said.all()],
    refused,
  }
}

/** Ids that tasks depend on and that stand in none of the files: what to ask the queue for. */
export const outsideDependencies = (files: ReadonlyArray<QueueFile>): ReadonlyArray<string> => {
  const found = files.flatMap((file) => file.found)
  const here = new Set(found.map(({ task }) => task.id))
  return [...new Set(found.flatMap(({ task }) => task.dependencies ?? []))].filter((id) => !here.has(id))
}

const chooseFurthest = (files: ReadonlyArray<QueueFile>, said: Notes, refused: Array<Refused>): Map<string, Found> => {
  const chosen = new Map<string, Found>()
  for (const next of files.flatMap((file) => file.found)) {
    const { id } = next.task
    const first = chosen.get(id)
    if (first === undefined) {
      chosen.set(id, next)
    } else if (first.stage !== next.stage) {
      const further = stages.indexOf(next.stage) > stages.indexOf(first.stage)
      const [winner, loser] = further ? [next, first] : [first, next]
      if (further) chosen.set(id, next)
      said.note(loser.file, `stands as ${winner.stage} in ${winner.file} too: that counts, being further than ${loser.stage}`, id)
    } else if (textOf(first.task) === textOf(next.task)) {
      said.note(next.file, `stands twice, word for word (also in ${first.file}): taken once`, id)
    } else {
      refused.push({ file: next.file, task: id, why: `another task has this id already (${first.file}), with other content` })
    }
  }
  return chosen
}
const textOf = (task: ImportTask): string => canonicalJson(task, 'task')

/** Two tasks under one idempotency key would be one task to the queue: the second gets its id as key. */
const ownKeys = (tasks: Map<string, Found>, said: Notes): void => {
  const holders = new Map<string, string>()
  for (const [id, found] of tasks) {
    const { idempotencyKey: key, metadata } = found.task
    const holder = holders.get(key)
    if (holder === undefined) {
      holders.set(key, id)
      continue
    }
    said.note(found.file, `shares the idempotencyKey of ${holder}: its id is the key, the one it had stays in metadata`, id)
    holders.set(id, id)
    tasks.set(id, { ...found, task: { ...found.task, idempotencyKey: id, metadata: { ...metadata, idempotencyKey: key } } })
  }
}

type Verdict = 'taken' | 'refused'

const inOrder = (tasks: Map<string, Found>, known: ReadonlySet<string>, said: Notes, refused: Array<Refused>): ReadonlyArray<ImportTask> => {
  const ordered: Array<ImportTask> = []
  const verdicts = new Map<string, Verdict>()
  const open = new Set<string>()

  const settle = (found: Found): void => {
    const { task, file } = found
    if (verdicts.has(task.id)) return
    const why = whyNot(task, tasks, known, verdicts)
    if (why === undefined || task.status !== 'pending') {
      verdicts.set(task.id, 'taken')
      ordered.push(why === undefined ? task : withoutLost(found, tasks, known, verdicts, said))
    } else {
      verdicts.set(task.id, 'refused')
      refused.push({ file, task: task.id, why })
    }
  }

  // An explicit stack: a chain of a hundred thousand dependencies must not exhaust the call stack.
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
        const path = stack.map(({ found }) => found.task.id)
        const cycle = [...path.slice(path.indexOf(id)), id].join(' → ')
        for (const { found: { task, file } } of stack.slice(path.indexOf(id))) {
          if (verdicts.get(task.id) === 'refused' || task.status !== 'pending') continue
          verdicts.set(task.id, 'refused')
          refused.push({ file, task: task.id, why: `depends on itself: ${cycle}` })
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
  return ordered
}

const whyNot = (
  task: ImportTask,
  tasks: ReadonlyMap<string, Found>,
  known: ReadonlySet<string>,
  verdicts: ReadonlyMap<string, Verdict>,
): string | undefined => {
  for (const id of task.dependencies ?? []) {
    const why = whyLost(id, tasks, known, verdicts)
    if (why !== undefined) return `depends on ${id}, which ${why}`
    if (tasks.get(id)?.task.status === 'cancelled' && task.status === 'pending') return `depends on ${id}, which is cancelled and will never complete`
  }
  return undefined
}

const whyLost = (
  id: string,
  tasks: ReadonlyMap<string, Found>,
  known: ReadonlySet<string>,
  verdicts: ReadonlyMap<string, Verdict>,
): string | undefined => {
  if (tasks.has(id)) return verdicts.get(id) === 'taken' ? undefined : 'was refused'
  return known.has(id) ? undefined : 'is in none of the files, nor in the queue'
}

const withoutLost = (
  { task, file }: Found,
  tasks: ReadonlyMap<string, Found>,
  known: ReadonlySet<string>,
  verdicts: ReadonlyMap<string, Verdict>,
  said: Notes,
): ImportTask => {
  const { dependencies = [], metadata, ...rest } = task
  const there = dependencies.filter((id) => whyLost(id, tasks, known, verdicts) === undefined)
  said.note(file, 'a finished task was taken without dependencies that cannot be found; its list of them stays in metadata', task.id)
  return { ...rest, ...(there.length === 0 ? {} : { dependencies: there }), metadata: { ...metadata, dependencies } }
}
