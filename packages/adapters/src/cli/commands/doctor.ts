import { Command } from 'commander'
import * as E from 'fp-ts/lib/Either.js'
import { plural } from '@daybook/core/common'
import { dataDirDefault } from '../../config/serve-options.js'
import { readStore } from '../../config/store-choice.js'
import { type Cli, examples } from '../cli.js'
import { connect, readConnection, type ConnectionOptions } from '../connection.js'
import { checkServer } from '../doctor/server.js'
import type { Finding } from '../doctor/finding.js'
import { exitCodes, UsageError } from '../exit-codes.js'
import type { Printer } from '../printer.js'
import { createProgress } from '../progress.js'
import { clean } from '../text.js'

interface Options {
  readonly data?: string
  readonly store?: string
}

export const doctorCommand = (cli: Cli): Command =>
  new Command('doctor')
    .description('look for what is wrong: unreadable events, damage, snapshots that cannot be used')
    .option('--data <folder>', `a data folder on this machine, with its snapshots (like the server's --data, ${dataDirDefault})`)
    .option('--store <store>', 'a log: sqlite:FILE or just the file, or esdb://… for EventStoreDB')
    .addHelpText('after', examples(
      'daybook doctor                              # asks the running server',
      `daybook doctor --data ${dataDirDefault}          # looks at the files; of a running server's, not at the events`,
      '',
      'Nothing is changed. Exit code 1 when something was found, or when the events could not be read.',
    ))
    .action(cli.local<Options>(async (printer, options, command) => {
      const { io } = cli
      const progress = createProgress(io, printer)
      let findings: ReadonlyArray<Finding>
      if (options.data !== undefined || options.store !== undefined) {
        const dataDir = options.data ?? dataDirDefault
        const text = options.store === undefined || /^[a-z+]+:/.test(options.store) ? options.store : `sqlite:${options.store}`
        const store = readStore(text, dataDir)
        if (E.isLeft(store)) throw new UsageError(store.left)
        if (store.right.kind === 'memory') throw new UsageError('a memory store leaves nothing to look at')
        const [{ checkFile, checkEventStoreDb }, { checkDataFolder }] = await Promise.all([import('../doctor/store.js'), import('../doctor/data-folder.js')])
        const show = (what: string): void => progress.show(what)
        findings = await (store.right.kind === 'sqlite'
          ? checkFile(store.right.file, options.data, show)
          : checkEventStoreDb(store.right, options.data, show))
        if (options.data !== undefined) findings = [...findings, ...(await checkDataFolder(options.data))]
      } else {
        const connection = readConnection(command.optsWithGlobals<ConnectionOptions>(), io.env)
        const client = connect(connection)
        try {
          findings = await checkServer(client, connection.url, (what) => progress.show(what))
        } finally {
          await client.close()
        }
      }
      progress.clear()
      const bad = findings.filter(({ level }) => level === 'bad').length
      const unread = findings.filter(({ level }) => level === 'unread').length
      printer.answer({ ok: bad + unread === 0, findings }, () => tell(printer, findings, bad, unread))
      return bad + unread === 0 ? exitCodes.done : exitCodes.refused
    }))

const tell = (printer: Printer, findings: ReadonlyArray<Finding>, bad: number, unread: number): void => {
  const { colors } = printer
  const signs = { good: colors.green('ok  '), note: colors.yellow('note'), unread: colors.yellow('????'), bad: colors.red('BAD ') }
  for (const { level, about, says } of findings) printer.line(`${signs[level]}  ${clean(about)}: ${clean(says)}`)
  if (bad > 0) printer.line(`\n${colors.red(plural(bad, 'problem'))}`)
  else printer.line(unread > 0 ? `\n${colors.yellow('no problem found, but the events were not read')}` : '\nnothing is wrong')
}
