/** The review of dead letters (LK-11). */
import { Command } from 'commander'
import type { DeadLetterFilter } from '@daybook/core'
import { plural } from '@daybook/core/common'
import type { TaskView } from '../../client/index.js'
import { defined } from '../../defined.js'
import { type Cli, type Ending, examples, type Session } from '../cli.js'
import { exitCodes, UsageError } from '../exit-codes.js'
import { createProgress } from '../progress.js'
import { resolveSignature, shortSignatures } from '../signatures.js'
import { taskColumns, taskRow } from '../task-table.js'
import { clean, clock, since, until as untilText } from '../text.js'
import { filled, positive, readJsonOrText, time } from '../values.js'
import { defaultReviewer } from '../who.js'
import { showTask } from './show.js'

interface ListOptions {
  readonly type?: string
  readonly signature?: string
  readonly limit: number
}

const listing = (cli: Cli): Command =>
  new Command('list')
    .description('dead letters, with their last error')
    .option('-t, --type <pattern>', 'exact, eng-* or *')
    .option('--signature <signature>', 'that failed alike (see: dlq patterns); its beginning is enough', filled)
    .option('-n, --limit <n>', 'at most so many', positive, 50)
    .addHelpText('after', examples("daybook dlq list --type 'eng-*'"))
    .action(cli.connected<ListOptions>(async ({ printer, client }, { type, signature: given, limit }) => {
      const tasks: Array<TaskView> = []
      const signature = given === undefined ? undefined : await resolveSignature(client, given)
      let isMore = false
      for (let cursor: string | undefined; !isMore; ) {
        const left = limit - tasks.length
        // One more than is shown, to find out whether there are more.
        const page = await client.deadLetters.list({ ...defined({ type, signature, cursor }), limit: Math.min(left + 1, 1_000) })
        tasks.push(...page.tasks.slice(0, left))
        isMore = page.tasks.length > left
        if (page.nextCursor === undefined || page.nextCursor === null) break
        cursor = page.nextCursor
      }
      printer.answer({ tasks, more: isMore }, () => {
        printer.table(taskColumns, tasks.map((task) => taskRow(printer.colors, task)), 'no dead letters')
        if (isMore) printer.line(printer.colors.dim('… and more: --limit shows them'))
      })
    }))

const patterns = (cli: Cli): Command =>
  new Command('patterns')
    .description('dead letters grouped by what went wrong, most frequent first')
    .option('-n, --limit <n>', 'at most so many groups (default: all)', positive)
    .addHelpText('after', examples(
      'daybook dlq patterns',
      'daybook dlq retry --signature 3f9a1c27b04e --reason "the disk has room again"',
      '',
      'SIGNATURE is the beginning of one, long enough to tell it from the others; --json has the whole.',
    ))
    .action(cli.connected<{ readonly limit?: number }>(async ({ printer, client }, options) => {
      const found = await client.deadLetters.patterns(options)
      const short = shortSignatures(found.map(({ signature }) => signature))
      printer.answer({ patterns: found }, () =>
        printer.table(
          [
            'COUNT', { head: 'TYPE', min: 8, leaveOut: 2 }, { head: 'PHASE', leaveOut: 5 }, 'SIGNATURE', { head: 'LAST', leaveOut: 3 },
            { head: 'FOR EXAMPLE', min: 12, leaveOut: 1 }, { head: 'TASKS', min: 8, leaveOut: 4 },
          ],
          found.map(({ count, type, phase = '', lastAt, sample, tasks }, i) => [
            String(count), clean(type), phase, short[i] ?? '', since(lastAt), clean(sample, 60), clean(tasks.slice(0, 3).join(', '), 40) + (tasks.length > 3 ? ' …' : ''),
          ]),
          'no dead letters',
        ))
    }))

