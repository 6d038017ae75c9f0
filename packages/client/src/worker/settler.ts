/**
 * Sends outcomes to the queue. They are gathered while a call is in flight. They are kept and sent again until the queue has accepted or refused each
 * of them, or the time limit is over.
 */
import { randomUUID } from 'node:crypto'
import { Batcher } from '../transport/batcher.js'
import { backoffMs, pause } from '../transport/retry.js'
import { longTimer } from '../transport/long-timer.js'
import { onAbort } from '../transport/abort.js'
import { DaybookError } from '../errors.js'
import type { OnWorkerEvent } from './events.js'
import type { WorkerConfig } from './options.js'
import { codeOf, isLost, mayRetryLater } from './refusals.js'
import type { Run } from './run.js'
import type { Refused, SettleAnswer, SettleOutcome } from './source.js'

interface Item {
  readonly run: Run
  readonly outcome: SettleOutcome
  readonly since: number
  readonly bytes: number
}

/** The time that the last try has for its answer when the worker stops, in milliseconds. */
const lastTryMs = 1_000

export interface SettlerPort {
  /** Called when the run is over: its outcome was accepted or refused, or was given up (`undefined`). */
  readonly over: (run: Run, outcome: SettleOutcome, answer: SettleAnswer | undefined) => void
}

export class Settler {
  private readonly batcher: Batcher<Item>
  private unsettled = 0
  private calls = 0
  /** Distinguishes this worker's calls from those of an earlier worker with the same name. */
  private readonly id = randomUUID()
  /** When to stop retrying, by `performance.now()`; set when the worker stops. */
  private until = Number.POSITIVE_INFINITY
  /** Aborted shortly before that time: every outcome that waits for another try is sent once more. */
  private readonly givingUp = new AbortController()
  /** Aborted at that time: no answer is waited for any longer. */
  private readonly over = new AbortController()

  constructor(
    private readonly config: Pick<WorkerConfig, 'source' | 'agentId' | 'settleMax' | 'settleInFlightMax' | 'settleForMs' | 'backoffMsMax'>,
    private readonly tell: OnWorkerEvent,
    private readonly port: SettlerPort,
  ) {
    this.batcher = new Batcher(
      {
        itemsMax: config.settleMax,
        bytesMax: Number.POSITIVE_INFINITY,
        inFlightMax: config.settleInFlightMax,
        splitMin: Math.min(128, config.settleMax),
      },
      (batch) => this.send(batch),
    )
  }

  /** Number of outcomes not accepted yet. */
  get size(): number {
    return this.unsettled
  }

  push(run: Run, outcome: SettleOutcome): void {
    this.unsettled++
    this.batcher.push({ run, outcome, since: performance.now(), bytes: 0 })
  }

  /** Gives up the outcomes that are not accepted by this time (of `performance.now()`). */
  giveUpAt(time: number): void {
    this.until = time
    const leftMs = time - performance.now()
    longTimer(Math.max(0, leftMs - lastTryMs), () => this.givingUp.abort(), { unref: true })
    longTimer(Math.max(0, leftMs), () => this.over.abort(), { unref: true })
  }

  private async send(batch: ReadonlyArray<Item>): Promise<void> {
    const outcomes = batch.map(({ outcome }) => outcome)
    const attempt = `${this.id}.${++this.calls}`
    for (let failures = 1; ; failures++) {
      try {
        const answers = await this.unlessSilent(() => this.config.source.settle(outcomes, attempt))
        this.answered(batch, answers)
        return
      } catch (error) {
        const code = codeOf(error)
        if (batch.length > 1 && (code === 'too-large' || code === 'invalid')) return this.halve(batch)
        if (batch.length === 1 && code !== undefined && !mayRetryLater(code) && !isDenied(code) && !saysWhen(error)) {
          return this.answered(batch, [{ ok: false, code, detail: (error as Error).message }])
        }
        const retryInMs = backoffMs(failures, error, this.config.backoffMsMax)
        if (this.isTooLate(batch[batch.length - 1] as Item, retryInMs)) return this.giveUp(batch, error)
        this.tell({ type: 'settle-failed', outcomes: batch.length, error, retryInMs })
        await pause(retryInMs, this.givingUp.signal)
      }
    }
  }

