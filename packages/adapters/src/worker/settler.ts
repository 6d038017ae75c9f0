/**
 * Hands in outcomes: gathered while a call is under way, kept and sent again until the queue has accepted
 * or refused each of them, or the time for that is over.
 */
import { randomUUID } from 'node:crypto'
import { Batcher } from '../client/batcher.js'
import { backoffMs, pause } from '../client/retry.js'
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

export interface SettlerPort {
  /** An outcome was accepted, or will never be: the run is over. */
  readonly over: (run: Run, outcome: SettleOutcome, answer: SettleAnswer | undefined) => void
}

export class Settler {
  private readonly batcher: Batcher<Item>
  private _size = 0
  private calls = 0
  /** Distinguishes this worker's calls from those of a former one under the same name. */
  private readonly id = randomUUID()
  /** Once the worker stops there is an end to trying, in milliseconds since 1970. */
  private until = Number.POSITIVE_INFINITY
  private readonly hurry = new AbortController()

  constructor(
    private readonly config: Pick<WorkerConfig, 'source' | 'agentId' | 'settleMax' | 'settleInFlightMax' | 'settleForMs' | 'backoffMsMax'>,
    private readonly onEvent: OnWorkerEvent,
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

  /** Outcomes not accepted yet. */
  get size(): number {
    return this._size
  }

  push(run: Run, outcome: SettleOutcome): void {
    this._size++
    this.batcher.push({ run, outcome, since: Date.now(), bytes: 0 })
  }

  /** Gives up what is not accepted by then (milliseconds since 1970). */
  giveUpAt(time: number): void {
    this.until = time
    const left = setTimeout(() => this.hurry.abort(), Math.max(0, time - Date.now()))
    left.unref()
  }

  private async send(batch: ReadonlyArray<Item>): Promise<void> {
    const outcomes = batch.map(({ outcome }) => outcome)
    const attempt = `${this.id}.${++this.calls}`
    for (let failures = 1; ; failures++) {
      try {
        const answers = await this.config.source.settle(outcomes, attempt)
        this.answered(batch, answers)
        return
      } catch (error) {
        if (batch.length > 1 && (codeOf(error) === 'too-large' || codeOf(error) === 'invalid')) return this.halve(batch)
        if (batch.length === 1 && codeOf(error) !== undefined && !mayRetryLater(codeOf(error) as string) && !isDenied(codeOf(error))) {
          return this.answered(batch, [{ ok: false, code: codeOf(error) as string, detail: (error as Error).message }])
        }
        const retryInMs = backoffMs(failures, error, this.config.backoffMsMax)
        if (this.isOver(batch[batch.length - 1] as Item, retryInMs)) return this.giveUp(batch, error)
        this.onEvent({ type: 'settle-failed', outcomes: batch.length, error, retryInMs })
        await pause(retryInMs, this.hurry.signal)
      }
    }
  }

  private _over({ run, outcome }: Item, answer: SettleAnswer | undefined): void {
    this._size--
    this.port.over(run, outcome, answer)
  }

  private async halve(batch: ReadonlyArray<Item>): Promise<void> {
    const half = batch.length >> 1
    await this.send(batch.slice(0, half))
    await this.send(batch.slice(half))
  }

  private isOver({ since }: Item, retryInMs: number): boolean {
    return this.hurry.signal.aborted || Date.now() + retryInMs > Math.min(this.until, since + this.config.settleForMs)
  }

  private answered(batch: ReadonlyArray<Item>, answers: ReadonlyArray<SettleAnswer>): void {
    for (let i = 0; i < batch.length; i++) {
      const item = batch[i] as Item
      const answer = answers[i] ?? missing
      if (answer.ok) this._over(item, answer)
      else if (mayRetryLater(answer.code)) this.later(item, answer)
      else {
        const { outcome } = item
        this.onEvent({ type: 'outcome-refused', taskId: outcome.taskId, kind: outcome.kind, code: answer.code, detail: answer.detail })
        const instead = isLost(answer.code) ? undefined : failureInstead(outcome, answer)
        if (instead === undefined) {
          this._over(item, answer)
        } else {
          this._size--
          this.push(item.run, instead)
        }
      }
    }
  }

  private later(item: Item, answer: Refused): void {
    const retryInMs = Math.max(backoffMs(3, undefined, this.config.backoffMsMax), (answer.retryAfterSeconds ?? 0) * 1_000)
    if (this.isOver(item, retryInMs)) return this.giveUp([item], answer)
    void pause(retryInMs, this.hurry.signal).then(() => this.batcher.push(item))
  }

  private giveUp(batch: ReadonlyArray<Item>, error: unknown): void {
    for (const item of batch) {
      const { taskId, kind } = item.outcome
      this.onEvent({ type: 'outcome-given-up', taskId, kind, error })
      this._over(item, undefined)
    }
  }
}

/**
 * The queue will not have this result, or not all that came with a failure. Without a word the task would
 * be held until its lease ends, and then be done again in vain.
 */
const failureInstead = (outcome: SettleOutcome, { code, detail }: Refused): SettleOutcome | undefined => {
  const { taskId, agentId, token } = outcome
  if (outcome.kind === 'complete') {
    const message = `the result was refused (${code}): ${detail}`
    return { kind: 'fail', taskId, agentId, token, error: { message }, retryable: false }
  }
  if (outcome.kind !== 'fail' || (outcome.checkpoint === undefined && Object.keys(outcome.error).length === 1)) return undefined
  return { kind: 'fail', taskId, agentId, token, error: { message: outcome.error.message }, retryable: outcome.retryable }
}

/** Not the outcome's fault: another token may be let in. */
const isDenied = (code: string | undefined): boolean => code === 'unauthorized' || code === 'forbidden'

const missing: SettleAnswer = { ok: false, code: 'internal', detail: 'an answer is missing' }
