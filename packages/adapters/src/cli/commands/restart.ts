/** `daybook restart`: one task once more, or many at once, in their order. */
import { Command } from 'commander'
import { plural, type Status } from '@daybook/core/common'
import type { DaybookClient, Restarted, TaskView } from '../../client/index.js'
import { isWanted } from '../ask-first.js'
import { type Cli, type Ending, examples, type Session } from '../cli.js'
import { exitCodes, UsageError } from '../exit-codes.js'
import { paintStatus } from '../printer.js'
import { createProgress } from '../progress.js'
import { addFilterOptions, type FilterOptions, filterOf, statusesOf } from '../task-filter.js'
import { clean } from '../text.js'
import { pastTime } from '../values.js'

interface Options extends FilterOptions {
  readonly reason: string
  readonly finishedAfter?: string
  readonly finishedBefore?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

const restartable: ReadonlyArray<Status> = ['cancelled', 'completed', 'discarded', 'dead-letter']

export const restartCommand = (cli: Cli): Command =>
  addFilterOptions(
    new Command('restart').description('do finished tasks or dead letters once more, as new tasks').argument('[ids...]', 'of one or several: their ids, or #number'),
    restartable,
  )
    .option('--finished-after <time>', 'finished at this time or later', pastTime)
    .option('--finished-before <time>', 'finished before this time', pastTime)
    .option('--dry-run', 'say which match, and restart nothing')
    .option('-y, --yes', 'do not ask before many are restarted')
    .option('--reason <text>', 'why', 'restarted on the command line')
    .addHelpText('after', `
Each new task has the type, payload and fields of the old one, and names it as restartOf. The old one keeps its status and its
history; a dead letter can still be sent back itself (daybook dlq retry) or discarded.

Several tasks are restarted in the order in which they were enqueued, and wait for the restarts of those that they waited for. A
task that is restarted alone does not wait for tasks that were cancelled or discarded meanwhile. With --status, tasks that have been
restarted already are left out, so the same command again goes on after a failure. When nothing matches, the exit code is 1.
${examples(
  'daybook restart M1-001 --reason "the report was lost"',
  'daybook restart M1-001 M1-002 M1-003',
  'daybook restart --status cancelled --finished-after 2026-01-31T03:00:00Z --dry-run   # undo a wrong cancel',
  "daybook restart --status completed --type 'report-*' --yes --reason \"the figures were wrong\"",
)}`)
    .action(cli.connected<Options, [ReadonlyArray<string>]>(async (session, options, ids) => {
      const status = statusesOf(options, restartable)
      const { finishedAfter, finishedBefore, dryRun } = options
      const isFiltered = status !== undefined || finishedAfter !== undefined || finishedBefore !== undefined || Object.keys(filterOf(options)).length > 0
      if (isFiltered || ids.length === 0) {
        if (ids.length > 0) throw new UsageError('give ids or a filter, not both')
        if (status === undefined) throw new UsageError(`name a task, or say which with --status: ${restartable.join(', ')}`)
        return restartMatching(session, status, options)
      }
      if (dryRun === true) throw new UsageError('--dry-run goes with --status')
      if (ids.length > 1) return restartMany(session, await Promise.all([...new Set(ids)].map((id) => session.client.task(id))), options.reason)
      const { printer, client } = session
      const restarted = await client.restart(ids[0] as string, options.reason)
      return printer.answer(restarted, () => printer.line(`${clean(restarted.restartOf)} is done once more as ${clean(restarted.id)} (#${restarted.number}), ${paintStatus(printer.colors, restarted.status)}`))
    }))

/** The largest page of a list. */
const pageMax = 1_000

const restartMatching = async (session: Session, status: ReadonlyArray<Status>, options: Options): Promise<Ending> => {
  const { io, printer, client } = session
  const progress = createProgress(io, printer)
  const matching: Array<TaskView> = []
  for await (const task of client.eachTask({ ...filterOf(options), status, limit: pageMax })) {
    if (isWithin(options, endOf(task))) matching.push(task)
    progress(`looking: ${matching.length}`)
  }
  const before = await restartsAfter(client, matching)
  const left = matching.filter(({ id }) => !before.has(id))
  const leftOut = matching.length - left.length
  const except = leftOut === 0 ? '' : `; ${leftOut === 1 ? '1 was' : `${leftOut} were`} restarted before`
  const what = `${plural(left.length, 'task')} would be restarted${except}`
  if (left.length === 0 || options.dryRun === true) {
    printer.answer({ dryRun: options.dryRun === true, count: left.length, matching: left.map(({ id }) => id), leftOut, restarted: [] }, () =>
      printer.line(left.length === 0 ? `no task matches that can be restarted${except}` : `${what}: ${namesOf(left)}`))
    return left.length === 0 ? exitCodes.refused : exitCodes.done
  }
  if (options.yes !== true && !(await isWanted(session, what, 'Restart', 'restarted'))) return exitCodes.refused
  return restartMany(session, left, options.reason, before)
}

const namesOf = (tasks: ReadonlyArray<{ readonly id: string }>): string => clean(tasks.map(({ id }) => id).join(', '), 500)

/** When the task was finished, or became a dead letter. */
const endOf = ({ finishedAt, deadLetter, createdAt }: TaskView): string => finishedAt ?? deadLetter?.at ?? createdAt

const isWithin = ({ finishedAfter, finishedBefore }: Options, end: string): boolean =>
  (finishedAfter === undefined || Date.parse(end) >= Date.parse(finishedAfter)) && (finishedBefore === undefined || Date.parse(end) < Date.parse(finishedBefore))

/** The last restart of a task, by the id of that task. */
type Restarts = Map<string, { readonly id: string; readonly number: number; readonly isGivenUp: boolean }>

/** What has been restarted since the first of these tasks ended: no restart of them is older. */
const restartsAfter = async (client: DaybookClient, tasks: ReadonlyArray<TaskView>): Promise<Restarts> => {
  const restarts: Restarts = new Map()
  if (tasks.length === 0) return restarts
  const createdAfter = tasks.map(endOf).reduce((first, each) => (each < first ? each : first))
  for await (const { id, number, status, restartOf } of client.eachTask({ createdAfter, limit: pageMax })) {
    if (restartOf === undefined || (restarts.get(restartOf)?.number ?? 0) > number) continue
    restarts.set(restartOf, { id, number, isGivenUp: status === 'cancelled' || status === 'discarded' })
  }
  return restarts
}

/** The restarts of the dependencies, where there are any: those of this command, or of one before it. */
const dependenciesOf = ({ dependencies }: TaskView, restarts: Restarts): ReadonlyArray<string> =>
  dependencies.flatMap((id) => {
    let last = restarts.get(id)
    for (let next = last; next !== undefined; next = restarts.get(next.id)) last = next
    return last === undefined || last.isGivenUp ? [] : [last.id]
  })

/** Restarts one after the other, so that the new tasks are in the order of the old ones. A dependency always has a lower number. */
const restartMany = async ({ io, printer, client }: Session, tasks: ReadonlyArray<TaskView>, reason: string, restarts: Restarts = new Map()): Promise<Ending> => {
  const unfit = tasks.find(({ status }) => !restartable.includes(status))
  if (unfit !== undefined) throw new UsageError(`${clean(unfit.id)} is ${unfit.status}: only a finished task or a dead letter can be restarted. Nothing was restarted`)
  const progress = createProgress(io, printer)
  const done: Array<Restarted> = []
  try {
    for (const task of [...tasks].sort((a, b) => a.number - b.number)) {
      const restarted = await client.restart(task.id, reason, { dependencies: dependenciesOf(task, restarts) })
      restarts.set(task.id, { id: restarted.id, number: restarted.number, isGivenUp: false })
      done.push(restarted)
      progress(`restarting: ${done.length} of ${tasks.length}`)
    }
  } catch (error) {
    // Those before this one stay restarted.
    printer.note(`${plural(done.length, 'task')} restarted before this went wrong${done.length === 0 ? '' : `: ${namesOf(done.map(({ restartOf }) => ({ id: restartOf })))}`}`)
    throw error
  }
  printer.answer({ dryRun: false, count: done.length, restarted: done }, () => {
    printer.line(`${plural(done.length, 'task')} restarted`)
    printer.table([{ head: 'OLD', min: 8 }, { head: 'NEW', min: 8 }, '#', 'STATUS'], done.map(({ id, number, restartOf, status }) => [clean(restartOf), clean(id), String(number), paintStatus(printer.colors, status)]))
  })
  return exitCodes.done
}
