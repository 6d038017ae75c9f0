import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { plural, type Status, statuses } from '@daybook/core'
import type { DaybookClient, TaskView } from '../../client/index.js'
import { makeFolder } from '../../files/make-folder.js'
import { type Cli, examples } from '../cli.js'
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
      const tasks = await writeFiles(client, out, count, progress)
      printer.answer({ folder: out, tasks }, () => {
        printer.table([{ head: 'FILE', min: 12 }, 'TASKS'], Object.entries(tasks).map(([name, n]) => [join(out, name), String(n)]))
        printer.line(`${plural(written, 'task')} exported`)
      })
    }))

const writeFiles = async (client: DaybookClient, out: string, count: () => void, progress: Progress): Promise<Readonly<Record<string, number>>> => {
  makeFolder(out)
  const tasks: Record<string, number> = {}
  for (const [name, of] of files) {
    const handle = await open(join(out, name), 'w', 0o644)
    try {
      tasks[name] = 0
      await handle.appendFile('{"tasks":[')
      for await (const text of texts(client, of, count)) {
        tasks[name]++
        await handle.appendFile(text)
      }
      await handle.appendFile('\n]}\n')
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
  progress.clear()
  return tasks
}
