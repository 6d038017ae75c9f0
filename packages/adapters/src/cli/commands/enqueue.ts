import { Command, Option } from 'commander'
import { DaybookError, type Deduplicate, type Enqueued, type NewTask } from '../../client/index.js'
import { defined } from '../../defined.js'
import { type Cli, examples } from '../cli.js'
import { Duplicates } from '../duplicates.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { taskFields, type TaskOptions } from '../task-options.js'
import { clean } from '../text.js'
import { filledList, number, priority, time, whole } from '../values.js'
import { enqueueFile } from './enqueue-file.js'

interface Options extends TaskOptions {
  readonly file?: string
  readonly id?: string
  readonly dependsOn?: ReadonlyArray<string>
  readonly maxRun?: number
  readonly key?: string
  readonly deduplicate?: Deduplicate
  readonly at?: string
  readonly deadline?: string
  readonly batch?: string
  readonly concurrencyKey?: string
  readonly concurrencyLimit?: number
  readonly orderingKey?: string
}

export const enqueueCommand = (cli: Cli): Command => {
  const file = new Option('-f, --file <file>', 'tasks as JSON: one, a list, {"tasks": […]}, or one a line (NDJSON); - reads standard input')
  const command = new Command('enqueue')
    .description('put a task into the queue, or many from a file')
    .argument('[type]', 'what kind of task it is: agents claim by it')
    .addOption(file)
    .option('--id <id>', 'its id; without one, one is made')
    .option('-p, --priority <n>', '1 (background) to 10, or CRITICAL, HIGH, MEDIUM, LOW', priority)
    .option('--payload <json>', 'what the agent is given: JSON or text, @file, or - for standard input')
    .option('-d, --description <text>', 'for people')
    .option('--depends-on <ids>', 'tasks that must be completed first, with commas', filledList)
    .option('--timeout <seconds>', 'how long a lease lasts without a heartbeat', number)
    .option('--max-run <seconds>', 'how long one attempt may take, whatever its heartbeats', number)
    .option('--max-retries <n>', 'failures after which it becomes a dead letter: 3 (the default) means three attempts, 1 and 0 one', whole)
    .option('--backoff <seconds>', 'wait before the first retry; doubles with each', number)
    .option('--key <key>', 'idempotency key: the same one again enqueues nothing; without one, the hash of type and payload')
    .addOption(new Option('--deduplicate <by>', "in place of the queue's setting: content (type and payload), key (--key alone), or off").choices(['content', 'key', 'off']))
    .option('--at <time>', 'not before: 2026-01-31T12:00:00Z, or +15m', time)
    .option('--deadline <time>', 'to be done by', time)
    .option('--ticket <id>', 'the ticket it belongs to')
    .option('--phase <phase>', 'REQUIREMENTS, IMPLEMENTATION, VALIDATION, ANALYSIS or TESTING')
    .option('--tenant <name>', 'on whose account')
    .option('--batch <id>', 'the batch that it joins: daybook batch')
    .option('--concurrency-key <key>', 'shares a limit of how many run at once with all that have the same key: daybook limits')
    .option('--concurrency-limit <n>', 'sets that limit', whole)
    .option('--ordering-key <key>', 'runs after all earlier ones with the same key are finished')
    .option('--skills <names>', 'what an agent must be able to do, with commas', filledList)
    .option('--metadata <json>', 'anything else: a JSON object, @file or -')
    .addHelpText('after', examples(
      "daybook enqueue eng-backend --priority 8 --payload '{\"action\":\"implement\",\"target\":\"apps/api\"}'",
      'daybook enqueue eng-frontend --id web --depends-on api --description "the web client"',
      'daybook enqueue send-mail --concurrency-key smtp --concurrency-limit 5 --ordering-key customer-7',
      'daybook enqueue ops-backup --at +2h --key nightly-2026-01-31',
      "jq '{tasks: .items}' plan.json | daybook enqueue --file -",
      "jq -c '.items[]' plans/*.json | daybook enqueue --file -      # one task a line, however many",
      '',
      'Up to 1,000 tasks of a file are enqueued together: all or none. A longer file is sent in pages of 1,000, in order, and',
      'each page is all or none. A task may depend on tasks of its own page and of earlier pages. If a page is refused, the',
      'command says what it enqueued before, and sends no more. Mend the file and run it again: tasks that were enqueued are',
      'duplicates then. With --deduplicate off they need ids or keys for that.',
      '',
      'Enqueueing the same type and payload again does nothing, and says so, while the first task is unfinished or within its',
      'retention (7 days). To run the same task again, for example every night: --key with the date, or --deduplicate off.',
    ))
    .action(cli.connected<Options, [string | undefined]>(async (session, options, type) => {
      const { io, printer, client } = session
      const tell = ({ id, number, status, duplicate }: Enqueued): void =>
        printer.line(duplicate ? `${clean(id)} (#${number}) was there already: ${status}` : `${clean(id)} (#${number}) ${status}`)
      if (options.file !== undefined) {
        if (type !== undefined) throw new UsageError('give a type or --file, not both')
        return enqueueFile(session, options.file, tell, options.batch)
      }
      const task = await fromOptions(type, options, io)
      const { results: [enqueued] } = await client.enqueueAll([task]).catch((error: unknown) => {
        throw ofSingle(error)
      })
      printer.answer(enqueued, () => tell(enqueued as Enqueued))
      const duplicates = new Duplicates()
      duplicates.add(enqueued as Enqueued)
      const notice = duplicates.notice()
      if (notice !== undefined) printer.note(notice)
    }))
  // The tasks of a file have fields of their own. Only a batch is joined by all of them.
  file.conflicts(command.options.map((option) => option.attributeName()).filter((name) => name !== 'file' && name !== 'batch'))
  return command
}

const fromOptions = async (type: string | undefined, options: Options, io: Io): Promise<NewTask> => {
  if (type === undefined) throw new UsageError('give the type of the task, or --file')
  return {
    type,
    ...(await taskFields(options, io)),
    ...defined({
      id: options.id,
      dependencies: options.dependsOn,
      maxRunSeconds: options.maxRun,
      idempotencyKey: options.key,
      deduplicate: options.deduplicate,
      availableAt: options.at,
      deadlineAt: options.deadline,
      batchId: options.batch,
      concurrencyKey: options.concurrencyKey,
      concurrencyLimit: options.concurrencyLimit,
      orderingKey: options.orderingKey,
    }),
  }
}

/** A single task is sent in a list of one. Removes that list from the paths of its errors. */
const ofSingle = (error: unknown): unknown => {
  if (!(error instanceof DaybookError)) return error
  const { code, detail, status, errors, retryAfterSeconds, unsent } = error
  const bare = (text: string): string => text.replaceAll('tasks[0].', '')
  return new DaybookError(code, bare(detail), { status, errors: errors?.map((field) => ({ ...field, path: bare(field.path) })), retryAfterSeconds, unsent, cause: error })
}
