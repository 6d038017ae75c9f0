import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { FieldError } from '@daybook/core'
import { Command, Option } from 'commander'
import * as E from 'fp-ts/lib/Either.js'
import type { Report, ReportName, ReportOptions } from '../../client/index.js'
import { errorText } from '../../error-text.js'
import { type Cli, examples } from '../cli.js'
import { connect } from '../connection.js'
import { addPictureOptions, canvasOf, type PictureOptions } from '../drawing/canvas.js'
import { CliError, exitCodes, UsageError } from '../exit-codes.js'
import { noSuchQueue } from '../log-file.js'
import { noteUnused } from '../note-unused.js'
import { reportNames } from '../report/names.js'
import type { Printer } from '../printer.js'
import { printReport } from '../report/print.js'
import { didYouMean } from '../suggest/nearest.js'
import { whole } from '../values.js'

interface Options extends PictureOptions, Pick<ReportOptions, 'by' | 'top' | 'atLeast'> {
  readonly from?: string
  readonly to?: string
  readonly bucket?: string
  readonly zone?: string
  readonly csv?: boolean
  readonly svg?: string
  readonly views?: string
}

/** The source of reports: a server, or a file. */
interface Source {
  readonly json: () => Promise<Report>
  readonly text: (format: 'csv' | 'svg') => Promise<string>
  readonly noteUnused: (printer: Printer) => Promise<void>
  readonly close: () => Promise<void>
}

export const reportCommand = (cli: Cli): Command =>
  addPictureOptions(new Command('report'))
    .description('figures of a period: throughput, waits and run times, retries, deadlines, failures, breakers, fairness')
    .argument('[report]', reportNames.join(', '), 'summary')
    .option('--from <time>', 'a day like 2026-07-01, which begins in the zone, or a time (default: a day before --to)')
    .option('--to <time>', 'the same; not included (default: now)')
    .option('--bucket <size>', 'month, week, day, hour, total, or minutes: 15, 30 … (default: by the length of the period)')
    .option('--zone <name>', 'the time zone of days and hours, like Europe/Berlin (default: that of this machine)')
    .addOption(new Option('--by <what>', 'a row for each').choices(['all', 'type', 'phase', 'tenant', 'agent', 'discovery']))
    .option('--top <n>', 'how many groups have a row of their own; the others are added up (default 20)', whole)
    .option('--at-least <revision>', 'wait until the report shows this revision', whole)
    .option('--csv', 'print CSV')
    .option('--svg <file>', 'also draw a picture')
    .option('--views <file>', 'read this views.db, without a server')
    .addHelpText('after', examples(
      'daybook report                                          # the last 24 hours',
      'daybook report throughput --from 2026-07-01 --to 2026-08-01 --bucket day --zone Europe/Berlin',
      'daybook report latency --by tenant --svg waits.svg',
      'daybook report retries --by phase --csv > retries.csv',
      'daybook report failures --from 2026-07-01 --json | jq .rows[0]',
      'daybook report fairness --views backup/views.db',
      '',
      'Reports are read from the tables that the server keeps (views.db), so a long period costs no replay. Waits are from when a task became ready to its',
      'claim, run times from a claim to its end; percentiles are within 1 % of the exact ones. docs/reports.md tells what each column means.',
      'On a terminal a picture comes before the table: columns and lines over time, bars of groups, breakers as strips.',
    ))
    .action(cli.local<Options, [string]>(async (printer, options, command, name) => {
      const report = reportNames.find((each) => each === name)
      if (report === undefined) throw new UsageError(`there is no report ${JSON.stringify(name)}: there are ${reportNames.join(', ')}${didYouMean(name, reportNames)}`)
      if (options.csv === true && printer.isJson) throw new UsageError('give --csv or --json, not both')
      const connection = cli.connection(command)
      const source = options.views === undefined ? ofServer(connect(connection), report, options) : await ofFile(resolve(options.views), connection.queue, report, options)
      try {
        if (options.csv === true) cli.io.out(await source.text('csv'))
        else {
          const found = await source.json()
          printer.answer(found, () => printReport(printer, found, canvasOf(cli.io, printer, options.picture)))
          if (!printer.isJson && found.revision < 0) await source.noteUnused(printer)
        }
        if (options.svg !== undefined) await draw(options.svg, await source.text('svg'))
      } finally {
        await source.close()
      }
      if (options.svg !== undefined) printer.note(`picture: ${options.svg}`)
      return exitCodes.done
    }))

const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

const ofServer = (client: ReturnType<typeof connect>, report: ReportName, { from, to, bucket, zone = zoneHere(), by, top, atLeast }: Options): Source => {
  const asked = { from, to, bucket, zone, by, top, atLeast } as ReportOptions
  return { json: () => client.report(report, asked), text: (format) => client.reportText(report, format, asked), noteUnused: (printer) => noteUnused(printer, client), close: () => client.close() }
}

const ofFile = async (file: string, queue: string, report: ReportName, { from, to, bucket, zone = zoneHere(), by, top, atLeast }: Options): Promise<Source> => {
  if (atLeast !== undefined) throw new UsageError('--at-least waits for a server: a file shows what it has')
  const { queuesIn, readReport, readReportRequest } = await import('../../read-models/reports/index.js')
  const text = (format: string): string => {
    const request = readReportRequest(queue, report, { from, to, bucket, zone, by, top: top?.toString(), format }, Date.now())
    if (E.isLeft(request)) throw new UsageError(request.left.map(({ path, message }: FieldError) => `--${path} ${message}`).join('\n'))
    try {
      const answer = readReport(file, request.right)
      // A server answers for a queue that has no events yet. In a file, its name is wrong.
      if (E.isRight(answer) && answer.right.revision < 0) throw noSuchQueue(queue, queuesIn(file), file)
      if (E.isRight(answer)) return answer.right.text
      const { kind, message } = answer.left
      if (kind === 'unfinished') throw new CliError(`${file}: ${message}`)
      throw new UsageError(kind === 'missing' ? `${file} has no tables of reports: daybook project builds them` : message)
    } catch (error) {
      throw error instanceof UsageError || error instanceof CliError ? error : new CliError(unread(file, error))
    }
  }
  return { json: async () => JSON.parse(text('json')) as Report, text: async (format) => text(format), noteUnused: async () => undefined, close: async () => undefined }
}

const unread = (file: string, error: unknown): string => {
  if (!existsSync(file)) return `${file} cannot be read: it is not there`
  const why = `${file} cannot be read: ${errorText(error)}`
  const isUnopened = error instanceof Error && 'code' in error && error.code === 'SQLITE_CANTOPEN'
  return isUnopened ? `${why}: SQLite makes files beside it, so copy it from a folder that is read-only to one that is not` : why
}

const draw = async (file: string, picture: string): Promise<void> => {
  try {
    await writeFile(file, picture)
  } catch (error) {
    throw new CliError(`the picture cannot be written: ${errorText(error)}`)
  }
}
