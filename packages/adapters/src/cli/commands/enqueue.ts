import { Command } from 'commander'
import type { JsonObject } from '@daybook/core'
import { DaybookError, type NewTask } from '../../client/index.js'
import { type Cli, examples } from '../cli.js'
import { UsageError } from '../exit-codes.js'
import { defined, list, number, priority, readJson, readJsonOrText, time, whole } from '../values.js'

interface Options {
  readonly file?: string
  readonly id?: string
  readonly priority?: NewTask['priority']
  readonly payload?: string
  readonly description?: string
  readonly dependsOn?: ReadonlyArray<string>
  readonly timeout?: number
  readonly maxRetries?: number
  readonly backoff?: number
  readonly key?: string
  readonly at?: string
  readonly deadline?: string
  readonly ticket?: string
  readonly phase?: string
  readonly tenant?: string
  readonly skills?: ReadonlyArray<string>
  readonly metadata?: string
}

export const enqueueCommand = (cli: Cli): Command =>
  new Command('enqueue')
    .description('put a task into the queue, or many from a file')
    .argument('[type]', 'what kind of task it is: agents claim by it')
    .option('-f, --file <file>', 'tasks as JSON: one, a list, or {"tasks": […]}; - reads standard input. All or none')
    .option('--id <id>', 'its id; without one, one is made')
    .option('-p, --priority <n>', '1 (background) to 10, or CRITICAL, HIGH, MEDIUM, LOW', priority)
    .option('--payload <json>', 'what the agent is given: JSON or text, @file, or - for standard input')
    .option('-d, --description <text>', 'for people')
    .option('--depends-on <ids>', 'tasks that must be completed first, with commas', list)
    .option('--timeout <seconds>', 'how long a lease lasts without a heartbeat', number)
    .option('--max-retries <n>', 'failures after which it becomes a dead letter: 3 (the default) means three attempts, 1 and 0 one', whole)
    .option('--backoff <seconds>', 'wait before the first retry; doubles with each', number)
    .option('--key <key>', 'idempotency key; without one, the hash of type and payload')
    .option('--at <time>', 'not before: 2026-01-31T12:00:00Z, or +15m', time)
    .option('--deadline <time>', 'to be done by', time)
    .option('--ticket <id>', 'the ticket it belongs to')
    .option('--phase <phase>', 'REQUIREMENTS, IMPLEMENTATION, VALIDATION, ANALYSIS or TESTING')
    .option('--tenant <name>', 'on whose account')
    .option('--skills <names>', 'what an agent must be able to do, with commas', list)
    .option('--metadata <json>', 'anything else: a JSON object, @file or -')
    .addHelpText('after', examples(
      "daybook enqueue eng-backend --priority 8 --payload '{\"action\":\"implement\",\"target\":\"apps/api\"}'",
      'daybook enqueue eng-frontend --id web --depends-on api --description "the web client"',
      'daybook enqueue ops-backup --at +2h --key nightly-2026-01-31',
      "jq '{tasks: .items}' plan.json | daybook enqueue --file -",
      '',
      'Enqueueing the same thing twice is safe: the second answer names the first task.',
    ))
    .action(cli.connected<Options, [string | undefined]>(async ({ io, printer, client }, options, type) => {
      const tasks = options.file === undefined ? [await fromOptions(type, options)] : await fromFile(options.file, type)
      async function fromFile(file: string, also: string | undefined): Promise<ReadonlyArray<NewTask>> {
        if (also !== undefined) throw new UsageError('give a type or --file, not both')
        const read = await readJson(file === '-' ? '-' : `@${file}`, '--file', io)
        const found = Array.isArray(read) ? read : typeof read === 'object' && read !== null && 'tasks' in read ? read.tasks : [read]
        if (!Array.isArray(found) || found.length === 0) throw new UsageError('--file holds no tasks: one, a list, or {"tasks": […]} is wanted')
        return found as ReadonlyArray<NewTask>
      }
      async function fromOptions(named: string | undefined, given: Options): Promise<NewTask> {
        if (named === undefined) throw new UsageError('give the type of the task, or --file')
        const metadata = given.metadata === undefined ? undefined : await readJson(given.metadata, '--metadata', io)
        return {
          type: named,
          ...defined({
            id: given.id,
            priority: given.priority,
            payload: given.payload === undefined ? undefined : await readJsonOrText(given.payload, io),
            description: given.description,
            dependencies: given.dependsOn,
            timeout: given.timeout,
            maxRetries: given.maxRetries,
            backoffSeconds: given.backoff,
            idempotencyKey: given.key,
            availableAt: given.at,
            deadlineAt: given.deadline,
            ticketId: given.ticket,
            phase: given.phase?.toUpperCase() as NewTask['phase'],
            tenant: given.tenant,
            requires: given.skills === undefined ? undefined : { skills: given.skills },
            metadata: metadata as JsonObject | undefined,
          }),
        }
      }
      const answer = await client.enqueueAll(tasks).catch((error: unknown) => {
        throw options.file === undefined ? ofSingle(error) : error
      })
      printer.answer(options.file === undefined ? answer.results[0] : answer, () => {
        for (const { id, number: n, status, duplicate } of answer.results) {
          printer.line(duplicate ? `${id} (#${n}) was there already: ${status}` : `${id} (#${n}) ${status}`)
        }
      })
    }))

/** Whoever gave one task in options knows of no list that it was sent in. */
const ofSingle = (error: unknown): unknown => {
  if (!(error instanceof DaybookError)) return error
  const { code, detail, status, errors, retryAfterSeconds, unsent } = error
  const bare = (text: string): string => text.replaceAll('tasks[0].', '')
  return new DaybookError(code, bare(detail), { status, errors: errors?.map((field) => ({ ...field, path: bare(field.path) })), retryAfterSeconds, unsent, cause: error })
}