  /** A queue that takes a call and never answers must not keep the worker from stopping. */
  private unlessSilent<A>(call: () => Promise<A>): Promise<A> {
    const { signal } = this.over
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(new DaybookError('timeout', 'the queue had not answered when the worker stopped: it may have accepted the outcome'))
      if (signal.aborted) return giveUp()
      const forget = onAbort(signal, giveUp)
      call().then(resolve, reject).finally(forget)
    })
  }

  private conclude({ run, outcome }: Item, answer: SettleAnswer | undefined): void {
    this.unsettled--
    this.port.over(run, outcome, answer)
  }

  /** Called if a batch was refused as a whole. A single outcome may be the cause, so the halves are sent separately. */
  private async halve(batch: ReadonlyArray<Item>): Promise<void> {
    const half = batch.length >> 1
    await this.send(batch.slice(0, half))
    await this.send(batch.slice(half))
  }

  private isTooLate({ since }: Item, retryInMs: number): boolean {
    return this.givingUp.signal.aborted || performance.now() + retryInMs > Math.min(this.until, since + this.config.settleForMs)
  }

  private answered(batch: ReadonlyArray<Item>, answers: ReadonlyArray<SettleAnswer>): void {
    for (let i = 0; i < batch.length; i++) {
      const item = batch[i] as Item
      const answer = answers[i] ?? missing
      if (answer.ok) this.conclude(item, answer)
      else if (mayRetryLater(answer.code)) this.sendLater(item, answer)
      else this.refused(item, answer)
    }
  }

  private refused(item: Item, answer: Refused): void {
    const { run, outcome } = item
    this.tell({ type: 'outcome-refused', taskId: outcome.taskId, kind: outcome.kind, code: answer.code, detail: answer.detail })
    const instead = isLost(answer.code) ? undefined : failureInstead(outcome, answer)
    if (instead === undefined) return this.conclude(item, answer)
    this.unsettled--
    this.push(run, instead)
  }

  private sendLater(item: Item, answer: Refused): void {
    const retryInMs = Math.max(backoffMs(3, undefined, this.config.backoffMsMax), (answer.retryAfterSeconds ?? 0) * 1_000)
    if (this.isTooLate(item, retryInMs)) return this.giveUp([item], answer)
    void pause(retryInMs, this.givingUp.signal).then(() => this.batcher.push(item))
  }

  private giveUp(batch: ReadonlyArray<Item>, error: unknown): void {
    for (const item of batch) {
      const { taskId, kind } = item.outcome
      this.tell({ type: 'outcome-given-up', taskId, kind, error })
      this.conclude(item, undefined)
    }
  }
}

/**
 * The failure to report if the queue refuses a result, or part of a failure report. Without a report, the task would be held until its lease ends,
 * and then be done again in vain.
 */
export const failureInstead = (outcome: SettleOutcome, { code, detail }: Refused): SettleOutcome | undefined => {
  const { taskId, agentId, token } = outcome
  if (outcome.kind === 'complete') {
    const message = `the result was refused (${code}): ${detail}`
    return { kind: 'fail', taskId, agentId, token, error: { message }, retryable: false }
  }
  if (outcome.kind === 'park') {
    const { checkpoint } = outcome
    // Another task waits for this key, but not for ever, so a retry may succeed. It goes on from the checkpoint.
    const failed = { kind: 'fail' as const, taskId, agentId, token, error: { message: `parking was refused (${code}): ${detail}` }, retryable: code === 'conflict' }
    return checkpoint === undefined ? failed : { ...failed, checkpoint }
  }
  if (outcome.kind !== 'fail' || (outcome.checkpoint === undefined && Object.keys(outcome.error).length === 1)) return undefined
  return { kind: 'fail', taskId, agentId, token, error: { message: outcome.error.message }, retryable: outcome.retryable }
}

/** Whether the token is refused, and not the outcome. The outcome may be accepted once the token is valid again. */
const isDenied = (code: string): boolean => code === 'unauthorized' || code === 'forbidden'

/** Whether it is to be sent again, because the same call is still running, for example. */
const saysWhen = (error: unknown): boolean => (error as { readonly retryAfterSeconds?: unknown }).retryAfterSeconds !== undefined

const missing: SettleAnswer = { ok: false, code: 'internal', detail: 'an answer is missing' }
