/** `daybook audit`: past states, what changed, and who changed it (EV-06). */
import { eventTypes, isEventType } from '@daybook/core'
import { Command, Option } from 'commander'
import { defined } from '../../defined.js'
import { whatIfCommand } from './audit-what-if.js'
import type { EventFilter, HistoryEvent, Moment, QueueMoment } from '../../client/index.js'
import { dataDirDefault } from '../../config/serve-options.js'
import { addWhen, addWhere, audited, momentOf, revisionOrTime, type When, type Where } from '../audit/options.js'
import type { AuditSource } from '../audit/source.js'
import { type Cli, examples } from '../cli.js'
import { countsPicture, changesPicture } from '../audit/pictures.js'
import { addPictureOptions, type Canvas, canvasOf, type PictureOptions } from '../drawing/canvas.js'
import { printPicture, shownLines } from '../drawing/print-picture.js'
import { UsageError } from '../exit-codes.js'
import { type Printer, statusCell } from '../printer.js'
import { didYouMean } from '../suggest/nearest.js'
import { addFilterOptions, type FilterOptions, filterOf, statusesOf } from '../task-filter.js'
import { clean, clock } from '../text.js'
import { positive } from '../values.js'
import { exportCommand, replayCommand } from './audit-files.js'
import { checkCommand, proveCommand } from './audit-prove.js'
import { timelineOf } from './history.js'
import { verifyCommand } from './audit-verify.js'

// -------------------------------------------------------------------------------------------- state

const stateCommand = (cli: Cli): Command =>
  addPictureOptions(addWhere(addWhen(addFilterOptions(new Command('state').description('the whole queue at one moment: counts, breakers, agents, tasks')))))
    .option('-n, --limit <n>', 'at most so many tasks', positive, 50)
    .addHelpText('after', examples(
      'daybook audit state --at 2026-07-01T10:00:00Z',
      'daybook audit state --revision 120000 --status blocked --json | jq .tasks',
      `daybook audit state --data ${dataDirDefault} --queue default      # without a server`,
    ))
    .action(audited<Where & When & FilterOptions & PictureOptions & { readonly limit: number }>(cli, async (source, printer, options) => {
      const filter = { ...filterOf(options), ...defined({ status: statusesOf(options) }), limit: options.limit }
      const state = await source.state(filter, momentOf(options))
      printer.answer(state, () => tellState(printer, state, canvasOf(cli.io, printer, options.picture)))
    }))

const andMore = (count: number): string => (count > 0 ? ` and ${count} more` : '')

const tellState = (printer: Printer, state: QueueMoment, canvas: Canvas | undefined): void => {
  const { revision, at, paused, counts, breakers, agents, agentsTotal = agents.length, tasks, nextCursor } = state
  const { colors } = printer
  printer.pairs([
    ['revision', String(revision)],
    ['time', clock(at)],
    ['paused', paused === null ? undefined : clean(paused, 200) || 'yes'],
    ['tasks', Object.entries(counts.byStatus).filter(([, count]) => count > 0).map(([status, count]) => `${count} ${status}`).join(', ') || 'none'],
    ['agents', agents.map(({ agentId, tasks: held }) => `${clean(agentId)} (${held.length})`).join(', ') + andMore(agentsTotal - agents.length) || undefined],
    ['breakers', Object.entries(breakers).filter(([, { state }]) => state !== 'closed').map(([type, { state }]) => `${clean(type)} ${state}`).join(', ') || undefined],
  ])
  printer.line()
  if (canvas !== undefined) printPicture(printer, canvas, countsPicture(canvas, state))
  printer.table(
    ['#', { head: 'ID', min: 8 }, { head: 'TYPE', min: 8 }, 'PRI', 'STATUS', { head: 'BY', leaveOut: 2 }, { head: 'SINCE', leaveOut: 1 }, { head: 'LAST ERROR', min: 10, leaveOut: 3 }],
    tasks.map((task) => [
      String(task.number), clean(task.id), clean(task.type), String(task.priority), statusCell(colors, task.status), clean(task.claimedBy ?? '', 30),
      clock(task.finishedAt ?? task.claimedAt ?? task.createdAt), clean(task.lastError ?? '', 60),
    ]),
    'no such tasks',
  )
  if (nextCursor !== null) printer.line(colors.dim('… and more: --limit shows them'))
}

// --------------------------------------------------------------------------------------------- diff

interface DiffFlags extends Where, PictureOptions {
  readonly from?: number | string
  readonly to?: number | string
  readonly limit: number
}

/** A member of a difference, short enough for a line. */
const shown = (value: unknown): string => clean(value === undefined || value === null ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value), 40)

/** Members that are not shown, because they follow from the others. */
const unsaid: ReadonlySet<string> = new Set(['claimants', 'currentClaimant', 'attempt', 'attemptsMax'])

