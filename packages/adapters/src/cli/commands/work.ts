/** A worker whose handler is any program. */
import { Command } from 'commander'
import type { Phase, Status } from '@daybook/core'
import { type DaybookClient, DaybookError } from '../../client/index.js'
import { createWorker, httpSource, Release, type TaskWorker, type WorkerEvent, type WorkTask } from '../../worker/index.js'
import { type Cli, examples, type Session } from '../cli.js'
import { CliError, exitCodes, UsageError } from '../exit-codes.js'
import { cannotStart } from '../find-program.js'
import { NoSuchProgram, runAgent } from '../run-agent.js'
import { clean, plural } from '../text.js'
import { defined, list, number, positive } from '../values.js'
import { isOutage, watchSource } from '../watch-source.js'

interface Options {
  readonly agent?: string
  readonly types?: ReadonlyArray<string>
  readonly phases?: ReadonlyArray<string>
  readonly skills?: ReadonlyArray<string>
  readonly tenant?: string
  readonly concurrency: number
  readonly untilEmpty?: boolean
  readonly grace: number
  readonly quiet?: boolean
}

/** How often a queue that had nothing to claim is asked whether anything may still come. */
const lookMs = 250

export const workCommand = (cli: Cli): Command =>
  new Command('work')
    .description('claim tasks, and run a program on each')
    .argument('<command...>', 'the program and its arguments, after --')
    .option('--agent <name>', 'under which name (default: this host and process)')
    .option('--types <patterns>', 'only these types: exact, eng-* or *, with commas', list)
    .option('--phases <names>', 'only these phases', list)
    .option('--skills <names>', 'what the program can do; tasks that require more are left', list)
    .option('--tenant <name>', 'only tasks of this tenant')
    .option('-c, --concurrency <n>', 'so many programs at a time', positive, 1)
    .option('--until-empty', 'stop when nothing is pending, scheduled or in progress any more')
    .option('--grace <seconds>', 'how long programs may finish after SIGINT or SIGTERM', number, 10)
    .option('-q, --quiet', 'no line for every task')
    .addHelpText('after', `
The program gets the task as JSON on standard input, and DAYBOOK_TASK_ID, DAYBOOK_TASK_TYPE, DAYBOOK_QUEUE,
DAYBOOK_ATTEMPT, DAYBOOK_ATTEMPTS_MAX, DAYBOOK_IDEMPOTENCY_KEY, DAYBOOK_AGENT and DAYBOOK_LEASE in its environment. It is
run once for each attempt.

  exit code 0    the task is completed with the JSON that was printed: {"output":…,"decisionReport":…};
                 anything else that was printed becomes its output
  exit code 65   failed, and trying again is of no use (EX_DATAERR)
  any other      failed, to be tried again (75, EX_TEMPFAIL, says so by name); the end of what it wrote to
                 standard error is the error's message

Leases are extended while it runs. If the lease is lost all the same (cancelled, terminated), it gets SIGTERM, and
SIGKILL five seconds later. SIGINT or SIGTERM ends the worker: no new task, what runs may finish; twice: at once.
${examples(
  "daybook work --types 'eng-*' --concurrency 4 -- ./examples/agent.sh",
  'daybook work --until-empty -- bash -c \'jq "{output: .payload, decisionReport: \\"echoed\\"}"\'',
)}`)
    .action(cli.connected<Options, [ReadonlyArray<string>]>(work))

