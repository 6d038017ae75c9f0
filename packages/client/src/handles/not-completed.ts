/** The error of waiting for a task that ended without a result. */
import type { Status } from '@daybook/core'
import { DaybookError } from '../errors.js'

/** Where people find a task. */
export interface Place {
  readonly queue: string
  /** The server's console; `undefined` without a server. */
  readonly url: string | undefined
}

/**
 * The task will have no result unless somebody acts: it is a dead letter, cancelled or discarded. Its `code` is `not-completed`; `status`
 * is 0, since no request was refused. The message ends with the command and the page that show the task.
 */
export class TaskNotCompleted extends DaybookError {
  override readonly name = 'TaskNotCompleted'
  /** The command that shows the task with all its attempts. */
  readonly command: string
  /** The task's page in the console; `undefined` for a queue inside a program. */
  readonly url: string | undefined

  constructor(
    readonly taskId: string,
    readonly taskStatus: Status,
    /** The error of its last attempt, if one has failed. */
    readonly lastError: string | undefined,
    { queue, url }: Place,
  ) {
    const command = `daybook show ${quoted(taskId)} --queue ${queue}`
    const page = url === undefined ? undefined : `${url.replace(/\/+$/, '')}/q/${queue}/tasks/${encodeURIComponent(taskId)}`
    const error = lastError === undefined ? '' : `: ${lastError}`
    super('not-completed', `task ${taskId} is ${standing[taskStatus] ?? taskStatus}${error} (${page === undefined ? command : `${command}, or ${page}`})`)
    this.command = command
    this.url = page
  }
}

const standing: Partial<Record<Status, string>> = { 'dead-letter': 'a dead letter' }

/** One word of a shell. */
const quoted = (word: string): string => (/^[\w.:@%+=,/-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)
