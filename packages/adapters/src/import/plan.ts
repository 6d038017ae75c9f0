/** Joins all files of a folder into one list of tasks: each task once, with priority and dependencies, in the order in which to send them. */
import { canonicalJson } from '@daybook/core/common'
import { withMember } from './metadata.js'
import { type Notes, notes } from './notes.js'
import { inOrder } from './order.js'
import { settlePriorities } from './ranks.js'
import { resolveDependencies } from './resolve-dependencies.js'
import { type Found, type ImportOptions, type ImportPlan, type KnownTasks, type QueueFile, type Refused, stages } from './types.js'

/** `known`: those of `namedTasks` that are in the queue. */
export const planImport = (files: ReadonlyArray<QueueFile>, known: KnownTasks = new Map(), options: ImportOptions = {}): ImportPlan => {
  const said = notes()
  const refused: Array<Refused> = [...files.flatMap((file) => file.refused), ...olderThanOthers(files)]
  const { chosen, repeated } = chooseFurthest(files, said, refused)
  const resolved = resolveDependencies(chosen, known, said)
  const prioritised = settlePriorities(resolved, options, said)
  const ordered = inOrder(ownKeys(prioritised, said), known, said)
  return {
    files: files.map(({ name, entries: tasks }) => ({ name, tasks })),
    took: ordered.took,
    repeated,
    mapped: [...files.flatMap((file) => file.mapped), ...said.all()],
    refused: [...refused, ...ordered.refused],
  }
}

/** A server and an export replace queue files one after the other: a task that moved from one to another in between may be in neither. */
const olderThanOthers = (files: ReadonlyArray<QueueFile>): ReadonlyArray<Refused> => {
  const newest = Math.max(...files.map(({ revision = -1 }) => revision))
  return files.flatMap(({ name, revision = newest }) =>
    revision === newest ? [] : [{ file: name, why: `is of revision ${revision}, and others are of ${newest}: a task that moved in between may be in none of them; let their server write all, or export again, and then import again`, tasks: 0 }])
}

/** The ids that tasks depend on, or may depend on. The queue is asked for them, because tasks that it has keep their status. */
export const namedTasks = (files: ReadonlyArray<QueueFile>): ReadonlyArray<string> => [
  ...new Set(files.flatMap(({ found }) => found.flatMap(({ task, maybe }) => [...(task.dependencies ?? []), ...maybe.flatMap(({ names }) => names)]))),
]

const chooseFurthest = (files: ReadonlyArray<QueueFile>, said: Notes, refused: Array<Refused>): { readonly chosen: ReadonlyArray<Found>; readonly repeated: number } => {
  const chosen = new Map<string, Found>()
  let repeated = 0
  for (const next of files.flatMap((file) => file.found)) {
    const { id } = next.task
    const first = chosen.get(id)
    if (first === undefined) {
      chosen.set(id, next)
    } else if (first.stage !== next.stage) {
      const further = stages.indexOf(next.stage) > stages.indexOf(first.stage)
      const [winner, loser] = further ? [next, first] : [first, next]
      if (further) chosen.set(id, next)
      repeated++
      said.note(loser.file, `stands as ${winner.stage} in ${winner.file} too: that counts, being further than ${loser.stage}`, id)
    } else if (textOf(first) === textOf(next)) {
      said.note(next.file, `stands twice, word for word (also in ${first.file}): taken once`, id)
      repeated++
    } else {
      refused.push({ file: next.file, task: id, why: `another task has this id already (${first.file}), with other content`, tasks: 1 })
    }
  }
  return { chosen: [...chosen.values()], repeated }
}
const textOf = ({ task, number }: Found): string => canonicalJson([task, number ?? null], 'task')

/** Two tasks with the same idempotency key would become one task. The second one gets its id as its key. */
const ownKeys = (tasks: ReadonlyArray<Found>, said: Notes): ReadonlyMap<string, Found> => {
  const holders = new Map<string, string>()
  const own = new Map<string, Found>()
  for (const found of tasks) {
    const { id, idempotencyKey: key, metadata } = found.task
    const holder = holders.get(key)
    if (holder === undefined) {
      holders.set(key, id)
      own.set(id, found)
      continue
    }
    said.note(found.file, `shares the idempotencyKey of ${holder}: its id is the key, the one it had stays in metadata`, id)
    holders.set(id, id)
    own.set(id, { ...found, task: { ...found.task, idempotencyKey: id, metadata: withMember(metadata, 'idempotencyKey', key) } })
  }
  return own
}
