import { Command } from 'commander'
import { plural } from '@daybook/core/common'
import { errorText } from '../../error-text.js'
import { importFiles, type ImportReport, type ImportSteps, ImportStopped, importTarget, readQueueFolder, tasksIn, tryImport } from '../../import/index.js'
import { type Cli, examples } from '../cli.js'
import { CliError, exitCodes, UsageError } from '../exit-codes.js'
import { interruptible } from '../interruptible.js'
import type { Printer } from '../printer.js'
import { createProgress } from '../progress.js'
import { clean } from '../text.js'

interface Options {
  readonly dryRun?: boolean
  /** Undefined without `--ranks` and `--no-ranks`: then the numbers decide. */
  readonly ranks?: boolean
}

export const importCommand = (cli: Cli): Command =>
  new Command('import')
    .description('import tasks from queue files: pending.json, completed.json and so on')
    .argument('<path>', 'a folder of such files, a project with one (.loki/queue), or one file')
    .option('-n, --dry-run', 'only say what would be taken, mapped and left out')
    .option('--ranks', 'numbers in priorities are ranks: 1 comes first (the default if any is above 10)')
    .option('--no-ranks', 'numbers are priorities: 10 comes first, and numbers above 10 become 10')
    .addHelpText('after', examples(
      'daybook import .loki/queue --dry-run      # look first',
      'daybook import .loki/queue',
      'daybook import tasks.json --queue sentinel --ranks',
      '',
      'Files are lists of tasks (objects or texts), bare or under names such as tasks and queue. A task without a status gets',
      'it from the name above its list, or from the file name: pending, claimed, completed, failed, skipped and so on.',
      'Fields have many names: task_id, title, agent_type, depends_on, blockedBy, completed_at, in any spelling. If requires',
      'and payload.dependencies name tasks, they are dependencies. Priorities are numbers, names, P0–P4, or ranks.',
      'Other fields stay in metadata, unchanged.',
      '',
      'The report names every field that is changed, and every task that is left out, with the reason. If any is left out,',
      'the exit code is 1, and all others are imported. Tasks that are there already stay as they are: mend the files and',
      'run the command again.',
    ))
    .action(cli.connected<Options, [string]>(async ({ io, printer, client }, { dryRun = false, ranks }, path) => {
      const progress = createProgress(io, printer)
      const folder = await readQueueFolder(path, (file) => progress(`reading ${file}`)).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new UsageError(`cannot import ${path}: it is not there; name a folder of queue files, or one file`)
        throw new CliError(`cannot import ${path}: ${errorText(error)}`)
      })
      const steps: ImportSteps = {
        ...(ranks === undefined ? {} : { ranks }),
        progress: (step, done, of) => progress(step === 'asking' ? `asking what is there: ${done} of ${of}` : `importing: ${done} of ${of}`),
      }
      const work = dryRun ? tryImport : importFiles
      const report = await interruptible(io, (signal) => work(folder.files, importTarget(client, signal), steps).catch((error: unknown) => {
        if (error instanceof ImportStopped) printer.note(`the import stopped after ${error.done} of ${plural(error.of, 'task')}: run it again, and it goes on from there`)
        signal.throwIfAborted()
        throw error instanceof ImportStopped ? error.cause : error
      }))
      printer.answer({ folder: folder.dir, queue: client.queue, dryRun, ...report }, () => tell(printer, folder.dir, client.queue, report, dryRun))
      return report.refused.length > 0 ? exitCodes.refused : exitCodes.done
    }))

/** The largest number of ids in a message; `--json` has all. */
const namedMax = 5

const tell = (printer: Printer, dir: string, queue: string, report: ImportReport, dryRun: boolean): void => {
  const { colors } = printer
  const { took, alreadyThere, repeated, byStatus, mapped, refused, files } = report
  printer.line(`${clean(dir)}: ${files.map(({ name, tasks }) => `${clean(name)} ${tasks}`).join(', ')}`)
  const counts = Object.entries(byStatus).map(([status, n]) => `${n} ${status}`).join(', ')
  const others = [...(alreadyThere > 0 ? [`${alreadyThere} already there`] : []), ...(repeated > 0 ? [`${repeated} more than once in the files`] : []), ...(tasksIn(refused) > 0 ? [`${tasksIn(refused)} left out`] : [])]
  printer.line(`${colors.green(`${plural(took, 'task')} ${dryRun ? 'would be taken' : 'taken'}`)}${counts === '' ? '' : ` (${counts})`} into ${queue}${others.map((text) => `, ${text}`).join('')}`)
  const isSame = took === 0 && alreadyThere > 0
  if (isSame) printer.line(dryRun ? 'nothing would change' : 'nothing has changed')
  // The mapping was reported by the first import.
  const news = isSame ? [] : mapped
  if (news.length > 0) printer.line('\nnot as it stood in the files:')
  for (const { file, what, tasks } of news) {
    const named = tasks.slice(0, namedMax).map((id) => clean(id, 40)).join(', ') + (tasks.length > namedMax ? ', …' : '')
    printer.line(`  ${clean(file)}${tasks.length === 0 ? '' : `, ${plural(tasks.length, 'task')}`}: ${clean(what)}${named === '' ? '' : colors.dim(` [${named}]`)}`)
  }
  if (refused.length > 0) printer.line(`\n${colors.red(`left out (${refused.length}):`)}`)
  for (const { file, task, why } of refused) printer.line(`  ${clean(file)}${task === undefined ? '' : ` ${clean(task, 60)}`}: ${clean(why)}`)
  if (dryRun) printer.line('\nnothing was written: leave --dry-run out to take them')
}
