/** Handles: an enqueued task, where it stands, and its result. */
import type { Json, Result, Status } from '@daybook/core'
import { type AskResult, awaitResult, type ResultOptions } from './await-result.js'
import { type Place, TaskNotCompleted } from './not-completed.js'
import { unchecked, wordsOf } from './codec.js'
import { DaybookError } from '../errors.js'
import type { CallOptions } from '../options.js'
import type { AnyTaskType } from './task-type.js'
import type { Enqueued } from '../methods/tasks.js'

/** The result of a completed task. `output` is what its handler returned as such. */
export type Finished<R = Json | undefined> = Omit<Result, 'output'> & { readonly output: R }

/** A task that is in a queue. */
export interface TaskHandle<R = Json | undefined> {
  readonly id: string
  readonly queue: string
  /** Where the task stands now. */
  readonly statusNow: (options?: CallOptions) => Promise<Status>
  /**
   * Waits until the task is completed. Restarts of the server, and another server that takes over, do not end the wait; nor do retries of the task.
   *
   * Rejects with {@link TaskNotCompleted} when the task is a dead letter, cancelled or discarded. A dead letter may be sent back: ask again then.
   *
   * Of a declared type, the output is decoded; one that is not of the type rejects with `unexpected-answer`.
   *
   * *Gotchas*: the queue knows a finished task for its retention, 7 days by default. After that it rejects with `not-found`.
   */
  readonly result: (options?: ResultOptions) => Promise<Finished<R>>
}

/** What enqueueing answers: the facts about the task, and its handle. */
export type EnqueuedTask<R = Json | undefined> = Enqueued & TaskHandle<R>

/** What handles need of their client. */
export interface HandleSource extends Place {
  readonly result: AskResult
  readonly retryForMs: number
}

/** Its methods are made on demand: most callers use none. They are no members of their own, so a handle prints as the answer that it is. */
class Handle {
  readonly #id: string
  readonly #source: HandleSource
  readonly #type: AnyTaskType | undefined

  constructor(id: string, source: HandleSource, type: AnyTaskType | undefined) {
    this.#id = id
    this.#source = source
    this.#type = type
  }

  get queue(): string {
    return this.#source.queue
  }

  get statusNow(): TaskHandle['statusNow'] {
    return async (options) => (await this.#source.result(this.#id, { ...options, wait: 0 })).status
  }

  get result(): TaskHandle<unknown>['result'] {
    return async (options = {}) => {
      const { result: ask, retryForMs } = this.#source
      const { status, result = {}, error } = await awaitResult(this.#id, ask, { retryForMs, ...options })
      if (status !== 'completed') throw new TaskNotCompleted(this.#id, status, error, this.#source)
      const output = await (this.#type?.result ?? unchecked).decode(result.output)
      if (output.ok) return { ...result, output: output.value }
      throw new DaybookError('unexpected-answer', `the result of task ${this.#id} is not one of ${this.#type?.name}: ${wordsOf(output.errors)}`, { errors: output.errors })
    }
  }
}

/** The answer with the handle of its task. To the client its output is JSON; `type` says what it is to the caller. */
export const handleOf = <A extends { readonly id: string }>(answer: A, source: HandleSource, type?: AnyTaskType): A & TaskHandle =>
  Object.assign(new Handle(answer.id, source, type) as Pick<TaskHandle, 'queue' | 'statusNow' | 'result'>, answer)
