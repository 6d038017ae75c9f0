/** `daybook schedules`: recurring tasks. */
import { Command, Option } from 'commander'
import { DaybookError, type PastRun, type ScheduledTask, type ScheduleFields, type ScheduleView } from '../../client/index.js'
import { defined } from '../../defined.js'
import { type Cli, type Ending, examples, type Session } from '../cli.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { readWholeTask, taskFields, type TaskOptions } from '../task-options.js'
import { clean, clock, until } from '../text.js'
import { filledList, number, positive, priority, whole } from '../values.js'

/** A time by the clocks of a zone: `Mon 2026-03-29 03:00 GMT+2`. */
const inZone = (time: string, timeZone: string): string => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'shortOffset' })
  const part = Object.fromEntries(format.formatToParts(new Date(time)).map(({ type, value }) => [type, value]))
  return `${part['weekday']} ${part['year']}-${part['month']}-${part['day']} ${part['hour']}:${part['minute']}:${part['second']} ${part['timeZoneName']}`
}

const ruleText = ({ cron, every, timeZone }: ScheduleView): string => (cron === undefined ? `every ${every} s` : `${clean(cron)}${timeZone === 'UTC' ? '' : ` in ${clean(timeZone)}`}`)

const runText = ({ task, skipped, since, waits }: PastRun): string => {
  if (task !== undefined) return clean(task)
  if (waits === true) return 'waits for the run before'
  const why = { missed: 'no server was there', overlap: 'the run before was unfinished', duplicate: 'a task has its id' }[skipped ?? 'missed']
  return `skipped: ${why}${since === undefined ? '' : `, like all since ${clock(since)}`}`
}

const showOne = ({ printer }: Session, schedule: ScheduleView): void =>
  printer.answer(schedule, () => {
    const { name, missed, overlap, paused, task, next, last, timeZone } = schedule
    printer.pairs([
      ['name', clean(name)],
      ['when', ruleText(schedule)],
      ['paused', paused ? 'yes' : undefined],
      ['missed runs', missed],
      ['overlapping', overlap],
      ['task', clean(JSON.stringify(task), 500)],
      ...next.map((time, i): readonly [string, string] => [i === 0 ? 'next' : '', `${inZone(time, timeZone)} (${until(time)})`]),
    ])
    if (last.length === 0) return
    printer.line()
    printer.table(['DUE', { head: 'DECIDED', leaveOut: 1 }, { head: 'TASK', min: 20 }], last.map((run) => [inZone(run.dueAt, timeZone), clock(run.at), runText(run)]))
  })

const listing = (cli: Cli): Command =>
  new Command('list')
    .description('all schedules, with their next runs')
    .addHelpText('after', examples('daybook schedules list'))
    .action(cli.connected(async ({ printer, client }) => {
      const schedules = await client.schedules.list()
      printer.answer({ schedules }, () =>
        printer.table(
          [{ head: 'NAME', min: 8 }, 'WHEN', { head: 'NEXT', min: 10 }, { head: 'TYPE', min: 6, leaveOut: 1 }, { head: 'LAST', min: 10, leaveOut: 2 }],
          schedules.map((schedule) => {
            const { name, next: [next], paused, task, last: [last], timeZone } = schedule
            return [clean(name), ruleText(schedule), paused ? 'paused' : next === undefined ? 'never' : inZone(next, timeZone), clean(task.type), last === undefined ? '' : runText(last)]
          }),
          'no schedules',
        ))
    }))

const showing = (cli: Cli): Command =>
  new Command('show')
    .description('a schedule, with its next five runs in its time zone and its last five')
    .argument('<name>')
    .addHelpText('after', examples('daybook schedules show nightly'))
    .action(cli.connected<object, [string]>(async (session, _, name) => showOne(session, await session.client.schedules.get(name))))

interface SetOptions extends TaskOptions {
  readonly cron?: string
  readonly every?: number
  readonly zone?: string
  readonly missed?: ScheduleFields['missed']
  readonly overlap?: ScheduleFields['overlap']
  readonly paused?: boolean
  readonly task?: string
}