const work = async (session: Session, options: Options, words: ReadonlyArray<string>): Promise<number> => {
  const { client, io, printer, connection } = session
  const [command, ...args] = words
  if (command === undefined) throw new UsageError('name a program after --')
  const obstacle = await cannotStart(command, process.env.PATH)
  if (obstacle !== undefined) throw new UsageError(`${obstacle}; no task was claimed`)
  const told = createTeller(session, options.quiet === true)
  let broken: unknown

  const worker: TaskWorker = createWorker({
    source: watchSource(httpSource(client), told),
    ...defined({ agentId: options.agent, types: options.types, phases: options.phases as ReadonlyArray<Phase> | undefined, skills: options.skills, tenant: options.tenant }),
    concurrency: options.concurrency,
    // A program takes its time: tasks held ahead of it would only come out of order.
    prefetchMax: 0,
    onEvent: (event) => told.event(event),
    handler: async (task, { signal, lease, lastCheckpoint }) => {
      const began = performance.now()
      try {
        const result = await runAgent({
          command,
          args,
          signal,
          input: JSON.stringify(lastCheckpoint === undefined ? task : { ...task, checkpoint: lastCheckpoint }),
          env: {
            DAYBOOK_TASK_ID: task.id,
            DAYBOOK_TASK_TYPE: task.type,
            DAYBOOK_QUEUE: connection.queue,
            DAYBOOK_URL: connection.url,
            DAYBOOK_ATTEMPT: String(task.attempt),
            DAYBOOK_ATTEMPTS_MAX: String(task.attemptsMax),
            DAYBOOK_IDEMPOTENCY_KEY: task.idempotencyKey,
            DAYBOOK_AGENT: worker.agentId,
            DAYBOOK_LEASE: String(lease.token),
          },
          onStderr: (text) => told.stderr(task.id, text),
        })
        told.finished(task, performance.now() - began)
        return result
      } catch (error) {
        if (error instanceof NoSuchProgram) {
          broken ??= error
          void worker.stop({ graceMs: options.grace * 1_000 })
        }
        if (!signal.aborted) told.failed(task, performance.now() - began, error)
        // Given back rather than failed: the task has done nothing to deserve it.
        throw error instanceof NoSuchProgram ? new Release(error.message) : error
      }
    },
  })

  let signals = 0
  const unlisten = io.onSignal(() => {
    signals++
    if (signals === 1) printer.note(`daybook: stopping; what runs may take ${options.grace} s to finish, again to end it now`)
    void worker.stop({ graceMs: signals === 1 ? options.grace * 1_000 : 0 })
  })
  try {
    worker.start()
    if (options.untilEmpty === true) void stopWhenEmpty(worker, client, options.types ?? ['*']).catch((error: unknown) => {
      broken ??= error
      void worker.stop()
    })
    await worker.ended
  } finally {
    unlisten()
  }
  if (broken instanceof NoSuchProgram) throw new CliError(broken.message)
  if (broken !== undefined) throw broken
  return told.end(worker)
}

/** What may still come to a worker: now, after a retry, or after what others are doing. Blocked tasks follow from those. */
const stillToCome: ReadonlyArray<Status> = ['pending', 'scheduled', 'queued', 'in-progress']

