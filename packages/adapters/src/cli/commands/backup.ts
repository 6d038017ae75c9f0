/** `daybook backup`: copies a server's data, even while the server runs. */
import { Command } from 'commander'
import { plural } from '@daybook/core/common'
import { dataDirDefault } from '../../config/serve-options.js'
import { logAddressOf, type Where } from '../audit/options.js'
import { type Cli, examples } from '../cli.js'
import { CliError, exitCodes } from '../exit-codes.js'
import { interruptible } from '../interruptible.js'
import { createProgress } from '../progress.js'
import { clean } from '../text.js'

export const backupCommand = (cli: Cli): Command =>
  new Command('backup')
    .description('copy a server\'s data as it is now, also while the server runs, and verify the copy')
    .argument('<folder>', 'where the copy goes: a folder that is not there yet')
    .option('--data <folder>', `the data folder to copy (env DAYBOOK_DATA; default ./${dataDirDefault})`)
    .option('--store <store>', 'the log, if it is not in the data folder: sqlite:FILE or just the file, or esdb://… or kurrentdb://… (env DAYBOOK_STORE)')
    .addHelpText('after', `
The copy is a data folder: to restore, stop the server, put the copy where its data was, and start it. It has the log with its archive, tokens, keys,
signed checkpoints and memories; what a server makes again from the log (snapshots, views.db) is left out, so the first start takes longer. Everything
that was acknowledged before the command was started is in it. It has secrets: keep it as carefully as the data folder.

A log in EventStoreDB is not copied: back that up by its own means, after this command.
Exit code 1 when the copy of a log is not what was appended, or its checkpoints are lost; the copy is kept.
${examples(
      `daybook backup /mnt/backups/monday --data ${dataDirDefault}`,
      `daybook backup /mnt/backups/monday --data ${dataDirDefault} --store sqlite:/var/lib/daybook/log.sqlite`,
      'daybook serve --data /mnt/backups/monday-restored --port 8080     # a copy of the copy: look before you trust',
    )}`)
    .action(cli.local<Where, [string]>(async (printer, flags, _command, folder) => {
      const dataDir = flags.data ?? (cli.io.env.DAYBOOK_DATA || dataDirDefault)
      const store = flags.store ?? (cli.io.env.DAYBOOK_STORE || undefined)
      const log = logAddressOf({ data: dataDir, ...(store === undefined ? {} : { store }) })
      if (log === undefined) throw new CliError('nothing to back up')
      const [{ backUp }, { checkDataFolder }] = await Promise.all([import('../../backup/index.js'), import('../doctor/data-folder.js')])
      const progress = createProgress(cli.io, printer)
      const { at, folder: to, queues } = await interruptible(cli.io, (signal) => backUp({ dataDir, log, to: folder, signal, progress: (what) => progress(clean(what)) }))
      for (const { level, about, says } of await checkDataFolder(to)) if (level === 'bad') printer.note(`${clean(about)}: ${clean(says)}`)
      const shown = queues.map(({ queue, verified: { ok, events, head, broken }, uncompared }) => ({
        queue, ok: ok && uncompared === undefined, events, head, ...(broken === null ? {} : { broken }), ...(uncompared === undefined ? {} : { uncompared }),
      }))
      printer.answer({ folder: to, at, queues: shown }, () => {
        for (const { queue, ok, events, head, broken, uncompared } of shown) {
          if (ok) printer.line(`${clean(queue)}: ${plural(events, 'event')}, revision ${head.revision}, verified`)
          if (broken !== undefined) printer.line(`${clean(queue)}: ${printer.colors.red('NOT WHOLE')}  ${broken.kind}: ${clean(broken.reason)}`)
          if (uncompared !== undefined) printer.line(`${clean(queue)}: ${printer.colors.red('NOT COMPARED')} with its checkpoints: ${clean(uncompared)}`)
        }
        if (log.kind === 'eventstoredb') printer.line('the log is in EventStoreDB, and was not copied: back that up by its own means now')
        printer.line(`copied to ${clean(to)}, as of ${at}`)
      })
      return shown.every(({ ok }) => ok) ? exitCodes.done : exitCodes.refused
    }))
