/** Batches of tasks, with a callback when all of them are finished. */
import { setTimeout as sleep } from 'node:timers/promises'
import { plural } from '@daybook/core/common'
import { Command, Option } from 'commander'
import type { BatchCallback, BatchFilter, BatchView, NewTask } from '../../client/index.js'
import { defined } from '../../defined.js'
import { batchBar, batchCell, batchTally } from '../batch-picture.js'
import { type Cli, type Ending, examples, type Session } from '../cli.js'
import { glyphsFor } from '../drawing/glyphs.js'
import { UsageError } from '../exit-codes.js'
import { throughOutage } from '../outage.js'
import { createProgress } from '../progress.js'
import { tasksOfFile } from '../task-file.js'
import { readWholeTask } from '../task-options.js'
import { clean, clock } from '../text.js'
import { positive, readJsonOrText } from '../values.js'

/** Cells of the bar. */
const barWidth = 40
/** How often a batch is looked at. */
const watchMs = 1_000

const stateText = ({ state, cancelReason }: BatchView): string => (cancelReason === undefined ? state : `${state}, cancelled: ${clean(cancelReason, 200)}`)

const tell = ({ printer, io }: Session, batch: BatchView): void => {
  printer.pairs([
    ['batch', clean(batch.id)],
    ['description', batch.description === undefined ? undefined : clean(batch.description)],
    ['state', stateText(batch)],
    ['progress', batchBar(glyphsFor(io.env), printer.colors, batch, barWidth)],
    ['tasks', batchTally(batch)],
    ['waits for', batch.on === 'settled' ? 'its tasks to be settled: dead letters do not hold it' : undefined],
    ['created', clock(batch.createdAt)],
    ['closed', clock(batch.closedAt)],
    ['finished', clock(batch.finishedAt)],
    ['callback', batch.callbackTask === undefined ? (batch.callback === undefined ? undefined : clean(JSON.stringify(batch.callback), 500)) : clean(batch.callbackTask)],
  ])
  if (batch.reasons.length === 0) return
  printer.line('\nnot finished, because:')
  for (const { message, change, tasks = [] } of batch.reasons) {
    printer.line(`- ${clean(message)}${tasks.length === 0 ? '' : `: ${clean(tasks.join(', '), 200)}`}`)
    printer.line(`  ${printer.colors.dim(`changed by: ${clean(change)}`)}`)
  }
}

const showOne = (session: Session, batch: BatchView): void => session.printer.answer(batch, () => tell(session, batch))

const listing = (cli: Cli): Command =>
  new Command('list')
    .description('the batches that are known, the newest first')
    .addOption(new Option('--state <state>', 'only these').choices(['open', 'closed', 'finished']))
    .option('--tenant <name>', 'only of this tenant')
    .option('--limit <n>', 'how many', positive, 50)
    .addHelpText('after', examples('daybook batch list', 'daybook batch list --state closed'))
    .action(cli.connected<BatchFilter>(async ({ printer, client, io }, options) => {
      const page = await client.batches.list(options)
      const glyphs = glyphsFor(io.env)
      printer.answer(page, () => {
        printer.table(
          [{ head: 'BATCH', min: 8 }, 'STATE', { head: 'PROGRESS', min: 8 }, { head: 'TASKS', min: 10 }, { head: 'DESCRIPTION', min: 6, leaveOut: 2 }, { head: 'CREATED', leaveOut: 1 }],
          page.batches.map((batch) => [clean(batch.id), batch.state, batchCell(glyphs, printer.colors, batch, 10), batchTally(batch), clean(batch.description ?? ''), clock(batch.createdAt)]),
          'no batches',
        )
        if (page.nextCursor !== null) printer.note('there are more: --limit shows more of them')
      })
    }))

const showing = (cli: Cli): Command =>
  new Command('show')
    .description('how far a batch is, and why it is not finished')
    .argument('<id>')
    .option('-w, --watch', 'go on until it is finished')
    .addHelpText('after', examples('daybook batch show upload-7', 'daybook batch show upload-7 --watch'))
    .action(cli.connected<{ readonly watch?: boolean }, [string]>(async (session, { watch = false }, id) => showOne(session, watch ? await finished(session, id) : await session.client.batches.get(id))))

/** Looks at it until it is finished: a bar that is drawn again on a terminal that can do so, otherwise a line whenever it has changed. */
const finished = async ({ client, io, printer }: Session, id: string): Promise<BatchView> => {
  const progress = createProgress(io, printer)
  const glyphs = glyphsFor(io.env)
  const look = (): Promise<BatchView> => client.batches.get(id)
  let batch = await look()
  for (let before = ''; ; ) {
    if (batch.state === 'finished') return batch
    const held = batch.reasons.find(({ code }) => code !== 'tasks-open')
    const line = `${batchBar(glyphs, printer.errColors, batch, barWidth)}  ${batchTally(batch)}${held === undefined ? '' : `; ${clean(held.message)}`}`
    if (io.errIsTerminal && io.env.TERM !== 'dumb') progress(line)
    else if (line !== before && !printer.isJson) printer.note(line)
    before = line
    await sleep(watchMs)
    batch = await throughOutage(look, printer, Number.POSITIVE_INFINITY)
  }
}

