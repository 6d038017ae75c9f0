import { join } from 'node:path'
import { Command } from 'commander'
import { plural, type Status, statuses } from '@daybook/core/common'
import type { DaybookClient, TaskView } from '../../client/index.js'
import { writeWhole } from '../../disk/atomic-write.js'
import { makeFolder } from '../../disk/make-folder.js'
import { syncFolder } from '../../disk/sync-folder.js'
import { type Cli, examples } from '../cli.js'
import { interruptible } from '../interruptible.js'
import { createProgress, type Progress } from '../progress.js'

/** The files and their statuses, as in the folder of `serve --queue-files`. */
const files: ReadonlyArray<readonly [name: string, of: ReadonlyArray<Status>]> = [
  ['pending.json', ['pending', 'scheduled', 'waiting', 'blocked', 'queued']],
  ['in-progress.json', ['in-progress', 'incomplete']],
  ['completed.json', ['completed']],
  ['dead-letter.json', ['dead-letter']],
  ['cancelled.json', ['cancelled', 'discarded']],
]

/** The task without the fields that only this queue needs. */
const recordOf = (task: TaskView): Readonly<Record<string, unknown>> => {
  const { number: _, attempts: __, claimants: ___, currentClaimant: ____, finishedAt, ...record } = task
  return task.status === 'cancelled' || task.status === 'discarded' ? { ...record, cancelledAt: finishedAt } : record
}

/** After this many tasks, waits until stdout has taken them. */
const flushEvery = 500

const texts = async function* (client: DaybookClient, of: ReadonlyArray<Status>, count: () => void): AsyncGenerator<string> {
  let isFirst = true
  // One status after the other, so that pending tasks come before those that wait.
  for (const status of of) {
    for await (const task of client.eachTask({ status, limit: 500 })) {
      yield `${isFirst ? '\n' : ',\n'}${JSON.stringify(recordOf(task))}`
      isFirst = false
      count()
    }
  }
}

export const exportCommand = (cli: Cli): Command =>
  new Command('export')
    .description('write all tasks of the queue as queue files, or as JSON on stdout')
    .option('-o, --out <folder>', 'a folder for pending.json, in-progress.json, completed.json, dead-letter.json, cancelled.json')
    .addHelpText('after', examples(
      'daybook export --out backup',
      "daybook export | jq '.tasks | length'",
      '',
      'Tasks are read page by page: while agents work, a task may move from one file to the next in between.',
    ))
    .action(cli.connected<{ readonly out?: string }>(async ({ io, printer, client }, { out }) => {
      const progress = createProgress(io, printer)
      let written = 0
      const count = (): void => progress.show(`exporting: ${++written}`)
      if (out === undefined) {
        io.out('{"tasks":[')
        for await (const text of texts(client, statuses, count)) {
          io.out(text)
          if (written % flushEvery === 0) await io.flushed()
        }
        io.out('\n]}\n')
        progress.clear()
        return
      }
      const tasks = await interruptible(io, (signal) => writeFiles(client, out, count, progress, signal))
      printer.answer({ folder: out, tasks }, () => {
        printer.table([{ head: 'FILE', min: 12 }, 'TASKS'], Object.entries(tasks).map(([name, n]) => [join(out, name), String(n)]))
        printer.line(`${plural(written, 'task')} exported`)
      })
    }))

/** Each file is replaced when it is complete, so none is ever half of one. `signal` ends it, and removes what is unfinished. */
const writeFiles = async (client: DaybookClient, out: string, count: () => void, progress: Progress, signal: AbortSignal): Promise<Readonly<Record<string, number>>> => {
  makeFolder(out)
  const tasks: Record<string, number> = {}
  const chunks = async function* (name: string, of: ReadonlyArray<Status>): AsyncGenerator<string> {
    let n = 0
    yield '{"tasks":['
    for await (const text of texts(client, of, count)) {
      signal.throwIfAborted()
      yield text
      n++
    }
    yield '\n]}\n'
    tasks[name] = n
  }
  for (const [name, of] of files) await writeWhole(join(out, name), chunks(name, of))
  await syncFolder(out)
  progress.clear()
  return tasks
}
