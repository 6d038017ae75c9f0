/** `audit export` and `audit replay`: a log, or the part about one task, as a file that others can fold again. */
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, lstat, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { Command, InvalidArgumentError } from 'commander'
import { plural, settingsDefault } from '@daybook/core/common'
import { dataDirDefault } from '../../config/serve-options.js'
import { syncPath } from '../../disk/sync-path.js'
import { addWhen, addWhere, audited, momentOf, type When, type Where } from '../audit/options.js'
import { BrokenExport, ExportWriter, readExport } from '../audit/exported.js'
import type { EventWriter, Manifest } from '../audit/manifest.js'
import { concerned, concerns } from '../audit/part-of-log.js'
import { Replay, type Step } from '../audit/replayed.js'
import { ParquetThread } from '../audit/thread-of-parquet.js'
import { type Cli, examples } from '../cli.js'
import { CliError, exitCodes, UsageError } from '../exit-codes.js'
import { interruptible } from '../interruptible.js'
import { unlessAborted } from '../../unless-aborted.js'
import { createProgress, type Progress } from '../progress.js'
import { clean, clock } from '../text.js'
import { isObject } from '../../is-object.js'

// ------------------------------------------------------------------------------------------- export

interface ExportFlags extends Where, When {
  readonly out?: string
  readonly task?: string
  readonly format: Format
}

const formats = ['ndjson', 'parquet'] as const
type Format = (typeof formats)[number]
const formatOf = (text: string): Format => {
  const found = formats.find((format) => format === text)
  if (found === undefined) throw new InvalidArgumentError(`one of ${formats.join(', ')} is wanted`)
  return found
}

interface Output {
  /** Resolves when the bytes are written, so that no more is read than can be written. */
  readonly write: (bytes: Uint8Array) => Promise<void>
  /** Resolves when everything is on disk. */
  readonly sync: () => Promise<void>
  /** Gives a complete file its name. */
  readonly finish: () => Promise<void>
  /** Removes what is unfinished. */
  readonly close: () => Promise<void>
}

const nothing = (): Promise<void> => Promise.resolve()

const stdoutOf = ({ io }: Cli): Output => ({
  write: (bytes) => {
    io.out(Buffer.from(bytes).toString('utf8'))
    return io.flushed()
  },
  sync: () => io.flushed(),
  finish: nothing,
  close: nothing,
})

/** Until the file is complete and on disk, it has another name, `OUT.unfinished-…`. Never overwrites an existing file: it may be evidence. */
const newFile = async (out: string): Promise<Output> => {
  const isThere = new CliError(`${out} is there already: give another --out`)
  if (await lstat(out).then(() => true, () => false)) throw isThere
  const unfinished = `${out}.unfinished-${randomBytes(4).toString('hex')}`
  const handle = await open(unfinished, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`${out} cannot be written: ${error.message}`)
  })
  return {
    write: (bytes) => handle.appendFile(bytes),
    sync: () => handle.sync(),
    finish: async () => {
      await link(unfinished, out).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') throw isThere
        // Not every file system has links.
        return rename(unfinished, out)
      })
      await syncPath(dirname(out))
    },
    close: async () => {
      await handle.close()
      await rm(unfinished, { force: true })
    },
  }
}

interface Opened extends Omit<Output, 'write'> {
  readonly writer: EventWriter
}

const openExport = async (cli: Cli, out: string | undefined, format: Format): Promise<Opened> => {
  if (format === 'ndjson') {
    const { write, ...output } = out === undefined ? stdoutOf(cli) : await newFile(out)
    return { ...output, writer: new ExportWriter(write) }
  }
  if (out === undefined) throw new UsageError('a Parquet file is written to --out, not to stdout: name a new file')
  const { write, ...output } = await newFile(out)
  const thread = new ParquetThread(write)
  return {
    ...output,
    writer: thread,
    close: async () => {
      await thread.close()
      await output.close()
    },
  }
}