const show = (cli: Cli): Command =>
  new Command('show')
    .description('one dead letter: its error, its attempts, its past')
    .argument('<id>', 'its id, or #number')
    .addHelpText('after', examples('daybook dlq show M1-001'))
    .action(cli.connected<object, [string]>(async ({ printer, client }, _, id) => {
      const [task, events] = await Promise.all([client.task(id), client.history(id)])
      const failures = events.filter(({ type }) => type === 'Failed' || type === 'ClaimExpired' || type === 'DeadLettered')
      printer.answer({ task, events: failures }, () => {
        showTask(printer, task)
        printer.line()
        printer.table(
          ['TIME', { head: 'EVENT', min: 8 }, { head: 'AGENT', min: 5, leaveOut: 2 }, { head: 'WHY', min: 10, leaveOut: 1 }],
          failures.map(({ at, type, data }) => {
            const { agent, error, reason, cause } = data as { agent?: string; error?: { message?: string }; reason?: string; cause?: string }
            return [clock(at), type, clean(agent ?? '', 30), clean(error?.message ?? reason ?? cause ?? '', 100)]
          }),
        )
      })
    }))

interface ReviewOptions {
  readonly reason: string
  readonly reviewer?: string
  readonly type?: string
  readonly signature?: string
  readonly error?: string
  readonly all?: boolean
  readonly until?: string
  readonly perMinute?: number
  readonly dryRun?: boolean
  readonly payload?: string
}

type Verb = 'retry' | 'discard' | 'snooze' | 'escalate' | 'redrive'

const review = (cli: Cli, verb: Verb, description: string, ...shown: ReadonlyArray<string>): Command =>
  new Command(verb)
    .description(description)
    .argument('[id]', 'one: its id, or #number')
    .requiredOption('--reason <text>', 'why; it stands in the log for good')
    .option('--reviewer <name>', 'who decides (default: you)')
    .option('-t, --type <pattern>', 'all of these types: exact, eng-* or *')
    .option('--signature <signature>', 'all that failed alike; the beginning that `dlq patterns` shows is enough', filled)
    .option('--error <text>', 'all whose last error contains this', filled)
    .option('--all', 'all dead letters')
    .addHelpText('after', examples(...shown, '', 'A filter takes all that match now. If it matches none, the exit code is 1.'))
    .action(cli.connected<ReviewOptions, [string | undefined]>(async (session, options, id) => decide(session, verb, options, id)))

/** The server takes at most so many with one command by filter. The same command again takes the next ones. */
const reviewMax = 1_000

/**
 * Sends a command by filter until its answer has fewer than {@link reviewMax} ids, or `most` in all. Returns one answer with all ids of `names`, of which
 * the first names those that were reviewed.
 */
const everyPage = async <K extends string, A extends Readonly<Record<K, ReadonlyArray<string>>>>(
  { io, printer }: Session, send: () => Promise<A>, names: readonly [K, ...ReadonlyArray<K>], most = Number.POSITIVE_INFINITY,
): Promise<A> => {
  const progress = createProgress(io, printer)
  let all = await send()
  for (let page = all; page[names[0]].length >= reviewMax && all[names[0]].length < most; ) {
    const done = all[names[0]].length
    progress(`${names[0]}: ${done}`)
    try {
      page = await send()
    } catch (error) {
      // The pages before this one stay as they are.
      printer.note(`${plural(done, 'dead letter')} ${names[0]} before this went wrong; the same again takes the rest`)
      throw error
    }
    all = { ...page, ...Object.fromEntries(names.map((name) => [name, [...all[name], ...page[name]]])) }
  }
  return all
}