const diffCommand = (cli: Cli): Command =>
  addPictureOptions(addWhere(new Command('diff').description('what differs between two moments, and by which events')))
    .option('--from <moment>', 'a revision or a time (default: before the first event)', revisionOrTime)
    .option('--to <moment>', 'a revision or a time (default: now)', revisionOrTime)
    .option('-n, --limit <n>', 'at most so many tasks', positive, 50)
    .addHelpText('after', examples(
      'daybook audit diff --from 2026-07-01T10:00:00Z --to 2026-07-01T10:05:00Z',
      "daybook audit diff --from 120000 --json | jq '.tasks[].events[].actor'",
      '',
      'At most 100,000 events may lie between the two.',
    ))
    .action(audited<DiffFlags>(cli, async (source, printer, { from, to, limit, picture }) => {
      const difference = await source.diff({ ...defined({ from, to }), limit })
      printer.answer(difference, () => {
        const moment = ({ revision, at }: { readonly revision: number; readonly at: string | null }): string => (at === null ? 'before the first event' : `revision ${revision}, ${clock(at)}`)
        printer.pairs([['from', moment(difference.from)], ['to', moment(difference.to)]])
        const canvas = canvasOf(cli.io, printer, picture)
        const changes = canvas === undefined ? [] : changesPicture(canvas, difference)
        if (canvas !== undefined && changes.length > 0) for (const line of ['', ...shownLines(canvas, changes)]) printer.line(line)
        const rows = [
          ...difference.tasks.map(({ id, before, after, events }) => ({ about: clean(id), before, after, events, eventsTotal: events.length })),
          ...difference.breakers.map(({ type, before, after, events, eventsTotal = events.length }) => ({ about: `breaker ${clean(type)}`, before, after, events, eventsTotal })),
        ]
        for (const { about, before, after, events, eventsTotal } of rows) {
          printer.line(`\n${printer.colors.bold(about)}`)
          const members: Readonly<Record<string, unknown>> = { ...before, ...after }
          if (before === null) printer.line('  is new')
          if (after === null) printer.line('  is gone')
          for (const name of Object.keys(members)) {
            if (before === null || after === null || unsaid.has(name)) continue
            printer.line(`  ${name}: ${shown((before as Readonly<Record<string, unknown>>)[name])} → ${shown((after as Readonly<Record<string, unknown>>)[name])}`)
          }
          if (eventsTotal > events.length) printer.line(printer.colors.dim(`  … ${eventsTotal - events.length} earlier events`))
          for (const { revision, type, at, actor } of events) printer.line(printer.colors.dim(`  ${revision} ${clock(at)} ${type}${actor === undefined ? '' : ` by ${clean(actor, 40)}`}`))
        }
        if (rows.length === 0) {
          printer.line()
          printer.nothing('nothing differs')
        }
        if (difference.nextCursor !== null) printer.line(printer.colors.dim('… and more: --limit shows them'))
      })
    }))

// ---------------------------------------------------------------------------------------------- log

interface LogFlags extends Where, When, PictureOptions {
  readonly actor?: string
  readonly correlation?: string
  readonly task?: string
  readonly type?: string
  readonly from?: number | string
  readonly limit: number
  readonly newest?: number
  readonly all?: boolean
}

const logCommand = (cli: Cli): Command =>
  addPictureOptions(addWhere(addWhen(new Command('log').description('who did what: the events of the queue, oldest first'))))
    .option('--actor <name>', 'done by this one: the name of a token')
    .option('--correlation <id>', 'with this correlation id')
    .option('--task <id>', 'about this task, by id or #number')
    .option('--type <name>', 'of this type, such as BreakerOpened')
    .option('--from <moment>', 'from this revision or time on', revisionOrTime)
    .option('-n, --limit <n>', 'at most so many', positive, 100)
    .addOption(new Option('--newest <n>', 'only the newest so many').argParser(positive).conflicts(['limit', 'all']))
    .option('--all', 'all of them, however many')
    .addHelpText('after', examples(
      'daybook audit log --newest 20',
      'daybook audit log --actor ada --from 2026-07-01T00:00:00Z --at 2026-07-02T00:00:00Z',
      'daybook audit log --correlation 0b6e… --json | jq .events[].type',
      'daybook audit log --type QueueConfigured --all',
      '',
      'With --task, a terminal shows a timeline: when each thing happened to the task, and how long it was until the next one.',
      '--revision and --at say where it ends. --task and --type read the whole log after --from, which takes long if the log is long.',
    ))
    .action(audited<LogFlags>(cli, async (source, printer, { actor, correlation, task, type, from, limit, newest, all = false, picture, ...when }, progress) => {
      const asked: EventFilter = defined({ actor, correlationId: correlation, task, type, from })
      const isWhole = all || newest !== undefined
      const filter = isWhole ? asked : { ...asked, limit: limit + 1 }
      const moment = momentOf(when)
      assertSpan(from, moment)
      progress('reading the log')
      let count = 0
      let isMore = false
      const found: Array<HistoryEvent> = []
      const json = printer.jsonPages('events', () => ({ more: isMore }))
      const table = printer.tablePages(columns, 'no such events')
      // A timeline is drawn as a whole, and of one task.
      const canvas = task === undefined || all ? undefined : canvasOf(cli.io, printer, picture)
      const flush = async (): Promise<void> => {
        await (printer.isJson ? json.page([...found]) : table.page(found.map(row)))
        found.length = 0
      }
      for await (const event of newest === undefined ? source.events(filter, moment) : await newestOf(source, filter, moment, newest)) {
        if (!isWhole && count === limit) {
          isMore = true
          break
        }
        count++
        found.push(event)
        progress(`reading the log: revision ${event.revision}`)
        if (found.length >= pageMax && canvas === undefined) await flush()
      }
      if (canvas !== undefined && found.length > 0) {
        printPicture(printer, canvas, timelineOf(canvas, found))
        if (isMore) printer.line(printer.colors.dim('… and more: --limit or --all shows them'))
        return
      }
      await flush()
      // A log may have events of newer versions, so an unknown name is only noted.
      if (count === 0 && type !== undefined && !isEventType(type)) printer.note(`no event is called ${clean(type)} in this version${didYouMean(type, eventTypes)}`)
      if (count === 0 && task !== undefined && !(await isNamed(source, asked, moment))) printer.note(`${source.queue} never had a task ${clean(task)}${moment === undefined ? '' : ' up to then'}`)
      if (printer.isJson) return json.end()
      table.end()
      if (isMore) printer.line(printer.colors.dim('… and more: --limit or --all shows them'))
    }))

