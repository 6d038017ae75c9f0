/** `audit verify`: whether a log is unchanged since it was appended (EV-07). */
import { Command } from 'commander'
import { plural, theFirst } from '@daybook/core/common'
import { DaybookError, type Verdict } from '../../client/index.js'
import { dataDirDefault } from '../../config/serve-options.js'
import type { LogAddress } from '../../store/index.js'
import { type CheckpointFlags, checkpointsOf } from '../audit/checkpoints.js'
import { addWhere, logAddressOf } from '../audit/options.js'
import { type Cli, examples } from '../cli.js'
import { connect, type Connection } from '../connection.js'
import { CliError, exitCodeOf, exitCodes, UsageError } from '../exit-codes.js'
import { assertLogFile, noSuchQueue } from '../log-file.js'
import type { Printer } from '../printer.js'
import { createProgress, type Progress } from '../progress.js'
import { clean } from '../text.js'

interface Flags extends CheckpointFlags {
  readonly all?: boolean
}

/** `reason`: why the queue could not be verified. */
type QueueVerdict = ({ readonly queue: string } & Verdict) | { readonly queue: string; readonly ok: false; readonly reason: string }

export const verifyCommand = (cli: Cli): Command =>
  addWhere(new Command('verify').description('whether the log is what was appended: reads all of it and checks its hashes'))
    .option('--all', 'all queues (default: that of --queue), also those that are signed and no longer in the log')
    .option('--checkpoints <file>', 'signed checkpoints that were kept elsewhere, such as a witness\'s file (default: those in the folder of --data)')
    .option('--checkpoint-key <key>', 'the key that verifies them: the word in QUEUE.key, or a file with it (default: the one in the folder of --data)')
    .addHelpText('after', examples(
      'daybook audit verify                                       # has the server do it',
      `daybook audit verify --data ${dataDirDefault} --queue default      # reads the log itself`,
      `daybook audit verify --data ${dataDirDefault} --all                # each queue: of a backup, for example`,
      'daybook audit verify --store esdb://db1:2113 --json | jq .head',
      `daybook audit verify --data ${dataDirDefault} --checkpoints /mnt/witness/log --checkpoint-key daybook-3f9c2a71/default+…`,
      '',
      'Names the first event that was altered, removed, inserted or moved, or the events among which it is. Exit code 1 then.',
      'Events of servers before this version have no hashes: it says where the chain begins.',
    ))
    .action(cli.local<Flags>(async (printer, where, command) => {
      const progress = createProgress(cli.io, printer)
      const connection = cli.connection(command)
      const address = logAddressOf(where)
      if (address === undefined && (where.checkpoints ?? where.checkpointKey) !== undefined) throw new UsageError('--checkpoints and --checkpoint-key are for a log that is read here: give --data or --store')
      if (where.all === true) {
        if ((where.checkpoints ?? where.checkpointKey) !== undefined) throw new UsageError('--checkpoints and --checkpoint-key are of one queue: give --queue in place of --all')
        const verdicts = await (address === undefined ? askAll(connection, progress) : readAll(address, where, progress))
        const ok = verdicts.every((each) => each.ok)
        printer.answer({ ok, queues: verdicts }, () => {
          for (const each of verdicts) tellOf(printer, each)
        })
        return ok ? exitCodes.done : exitCodes.refused
      }
      const verdict = await (address === undefined ? askServer(connection, progress) : readLog(address, connection.queue, where, progress))
      printer.answer(verdict, () => tell(printer, verdict))
      return verdict.ok ? exitCodes.done : exitCodes.refused
    }))

const spanOf = ({ events, from, to }: NonNullable<Verdict['sealedLater']>): string =>
  from === to ? `revision ${from}` : events === to - from + 1 ? `the revisions ${from} to ${to}` : `the first is revision ${from}, the last is ${to}`