const decide = async (session: Session, verb: Verb, options: ReviewOptions, id: string | undefined): Promise<Ending> => {
  const { io, printer, client } = session
  const { type, error, all } = options
  const isFiltered = all === true || [type, options.signature, error].some((part) => part !== undefined)
  if (id === undefined && !isFiltered) throw new UsageError(`name one dead letter, or say which: --type, --signature, --error, or --all`)
  if (id !== undefined && isFiltered) throw new UsageError('give an id or a filter, not both')
  const signature = options.signature === undefined ? undefined : await resolveSignature(client, options.signature)
  const filter: DeadLetterFilter = defined({ type, signature, error })
  const said = { reviewer: options.reviewer ?? defaultReviewer(io.env), reason: options.reason }
  const { deadLetters } = client
  const tellNone = (): void => printer.line('no dead letter fits: daybook dlq list shows what there is')
  const tellOf = (ids: ReadonlyArray<string>, what: string): void => {
    if (ids.length === 0) return tellNone()
    printer.line(`${plural(ids.length, 'dead letter')} ${what}: ${clean(ids.join(', '), 500)}`)
  }
  if (verb === 'snooze') {
    const { until = '' } = options
    const answer = id === undefined ? await everyPage(session, () => deadLetters.snoozeAll(filter, until, said), ['snoozed']) : await deadLetters.snooze(id, until, said)
    printer.answer(answer, () => tellOf(answer.snoozed, `to be sent back ${untilText(until)}`))
    return answer.snoozed.length === 0 ? exitCodes.refused : exitCodes.done
  }
  if (verb === 'escalate') {
    const answer = id === undefined ? await everyPage(session, () => deadLetters.escalateAll(filter, said), ['escalated']) : await deadLetters.escalate(id, said)
    printer.answer(answer, () => tellOf(answer.escalated, 'escalated'))
    return answer.escalated.length === 0 ? exitCodes.refused : exitCodes.done
  }
  if (verb === 'redrive') {
    const { perMinute } = options
    if (id !== undefined || perMinute === undefined) throw new UsageError('a redrive takes a filter and --per-minute')
    if (options.dryRun === true) {
      const count = await deadLetters.count(filter, said)
      printer.answer({ count }, () => (count === 0 ? tellNone() : printer.line(`${plural(count, 'dead letter')} would be sent back, which takes ${Math.ceil(count / perMinute)} min`)))
      return count === 0 ? exitCodes.refused : exitCodes.done
    }
    const begun = await deadLetters.redrive(filter, perMinute, said)
    const { count } = begun
    // If the breaker of the first one is open, the queue stops the redrive before it has sent anything back.
    const now = count === 0 ? null : await deadLetters.redriveStatus()
    const openType = now?.retried === 0 && now.stopped?.cause === 'breaker-opened' ? now.stopped.taskType : undefined
    if (now !== null && openType !== undefined) {
      const type = clean(openType)
      printer.answer({ ...begun, redrive: now }, () => printer.line(`no dead letter is sent back: the breaker of ${type} is open. First mend the cause, and wait until a test task closes the breaker, or: daybook breakers close ${type}`))
      return exitCodes.refused
    }
    printer.answer(begun, () => (count === 0 ? tellNone() : printer.line(`sending ${plural(count, 'dead letter')} back, ${perMinute} a minute; daybook dlq redrive-status shows how far it is`)))
    return count === 0 ? exitCodes.refused : exitCodes.done
  }
  if (verb === 'retry') {
    const { payload } = options
    if (id === undefined && payload !== undefined) throw new UsageError('a new payload is for one dead letter: name it')
    const amended = payload === undefined ? said : { ...said, payload: await readJsonOrText(payload, io) }
    // Those that fail again at once must not be sent back without end.
    const answer = id === undefined ? await everyPage(session, () => deadLetters.retryAll(filter, said), ['retried'], await deadLetters.count(filter, said)) : await deadLetters.retry(id, amended)
    const { retried, skipped = [] } = answer
    printer.answer(answer, () => {
      if (retried.length > 0 || skipped.length === 0) tellOf(retried, 'sent back')
      if (skipped.length > 0) printer.line(`${plural(skipped.length, 'dead letter')} not sent back, because another task has the same key: ${clean(skipped.join(', '), 500)}`)
    })
    return answer.retried.length === 0 ? exitCodes.refused : exitCodes.done
  }
  const answer = id === undefined ? await everyPage(session, () => deadLetters.discardAll(filter, said), ['discarded', 'cancelled']) : await deadLetters.discard(id, said)
  printer.answer(answer, () => {
    tellOf(answer.discarded, 'thrown away')
    if (answer.cancelled.length > 0) printer.line(`with ${plural(answer.cancelled.length, 'task')} that depended on them: ${clean(answer.cancelled.join(', '), 500)}`)
  })
  return answer.discarded.length === 0 ? exitCodes.refused : exitCodes.done
}

