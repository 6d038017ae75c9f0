/** Actions on many tasks at once: the selected ones, or all that match. */
import type { TaskPage, TaskView } from '@daybook/client'
import type { Moment } from '../../address/address.js'
import { pathOf, type Query } from '../../address/url.js'
import { type Answer, ApiProblem, request } from '../../api/request.js'
import type { Action, Done, Given } from '../../parts/action.js'
import { counted, numberText } from '../../parts/format.js'
import { saveFile } from '../../parts/save-file.js'
import { exportText } from './export-text.js'

export type Chosen =
  | { readonly kind: 'some'; readonly ids: ReadonlyArray<string> }
  /** `filter`: parameters of `GET …/tasks`. */
  | { readonly kind: 'all'; readonly filter: Readonly<Record<string, string>>; readonly count: number; /** Number of tasks that match, of which `count` can be changed; `undefined` if it is not known. */ readonly matching?: number | undefined }

export const countOf = (chosen: Chosen): number => (chosen.kind === 'some' ? chosen.ids.length : chosen.count)
const tasksOf = (chosen: Chosen): string => `${counted(countOf(chosen), 'task')}${chosen.kind === 'all' ? ', all that match,' : ''}`

const pageMax = '1000'
const tasksPath = (queue: string, ...more: ReadonlyArray<string>): string => pathOf(['api', 'queues', queue, 'tasks', ...more])

/** All tasks that match, page by page, at the time when each page is fetched. */
const eachPage = async (queue: string, filter: Partial<Query>, take: (tasks: ReadonlyArray<TaskView>, text: number) => void): Promise<void> => {
  let cursor: string | null = ''
  let count = 0
  while (cursor !== null) {
    const { value }: { readonly value: TaskPage } = await request<TaskPage>('GET', tasksPath(queue), { query: { ...filter, limit: pageMax, ...(cursor === '' ? {} : { cursor }) } })
    count += value.tasks.length
    take(value.tasks, count)
    cursor = value.nextCursor
  }
}

/** Counts the tasks that match, by fetching them. */
export const countMatching = async (queue: string, filter: Readonly<Record<string, string>>): Promise<number> => {
  let found = 0
  await eachPage(queue, filter, (_, count) => (found = count))
  return found
}

const idsOf = async (queue: string, chosen: Chosen): Promise<ReadonlyArray<string>> => {
  if (chosen.kind === 'some') return chosen.ids
  const ids: Array<string> = []
  await eachPage(queue, chosen.filter, (tasks) => ids.push(...tasks.map(({ id }) => id)))
  return ids
}

/** So often a request is sent that the server, or what stands before it, puts off: the token may be used less often, or there is too much to do. */
const triesMax = 30
const pauseMs = 1_000
const isPutOff = (error: unknown): boolean => error instanceof ApiProblem && (error.status === 429 || error.status === 503)

const patiently = async <A,>(send: (id: string) => Promise<A>, id: string): Promise<A> => {
  for (let tries = 1; ; tries++) {
    try {
      return await send(id)
    } catch (error) {
      if (!isPutOff(error) || tries === triesMax) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

/**
 * One request for each task, four at a time. A refusal does not stop the others. A lost answer does, and so does a server that still puts off after all
 * tries: nothing more is sent then, and what is under way is waited for, so that nothing goes on behind the dialog.
 */
const toEach = async (queue: string, chosen: Chosen, { progress }: Given, what: string, send: (id: string) => Promise<{ readonly revision?: number }>): Promise<Done> => {
  const ids = await idsOf(queue, chosen)
  const waiting = [...ids]
  const refusals = new Map<string, number>()
  let done = 0
  let last: number | undefined
  let failure: unknown
  const worker = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        const { revision } = await patiently(send, id)
        done++
        if (revision !== undefined) last = Math.max(last ?? 0, revision)
      } catch (error) {
        if (error instanceof ApiProblem && error.status !== 0 && error.status !== 401 && !isPutOff(error)) refusals.set(error.code, (refusals.get(error.code) ?? 0) + 1)
        else {
          failure ??= error
          waiting.length = 0
        }
      }
      progress(`${done} of ${ids.length} …`)
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  if (failure instanceof ApiProblem) throw new ApiProblem(failure.status, failure.code, `${failure.message}: ${done} of ${ids.length} were ${what} before`)
  if (failure !== undefined) throw failure
  const refused = [...refusals].map(([code, count]) => ` ${counted(count, 'task was', 'tasks were')} refused: ${code}.`).join('')
  return { said: `${counted(done, 'task')} ${what}.${refused}`, queue, ...(last === undefined ? {} : { revision: last }) }
}

/** Not all that match can be cancelled. */
const isPart = (chosen: Chosen): chosen is Extract<Chosen, { readonly kind: 'all' }> & { readonly matching: number } => chosen.kind === 'all' && chosen.matching !== undefined && chosen.matching > chosen.count

export const cancelMany = (queue: string, chosen: Chosen): Action => ({
  title: `Cancel ${isPart(chosen) ? counted(chosen.count, 'task') : tasksOf(chosen).replace(/,$/, '')}`,
  does: <p>{isPart(chosen) ? `${numberText(chosen.count)} of ${numberText(chosen.matching)} that match (finished tasks and dead letters are left out)` : tasksOf(chosen)} will be cancelled, and every task that depends on one of them. Agents that hold one are told with their next heartbeat. This cannot be undone; a cancelled task can be restarted as a new one.</p>,
  verb: `Cancel ${counted(countOf(chosen), 'task')}`,
  isDestructive: true,
  run: async (given) => {
    const { reason, progress } = given
    if (chosen.kind === 'some') return toEach(queue, chosen, given, 'cancelled', (id) => request('POST', tasksPath(queue, id, 'cancel'), { body: { reason } }))
    let count = 0
    let last: number | undefined
    for await (const { value, revision } of cancelledPages(queue, { filter: chosen.filter, reason })) {
      count += value.count
      last = revision ?? last
      progress(`${count} cancelled …`)
    }
    return { said: `${counted(count, 'task')} cancelled.`, queue, ...(last === undefined ? {} : { revision: last }) }
  },
})

interface CancelledPage {
  readonly count: number
  readonly nextCursor: string | null
}

/** The answers to a command that cancels a page at a time. */
const cancelledPages = async function* (queue: string, body: object): AsyncGenerator<Answer<CancelledPage>, void> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer: Answer<CancelledPage> = await request<CancelledPage>('POST', tasksPath(queue, 'cancel'), { body: { ...body, ...(cursor === '' ? {} : { cursor }) } })
    yield answer
    cursor = answer.value.nextCursor
  }
}

