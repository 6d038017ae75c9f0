/** The options that all audit commands share: where to read, and which moment. */
import type { Command } from 'commander'
import * as E from 'fp-ts/lib/Either.js'
import type { DaybookClient, Moment } from '../../client/index.js'
import { dataDirDefault } from '../../config/serve-options.js'
import { readStore } from '../../config/store-choice.js'
import type { LogAddress } from '../../store/index.js'
import type { Cli } from '../cli.js'
import { connect } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import { noteUnused } from '../note-unused.js'
import type { Printer } from '../printer.js'
import { createProgress, type Progress } from '../progress.js'
import { pastTime, whole } from '../values.js'
import { serverSource } from './server-source.js'
import type { AuditSource } from './source.js'

export interface Where {
  readonly data?: string
  readonly store?: string
}

export interface When {
  readonly revision?: number
  readonly at?: string
}

export const revisionOrTime = (text: string): number | string => (/^\d+$/.test(text) ? whole(text) : pastTime(text))

export const addWhere = (command: Command): Command =>
  command
    .option('--data <folder>', `without a server: a data folder on this machine, with its snapshots (like the server's --data, ${dataDirDefault})`)
    .option('--store <store>', 'without a server: a log, sqlite:FILE or just the file, or esdb://… or kurrentdb://… for EventStoreDB or KurrentDB')

export const addWhen = (command: Command): Command =>
  command
    .option('--revision <n>', 'when this event was the last one', whole)
    .option('--at <time>', 'at this time, for example 2026-01-31T12:00:00Z', pastTime)

export const momentOf = ({ revision, at }: When): Moment | undefined => {
  if (revision !== undefined && at !== undefined) throw new UsageError('--revision and --at name two moments: give one of them')
  return revision !== undefined ? { revision } : at !== undefined ? { at } : undefined
}

/** The log that the options name; `undefined` if a server is to be asked. */
export const logAddressOf = ({ data, store }: Where): LogAddress | undefined => {
  if (data === undefined && store === undefined) return undefined
  const text = store === undefined || /^[a-z+]+:/.test(store) ? store : `sqlite:${store}`
  const read = readStore(text, data ?? dataDirDefault)
  if (E.isLeft(read)) throw new UsageError(read.left)
  if (read.right.kind === 'memory') throw new UsageError('a memory store leaves nothing to look at')
  return read.right
}

interface Opened {
  readonly source: AuditSource
  /** Of the server that is asked; `undefined` if the log is read here. */
  readonly client?: DaybookClient
}

const open = async (where: Where, command: Command, cli: Cli, progress: Progress): Promise<Opened> => {
  const connection = cli.connection(command)
  const address = logAddressOf(where)
  if (address === undefined) {
    const client = connect(connection)
    return { source: serverSource(client), client }
  }
  const { logSource } = await import('./log-source.js')
  return { source: await logSource(address, where.data, connection.queue, progress) }
}

/** An action with a source, which is closed afterwards. */
export const audited = <O extends Where>(cli: Cli, run: (source: AuditSource, printer: Printer, options: O, progress: Progress) => Promise<void>) =>
  cli.local<O>(async (printer, options, command) => {
    const progress = createProgress(cli.io, printer)
    const { source, client } = await open(options, command, cli, progress)
    try {
      await run(source, printer, options, progress)
      if (client !== undefined && printer.wasEmpty()) await noteUnused(printer, client)
    } finally {
      await source.close()
    }
  })
