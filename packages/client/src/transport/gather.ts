/**
 * Combines concurrent single calls into bulk requests. Each caller gets its own answer or its own error: one invalid task among a thousand affects
 * only its caller.
 */
import { Batcher, type BatchLimits } from './batcher.js'
import { DaybookError, errorOf, isProblem, type Problem } from '../errors.js'
import { activeTraceParent } from './tracing.js'
import { backoffMs, mayRetry, pause, retrying } from './retry.js'

/** How single calls of one kind become a bulk request. */
export interface Gathering {
  readonly limits: BatchLimits
  readonly waitingMax: number
  readonly retryForMs: number
  /** JSON text of a call, or the error if it has none. */
  readonly print: (value: unknown) => string | DaybookError
  /**
   * Sends the texts as one bulk request. Returns the answers in order, with their common revision. `traceparent`: that of the span in which all calls
   * were made, if it is the same for all.
   */
  readonly send: (texts: ReadonlyArray<string>, idempotencyKey: string | undefined, traceparent: string | undefined) => Promise<BulkAnswer | null>
  /** An idempotency key, if the request must not be repeated without one; otherwise `undefined`. */
  readonly keyOf: (calls: ReadonlyArray<{ readonly keyed: boolean }>) => string | undefined
}

export interface BulkAnswer {
  readonly results: ReadonlyArray<unknown>
  readonly revision?: number
}

interface Call {
  /** The JSON of this call, printed once. */
  readonly text: string
  readonly bytes: number
  readonly keyed: boolean
  readonly since: number
  readonly traceparent: string | undefined
  readonly resolve: (value: never) => void
  readonly reject: (error: DaybookError) => void
}

export class Gatherer {
  private readonly batcher: Batcher<Call>
  /** Number of calls that will be repeated after a pause. Meanwhile they are neither waiting nor in flight. */
  private pausing = 0
  private closed = false

  constructor(private readonly gathering: Gathering) {
    this.batcher = new Batcher(gathering.limits, (batch) => this.sendBatch(batch, undefined))
  }

  /** @throws DaybookError `invalid` if the value is not JSON; `overloaded` if too many calls are waiting. */
  call<T>(value: unknown, keyed: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.closed) return reject(new DaybookError('closed', 'this client was closed; create another one', { unsent: true }))
      if (this.batcher.size + this.pausing >= this.gathering.waitingMax) {
        return reject(
          new DaybookError('overloaded', `${this.gathering.waitingMax} calls are waiting already; await some of them before making more`, { unsent: true }),
        )
      }
      const text = this.gathering.print(value)
      if (text instanceof DaybookError) return reject(text)
      this.batcher.push({ text, bytes: Buffer.byteLength(text) + 1, keyed, since: performance.now(), traceparent: activeTraceParent(), resolve, reject })
    })
  }

  /** Accepts no more calls, and resolves when the earlier ones are answered. */
  async close(): Promise<void> {
    this.closed = true
    do await this.batcher.idle()
    while (this.pausing > 0 && (await pause(5), true))
  }

  /** Answers every call of the batch; never rejects. */
  private async sendBatch(batch: ReadonlyArray<Call>, key: string | undefined): Promise<void> {
    const { retryForMs, send, keyOf } = this.gathering
    const texts = batch.map(({ text }) => text)
    const youngest = batch[batch.length - 1] as Call
    const idempotencyKey = key ?? keyOf(batch)
    const traceparent = batch.every((call) => call.traceparent === youngest.traceparent) ? youngest.traceparent : undefined
    let answer: BulkAnswer | null
    try {
      answer = await retrying(() => send(texts, idempotencyKey, traceparent), 'safe', youngest.since + retryForMs)
    } catch (error) {
      return this.failed(batch, asDaybookError(error))
    }
    // Something else than a Daybook server may have answered.
    const count = Array.isArray(answer?.results) ? answer.results.length : 0
    if (count === batch.length) return this.answerEach(batch, answer as BulkAnswer)
    const error = new DaybookError('unexpected-answer', `${count} answers to ${batch.length} calls`)
    for (const call of batch) call.reject(error)
  }

  private answerEach(batch: ReadonlyArray<Call>, { results, revision }: BulkAnswer): void {
    let repeated: Array<Call> | undefined
    let lastError: DaybookError | undefined
    for (let i = 0; i < batch.length; i++) {
      const call = batch[i] as Call
      const result = results[i]
      if (typeof result !== 'object' || result === null) {
        call.reject(answerMissing())
        continue
      }
      if (!isProblem(result)) {
        const value = result as { revision?: number }
        if (revision !== undefined && value.revision === undefined) value.revision = revision
        call.resolve(value as never)
        continue
      }
      const error = errorOf(ownPaths(result))
      if (mayRetry(error, 'unsent') && performance.now() < call.since + this.gathering.retryForMs) {
        repeated ??= []
        repeated.push(call)
        lastError = error
      } else {
        call.reject(error)
      }
    }
    if (repeated !== undefined) this.sendLater(repeated, backoffMs(3, lastError))
  }

  private sendLater(calls: ReadonlyArray<Call>, delayMs: number): void {
    this.pausing += calls.length
    setTimeout(() => {
      this.pausing -= calls.length
      for (const call of calls) this.batcher.push(call)
    }, delayMs)
  }

  /** Called if a whole request was refused. If one call may be the cause, the halves are sent separately, so that the others are not affected. */
  private async failed(batch: ReadonlyArray<Call>, error: DaybookError): Promise<void> {
    // What a proxy refuses is not about one of them, except that they are too large together.
    const mayBeOneCall = error.status === 413 || (error.code !== 'unexpected-answer' && (error.status === 400 || error.status === 422))
    if (batch.length === 1 || !mayBeOneCall) {
      for (const call of batch) call.reject(error)
      return
    }
    const half = batch.length >> 1
    await this.sendBatch(batch.slice(0, half), undefined)
    await this.sendBatch(batch.slice(half), undefined)
  }
}

/** JSON text of a task or outcome, or the error if it has none. `replacer`: that of `JSON.stringify`, which may throw. */
export const textOf = (value: unknown, replacer?: (key: string, value: unknown) => unknown): string | DaybookError => {
  try {
    const text = JSON.stringify(value, replacer) as string | undefined
    return text ?? new DaybookError('invalid', `${typeof value} is not a JSON value`, { unsent: true })
  } catch (error) {
    return new DaybookError('invalid', `not JSON: ${(error as Error).message}`, { unsent: true, cause: error })
  }
}

export const answerMissing = (): DaybookError => new DaybookError('unexpected-answer', 'an answer is missing')

export const asDaybookError = (error: unknown): DaybookError =>
  error instanceof DaybookError
    ? error
    : new DaybookError('unexpected-answer', error instanceof Error ? error.message : String(error), { cause: error })

/** Removes the index from paths like `tasks[17].priority`, because the caller of a single task does not know it. */
export const ownPaths = (problem: Problem): Problem => {
  const { detail, errors } = problem
  return {
    ...problem,
    ...(detail === undefined ? {} : { detail: detail.replace(place, '') }),
    ...(errors === undefined ? {} : { errors: errors.map(({ path, message }) => ({ path: path.replace(place, ''), message })) }),
  }
}
const place = /^(?:tasks|outcomes)\[\d+\](?:\.|: )?/