export const exportCommand = (cli: Cli): Command =>
  addWhere(addWhen(new Command('export').description('write the events as lines of JSON or as a Parquet file, with a manifest')))
    .option('-o, --out <file>', 'a new file (default: stdout)')
    .option('--format <format>', 'ndjson, or parquet for DuckDB, pandas and Spark', formatOf, 'ndjson')
    .option('--task <id>', 'only what concerns this task: its events, those of the tasks that it waits for, and those about the queue as a whole')
    .addHelpText('after', examples(
      'daybook audit export --out july.ndjson --at 2026-08-01T00:00:00Z',
      'daybook audit export --format parquet --out july.parquet --at 2026-08-01T00:00:00Z',
      'daybook audit export --task M1-001 --out report.ndjson      # a bug report',
      `daybook audit export --data ${dataDirDefault} > log.ndjson`,
      '',
      'From the first event to the moment that --revision or --at names, or to the end. The last line is the manifest: revisions, number of events,',
      'a hash of all lines before it, the settings, and the number of tasks by status. daybook audit replay checks and folds it.',
      'A Parquet file has a row for each event, its data as JSON, and the same manifest as the key daybook.manifest of its footer; its hash is that of the lines.',
      'With --task, the tasks that it waits for are its dependencies, the unfinished tasks before it with the same ordering key, and what these wait for.',
      'If there are ordering keys, the log is read twice. LimitOpened is left out: other tasks use up a rate as well.',
      'Payloads and results are in it: look through it before you give it away.',
    ))
    .action(audited<ExportFlags>(cli, async (source, printer, { out, task, format, ...when }, progress) => {
      const revision = await source.revision(momentOf(when))
      if (revision < 0) throw new CliError('there are no events yet')
      // The state at the last event, to compare with what the events fold to. It is needed only once they are written.
      const ending = source.ending(revision)
      ending.catch(() => undefined)
      const tasks = task === undefined ? undefined : await concerned(source, task, revision, progress)
      const exported = async (signal?: AbortSignal): Promise<Manifest> => {
        const { writer, sync, finish, close } = await openExport(cli, out, format)
        const written = async (): Promise<Manifest> => {
          for await (const lines of source.lines({ revision }, tasks === undefined ? undefined : concerns(tasks))) {
            progress(`exporting: revision ${lines.revision} of ${revision}`)
            await writer.lines(lines)
          }
          const manifest = await writer.end({
            queue: source.queue, from: 0, to: revision, ...(tasks === undefined ? {} : { tasks: [...tasks] }), ...(await ending),
          })
          await sync()
          return manifest
        }
        try {
          const manifest = await unlessAborted(written(), signal)
          await finish()
          return manifest
        } finally {
          await close()
        }
      }
      // Nothing is left to remove of what went to stdout: signals end the program at once.
      const manifest = await (out === undefined ? exported() : interruptible(cli.io, exported))
      if (out !== undefined) printer.answer({ file: out, manifest }, () => printer.line(`${plural(manifest.events, 'event')} in ${out}`))
    }))

// ------------------------------------------------------------------------------------------- replay

interface ReplayFlags {
  readonly task?: string
  readonly quiet?: boolean
}

export const replayCommand = (cli: Cli): Command =>
  new Command('replay')
    .description('check an export, fold it again, and show what each event did')
    .argument('<file>', 'written by daybook audit export')
    .option('--task <id>', 'show only the events about this task')
    .option('-q, --quiet', 'show only the result')
    .addHelpText('after', examples(
      'daybook audit replay report.ndjson --task M1-001',
      'daybook audit replay july.ndjson --quiet',
      '',
      'No server is needed. Exit code 1 when the file is not whole, was altered, or does not fold to what its manifest says.',
    ))
    .action(cli.local<ReplayFlags, [string]>(async (printer, { task, quiet = false }, _, file) => {
      const progress = createProgress(cli.io, printer)
      const steps = printer.jsonPages('steps', () => ({ result }))
      const table = printer.tablePages(columns, 'no such events')
      let result: object = {}
      let page: Array<Step> = []
      const flush = async (): Promise<void> => {
        await (printer.isJson ? steps.page(page.map(shownStep)) : table.page(page.map(rowOf)))
        page = []
      }
      const ended = await replayFile(file, progress, async (step) => {
        if (quiet || (task !== undefined && step.task !== task)) return
        page.push(step)
        if (page.length >= pageMax) await flush()
      })
      await flush()
      result = ended
      if (printer.isJson) steps.end()
      else {
        if (!quiet) table.end()
        printer.line(`${plural(ended.events, 'event')}, ${plural(ended.misfits, 'misfit')}, ${ended.unreadable} unreadable: ${ended.ok ? 'as the manifest says' : clean(ended.why)}`)
      }
      return ended.ok ? exitCodes.done : exitCodes.refused
    }))

