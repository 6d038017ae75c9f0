/**
 * Renews the leases of all tasks that the worker holds, with a single timer and batched heartbeats. A lease that could not be extended in time counts
 * as lost, even if the server was only unreachable: another agent may have the task (GB-03, LK-07).
 */
import { codeOf, isLost, mayRetryLater } from './refusals.js'
import type { OnWorkerEvent } from './events.js'
import type { Note, Run } from './run.js'
import type { Heartbeat, HeartbeatAnswer, TaskSource } from './source.js'

const batchMax = 500
/** Longest time of a timer, in milliseconds; Node's own limit is 2³¹ − 1. */
const sleepMsMax = 2_000_000_000
const retryMsMax = 1_000
/** A heartbeat without an answer is sent again after this share of the lease, and not earlier than this, in milliseconds: its connection may hang. */
const answerRatio = 1 / 6
const answerMsMin = 1_000

export interface LeasesPort {
  readonly tell: OnWorkerEvent
  /** Called when the lease of this run has ended, or was taken away. */
  readonly lost: (run: Run, detail: string) => void
}

export class Leases {
  private readonly held = new Set<Run>()
  private readonly soon = new Set<Run>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private timerAt = Number.POSITIVE_INFINITY

  constructor(
    private readonly source: TaskSource,
    private readonly agentId: string,
    private readonly renewRatio: number,
    private readonly port: LeasesPort,
  ) {}

  add(run: Run): void {
    this.held.add(run)
    if (run.beatAt < this.timerAt) this.wakeAt(run.beatAt)
  }

  remove(run: Run): void {
    this.held.delete(run)
  }

  /** Sends a heartbeat with the handler's report at the end of this turn, together with those of other runs. */
  beatSoon(run: Run): void {
    // A handler may report often within a turn.
    if (run.beating || this.soon.has(run)) return
    this.soon.add(run)
    if (this.soon.size > 1) return
    setImmediate(() => {
      const due = [...this.soon]
      this.soon.clear()
      this.beat(due.filter((each) => !each.beating && this.held.has(each)))
    })
  }

  close(): void {
    clearTimeout(this.timer)
    this.held.clear()
  }

  private wakeAt(at: number): void {
    clearTimeout(this.timer)
    this.timerAt = at
    this.timer = setTimeout(this.wake, Math.min(sleepMsMax, Math.max(1, at - performance.now())))
  }

  private readonly wake = (): void => {
    const now = performance.now()
    const due: Array<Run> = []
    for (const run of this.held) {
      // While a run is being settled, the queue decides whether the outcome is too late.
      if (run.leaseEndsAt <= now && run.state !== 'settling') this.lose(run, run.leaseEndsAt === run.leaseEndsMax ? 'expired: the attempt took longer than maxRunSeconds of the task' : 'expired: no heartbeat was answered in time')
      else if (!run.beating && run.beatAt - this.slack(run) <= now) due.push(run)
    }
    this.beat(due)
    let next = Number.POSITIVE_INFINITY
    for (const run of this.held) {
      if (!run.beating) next = Math.min(next, run.beatAt)
      if (run.state !== 'settling') next = Math.min(next, run.leaseEndsAt)
    }
    this.timerAt = Number.POSITIVE_INFINITY
    if (next < Number.POSITIVE_INFINITY) this.wakeAt(next)
  }

  /** Heartbeats that are nearly due are sent with those that are due. */
  private slack(run: Run): number {
    return Math.min(1_000, run.leaseMs * this.renewRatio * 0.1)
  }

  private lose(run: Run, detail: string): void {
    this.held.delete(run)
    this.port.lost(run, detail)
  }

  private beat(due: ReadonlyArray<Run>): void {
    for (let from = 0; from < due.length; from += batchMax) void this.send(due.slice(from, from + batchMax))
  }

  private async send(runs: ReadonlyArray<Run>): Promise<void> {
    const sentAt = performance.now()
    const notes = runs.map((run) => run.takeNote())
    const heartbeats = runs.map((run, i): Heartbeat => {
      run.beating = true
      const { progress, checkpoint } = notes[i] as Note
      return {
        taskId: run.task.id,
        agentId: this.agentId,
        token: run.token,
        ...(progress === undefined ? {} : { progress }),
        ...(checkpoint === undefined ? {} : { checkpoint }),
      }
    })
    const shortest = runs.reduce((ms, { leaseMs }) => Math.min(ms, leaseMs), Number.POSITIVE_INFINITY)
    const answers = await this.ask(heartbeats, Math.max(answerMsMin, shortest * answerRatio))
    for (let i = 0; i < runs.length; i++) this.answered(runs[i] as Run, notes[i] as Note, answers[i], sentAt)
  }

  /** Returns `undefined` for a heartbeat without an answer. If all are refused together, a single report may be the cause, so the halves are sent separately. */
  private async ask(heartbeats: ReadonlyArray<Heartbeat>, timeoutMs: number): Promise<ReadonlyArray<HeartbeatAnswer | undefined>> {
    try {
      const answers = await this.source.heartbeat(heartbeats, timeoutMs)
      return heartbeats.map((_, i) => answers[i])
    } catch (error) {
      const code = codeOf(error)
      const half = heartbeats.length >> 1
      if (code === 'too-large' || code === 'invalid') {
        if (half > 0) return (await Promise.all([this.ask(heartbeats.slice(0, half), timeoutMs), this.ask(heartbeats.slice(half), timeoutMs)])).flat()
        if (heartbeats.some(({ progress, checkpoint }) => progress !== undefined || checkpoint !== undefined)) return [{ ok: false, code, detail: (error as Error).message }]
      }
      this.port.tell({ type: 'heartbeat-failed', heartbeats: heartbeats.length, error })
      return heartbeats.map(() => undefined)
    }
  }

  private answered(run: Run, note: Note, answer: HeartbeatAnswer | undefined, sentAt: number): void {
    run.beating = false
    if (answer?.ok === true) {
      run.leaseEndsAt = Math.min(sentAt + run.leaseMs, run.leaseEndsMax)
      run.beatAt = sentAt + run.leaseMs * this.renewRatio
      for (const { resolve } of note.waiters) resolve()
    } else if (answer === undefined || mayRetryLater(answer.code)) {
      run.putBack(note)
      run.beatAt = performance.now() + Math.min(retryMsMax, run.leaseMs / 10) * (0.5 + Math.random())
    } else if (isLost(answer.code) || (note.progress === undefined && note.checkpoint === undefined)) {
      run.putBack(note)
      // No further heartbeat helps. While a run is being settled, the queue decides whether the outcome is too late.
      if (this.held.delete(run) && run.state !== 'settling') this.port.lost(run, answer.detail)
    } else {
      // The report was refused, not the heartbeat itself, so the heartbeat is sent again without it.
      for (const { reject } of note.waiters) reject(new Error(`${answer.code}: ${answer.detail}`))
      run.beatAt = performance.now()
    }
    if (!this.held.has(run)) return
    if (answer?.ok === true && run.hasNote()) this.beatSoon(run)
    if (run.beatAt < this.timerAt) this.wakeAt(run.beatAt)
  }
}
