/** `daybook work`: a worker whose handler is any program. */
import { Command } from 'commander'
import { failureIn } from '@daybook/client/internal'
import { createWorker, httpSource, Park, type TaskWorker, WorkerStopped } from '@daybook/client/worker'
import { defined } from '../../defined.js'
import { askedBy, type ClaimOptions } from '../claim-options.js'
import { type Cli, examples, type Session } from '../cli.js'
import { CliError, exitCodes, UsageError } from '../exit-codes.js'
// Not from its index, which has the server's launcher and with it the engine.
import { cannotStart } from '../../launcher/find-program.js'
import { programHandler } from '../../launcher/program-handler.js'
import { NoSuchProgram } from '../../launcher/run-agent.js'
import { startTracing } from '../../telemetry/index.js'
import { stopWhenEmpty } from '../until-empty.js'
import { filledList, list, positive, secondsFrom } from '../values.js'
import { watchSource } from '../watch-source.js'
import { WorkReport } from '../work-report.js'

interface Options extends ClaimOptions {
  readonly concurrency: number
  readonly untilEmpty?: boolean
  readonly lease?: number
  readonly maxRun?: number
  readonly grace: number
  readonly quiet?: boolean
}

export const workCommand = (cli: Cli): Command =>
  new Command('work')
    .description('claim tasks, and run a program on each')
    .argument('<command...>', 'the program and its arguments, after --')
    .option('--agent <name>', 'under which name (default: this host and process)')
    .option('--types <patterns>', 'only these types: exact, eng-* or *, with commas', filledList)
    .option('--phases <names>', 'only these phases', filledList)
    .option('--skills <names>', 'what the program can do; tasks that require more are left', list)
    .option('--tenant <name>', 'only tasks of this tenant')
    .option('-c, --concurrency <n>', 'how many programs run at a time', positive, 1)
    .option('--until-empty', 'stop when none of these tasks is pending, scheduled, waiting, in progress, or blocked by one that is')
    .option('--lease <seconds>', 'how soon others get a task if this worker is killed; the worker renews its leases (60)', secondsFrom(0.1))
    .option('--max-run <seconds>', 'how long a program may run before it is ended, and its attempt has failed (21600)', secondsFrom(0.001))
    .option('--grace <seconds>', 'how long programs may finish after SIGINT or SIGTERM', secondsFrom(0), 10)
    .option('-q, --quiet', 'no line for every task')
    .addHelpText('after', `
The program gets the task as JSON on standard input, and DAYBOOK_TASK_ID, DAYBOOK_TASK_TYPE, DAYBOOK_QUEUE,
DAYBOOK_ATTEMPT, DAYBOOK_ATTEMPTS_MAX, DAYBOOK_IDEMPOTENCY_KEY, DAYBOOK_AGENT and DAYBOOK_LEASE in its environment, and
TRACEPARENT if the task is part of a trace. It is run once for each attempt.

  exit code 0    the task is completed with the JSON that was printed: {"output":…,"decisionReport":…};
                 anything else that was printed becomes its output;
                 {"park":{"callbackKey":…,"timeoutSeconds":…}} parks it until daybook callback KEY: no attempt is
                 counted, and the program is run again with the callback as a member of the task
  exit code 65   failed, and trying again is of no use (EX_DATAERR)
  any other      failed, to be tried again (75, EX_TEMPFAIL, says so by name); the end of what it wrote to
                 standard error is the error's message

Leases are extended while it runs. If the lease is lost all the same (cancelled, terminated), or --max-run is over, it
gets SIGTERM, and SIGKILL five seconds later. SIGINT or SIGTERM ends the worker: no new task, and what runs may finish;
twice: at once. What does not finish goes back to the queue. That is no attempt, and this agent may get it again.
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
  const report = new WorkReport(session, options.quiet === true)
  let broken: unknown

  const run = programHandler({
    command,
    args,
    queue: connection.queue,
    url: connection.url,
    agentId: () => worker.agentId,
    environment: process.env,
    onStderr: (id, text) => report.stderr(id, text),
  })
  const worker: TaskWorker = createWorker({
    source: watchSource(httpSource(client), report),
    ...askedBy(options),
    ...defined({ leaseSeconds: options.lease, maxRunSeconds: options.maxRun }),
    concurrency: options.concurrency,
    // Programs are slow, so claiming ahead would only worsen the order.
    prefetchMax: 0,
    onEvent: report.event,
    handler: async (task, context) => {
      report.begin(task)
      try {
        const result = await run(task, context)
        report.end(task, failureIn(result))
        return result
      } catch (error) {
        if (error instanceof NoSuchProgram) {
          broken ??= error
          void worker.stop({ graceMs: options.grace * 1_000 })
        }
        report.end(task, error instanceof Park ? undefined : error)
        // The worker is at fault, not the task: the task goes back without counting an attempt.
        throw error instanceof NoSuchProgram ? new WorkerStopped(error.message) : error
      }
    },
  })

  let signals = 0
  const unlisten = io.onSignal(() => {
    signals++
    if (signals === 1) printer.note(`daybook: stopping; what runs may take ${options.grace} s to finish, again to end it now`)
    void worker.stop({ graceMs: signals === 1 ? options.grace * 1_000 : 0 })
  })
  const sendSpans = await startTracing('daybook-work', io.env, (text) => printer.note(`daybook: ${text}`))
  try {
    worker.start()
    if (options.untilEmpty === true) void stopWhenEmpty(worker, client, options).catch((error: unknown) => {
      broken ??= error
      void worker.stop()
    })
    await worker.ended
  } finally {
    unlisten()
    await sendSpans()
  }
  if (broken instanceof NoSuchProgram) throw new CliError(broken.message)
  if (broken !== undefined) throw broken
  const code = report.summary(worker)
  // Whoever waits until the queue is empty must not take this for it.
  return code === exitCodes.done && options.untilEmpty === true && signals > 0 ? exitCodes.interrupted : code
}
