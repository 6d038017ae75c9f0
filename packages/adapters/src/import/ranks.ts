/**
 * Numbers given as priorities. They may be Daybook's, from 10 (most urgent) to 1, or ranks: 1, 2, 3 … 29, where 1 comes first. All files of an import
 * are read the same way: as ranks if any number is above 10.
 */
import { withMember } from './metadata.js'
import type { Notes } from './notes.js'
import type { Found, ImportOptions } from './types.js'

const priorityMax = 10

type Numbered = Found & { readonly number: number }
const isNumbered = (found: Found): found is Numbered => found.number !== undefined

/** Gives each task its priority. Tasks with ranks are put in the order of their ranks. */
export const settlePriorities = (tasks: ReadonlyArray<Found>, { ranks }: ImportOptions, said: Notes): ReadonlyArray<Found> => {
  const numbered = tasks.filter(isNumbered)
  const most = numbered.reduce((max, { number }) => Math.max(max, number), 0)
  if (ranks ?? most > priorityMax) return byRank(tasks, numbered, most, said)
  if (ranks === undefined && mayBeRanks(numbered)) {
    for (const found of numbered) said.note(found.file, 'priorities 1, 2, 3 … in the order of the file may be ranks, 1 first: taken as priorities, 10 first; --ranks takes them as ranks', found.task.id)
  }
  return tasks.map((found) => (isNumbered(found) ? asPriority(found, said) : found))
}

/** Whether the numbers are 1, 2, 3 and so on, in the order of the files. */
const mayBeRanks = (numbered: ReadonlyArray<Numbered>): boolean => numbered.length >= 3 && numbered.every(({ number }, i) => number === i + 1)

const asPriority = (found: Numbered, said: Notes): Found => {
  const { number, task, file } = found
  const priority = Math.min(priorityMax, Math.max(1, Math.round(number)))
  if (priority === number) return { ...found, task: { ...task, priority } }
  said.note(file, `priority ${number} → ${priority}`, task.id)
  return withPriority(found, priority)
}

/** Keeps the given number in the metadata. */
const withPriority = (found: Numbered, priority: number): Found => {
  const { task, number } = found
  return { ...found, task: { ...task, priority, metadata: withMember(task.metadata, 'priority', number) } }
}

/** The ranks are divided among the ten priorities, and tasks of the same priority are sent in the order of their ranks. So they are claimed in that order. */
const byRank = (tasks: ReadonlyArray<Found>, numbered: ReadonlyArray<Numbered>, most: number, said: Notes): ReadonlyArray<Found> => {
  const ranks = [...new Set(numbered.map(({ number }) => number))].sort((a, b) => a - b)
  const priorities = new Map(ranks.map((rank, i) => [rank, priorityMax - Math.floor((i * priorityMax) / ranks.length)]))
  const ordered = [...numbered].sort((a, b) => a.number - b.number)
  let next = 0
  return tasks.map((found) => {
    if (!isNumbered(found)) return found
    said.note(found.file, `numbers up to ${most} stand as priorities: taken as ranks, 1 first, and kept in metadata; --no-ranks takes them as priorities, 10 first`, found.task.id)
    const ranked = ordered[next++] as Numbered
    return withPriority(ranked, priorities.get(ranked.number) as number)
  })
}
