/** `daybook archive`: moves old events into compressed files. */
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { plural } from '@daybook/core/common'
import { dataDirDefault } from '../../config/serve-options.js'
import { addWhere, logAddressOf, revisionOrTime, type Where } from '../audit/options.js'
import { type Cli, examples } from '../cli.js'
import { exitCodes, UsageError } from '../exit-codes.js'
import { assertLogFile, noSuchQueue } from '../log-file.js'
import { createProgress } from '../progress.js'
import { clean } from '../text.js'

interface Flags extends Where {
  readonly before: number | string
  readonly all?: boolean
  readonly dryRun?: boolean
}

/** A revision, a time, or an age such as `90d`. */
const before = (text: string): number | string => {
  const [, amount, unit] = /^(\d+)([hdw])$/.exec(text) ?? []
  try {
    // Of an age that no time has, there is no text.
    if (amount !== undefined && unit !== undefined) return new Date(Date.now() - Number(amount) * { h: 1, d: 24, w: 168 }[unit as 'h' | 'd' | 'w'] * 3_600_000).toISOString()
    return revisionOrTime(text)
  } catch {
    throw new InvalidArgumentError('a revision, a time like 2026-01-31T12:00:00Z, or how long ago, like 90d, is wanted')
  }
}

export const archiveCommand = (cli: Cli): Command =>
  addWhere(new Command('archive').description('move old events into compressed files, which audit, project and the server still read'))
    .requiredOption('--before <moment>', 'move the events before this one: a revision, a time, or how long ago (12h, 90d, 26w)', before)
    .option('--all', 'of all queues (default: of --queue)')
    .option('--dry-run', 'say what would be moved, and change nothing')
    .addHelpText('after', `
The files are in a folder beside the log: ${dataDirDefault}/daybook.sqlite.archive, or ${dataDirDefault}/archive for EventStoreDB. They are part of the
log: keep them where they are, and in your backups. The log is verified first; events leave it when their file was written and read back.
If it is interrupted, run it again: it goes on.

SQLite: stop the server first. The file shrinks; the disk needs room for twice what is left.
EventStoreDB: servers may be running, and need the same folder. An administrator's scavenge frees the disk.
${examples(
      `daybook archive --data ${dataDirDefault} --before 90d --dry-run`,
      `daybook archive --data ${dataDirDefault} --all --before 2026-07-01T00:00:00Z`,
      `daybook archive --store 'esdb://db1:2113?tls=false' --data ${dataDirDefault} --queue default --before 5000000`,
    )}`)
    .action(cli.local<Flags>(async (printer, flags, command) => {
      const address = logAddressOf(flags)
      if (address === undefined) throw new UsageError('give --data or --store: the log is read here')
      await assertLogFile(address)
      const [{ archiveLog, planLog }, { archiveFolderOf }, { openOwnLog }, { queueOf, streamOf, streamPrefix }] = await Promise.all([import('../../archive/index.js'), import('../../segments/index.js'), import('../../open-log.js'), import('../../engine/index.js')])
      const { queue } = cli.connection(command)
      const archive = archiveFolderOf(address) as string
      const progress = createProgress(cli.io, printer)
      const log = await openOwnLog(address)
      try {
        const known = await log.streams(streamPrefix)
        const streams = flags.all === true ? known : [streamOf(queue)]
        if (streams.some((stream) => !known.includes(stream))) throw noSuchQueue(queue, known.map(queueOf))
        const options = { address, archive, streams, before: typeof flags.before === 'number' ? { revision: flags.before } : { at: Date.parse(flags.before) } }
        if (flags.dryRun === true) {
          const plans = await planLog(log, options)
          const queues = plans.map((plan) => ({ queue: queueOf(plan.stream), from: plan.archived, cut: plan.cut, events: plan.cut - plan.archived, head: plan.head }))
          printer.answer({ dryRun: true, archive, queues }, () => {
            for (const { queue: name, from, cut, events, head } of queues) {
              printer.line(events === 0 ? `${clean(name)}: nothing to move` : `${clean(name)}: would move the ${plural(events, 'event')} ${from} to ${cut - 1} to ${archive}; ${cut} to ${head} stay`)
            }
          })
          await log.close()
          return exitCodes.done
        }
        // Two connections of one process to a file would break each other's locks.
        await log.close()
        const { streams: done, compacted } = await archiveLog({
          ...options,
          checkpoints: (stream) => checkpointsOf(flags, queueOf(stream)),
          snapshots: await snapshotsOf(flags),
          progress: ({ step, stream, revision, last }) => progress(stream === undefined ? 'making the file smaller' : `${clean(queueOf(stream))}: ${step}: revision ${revision} of ${last}`),
        })
        const queues = done.map(({ stream, first, head, segments, snapshot }) => ({
          queue: queueOf(stream), first, head,
          segments: segments.map(({ file, bytes, hash, index: { from, to, times, textBytes } }) => ({ file, from, to, times, bytes, textBytes, sha256: hash })),
          snapshot,
        }))
        printer.answer({ archive, queues, ...(compacted === undefined ? {} : { file: compacted }) }, () => {
          for (const each of queues) {
            const { segments, first, head } = each
            const name = clean(each.queue)
            if (segments.length === 0) {
              printer.line(`${name}: nothing to move`)
              continue
            }
            const [events, bytes] = [segments.reduce((sum, { from, to }) => sum + to - from + 1, 0), segments.reduce((sum, segment) => sum + segment.bytes, 0)]
            printer.line(`${name}: moved ${plural(events, 'event')} into ${plural(segments.length, 'file')} of ${size(bytes)}; the log now begins at revision ${first}, and ends at ${head}`)
            if (each.snapshot === undefined) printer.line(`${name}: ${flags.data === undefined ? 'give --data, and a snapshot is taken that spares a start the reading of these files' : 'no snapshot can be taken, because this version cannot read all events: a start reads these files'}`)
          }
          if (compacted?.needs !== undefined) printer.line(`the file keeps its size, ${size(compacted.before)}: to make it smaller, the disk needs ${size(compacted.needs)} (SQLITE_TMPDIR names another folder for half of it). Make room and run again`)
          else if (compacted !== undefined) printer.line(`the file shrank from ${size(compacted.before)} to ${size(compacted.after)}`)
          if (address.kind === 'eventstoredb' && queues.some(({ segments }) => segments.length > 0)) printer.line('the disk gets the space back with the next scavenge of EventStoreDB')
        })
        return exitCodes.done
      } finally {
        await log.close()
      }
    }))

const size = (bytes: number): string => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`)

const checkpointsOf = async ({ data }: Where, queue: string) => {
  if (data === undefined) return undefined
  const { checkpointFolderOf, readCheckpoints } = await import('../../chain/index.js')
  return readCheckpoints(checkpointFolderOf(data), queue)
}

/** The folder of snapshots. Existing ones stay: the server decides how many are kept. */
const snapshotsOf = async ({ data }: Where) => {
  if (data === undefined) return undefined
  const { openSnapshotFolder } = await import('../../files/index.js')
  return openSnapshotFolder(join(data, 'snapshots'), { keep: Number.MAX_SAFE_INTEGER })
}