interface CreateOptions {
  readonly id?: string
  readonly description?: string
  readonly tenant?: string
  readonly file?: string
  readonly callback?: string
  readonly callbackType?: string
  readonly callbackPayload?: string
  readonly on?: 'finished' | 'settled'
  readonly open?: boolean
}

const creating = (cli: Cli): Command =>
  new Command('create')
    .description('make a batch with the tasks of a file: all or none')
    .option('--id <id>', 'its id; without one, one is made')
    .option('-d, --description <text>', 'for people')
    .option('-f, --file <file>', 'its tasks as JSON: one, a list, {"tasks": […]}, or one a line (NDJSON), at most 1,000; - reads standard input')
    .option('--callback-type <type>', 'the type of the task that is enqueued when all are finished')
    .option('--callback-payload <json>', 'what it is given: JSON or text, @file, or -')
    .option('--callback <json>', 'that task as a whole, as JSON, @file or -')
    .addOption(new Option('--on <when>', 'dead letters hold it until they are reviewed (finished, the default), or do not (settled)').choices(['finished', 'settled']))
    .option('--open', 'more tasks will follow: enqueue with --batch, then `batch close`')
    .option('--tenant <name>', 'on whose account')
    .addHelpText('after', examples(
      "daybook batch create --id upload-7 --file rows.ndjson --callback-type mail --callback-payload '{\"to\":\"ada@example.org\"}'",
      'daybook batch create --id nightly --open --callback-type report',
      'daybook enqueue row --batch nightly --payload 1',
      'daybook batch close nightly',
      '',
      'The callback gets the counts as metadata.batch. The same command again is the same batch.',
    ))
    .action(cli.connected<CreateOptions>(async (session, options) => create(session, options)))

const create = async (session: Session, options: CreateOptions): Promise<Ending> => {
  const { io, client, printer } = session
  const { file, id, description, tenant, on, open } = options
  const tasks: Array<NewTask> = []
  if (file !== undefined) for await (const { task } of tasksOfFile(file, io)) tasks.push(task)
  const callback = await callbackOf(options, session)
  const created = await client.batches.create({ tasks, ...defined({ id, description, tenant, on, open, callback }) })
  printer.answer(created, () => {
    const again = created.results.filter(({ duplicate }) => duplicate).length
    printer.line(`${plural(created.results.length - again, 'task')} enqueued${again === 0 ? '' : `, ${again} were there already`}`)
    tell(session, created.batch)
  })
}

const callbackOf = async ({ callback, callbackType: type, callbackPayload }: CreateOptions, { io }: Session): Promise<BatchCallback | undefined> => {
  if (callback !== undefined) {
    if (type !== undefined || callbackPayload !== undefined) throw new UsageError('give --callback, or its parts, not both')
    return readWholeTask<BatchCallback>(callback, '--callback', io)
  }
  if (type !== undefined) return { type, ...(callbackPayload === undefined ? {} : { payload: await readJsonOrText(callbackPayload, io) }) }
  if (callbackPayload !== undefined) throw new UsageError('give the --callback-type as well')
  return undefined
}

const closing = (cli: Cli): Command =>
  new Command('close')
    .description('no more tasks join it; when all that it has are finished, it is')
    .argument('<id>')
    .addHelpText('after', examples('daybook batch close nightly'))
    .action(cli.connected<object, [string]>(async (session, _, id) => showOne(session, await session.client.batches.close(id))))

const cancelling = (cli: Cli): Command =>
  new Command('cancel')
    .description('close it and cancel its open tasks, and all that depend on them')
    .argument('<id>')
    .option('--run-callback', 'enqueue its callback all the same')
    .option('--reason <text>', 'why', 'cancelled on the command line')
    .addHelpText('after', examples('daybook batch cancel upload-7 --reason "the wrong file"'))
    .action(cli.connected<{ readonly reason: string; readonly runCallback?: boolean }, [string]>(async (session, { reason, runCallback = false }, id) => {
      const answer = await session.client.batches.cancel(id, reason, { runsCallback: runCallback })
      session.printer.answer(answer, () => {
        session.printer.line(`${plural(answer.cancelled, 'task')} cancelled`)
        tell(session, answer.batch)
      })
    }))

export const batchCommand = (cli: Cli): Command =>
  new Command('batch')
    .description('tasks that are counted together, and a callback when all of them are finished')
    .addCommand(listing(cli), { isDefault: true })
    .addCommand(showing(cli))
    .addCommand(creating(cli))
    .addCommand(closing(cli))
    .addCommand(cancelling(cli))
