/** `audit verify`: whether a log is unchanged since it was appended (EV-07). */
import { Command } from 'commander'
import { plural, theFirst } from '@daybook/core/common'
import type { Verdict } from '../../client/index.js'
import { dataDirDefault } from '../../config/serve-options.js'
import type { LogAddress } from '../../store/index.js'
import { type CheckpointFlags, checkpointsOf } from '../audit/checkpoints.js'
import { addWhere, logAddressOf } from '../audit/options.js'
import { type Cli, examples } from '../cli.js'
import { connect, type ConnectionOptions, readConnection } from '../connection.js'
import { CliError, exitCodes, UsageError } from '../exit-codes.js'
import { assertLogFile } from '../log-file.js'
import type { Printer } from '../printer.js'
import { createProgress, type Progress } from '../progress.js'
import { clean } from '../text.js'

export const verifyCommand = (cli: Cli): Command =>
  addWhere(new Command('verify').description('whether the log is what was appended: reads all of it and checks its hashes'))
    .option('--checkpoints <file>', 'signed checkpoints that were kept elsewhere, such as a witness\'s file (default: those in the folder of --data)')
    .option('--checkpoint-key <key>', 'the key that verifies them: the word in QUEUE.key, or a file with it (default: the one in the folder of --data)')
    .addHelpText('after', examples(
      'daybook audit verify                                       # has the server do it',
      `daybook audit verify --data ${dataDirDefault} --queue default      # reads the log itself`,
      'daybook audit verify --store esdb://db1:2113 --json | jq .head',
      `daybook audit verify --data ${dataDirDefault} --checkpoints /mnt/witness/log --checkpoint-key daybook-3f9c2a71/default+…`,
      '',
      'Names the first event that was altered, removed, inserted or moved, or the events among which it is. Exit code 1 then.',
      'Events of servers before this version have no hashes: it says where the chain begins.',
    ))
    .action(cli.local<CheckpointFlags>(async (printer, where, command) => {
      const progress = createProgress(cli.io, printer)
      const connection = readConnection(command.optsWithGlobals<ConnectionOptions>(), cli.io.env)
      const address = logAddressOf(where)
      if (address === undefined && (where.checkpoints ?? where.checkpointKey) !== undefined) throw new UsageError('--checkpoints and --checkpoint-key are for a log that is read here: give --data or --store')
      let verdict: Verdict
      try {
        verdict = await (address === undefined ? askServer(connection, progress) : readLog(address, connection.queue, where, progress))
      } finally {
        progress.clear()
      }
      printer.answer(verdict, () => tell(printer, verdict))
      return verdict.ok ? exitCodes.done : exitCodes.refused
    }))

const spanOf = ({ events, from, to }: NonNullable<Verdict['sealedLater']>): string =>
  from === to ? `revision ${from}` : events === to - from + 1 ? `the revisions ${from} to ${to}` : `the first is revision ${from}, the last is ${to}`

const askServer = async (connection: ReturnType<typeof readConnection>, progress: Progress): Promise<Verdict> => {
  const client = connect(connection)
  try {
    progress.show('the server verifies the log')
    const verdict = await client.verify()
    if (verdict.events === 0 && verdict.ok) throw new CliError(`queue ${connection.queue} has no events on this server: daybook queues lists the queues`)
    return verdict
  } finally {
    await client.close()
  }
}

const readLog = async (address: LogAddress, queue: string, flags: CheckpointFlags, progress: Progress): Promise<Verdict> => {
  await assertLogFile(address)
  const [{ shownVerdict, verifyAt }, { streamOf }] = await Promise.all([import('../../chain/index.js'), import('../../engine/index.js')])
  const verdict = await verifyAt(address, streamOf(queue), { checkpoints: await checkpointsOf(flags, queue), progress: (events, of) => progress.show(`verifying: ${events} of ${of} events`) })
  if (verdict.events === 0 && verdict.ok) throw new CliError(`there is no queue ${queue} in this log: --queue names one`)
  return shownVerdict(verdict) as Verdict
}

const tell = (printer: Printer, { events, head, begins, checkpoint, unsealed, sealedLater, broken }: Verdict): void => {
  const { colors } = printer
  if (broken !== undefined) {
    printer.line(`${colors.red('NOT WHOLE')}  ${broken.kind}: ${clean(broken.reason)}`)
    return
  }
  if (begins === null) printer.line(`${plural(events, 'event')}, and no hashes: servers before this version wrote them. The log itself proves nothing`)
  else printer.line(`${colors.green('ok')}  ${plural(events, 'event')}, revision ${head.revision}, hash ${head.hash ?? 'none'}`)
  if (begins !== null && begins > 0) printer.line(`the chain begins at revision ${begins}: it proves nothing about the events before`)
  if (checkpoint !== undefined) printer.line(`${theFirst(checkpoint.size, 'event')} as in ${plural(checkpoint.count, 'checkpoint')} signed by ${checkpoint.signer}`)
  if (unsealed !== undefined) printer.line(`the revisions ${unsealed.from} to ${unsealed.to} have no hash: an older server wrote them, or it was removed`)
  if (sealedLater !== undefined) printer.line(`${plural(sealedLater.events, 'event')} had no hash until a later append: ${spanOf(sealedLater)}. An older server wrote them, or somebody added them to the store`)
}