interface Ended {
  readonly ok: boolean
  readonly why: string
  readonly events: number
  readonly misfits: number
  readonly unreadable: number
}

const replayFile = async (file: string, progress: Progress, each: (step: Step) => Promise<void>): Promise<Ended> => {
  const replay = new Replay('replayed')
  const input = createReadStream(file)
  const failed = new Promise<never>((_, reject) => input.once('error', (error) => reject(new CliError(`${file} cannot be read: ${error.message}`))))
  failed.catch(() => undefined)
  const events = readExport(createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
  try {
    let count = 0
    for (;;) {
      const { value, done } = await Promise.race([events.next(), failed])
      if (done === true) {
        const { misfits, unreadable, byStatus, settings } = replay.result()
        const why = value.tasks !== undefined ? '' : differenceOf({ byStatus, settings }, value)
        return { ok: why === '', why, events: count, misfits, unreadable }
      }
      count++
      progress(`replaying: revision ${value.revision}`)
      await each(replay.step(value))
    }
  } catch (error) {
    if (error instanceof BrokenExport) throw new CliError(`${file}: ${error.message}`)
    throw error
  } finally {
    input.destroy()
  }
}

/**
 * Whether the settings are those that the manifest says. An older version of this program did not know every setting: what its manifest does not
 * say must be as in a new queue. What only a newer version knows is not compared.
 */
const agree = (found: unknown, said: unknown, inNewQueue: unknown): boolean => {
  if (!isObject(found) || !isObject(said)) return isSame(found, said)
  return Object.entries(found).every(([name, value]) => {
    const fresh = isObject(inNewQueue) ? inNewQueue[name] : undefined
    return name in said ? agree(value, said[name], fresh) : isSame(value, fresh)
  })
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** A part of a log folds to a part of the queue, so only whole logs are compared. */
const differenceOf = (found: { readonly byStatus: object; readonly settings: unknown }, said: { readonly byStatus: object; readonly settings: unknown }): string => {
  if (JSON.stringify(found.byStatus) !== JSON.stringify(said.byStatus)) return `it folds to ${JSON.stringify(found.byStatus)} tasks, and its manifest says ${JSON.stringify(said.byStatus)}`
  return agree(found.settings, said.settings, settingsDefault) ? '' : 'it folds to other settings than its manifest says'
}

const pageMax = 500
const columns = [{ head: 'REVISION' }, { head: 'TIME' }, { head: 'EVENT', min: 8 }, { head: 'BY', min: 5, leaveOut: 1 }, { head: 'ABOUT', min: 8 }, { head: 'EFFECT', min: 10 }]

const effectOf = ({ task, before, after, breaker, isMisfit, isUnreadable }: Step): string =>
  [
    isUnreadable ? 'cannot be read by this version' : isMisfit ? 'does not fit' : '',
    task === undefined || before === after ? '' : `${before ?? 'new'} → ${after ?? 'gone'}`,
    breaker === undefined ? '' : `breaker ${breaker.type}: ${breaker.before} → ${breaker.after}`,
  ].filter((part) => part !== '').join('; ')

const rowOf = (step: Step): ReadonlyArray<string> => {
  const { revision, at, type, actor } = step.event
  return [String(revision), clock(at), type, clean(actor ?? '', 30), clean(step.task ?? '', 60), clean(effectOf(step))]
}

const shownStep = ({ event: { revision, type, at, actor }, ...effect }: Step): object => ({ revision, type, at, actor, ...effect })
