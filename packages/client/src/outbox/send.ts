/**
 * Sends rows of an outbox to their queue, in order. A request has all of its tasks enqueued or none, so nothing overtakes a row that is not sent yet. If the queue
 * refuses one of them for what it is, the halves are sent one after the other, until the row is found that is to blame.
 */
import type { DaybookClient } from '../methods/daybook-client.js'
import { DaybookError } from '../errors.js'
import type { NewTask } from '../methods/tasks.js'
import { taskTextOf } from '../task-text.js'

/** A row, as text of the database. */
export interface Row {
  readonly number: string
  readonly id: string
  readonly queue: string
  /** JSON. */
  readonly task: string
}

export interface Sent {
  /** Rows that the queue has. */
  readonly done: Array<Row>
  /** How many of them it had before: their answer was lost, or they share a key with an earlier task. */
  duplicates: number
  readonly refused: Array<{ readonly row: Row; readonly error: DaybookError }>
  /** Why the others are not sent: it may pass. */
  failed: DaybookError | undefined
}

/**
 * Of one queue. `client`: of that queue.
 *
 * Each row is one task, however often it is sent: it has the row's id, which the queue keeps taken as long as it knows the task.
 */
export const sendRows = async (client: DaybookClient, rows: ReadonlyArray<Row>, signal: AbortSignal): Promise<Sent> => {
  const sent: Sent = { done: [], duplicates: 0, refused: [], failed: undefined }
  const send = async (some: ReadonlyArray<Row>): Promise<void> => {
    try {
      const { results } = await client.enqueueAll(some.map(taskOf), { retryForMs: 0, signal })
      sent.done.push(...some)
      sent.duplicates += results.filter(({ duplicate }) => duplicate).length
    } catch (error) {
      if (!(error instanceof DaybookError)) throw error
      if (!isAboutTasks(error, some)) sent.failed = error
      else if (some.length > 1) {
        const half = some.length >> 1
        await send(some.slice(0, half))
        if (sent.failed === undefined) await send(some.slice(half))
      } else await settleOne(some[0] as Row, error)
    }
  }
  const settleOne = async (row: Row, error: DaybookError): Promise<void> => {
    const found = error.code === 'conflict' && taskOf(row).id === row.id ? await isThere(row.id) : false
    if (found === true) {
      sent.done.push(row)
      sent.duplicates++
    } else if (found === false) sent.refused.push({ row, error })
    else sent.failed = found
  }
  /** Nobody else uses the row's own id. If its task is there, it was sent before, and is a dead letter or cancelled by now. Otherwise the conflict is about a key or a batch. */
  const isThere = (id: string): Promise<boolean | DaybookError> =>
    client.handle(id).statusNow({ retryForMs: 0, signal }).then(
      () => true,
      (error: DaybookError) => (error.code === 'not-found' ? false : error),
    )
  await send(rows)
  return sent
}

/** Whether the request was refused for the tasks in it. Otherwise it is about the token, or about the server, and says nothing of them. */
const isAboutTasks = ({ status, code }: DaybookError, rows: ReadonlyArray<Row>): boolean =>
  // A proxy may have a limit of its own on what it lets through. Whatever else it refuses is not about the tasks.
  status === 413 || (code !== 'unexpected-answer' && (status === 400 || status === 409 || status === 422)) ||
  // A batch that is not there.
  (code === 'not-found' && rows.some((row) => taskOf(row).batchId !== undefined)) ||
  // The client itself refused a number of the database that is too large for JavaScript, such as 1e400.
  (code === 'invalid' && rows.some((row) => typeof taskTextOf(taskOf(row)) !== 'string'))

/** The row's own id, unless the task has one; so is its key. */
const taskOf = ({ id, task: text }: Row): NewTask => {
  const task = JSON.parse(text) as NewTask
  // What is no object is refused as such.
  return typeof task === 'object' && task !== null && !Array.isArray(task) ? { id, idempotencyKey: id, ...task } : task
}
