import { dirname, join, resolve } from 'node:path'
import { Command } from 'commander'
import * as E from 'fp-ts/lib/Either.js'
import { dataDirDefault } from '../../config/serve-options.js'
import { readStore } from '../../config/store-choice.js'
import type { FeedStatus, OwnResult } from '../../read-models/index.js'
import type { LogAddress } from '../../store/index.js'
import { type Cli, examples } from '../cli.js'
import { exitCodes, UsageError } from '../exit-codes.js'
import { assertLogFile } from '../log-file.js'
import type { Printer } from '../printer.js'
import { createProgress } from '../progress.js'
import { clean, cleanLines } from '../text.js'

interface Options {
  readonly data?: string
  readonly store?: string
  readonly views?: string
  readonly module?: string
  readonly once?: boolean
}

/** How often the log is checked for new events, in milliseconds. */
const lookMs = 200

export const projectCommand = (cli: Cli): Command =>
  new Command('project')
    .description('keep the read models (tables of all tasks), or a projection of your own, without a server')
    .option('--data <folder>', `the data folder, with the log and views.db (env DAYBOOK_DATA; default ./${dataDirDefault})`)
    .option('--store <store>', 'the log: sqlite:FILE, or esdb://… or kurrentdb://… for EventStoreDB or KurrentDB, also on another machine (env DAYBOOK_STORE; default: the file in the data folder)')
    .option('--views <file>', 'the file of the tables (default: views.db in the data folder, or projections/NAME.db for --module)')
    .option('--module <file>', 'a projection of your own instead: a JavaScript module, see docs/own-projection.md')
    .option('--once', 'stop at the end of the log, instead of following it')
    .addHelpText('after', `
A server keeps views.db by itself, unless it runs with --read-models off. This command does the same apart from it: on
another machine, so that reports burden no server; or offline, from a copy of a log. One process may write to a file.

The file is a cache: it goes on from where it was, and is built anew if it is deleted, or is of another log.

--module folds the log, old events and new ones, with a module of yours: export default { name, version, codec, initial, fold }.
The result of each queue is in the file, and printed at the end. With a new version it is built anew while the old one still answers.
${examples('daybook project --once                          # then: sqlite3 daybook-data/views.db', "daybook project --store 'esdb://db1:2113?tls=false' --views /srv/reports/views.db", 'daybook project --store sqlite:backup.db --views backup-views.db --once', 'daybook project --module run-time-by-tenant.mjs --once --json')}`)
    .action(cli.local<Options>(async (printer, options) => {
      const { io } = cli
      const dataDir = resolve(options.data ?? (io.env.DAYBOOK_DATA || dataDirDefault))
      const store = readStore(options.store ?? (io.env.DAYBOOK_STORE || undefined), dataDir)
      if (E.isLeft(store)) throw new UsageError(store.left)
      if (store.right.kind === 'memory') throw new UsageError('a memory store leaves nothing to read')
      const log: LogAddress = store.right
      // Loaded only here: other commands start faster without them.
      const [{ assertOwnFile, assertReadModelsFile, feedViews, loadProjection, readResults, wakeable }, { openLog }, { makeFolder }, { readModels }] = await Promise.all([
        import('../../read-models/index.js'), import('../../open-log.js'), import('../../disk/make-folder.js'), import('@daybook/projections'),
      ])
      const own = options.module === undefined ? undefined : await loadProjection(options.module)
      const models = own === undefined ? readModels : [own]
      const file = resolve(options.views ?? (own === undefined ? join(dataDir, 'views.db') : join(dataDir, 'projections', `${own.name}.db`)))
      if (own === undefined) assertReadModelsFile(file)
      else assertOwnFile(file, own)
      await assertLogFile(log)
      const opened = await openLog(log, true)
      makeFolder(dirname(file))
      const stopping = new AbortController()
      const waiting = wakeable()
      const unlisten = io.onSignal(() => {
        stopping.abort()
        waiting.wake()
      })
      const progress = createProgress(io, printer)
      let last: FeedStatus | undefined
      const report = (status: FeedStatus): void => {
        const { problem, queue } = status
        if (problem !== undefined && problem !== last?.problem) {
          printer.note(`daybook: ${queue === undefined ? 'nothing goes on' : `queue ${clean(queue)} does not go on`} for now: ${clean(problem)}`)
        }
        tellOfBuilding(printer, last, status)
        last = status
        progress(progressOf(status))
      }
      try {
        await feedViews({ file, models, log: opened, signal: stopping.signal, grown: () => waiting.wait(lookMs), report, once: options.once === true })
      } finally {
        unlisten()
        await opened.close()
      }
      const found = own === undefined ? [] : readResults(file, own)
      const queues = (last?.queues ?? []).map(({ queue, revision }) => ({ queue, revision, ...resultOf(found, queue) }))
      printer.answer({ file, queues }, () => {
        printer.line(`${file}: ${queues.length === 0 ? 'the log has no queues' : queues.map(({ queue, revision }) => `${clean(queue)} up to revision ${revision}`).join(', ')}`)
        for (const each of queues) if ('result' in each) printer.line(`${clean(each.queue)}: ${cleanLines(JSON.stringify(each.result, undefined, 2))}`)
      })
      // Whoever waits for the end of the log must not take this for it.
      return options.once === true && stopping.signal.aborted ? exitCodes.interrupted : exitCodes.done
    }))

const resultOf = (found: ReadonlyArray<OwnResult>, queue: string): { readonly result?: unknown } => {
  const own = found.find((each) => each.queue === queue)
  return own === undefined ? {} : { result: JSON.parse(own.result) as unknown }
}

/** Also where no progress is shown: in the log of a service. */
const tellOfBuilding = (printer: Printer, before: FeedStatus | undefined, { building, problem }: FeedStatus): void => {
  if (problem !== undefined) return
  const names = building?.names.join(', ')
  if (building !== undefined && before?.building === undefined) printer.note(`daybook: ${names}: a new version is being built, from ${building.of} events; the old one still answers`)
  if (building === undefined && before?.building !== undefined) printer.note(`daybook: ${before.building.names.join(', ')}: the new version answers from now on`)
}

const progressOf = ({ queues, building }: FeedStatus): string =>
  building === undefined
    ? queues.map(({ queue, revision, head }) => `${clean(queue)}: ${revision + 1} of ${head + 1} events`).join(', ')
    : `building ${building.names.join(', ')} anew: ${building.done} of ${building.of} events`
