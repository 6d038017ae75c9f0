import { Command } from 'commander'
import { plural } from '@daybook/core/common'
import { dataDirDefault } from '../../config/serve-options.js'
import { logAddressOf } from '../audit/options.js'
import { type Cli, examples } from '../cli.js'
import { connect } from '../connection.js'
import { checkServer } from '../doctor/server.js'
import type { Finding, Tell } from '../doctor/finding.js'
import { exitCodes, UsageError } from '../exit-codes.js'
import type { Printer } from '../printer.js'
import { createProgress } from '../progress.js'
import { clean } from '../text.js'

interface Options {
  readonly data?: string
  readonly store?: string
  readonly replay?: boolean
}

export const doctorCommand = (cli: Cli): Command =>
  new Command('doctor')
    .description('look for what is wrong: unreadable events, damage, snapshots that cannot be used')
    .option('--data <folder>', `a data folder on this machine, with its snapshots (like the server's --data, ${dataDirDefault})`)
    .option('--store <store>', 'a log: sqlite:FILE or just the file, or esdb://… or kurrentdb://… for EventStoreDB or KurrentDB')
    .option('--replay', 'with --data: also compare the state from the newest snapshot with the one from all events')
    .addHelpText('after', examples(
      'daybook doctor                              # asks the running server',
      `daybook doctor --data ${dataDirDefault}          # looks at the files; of a running server's, not at the events`,
      `daybook doctor --data ${dataDirDefault} --replay # whether the snapshots say what the log says; no server may run`,
      '',
      'Nothing is changed. Exit code 1 when something was found, or when the events could not be read.',
    ))
    .action(cli.local<Options>(async (printer, options, command) => {
      if (options.replay === true && options.data === undefined) throw new UsageError('--replay compares the snapshots of a data folder with its log: give --data')
      const progress = createProgress(cli.io, printer)
      const findings = await lookedAt(cli, options, command, progress)
      const bad = findings.filter(({ level }) => level === 'bad').length
      const unread = findings.filter(({ level }) => level === 'unread').length
      printer.answer({ ok: bad + unread === 0, findings }, () => tell(printer, findings, bad, unread))
      return bad + unread === 0 ? exitCodes.done : exitCodes.refused
    }))

const lookedAt = async (cli: Cli, options: Options, command: Command, show: Tell): Promise<ReadonlyArray<Finding>> => {
  const log = logAddressOf(options)
  if (log === undefined) {
    const connection = cli.connection(command)
    const client = connect(connection)
    return checkServer(client, connection.url, show).finally(() => client.close())
  }
  const [{ checkFile, checkEventStoreDb }, { checkDataFolder }] = await Promise.all([import('../doctor/store.js'), import('../doctor/data-folder.js')])
  const findings = await (log.kind === 'sqlite' ? checkFile(log.file, options, show) : checkEventStoreDb(log, options, show))
  return options.data === undefined ? findings : [...findings, ...(await checkDataFolder(options.data))]
}

const tell = (printer: Printer, findings: ReadonlyArray<Finding>, bad: number, unread: number): void => {
  const { colors } = printer
  const signs = { good: colors.green('ok  '), note: colors.yellow('note'), unread: colors.yellow('????'), bad: colors.red('BAD ') }
  for (const { level, about, says } of findings) printer.line(`${signs[level]}  ${clean(about)}: ${clean(says)}`)
  if (bad > 0) printer.line(`\n${colors.red(plural(bad, 'problem'))}`)
  else printer.line(unread > 0 ? `\n${colors.yellow('no problem found, but the events were not read')}` : '\nnothing is wrong')
}
