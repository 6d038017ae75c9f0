/** The part of a log that concerns one task. Its tasks fold to the same statuses as in the whole log; what is `queued` there may be `pending`. */
import type { HistoryEvent } from '../../client/index.js'
import type { AuditSource, IsWanted } from './source.js'

/** The task, and the tasks that it waits for: its dependencies and the tasks before it with the same ordering key. Likewise for each of these. */
export const concerned = async (source: AuditSource, task: string, revision: number, show: (what: string) => void = () => undefined): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>()
  const waiting = [task]
  let ahead: ReadonlyMap<number, string> | undefined
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (ids.has(next)) continue
    for (const { revision: at, data } of await source.history(next, { revision })) {
      if (typeof data.task === 'string') ids.add(data.task)
      const dependencies = Array.isArray(data.dependencies) ? data.dependencies : []
      waiting.push(...dependencies.filter((id): id is string => typeof id === 'string'))
      if (typeof data.orderingKey !== 'string') continue
      ahead ??= await tasksAhead(source, revision, show)
      const before = ahead.get(at)
      if (before !== undefined) waiting.push(before)
    }
  }
  return ids
}

const arrivals: ReadonlySet<string> = new Set(['TaskEnqueued', 'TaskImported'])
const ends: ReadonlySet<string> = new Set(['Completed', 'Cancelled', 'Discarded'])
/** A cheap test, so that most lines are not parsed. It is true of every line that matters. */
const mayMatter = new RegExp(`"orderingKey":|"type":"(?:${[...ends].join('|')})"`)

/**
 * By the revision at which a task with an ordering key arrived: the last of the unfinished tasks with that key. Those before that one are found from
 * it in the same way. Reads the whole log once.
 */
const tasksAhead = async (source: AuditSource, revision: number, show: (what: string) => void): Promise<ReadonlyMap<number, string>> => {
  const ahead = new Map<number, string>()
  /** Unfinished tasks by ordering key, and the key of each. */
  const lines = new Map<string, Array<string>>()
  const keys = new Map<string, string>()
  const take = ({ revision: at, type, data: { task, orderingKey, status } }: HistoryEvent): void => {
    if (typeof task !== 'string') return
    if (ends.has(type)) {
      const key = keys.get(task)
      const line = key === undefined ? undefined : lines.get(key)
      if (line === undefined) return
      keys.delete(task)
      line.splice(line.indexOf(task), 1)
    } else if (arrivals.has(type) && typeof orderingKey === 'string' && status !== 'completed' && status !== 'cancelled') {
      const line = lines.get(orderingKey) ?? []
      const last = line.at(-1)
      if (last !== undefined) ahead.set(at, last)
      lines.set(orderingKey, line)
      line.push(task)
      keys.set(task, orderingKey)
    }
  }
  for await (const { bytes, revision: read } of source.lines({ revision }, undefined)) {
    show(`looking for tasks with the same ordering key: revision ${read} of ${revision}`)
    for (const line of bytes.toString('utf8').split('\n')) if (mayMatter.test(line)) take(JSON.parse(line) as HistoryEvent)
  }
  return ahead
}

/**
 * An event about the queue as a whole concerns every task, except that a rate admits starts again: other tasks have used it up as well, so it would
 * not fit.
 */
export const concerns = (tasks: ReadonlySet<string>): IsWanted => (type, { task }) => (typeof task === 'string' ? tasks.has(task) : type !== 'LimitOpened')
