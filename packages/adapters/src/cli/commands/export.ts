import { join } from 'node:path'
import { Command, Option } from 'commander'
import { plural, type Status, statuses } from '@daybook/core/common'
import type { DaybookClient, PastQueue, TaskView } from '../../client/index.js'
import { writeWhole } from '../../disk/atomic-write.js'
import { makeFolder } from '../../disk/make-folder.js'
import { syncPath } from '../../disk/sync-path.js'
import { askedStatuses } from '../asked-statuses.js'
import { addWhen, momentOf, type When } from '../audit/options.js'
import { type Cli, examples } from '../cli.js'
import { interruptible } from '../interruptible.js'
import { noteUnused } from '../note-unused.js'
import { createProgress, type Progress } from '../progress.js'

/** The files and their statuses, as in the folder of `serve --queue-files`. */
const files: ReadonlyArray<readonly [name: string, of: ReadonlyArray<Status>]> = [
  ['pending.json', ['pending', 'scheduled', 'waiting', 'blocked', 'queued']],
  ['in-progress.json', ['in-progress', 'incomplete']],
  ['completed.json', ['completed']],
  ['dead-letter.json', ['dead-letter']],
  ['cancelled.json', ['cancelled', 'discarded']],
]

/** Fields that only this queue needs, or that follow from others. An import would keep them in the metadata. */
const ownFields: ReadonlySet<string> = new Set(['number', 'attempts', 'attempt', 'attemptsMax', 'claimants', 'currentClaimant', 'leaseExpiresAt', 'finishedAt'] satisfies ReadonlyArray<keyof TaskView>)

const recordOf = (task: TaskView): Readonly<Record<string, unknown>> => {
  const record = Object.fromEntries(Object.entries(task).filter(([name]) => !ownFields.has(name)))
  const { finishedAt } = task
  return task.status === 'cancelled' || task.status === 'discarded' ? { ...record, cancelledAt: finishedAt } : record
}

/** After this many tasks, waits until stdout has taken them. */
const flushEvery = 500

/** Where the tasks are read: all of one moment, or page by page as they are when each page is read. */
type Tasks = Pick<PastQueue, 'eachTask'>

interface Source {
  readonly tasks: Tasks
  /** Of the moment; `undefined` for tasks of several moments. */
  readonly revision?: number
}

interface Options extends When {
  readonly out?: string
  readonly live?: true
}

/** Of one moment, so that a task that moves from one status to another meanwhile is there exactly once. */
const sourceOf = async (client: DaybookClient, options: Options): Promise<Source> => {
  if (options.live) return { tasks: client }
  const moment = momentOf(options)
  if (moment !== undefined) return { tasks: client.at(moment), revision: (await client.at(moment).summary()).revision }
  const { revision } = await client.summary()
  // A queue without events has no past.
  return { tasks: revision < 0 ? client : client.at({ revision }), revision }
}

/**
 * A document of all tasks with these statuses, in parts. The revision tells an import whether all files of a folder are of one moment: an export that
 * breaks off leaves files of an earlier one beside its own. It is at the end, because the total is known there.
 */
const documentOf = async function* ({ tasks, revision }: Source, of: ReadonlyArray<Status>, count: () => void): AsyncGenerator<string> {
  let total = 0
  let before = '{"tasks":[\n'
  // One status after the other, so that pending tasks come before those that wait.
  for (const status of askedStatuses(of)) {
    for await (const task of tasks.eachTask({ status, limit: 500 })) {
      yield `${before}${JSON.stringify(recordOf(task))}`
      before = ',\n'
      total++
      count()
    }
  }
  const end = revision === undefined ? ']}\n' : `],"revision":${revision},"total":${total}}\n`
  yield before === ',\n' ? `\n${end}` : `${before}${end}`
}

export const exportCommand = (cli: Cli): Command =>
  addWhen(
    new Command('export')
      .description('write all tasks of the queue as queue files, or as JSON on stdout')
      .option('-o, --out <folder>', 'a folder for pending.json, in-progress.json, completed.json, dead-letter.json, cancelled.json'),
  )
    .addOption(new Option('--live', 'as the tasks are when each page is read, instead of at one moment').conflicts(['revision', 'at']))
    .addHelpText('after', examples(
      'daybook export --out backup',
      'daybook export --out yesterday --at 2026-01-31T12:00:00Z',
      "daybook export | jq '.tasks | length'",
      '',
      'All tasks are those of one moment, the present one unless another is named. While the server answers it has the queue in memory twice. With',
      '--live it has not, and a token for some tenants will do; but a task that moves meanwhile may be in two files, or in none.',
    ))
    .action(cli.connected<Options>(async ({ io, printer, client }, { out, ...options }) => {
      const progress = createProgress(io, printer)
      let written = 0
      const count = (): void => progress(`exporting: ${++written}`)
      const source = await sourceOf(client, options)
      if (out === undefined) {
        progress('exporting')
        for await (const text of documentOf(source, statuses, count)) {
          io.out(text)
          if (written % flushEvery === 0) await io.flushed()
        }
        if (written === 0) await noteUnused(printer, client)
        return
      }
      const tasks = await interruptible(io, (signal) => writeFiles(source, out, count, progress, signal))
      printer.answer({ folder: out, tasks }, () => {
        printer.table([{ head: 'FILE', min: 12 }, 'TASKS'], Object.entries(tasks).map(([name, n]) => [join(out, name), String(n)]))
        printer.line(`${plural(written, 'task')} exported`)
      })
      if (written === 0) await noteUnused(printer, client)
    }))

/** Each file is replaced when it is complete, so none is ever half of one. `signal` ends it, and removes what is unfinished. */
const writeFiles = async (source: Source, out: string, count: () => void, progress: Progress, signal: AbortSignal): Promise<Readonly<Record<string, number>>> => {
  progress('exporting')
  makeFolder(out)
  const tasks: Record<string, number> = {}
  const document = async function* (name: string, of: ReadonlyArray<Status>): AsyncGenerator<string> {
    let n = 0
    const counted = (): void => {
      n++
      count()
    }
    for await (const text of documentOf(source, of, counted)) {
      signal.throwIfAborted()
      yield text
    }
    tasks[name] = n
  }
  for (const [name, of] of files) await writeWhole(join(out, name), document(name, of))
  await syncPath(out)
  return tasks
}