/** @throws UsageError for a span that ends before it begins. Whether a revision is before a time, only the log tells. */
const assertSpan = (from: number | string | undefined, moment: Moment | undefined): void => {
  const to = moment === undefined ? undefined : 'revision' in moment ? moment.revision : String(moment.at)
  const isBackward = typeof from === 'number' ? typeof to === 'number' && from > to : from !== undefined && typeof to === 'string' && from > to
  if (isBackward) throw new UsageError(`--from ${from} is after ${typeof to === 'number' ? '--revision' : '--at'} ${to}, which is where it ends`)
}

/** Whether any event up to the moment is about the task, after the filter found none. */
const isNamed = async (source: AuditSource, { task, ...others }: EventFilter, moment: Moment | undefined): Promise<boolean> => {
  if (Object.keys(others).length === 0) return false
  for await (const _ of source.events({ ...defined({ task }), limit: 1 }, moment)) return true
  return false
}

/** The last events of those that match, oldest first. Without a filter, only these are read. */
const newestOf = async (source: AuditSource, filter: EventFilter, moment: Moment | undefined, count: number): Promise<ReadonlyArray<HistoryEvent>> => {
  const end = Object.keys(filter).length > 0 ? undefined : moment === undefined ? await source.revision(undefined) : 'revision' in moment ? moment.revision : undefined
  const last: Array<HistoryEvent> = []
  for await (const event of source.events(end === undefined ? filter : { from: Math.max(0, end - count + 1) }, moment)) {
    last.push(event)
    if (last.length > count) last.shift()
  }
  return last
}

const pageMax = 500
const columns = [{ head: 'REVISION' }, { head: 'TIME' }, { head: 'EVENT', min: 8 }, { head: 'BY', min: 5 }, { head: 'CORRELATION', leaveOut: 2 }, { head: 'ABOUT', min: 8 }, { head: 'WHY', min: 8, leaveOut: 1 }]
const row = ({ revision, at, type, actor, correlationId, data }: HistoryEvent): ReadonlyArray<string> => {
  const about = data.task ?? data.taskType ?? ''
  return [String(revision), clock(at), type, clean(actor ?? '', 30), clean(correlationId ?? '', 40), clean(typeof about === 'string' ? about : '', 60), clean(typeof data.reason === 'string' ? data.reason : '', 80)]
}

export const auditCommand = (cli: Cli): Command =>
  new Command('audit')
    .description('what was so at a past moment, what changed, and who did it')
    .addHelpText('after', examples(
      'daybook audit state --at 2026-07-01T10:00:00Z',
      'daybook audit diff --from 2026-07-01T10:00:00Z --to 2026-07-01T10:05:00Z',
      'daybook audit log --actor ada',
      'daybook audit verify',
      '',
      `Each asks the server, or, with --data or --store, the log itself: then no server is needed, and one may be running.`,
    ))
    .addCommand(stateCommand(cli))
    .addCommand(whatIfCommand(cli))
    .addCommand(diffCommand(cli))
    .addCommand(logCommand(cli))
    .addCommand(exportCommand(cli))
    .addCommand(replayCommand(cli))
    .addCommand(verifyCommand(cli))
    .addCommand(proveCommand(cli))
    .addCommand(checkCommand(cli))