/** Finished tasks and dead letters cannot be cancelled. */
const notCancellable: ReadonlyArray<string> = ['completed', 'cancelled', 'discarded', 'dead-letter']

/** The filter without statuses that cannot be cancelled; `undefined` if nothing is left. */
export const cancellableIn = (filter: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined => {
  if (filter.status === undefined) return filter
  const status = filter.status.split(',').filter((each) => !notCancellable.includes(each)).join(',')
  return status === '' ? undefined : { ...filter, status }
}

/** Number of tasks that the server would cancel. Tasks that are finished match, but cannot be cancelled. */
export const countCancellable = async (queue: string, filter: Readonly<Record<string, string>>): Promise<number> => {
  let count = 0
  for await (const { value } of cancelledPages(queue, { filter, reason: 'counted by the console', dryRun: true })) count += value.count
  return count
}

export const bumpMany = (queue: string, chosen: Chosen): Action => ({
  title: `Bump ${tasksOf(chosen).replace(/,$/, '')}`,
  does: <p>{tasksOf(chosen)} will go before all others of this queue, and each may start beyond the limit on agents. Those that are not ready are refused.</p>,
  verb: `Bump ${counted(countOf(chosen), 'task')}`,
  run: (given) => toEach(queue, chosen, given, 'bumped', (id) => request('POST', tasksPath(queue, id, 'bump'), { body: { reason: given.reason } })),
})

export const reprioritiseMany = (queue: string, chosen: Chosen): Action => ({
  title: `Change the priority of ${tasksOf(chosen).replace(/,$/, '')}`,
  does: <p>{tasksOf(chosen)} will have another priority: 10 is CRITICAL, 8 HIGH, 5 MEDIUM, 3 LOW. Those that an agent holds, and finished ones, are refused.</p>,
  verb: `Change ${counted(countOf(chosen), 'task')}`,
  fields: [{ name: 'priority', label: 'Priority', kind: 'choice', value: '5', choices: ['10', '9', '8', '7', '6', '5', '4', '3', '2', '1'] }],
  run: (given) => toEach(queue, chosen, given, 'changed', (id) => request('PATCH', tasksPath(queue, id), { body: { priority: Number(given.fields.priority), reason: given.reason } })),
})

/** The browser makes exports from data that it may read. `moment`: of the tasks, if they are chosen one by one; the filter of all that match has its own. */
export const exportMany = (queue: string, chosen: Chosen, moment: Moment | undefined): Action => ({
  title: `Export ${tasksOf(chosen).replace(/,$/, '')}`,
  does: <p>{tasksOf(chosen)} will be saved as a file of this computer. Nothing changes in the queue.</p>,
  verb: 'Export',
  reason: 'none',
  fields: [{ name: 'format', label: 'Format', kind: 'choice', value: 'CSV', choices: ['CSV', 'JSON lines'], hint: 'CSV has the columns of the list; JSON lines have all fields.' }],
  run: async ({ fields, progress }) => {
    const tasks: Array<TaskView> = []
    if (chosen.kind === 'all') {
      await eachPage(queue, chosen.filter, (page, count) => {
        tasks.push(...page)
        progress(`${count} read …`)
      })
    } else for (const id of chosen.ids) tasks.push((await request<TaskView>('GET', tasksPath(queue, id), { query: { ...moment } })).value)
    const kind = fields.format === 'CSV' ? 'csv' : 'ndjson'
    saveFile(`${queue}-tasks.${kind}`, [exportText(tasks, kind)], kind === 'csv' ? 'text/csv' : 'application/x-ndjson')
    return { said: `${counted(tasks.length, 'task')} exported.`, queue }
  },
})