const stopWhenEmpty = async (worker: TaskWorker, client: DaybookClient, types: ReadonlyArray<string>): Promise<void> => {
  for (;;) {
    await worker.drained()
    if (worker.stats().state !== 'running') return
    let isEmpty = true
    for (const type of types) {
      if (!isEmpty) break
      isEmpty = (await tasksOrNone(client, type)) === 0
    }
    if (isEmpty) return worker.stop()
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}

const tasksOrNone = async (client: DaybookClient, type: string): Promise<number> => {
  try {
    return (await client.tasks({ status: stillToCome, type, limit: 1 })).tasks.length
  } catch (error) {
    // A queue comes into being with its first task.
    if (error instanceof DaybookError && error.code === 'not-found') return 0
    throw error
  }
}

/** Says what happens, for people on stderr or as one JSON line each, and sums it up. */
const createTeller = ({ printer, io }: Session, isQuiet: boolean) => {
  const { colors } = printer
  let incomplete = 0
  let refused = 0
  const lineOf = (people: string, json: object): void => {
    if (isQuiet) return
    if (printer.isJson) io.out(`${JSON.stringify(json)}\n`)
    else io.err(`${people}\n`)
  }
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

  return {
    // Said with --quiet too: without it a worker that waits looks like one that has nothing to do.
    down: (why: string): void => {
      if (printer.isJson) lineOf('', { event: 'waiting', error: why })
      else io.err(`${colors.yellow('waiting')} the server cannot be asked, trying again until it can: ${clean(why, 200)}\n`)
    },
    up: (): void => {
      if (printer.isJson) lineOf('', { event: 'back' })
      else io.err(`${colors.green('back')}    the server answers again\n`)
    },
    finished: (task: WorkTask, ms: number): void =>
      lineOf(`${colors.green('done')}    ${clean(task.id, 60)} ${colors.dim(`${clean(task.type, 40)}, ${seconds(ms)}`)}`, { event: 'done', task: task.id, type: task.type, ms: Math.round(ms) }),
    failed: (task: WorkTask, ms: number, error: unknown): void => {
      const message = error instanceof Error ? error.message : String(error)
      lineOf(`${colors.red('failed')}  ${clean(task.id, 60)} ${colors.dim(`${clean(task.type, 40)}, ${seconds(ms)}:`)} ${clean(message, 200)}`, { event: 'failed', task: task.id, type: task.type, ms: Math.round(ms), error: message })
    },
    stderr: (id: string, text: string): void => {
      if (isQuiet || printer.isJson) return
      for (const line of text.split('\n')) if (line.trim() !== '') io.err(`${colors.dim(`${clean(id, 60)}:`)} ${clean(line, 500)}\n`)
    },
    event: (event: WorkerEvent): void => {
      switch (event.type) {
        case 'incomplete':
          incomplete++
          return lineOf(
            `${colors.red('incomplete')}  ${clean(event.taskId, 60)}: the program printed no decisionReport, which this queue requires.\n` +
              '  Print {"output":…,"decisionReport":…}, or: daybook settings set decisionReport=optional',
            { event: 'incomplete', task: event.taskId },
          )
        case 'lease-lost':
          return lineOf(`${colors.yellow('lost')}    ${clean(event.taskId, 60)}: ${clean(event.detail, 200)}`, { event: 'lease-lost', task: event.taskId, detail: event.detail })
        case 'outcome-refused':
          refused++
          return lineOf(`${colors.red('refused')} ${clean(event.taskId, 60)}: ${clean(event.detail, 200)}`, { event: 'refused', task: event.taskId, code: event.code, detail: event.detail })
        case 'outcome-given-up':
        case 'abandoned':
          refused++
          return lineOf(`${colors.red(event.type)} ${clean(event.taskId, 60)}: the task comes back when its lease ends`, { event: event.type, task: event.taskId })
        case 'claim-failed':
        case 'settle-failed':
        case 'heartbeat-failed': {
          // People have been told once, by `down`.
          if (!printer.isJson && isOutage(event.error)) return
          const message = event.error instanceof Error ? event.error.message : String(event.error)
          return lineOf(`${colors.yellow('waiting')} ${clean(message, 200)}`, { event: event.type, error: message })
        }
      }
    },
    end: (worker: TaskWorker): number => {
      const { completed, failed, released, lost } = worker.stats()
      // A completion that came without its report was accepted, but completed nothing.
      const done = Math.max(0, completed - incomplete)
      const rest = [
        failed > 0 ? plural(failed, 'attempt') + ' failed' : '',
        incomplete > 0 ? `${incomplete} incomplete` : '',
        released > 0 ? `${released} given back` : '',
        lost > 0 ? `${lost} lost` : '',
      ].filter((part) => part !== '')
      if (printer.isJson) io.out(`${JSON.stringify({ event: 'end', agent: worker.agentId, completed: done, failed, incomplete, released, lost })}\n`)
      else io.err(`${plural(done, 'task')} completed${rest.length === 0 ? '' : `, ${rest.join(', ')}`}\n`)
      return incomplete > 0 || refused > 0 ? exitCodes.refused : exitCodes.done
    },
  }
}
