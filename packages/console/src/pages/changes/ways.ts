/** What changed, counted: the ways that tasks went from one status to another. No browser needed. */
import type { TaskDifference } from '@daybook/client'

export interface Way {
  /** Of an address. */
  readonly key: string
  /** `undefined`: the task was not there. Both `undefined`: its status is the same. */
  readonly before: string | undefined
  readonly after: string | undefined
  readonly count: number
}

const statusIn = (members: TaskDifference['before']): string | undefined => (typeof members?.status === 'string' ? members.status : undefined)

export const wayOf = ({ before, after }: TaskDifference): Omit<Way, 'count'> => {
  const [from, to] = [statusIn(before), statusIn(after)]
  return { key: from === undefined && to === undefined ? 'same' : `${from ?? 'new'}~${to ?? 'gone'}`, before: from, after: to }
}

/** The most frequent first. */
export const waysOf = (tasks: ReadonlyArray<TaskDifference>): ReadonlyArray<Way> => {
  const found = new Map<string, Way>()
  for (const task of tasks) {
    const way = wayOf(task)
    found.set(way.key, { ...way, count: (found.get(way.key)?.count ?? 0) + 1 })
  }
  return [...found.values()].sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
}

/** What else differs, besides the status: it follows from that, mostly, so the page shows it on request. */
export const otherMembers = ({ before, after }: TaskDifference): ReadonlyArray<{ readonly name: string; readonly before: unknown; readonly after: unknown }> => {
  if (before === null || after === null) return []
  return Object.keys(after).filter((name) => name !== 'status').map((name) => ({ name, before: before[name], after: after[name] }))
}
