import { Command } from 'commander'
import * as E from 'fp-ts/lib/Either.js'
import { DaybookError, type DaybookClient } from '../../client/index.js'
import { importFiles, type ImportReport, type ImportTarget, readQueueFolder } from '../../import/index.js'
import { type Cli, examples } from '../cli.js'
import { CliError, exitCodes, UsageError } from '../exit-codes.js'
import type { Printer } from '../printer.js'
import { createProgress } from '../progress.js'
import { clean, plural } from '../text.js'

/** What the queue says no to, task by task. Everything else stands in the way of all of them. */
const refusals = new Set(['invalid', 'conflict', 'unknown-dependency', 'dependency-cycle', 'too-large', 'wrong-state'])

const targetOf = (client: DaybookClient): ImportTarget => ({
  has: async (id) => {
    try {
      await client.task(id)
      return true
    } catch (error) {
      if (error instanceof DaybookError && error.code === 'not-found') return false
      throw error
    }
  },
  take: async (tasks) => {
    try {
      return E.right((await client.importTasks(tasks)).results)
    } catch (error) {
      if (error instanceof DaybookError && refusals.has(error.code)) {
        return E.left([error.detail, ...(error.errors ?? []).map(({ path, message }) => `${path} ${message}`)].join('; '))
      }
      throw error
    }
  },
})

export const importCommand = (cli: Cli): Command =>
  new Command('import')
    .description('take tasks over from queue files: pending.json, completed.json and so on')
    .argument('<path>', 'a folder of such files, a project with one (.loki/queue), or one file')
    .addHelpText('after', examples(
      'daybook import .loki/queue',
      'daybook import tasks.json --queue sentinel',
      '',
      'Reads {"tasks": […]}, {"queue": […]}, lists of tasks and lists of texts; priorities as numbers, names or P0–P3.',
      'It says what it mapped and what it refused. What is there already stays as it is, so it can be run again.',
      'Exit code 1 when something was refused; everything else was taken.',
    ))
    .action(cli.connected<object, [string]>(async ({ io, printer, client }, _, path) => {
      const folder = await readQueueFolder(path).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new UsageError(`cannot import ${path}: it is not there; name a folder of queue files, or one file`)
        throw new CliError(`cannot import ${path}: ${error instanceof Error ? error.message : String(error)}`)
      })
      const progress = createProgress(io, printer)
      const report = await importFiles(folder.files, targetOf(client), (done, of) => progress.show(`importing: ${done} of ${of}`))
      progress.clear()
      printer.answer({ folder: folder.dir, queue: client.queue, ...report }, () => tell(printer, folder.dir, client.queue, report))
      return report.refused.length > 0 ? exitCodes.refused : exitCodes.done
    }))

/** So many ids are named; `--json` has all. */
const namedMax = 5

const tell = (printer: Printer, dir: string, queue: string, report: ImportReport): void => {
  const { colors } = printer
  const { took, alreadyThere, byStatus, mapped, refused, files } = report
  printer.line(`${clean(dir)}: ${files.map(({ name, tasks }) => `${clean(name)} ${tasks}`).join(', ')}`)
  const counts = Object.entries(byStatus).map(([status, n]) => `${n} ${status}`).join(', ')
  printer.line(`${colors.green(`${plural(took, 'task')} taken`)}${counts === '' ? '' : ` (${counts})`} into ${queue}${alreadyThere > 0 ? `, ${alreadyThere} already there` : ''}`)
  const isSame = took === 0 && alreadyThere > 0
  if (isSame) printer.line('nothing has changed')
  // What was mapped the first time was said then.
  const news = isSame ? [] : mapped
  if (news.length > 0) printer.line('\nnot as it stood in the files:')
  for (const { file, what, tasks } of news) {
    const named = tasks.slice(0, namedMax).map((id) => clean(id, 40)).join(', ') + (tasks.length > namedMax ? ', …' : '')
    printer.line(`  ${clean(file)}${tasks.length === 0 ? '' : `, ${plural(tasks.length, 'task')}`}: ${clean(what)}${named === '' ? '' : colors.dim(` [${named}]`)}`)
  }
  if (refused.length > 0) printer.line(`\n${colors.red(`refused (${refused.length}):`)}`)
  for (const { file, task, why } of refused) printer.line(`  ${clean(file)}${task === undefined ? '' : ` ${clean(task, 60)}`}: ${clean(why)}`)
}
