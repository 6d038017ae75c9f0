/** The handler of a worker that runs a program for each task: for `daybook work -- CMD`, and for the launcher in the server. */
import { activeTraceParent } from '@daybook/client/internal'
import type { Handler, WorkTask } from '../worker/index.js'
import { type Environment, runAgent } from './run-agent.js'

export interface Program {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly queue: string
  readonly url: string
  readonly agentId: () => string
  /** The environment of each program, beside what says which task it works on. */
  readonly environment: Environment
  readonly onStderr: (taskId: string, text: string) => void
}

/** The program gets the task as JSON on its standard input, and prints the result as JSON. */
export const programHandler =
  ({ command, args, queue, url, agentId, environment, onStderr }: Program): Handler =>
  (task, { signal, lease, lastCheckpoint, callback, memories, memoriesMissing }) =>
    runAgent({
      command,
      args,
      signal,
      input: JSON.stringify({ ...plainOf(task), checkpoint: lastCheckpoint, callback, ...(memories.length === 0 ? {} : { memories }), memoriesMissing }),
      env: {
        ...environment,
        DAYBOOK_TASK_ID: task.id,
        DAYBOOK_TASK_TYPE: task.type,
        DAYBOOK_QUEUE: queue,
        DAYBOOK_URL: url,
        DAYBOOK_ATTEMPT: String(task.attempt),
        DAYBOOK_ATTEMPTS_MAX: String(task.attemptsMax),
        DAYBOOK_IDEMPOTENCY_KEY: task.idempotencyKey,
        DAYBOOK_AGENT: agentId(),
        DAYBOOK_LEASE: String(lease.token),
        ...traceOf(task),
      },
      onStderr: (text) => onStderr(task.id, text),
    })

/** The parent span for the program's own spans: the handler's span, or else the span that enqueued the task. */
const traceOf = ({ traceparent }: WorkTask): { TRACEPARENT?: string } => {
  const parent = activeTraceParent() ?? traceparent
  return parent === undefined ? {} : { TRACEPARENT: parent }
}

/** The members of an engine's task are getters, which a spread would lose. */
const plainOf = (task: WorkTask): object => JSON.parse(JSON.stringify(task)) as object