const redriveStatus = (cli: Cli): Command =>
  new Command('redrive-status')
    .description('how far the last redrive is')
    .option('--stop', 'stop it')
    .option('--reason <text>', 'why it is stopped', 'stopped on the command line')
    .addHelpText('after', examples('daybook dlq redrive-status', 'daybook dlq redrive-status --stop --reason "they fail again"'))
    .action(cli.connected<{ readonly stop?: boolean; readonly reason: string }>(async ({ printer, client }, { stop, reason }) => {
      const redrive = stop === true ? await client.deadLetters.stopRedrive(reason) : await client.deadLetters.redriveStatus()
      printer.answer({ redrive }, () => {
        if (redrive === null) return printer.line('there was no redrive yet')
        const { retried, perMinute, reviewer, stopped, nextAt } = redrive
        const state = stopped === undefined ? `under way, the next ${untilText(nextAt ?? undefined)}` : `stopped ${since(stopped.at)}: ${stopped.cause}${stopped.taskType === undefined ? '' : ` (${clean(stopped.taskType)})`}`
        printer.line(`${plural(retried, 'dead letter')} sent back, ${perMinute} a minute, by ${clean(reviewer)}; ${state}`)
      })
    }))

export const dlqCommand = (cli: Cli): Command =>
  new Command('dlq')
    .description('dead letters: what the queue has given up, for people to decide on')
    .addCommand(listing(cli), { isDefault: true })
    .addCommand(patterns(cli))
    .addCommand(show(cli))
    .addCommand(review(cli, 'retry', 'send dead letters back to the queue, their retries reset',
      'daybook dlq retry M1-001 --reason "the disk has room again"',
      "daybook dlq retry --type 'eng-*' --error ENOSPC --reason \"the disk has room again\"",
      "daybook dlq retry M1-001 --payload '{\"to\":\"ann@example.org\"}' --reason \"the address was wrong\"")
      .option('--payload <json>', 'replaces its payload: JSON or text, @file, or - for standard input'))
    .addCommand(review(cli, 'snooze', 'send dead letters back later, unless they are reviewed otherwise before',
      'daybook dlq snooze M1-001 --until +2h --reason "the supplier is down until noon"',
      "daybook dlq snooze --type 'eng-*' --until 2026-02-01T06:00:00Z --reason \"after the move\"").requiredOption('--until <when>', 'a time such as 2026-02-01T06:00:00Z, or +15m', time))
    .addCommand(review(cli, 'escalate', 'mark dead letters that a person has to decide on',
      'daybook dlq escalate M1-001 --reason "the customer has to say which address"'))
    .addCommand(review(cli, 'redrive', 'send dead letters back at a steady rate, until none is left or a breaker opens again',
      "daybook dlq redrive --type 'eng-*' --per-minute 30 --dry-run --reason \"how many\"",
      "daybook dlq redrive --type 'eng-*' --per-minute 30 --reason \"the disk has room again\"")
      .requiredOption('--per-minute <n>', 'so many a minute', positive).option('--dry-run', 'only say how many'))
    .addCommand(redriveStatus(cli))
    .addCommand(review(cli, 'discard', 'throw dead letters away, and cancel what depends on them',
      'daybook dlq discard M1-001 --reason "not wanted any more"'))