const askServer = async (connection: Connection, progress: Progress): Promise<Verdict> => {
  const client = connect(connection)
  try {
    progress('the server verifies the log')
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
  const verdict = await verifyAt(address, streamOf(queue), { checkpoints: await checkpointsOf(flags, queue), progress: (events, of) => progress(`verifying ${clean(queue)}: ${events} of ${of} events`) })
  if (verdict.events === 0 && verdict.ok) throw noSuchQueue(queue, await queuesIn(address))
  return shownVerdict(verdict) as Verdict
}

const queuesIn = async (address: LogAddress): Promise<ReadonlyArray<string>> => {
  const [{ openOwnLog }, { queueOf, streamPrefix }] = await Promise.all([import('../../open-log.js'), import('../../engine/index.js')])
  const log = await openOwnLog(address)
  const streams = await log.streams(streamPrefix).finally(() => log.close())
  return streams.map(queueOf).sort()
}

/** A queue that cannot be verified must not hide the others. */
const verifyEach = async (queues: ReadonlyArray<string>, verify: (queue: string) => Promise<Verdict>): Promise<ReadonlyArray<QueueVerdict>> => {
  const verdicts: Array<QueueVerdict> = []
  for (const queue of queues) {
    try {
      verdicts.push({ queue, ...(await verify(queue)) })
    } catch (error) {
      if (!(error instanceof Error) || (error instanceof DaybookError && exitCodeOf(error) !== exitCodes.refused)) throw error
      verdicts.push({ queue, ok: false, reason: error instanceof DaybookError ? error.detail : error.message })
    }
  }
  return verdicts
}

const askAll = async (connection: Connection, progress: Progress): Promise<ReadonlyArray<QueueVerdict>> => {
  const client = connect(connection)
  try {
    const queues = await client.queues()
    return await verifyEach(queues.map(({ name }) => name).sort(), (queue) => {
      progress(`the server verifies ${clean(queue)}`)
      return client.in(queue).verify()
    })
  } finally {
    await client.close()
  }
}

const readAll = async (address: LogAddress, flags: Flags, progress: Progress): Promise<ReadonlyArray<QueueVerdict>> => {
  await assertLogFile(address)
  const { checkpointFolderOf, signedQueues } = await import('../../chain/index.js')
  const signed = flags.data === undefined ? [] : await signedQueues(checkpointFolderOf(flags.data))
  const queues = new Set([...(await queuesIn(address)), ...signed])
  return verifyEach([...queues].sort(), (queue) => readLog(address, queue, flags, progress))
}

const tellOf = (printer: Printer, verdict: QueueVerdict): void => {
  if ('reason' in verdict) printer.line(`${printer.colors.red('NOT VERIFIED')}  ${clean(verdict.queue)}: ${clean(verdict.reason)}`)
  else tell(printer, verdict, `${clean(verdict.queue)}: `)
}

/** `of`: what begins each line, if there are several queues. */
const tell = (printer: Printer, { events, head, begins, checkpoint, unsealed, sealedLater, broken }: Verdict, of = ''): void => {
  const { colors } = printer
  if (broken !== undefined) {
    printer.line(`${colors.red('NOT WHOLE')}  ${of}${broken.kind}: ${clean(broken.reason)}`)
    return
  }
  if (begins === null) printer.line(`${of}${plural(events, 'event')}, and no hashes: servers before this version wrote them. The log itself proves nothing`)
  else printer.line(`${colors.green('ok')}  ${of}${plural(events, 'event')}, revision ${head.revision}, hash ${head.hash ?? 'none'}`)
  if (begins !== null && begins > 0) printer.line(`${of}the chain begins at revision ${begins}: it proves nothing about the events before`)
  if (checkpoint !== undefined) printer.line(`${of}${theFirst(checkpoint.size, 'event')} as in ${plural(checkpoint.count, 'checkpoint')} signed by ${checkpoint.signer}`)
  if (unsealed !== undefined) printer.line(`${of}the revisions ${unsealed.from} to ${unsealed.to} have no hash: an older server wrote them, or it was removed`)
  if (sealedLater !== undefined) printer.line(`${of}${plural(sealedLater.events, 'event')} had no hash until a later append: ${spanOf(sealedLater)}. An older server wrote them, or somebody added them to the store`)
}