const setting = (cli: Cli): Command =>
  new Command('set')
    .description('create a schedule, or change the one of this name; other options stay as they are')
    .argument('<name>', 'part of the ids of its tasks: nightly@2026-01-31T02:00:00.000Z')
    .option('--cron <expression>', 'minute hour day month weekday, with seconds in front if there are six fields; or @daily')
    .option('--every <seconds>', 'in place of --cron: at an interval, from now on', positive)
    .option('--zone <name>', 'the time zone of --cron, like Europe/Berlin (default: UTC)')
    .addOption(new Option('--missed <what>', 'runs that were due while no server was there: none, the last (default), or all').choices(['skip', 'once', 'all']))
    .addOption(new Option('--overlap <what>', 'if the run before is unfinished, the next one starts as well (allow, the default), is skipped, or waits').choices(['allow', 'skip', 'queue']))
    .option('--paused', 'do not run it before `schedules resume`')
    .option('-t, --type <type>', 'the type of its tasks')
    .option('-p, --priority <n>', '1 (background) to 10, or CRITICAL, HIGH, MEDIUM, LOW', priority)
    .option('--payload <json>', 'what the agent is given: JSON or text, @file, or - for standard input')
    .option('-d, --description <text>', 'for people')
    .option('--timeout <seconds>', 'how long a lease lasts without a heartbeat', number)
    .option('--max-retries <n>', 'failures after which a task becomes a dead letter', whole)
    .option('--backoff <seconds>', 'wait before the first retry; doubles with each', number)
    .option('--ticket <id>', 'the ticket of its tasks')
    .option('--phase <phase>', 'REQUIREMENTS, IMPLEMENTATION, VALIDATION, ANALYSIS or TESTING')
    .option('--tenant <name>', 'on whose account')
    .option('--skills <names>', 'what an agent must be able to do, with commas', filledList)
    .option('--metadata <json>', 'anything else: a JSON object, @file or -')
    .option('--task <json>', 'the whole task as JSON, @file or -, in place of the options from --type on')
    .addHelpText('after', examples(
      "daybook schedules set nightly --cron '0 2 * * *' --zone Europe/Berlin --type ops-backup --payload '{\"of\":\"db\"}'",
      "daybook schedules set poll --every 300 --overlap skip --type eng-triage",
      "daybook schedules set report --cron '0 9 * * 1-5' --missed skip --type report --priority HIGH",
      'daybook schedules set nightly --missed all     # only this changes',
      '',
      'On the day without the hour from 2 to 3, a run at 2:30 comes at 3:00; on the day that has it twice, it comes once. A run with a * or a',
      'step among minutes and hours goes by elapsed time: every ten minutes remain ten minutes.',
      'Options from --type on replace the whole task of a schedule that is there already.',
    ))
    .action(cli.connected<SetOptions, [string]>(async (session, options, name) => set(session, options, name)))

const set = async (session: Session, options: SetOptions, name: string): Promise<Ending> => {
  const { io, client } = session
  const { cron, every, zone, missed, overlap, paused } = options
  if (cron !== undefined && every !== undefined) throw new UsageError('give --cron or --every, not both')
  const fields: ScheduleFields = defined({ cron, every, timeZone: zone, missed, overlap, paused })
  const task = await taskOf(options, io)
  const isThere = await client.schedules.get(name).then(() => true, (error: unknown) => {
    if (error instanceof DaybookError && error.code === 'not-found') return false
    throw error
  })
  if (isThere) return showOne(session, await client.schedules.change(name, { ...fields, ...(task === undefined ? {} : { task }) }))
  if (task === undefined) throw new UsageError(`there is no schedule ${name} yet: give the --type of its tasks, or the whole --task`)
  if (cron === undefined && every === undefined) throw new UsageError(`there is no schedule ${name} yet: give --cron or --every`)
  return showOne(session, await client.schedules.create(name, { ...fields, task }))
}

const taskOf = async (options: SetOptions, io: Io): Promise<ScheduledTask | undefined> => {
  const { type, task } = options
  const given = await taskFields(options, io)
  if (task !== undefined) {
    if (type !== undefined || Object.keys(given).length > 0) throw new UsageError('give --task, or its parts, not both')
    return readWholeTask<ScheduledTask>(task, '--task', io)
  }
  if (type !== undefined) return { type, ...given }
  if (Object.keys(given).length > 0) throw new UsageError('give the --type of the tasks as well: the task is replaced as a whole')
  return undefined
}

const turning = (cli: Cli, verb: 'pause' | 'resume', description: string): Command =>
  new Command(verb)
    .description(description)
    .argument('<name>')
    .addHelpText('after', examples(`daybook schedules ${verb} nightly`))
    .action(cli.connected<object, [string]>(async (session, _, name) => {
      const { printer, client } = session
      const before = await client.schedules.get(name)
      const paused = verb === 'pause'
      if (before.paused === paused) printer.note(paused ? `${clean(name)} was paused already` : `${clean(name)} was not paused`)
      showOne(session, await client.schedules.change(name, { paused }))
    }))

const removing = (cli: Cli): Command =>
  new Command('remove')
    .description('remove a schedule; the tasks that it enqueued stay')
    .argument('<name>')
    .addHelpText('after', examples('daybook schedules remove nightly'))
    .action(cli.connected<object, [string]>(async ({ printer, client }, _, name) => {
      await client.schedules.remove(name)
      printer.answer({ name, removed: true }, () => printer.line(`${clean(name)} is removed`))
    }))

export const schedulesCommand = (cli: Cli): Command =>
  new Command('schedules')
    .description('recurring tasks: by a cron expression in a time zone, or at an interval')
    .addCommand(listing(cli), { isDefault: true })
    .addCommand(showing(cli))
    .addCommand(setting(cli))
    .addCommand(turning(cli, 'pause', 'enqueue nothing until it is resumed; runs that were due in between do not happen later'))
    .addCommand(turning(cli, 'resume', 'go on with the next run'))
    .addCommand(removing(cli))
