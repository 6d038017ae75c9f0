/**
 * A worker: claims tasks, runs the handler on them, hands in what comes of it.
 *
 * new ─start→ running ─stop→ stopping ─all handed in, or given up→ stopped
 *                  └─claims refused for good─┘
 *
 * While it runs, three things go on at the same time, and none waits for another: one claim is under way
 * whenever there is room for what it may bring; handlers run; outcomes are handed in in batches. One timer
 * looks after all leases, another after handlers that run too long.
 */
import type { Status } from '@daybook/core'
import { backoffMs, pause } from '../client/retry.js'
import type { OnWorkerEvent, WorkerEvent, WorkerStats } from './events.js'
import { ClaimedAhead } from './claimed-ahead.js'
import { Gate } from './gate.js'
import { LeaseLost, RunTimeExceeded, WorkerStopped } from './handler.js'
import { Leases } from './leases.js'
import type { WorkerConfig } from './options.js'
import { givenBack, type Host, outcomeOf, ranTooLong, runTimeMessage } from './outcome.js'
import { Pace } from './pace.js'
import { codeOf, isFatal } from './refusals.js'
import { Run } from './run.js'
import { RunLimit } from './run-limit.js'
import { Settler } from './settler.js'
import type { ClaimedWork, SettleAnswer, SettleOutcome, SourceClaim } from './source.js'

/** The server's limit on one claim. */
const claimMax = 1_000
/** How long an aborted handler may take to end when the worker stops. */
const abortedMs = 1_000
/** The same for one that ran too long. `daybook work` needs five seconds to kill a program that ignores SIGTERM. */
const overdueMs = 6_000
/** How long outcomes are still handed in after the handlers have ended. */
const handInMs = 5_000
/** A claim that finds work is mostly answered by then. After that it is a long poll, and waits for work. */
const nothingThereMs = 100
/** The same, before it is asked whether a queue is drained. */
const drainedMs = 500

/** What is behind `createWorker`. */
export class WorkerLoop {
  private state: WorkerStats['state'] = 'new'
  private readonly ahead = new ClaimedAhead()
  /** Runs whose handlers have returned promises, in the order in which they began. */
  private readonly running = new Set<Run>()
  /** 1 while a handler is being called. */
  private calling = 0
  private pumping = false
  private claimSentAt = 0
  private isClaiming = false
  /** When the last claim was sent that came back empty. */
  private emptySentAt = Number.NEGATIVE_INFINITY
  private prefetch = 0
  private counts = { claimed: 0, started: 0, completed: 0, failed: 0, released: 0, lost: 0 }

  private readonly pace = new Pace()
  private readonly leases: Leases
  private readonly settler: Settler
  private readonly host: Host
  private readonly runLimit: RunLimit
  private readonly claims = new AbortController()
  private readonly wakeClaims = new Gate()
  /** Opened when those who wait for an end should look again: a run is over, a deadline has moved. */
  private readonly progress = new Gate()
  private drainers = 0
  private claiming: Promise<void> = Promise.resolve()
  /** Whether the queue has nothing, while that is being found out. */
  private asking: Promise<void> | undefined
  private stopping: Promise<void> | undefined
  private deadline = Number.POSITIVE_INFINITY
  private end: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined
  readonly ended: Promise<void>

  constructor(readonly config: WorkerConfig) {
    const { source, agentId, leaseRenewRatio, maxRunSeconds } = config
    this.leases = new Leases(source, agentId, leaseRenewRatio, { tell: this.tell, lost: (run, detail) => this.lost(run, detail) })
    this.host = { handler: config.handler, agentId, isStopping: () => this.state !== 'running' }
    this.settler = new Settler(config, this.tell, { over: (run, outcome, answer) => this.over(run, outcome, answer) })
    this.runLimit = new RunLimit(this.running, maxRunSeconds * 1_000, (run) => this.ranTooLong(run))
    this.ended = new Promise((resolve, reject) => (this.end = { resolve, reject }))
    // A program that does not look at it must not be ended by its rejection.
    this.ended.catch(() => undefined)
  }

  start(): void {
    if (this.state !== 'new') throw new Error(`this worker is ${this.state}; create another one`)
    this.state = 'running'
    // Whoever waits for the end from the beginning is known to the first claim: it need not wait for work.
    this.claiming = Promise.resolve().then(() => this.claimLoop())
  }

  stats(): WorkerStats {
    return {
      ...this.counts,
      state: this.state,
      running: this.running.size + this.calling,
      buffered: this.ahead.size,
      unsettled: this.settler.size,
      prefetch: this.prefetch,
    }
  }

  private readonly tell: OnWorkerEvent = (event: WorkerEvent): void => {
    try {
      this.config.onEvent?.(event)
    } catch (error) {
      // A faulty logger must not cost a task, nor go unseen.
      queueMicrotask(() => {
        throw error
      })
    }
  }

  // ------------------------------------------------------------ claiming

  private async claimLoop(): Promise<void> {
    const { source, claimWaitMs } = this.config
    const request = this.request()
    const { signal } = this.claims
    for (let failures = 0; this.state === 'running'; ) {
      const max = this.room()
      if (max === 0) {
        await this.wakeClaims.pass()
        continue
      }
      try {
        this.claimSentAt = performance.now()
        this.isClaiming = true
        const works = await source.claim({ ...request, max, waitMs: this.drainers > 0 ? 0 : claimWaitMs }, signal)
        this.isClaiming = false
        failures = 0
        if (works.length > 0) this.accept(works, this.claimSentAt)
        else await this.foundNothing(performance.now() - this.claimSentAt)
      } catch (error) {
        this.isClaiming = false
        if (signal.aborted) return
        if (codeOf(error) === 'not-found') {
          // A queue comes into being with its first task. Until then it counts as empty.
          await this.foundNothing(0)
          continue
        }
        failures++
        const fatal = isFatal(codeOf(error))
        const retryInMs = fatal ? 0 : backoffMs(failures, error, this.config.backoffMsMax)
        this.tell({ type: 'claim-failed', error, fatal, retryInMs })
        if (fatal) return this.endBecause(error)
        await pause(retryInMs, signal)
      }
    }
  }

  private request(): Omit<SourceClaim, 'max' | 'waitMs'> {
    const { agentId, types, phases, skills, tenant, leaseSeconds } = this.config
    return { agentId, types, phases, skills, tenant, leaseSeconds }
  }

  /** A source that does not wait would be asked again at once, without end: this is what makes a pause. */
  private async foundNothing(waitedMs: number): Promise<void> {
    this.emptySentAt = this.claimSentAt
    this.progress.open()
    if (this.drainers > 0) await pause(5, this.claims.signal)
    else if (waitedMs < nothingThereMs) await pause(nothingThereMs - waitedMs, this.claims.signal)
  }

  private endBecause(error: unknown): void {
    this.end?.reject(error)
    void this.stop(10_000)
  }

  /** How many tasks to claim now; 0 while enough are in hand. */
  private room(): number {
    const { concurrency, prefetchMax, prefetchMs, unsettledMax } = this.config
    if (this.settler.size >= unsettledMax) return 0
    this.prefetch = this.pace.within(prefetchMs, concurrency, prefetchMax)
    // Half of what is held ahead is claimed at a time: one by one, every task would cost a request.
    if (this.ahead.size * 2 > this.prefetch) return 0
    return Math.min(claimMax, Math.max(0, concurrency + this.prefetch - this.running.size - this.ahead.size))
  }

  private accept(works: ReadonlyArray<ClaimedWork>, sentAt: number): void {
    this.counts.claimed += works.length
    if (this.state === 'stopped') {
      for (const { task } of works) this.tell({ type: 'abandoned', taskId: task.id, reason: 'stopped' })
      return
    }
    for (const work of works) {
      // From the sending on: what the answer took to come is already gone from the lease.
      const run = new Run(this.leases, work, sentAt + work.waitedMs, this.config.leaseRenewRatio)
      this.leases.add(run)
      this.ahead.add(run)
    }
    this.pump()
  }

  // ------------------------------------------------------------- running

  /** Starts what can be started. */
  private pump(): void {
    // A handler that returns at once ends within `begin`, and would start the next one from within.
    if (this.pumping) return
    this.pumping = true
    const { concurrency } = this.config
    let now = performance.now()
    while (this.running.size < concurrency) {
      const run = this.ahead.next()
      if (run === undefined) break
      if (run.leaseEndsAt > now) now = this.begin(run, now)
      else this.lost(run, 'expired: the lease ended before the task was begun')
    }
    this.pumping = false
    if (this.wakeClaims.isWaitedAt && this.state !== 'running') this.wakeClaims.open()
    else if (this.wakeClaims.isWaitedAt && this.ahead.size * 2 <= this.prefetch) this.wakeClaims.open()
  }

  /** Returns the time when the call of the handler was over. Most of the quick ones have ended by then, and are never in `running`. */
  private begin(run: Run, now: number): number {
    this.ahead.left()
    this.counts.started++
    run.state = 'running'
    run.startedAt = now
    this.calling = 1
    const outcome = outcomeOf(run, this.host, this.endedLater)
    this.calling = 0
    const calledAt = performance.now()
    if (outcome === undefined) {
      this.running.add(run)
      this.runLimit.watch()
    } else {
      this.finished(run, outcome, calledAt)
    }
    return calledAt
  }

  private readonly endedLater = (run: Run, outcome: SettleOutcome): void => {
    this.running.delete(run)
    this.finished(run, outcome, performance.now())
    this.pump()
  }

  private finished(run: Run, outcome: SettleOutcome, now: number): void {
    const { agentId, maxRunSeconds } = this.config
    this.pace.finish(now - run.startedAt)
    if (run.state === 'running') this.settle(run, outcome)
    else if (run.state === 'stopped') this.settle(run, givenBack(run, agentId, 'the worker stopped'))
    else if (run.state === 'overdue') this.settle(run, ranTooLong(run, agentId, maxRunSeconds))
    this.progress.open()
  }

  private settle(run: Run, outcome: SettleOutcome): void {
    run.state = 'settling'
    this.settler.push(run, outcome)
  }

  private over(run: Run, outcome: SettleOutcome, answer: SettleAnswer | undefined): void {
    run.state = 'gone'
    this.leases.remove(run)
    if (answer?.ok === true) this.accepted(outcome, answer.status)
    else this.counts.lost++
    if (this.wakeClaims.isWaitedAt) this.wakeClaims.open()
    this.progress.open()
  }

  private accepted({ kind, taskId }: SettleOutcome, status: Status): void {
    if (kind === 'complete') this.counts.completed++
    else if (kind === 'fail') this.counts.failed++
    else this.counts.released++
    if (this.config.onEvent === undefined) return
    this.tell({ type: 'outcome-accepted', taskId, kind, status })
    if (status === 'incomplete') this.tell({ type: 'incomplete', taskId })
  }

  private ranTooLong(run: Run): void {
    const { maxRunSeconds } = this.config
    if (run.state === 'lost') return this.abandonOverdue(run)
    if (run.state !== 'running') return
    run.state = 'overdue'
    this.tell({ type: 'run-time-exceeded', taskId: run.task.id, maxRunSeconds })
    run.abort(new RunTimeExceeded(runTimeMessage(maxRunSeconds)))
    setTimeout(() => this.abandonOverdue(run), overdueMs).unref()
  }

  /** A handler that hangs must not keep its place, nor its task's lease. It cannot be stopped, only left to itself. */
  private abandonOverdue(run: Run): void {
    if (!this.running.delete(run)) return
    this.tell({ type: 'abandoned', taskId: run.task.id, reason: 'run-time-exceeded' })
    if (run.state === 'overdue') this.settle(run, ranTooLong(run, this.config.agentId, this.config.maxRunSeconds))
    this.progress.open()
    this.pump()
  }

  /** `buffered` or later; not while its outcome is being handed in. */
  private lost(run: Run, detail: string): void {
    const started = run.state !== 'buffered'
    if (!started) this.ahead.left()
    this.leases.remove(run)
    run.state = 'lost'
    this.counts.lost++
    this.tell({ type: 'lease-lost', taskId: run.task.id, started, detail })
    run.abort(new LeaseLost(detail))
    if (this.wakeClaims.isWaitedAt) this.wakeClaims.open()
    this.progress.open()
  }

  // ------------------------------------------------------------ stopping

  async drained(): Promise<void> {
    this.drainers++
    let idleSince = performance.now()
    try {
      while (this.state !== 'stopped') {
        const idle = this.running.size + this.calling === 0 && this.ahead.size === 0 && this.settler.size === 0
        if (!idle) idleSince = performance.now()
        if (idle && this.state === 'running') {
          if (this.emptySentAt >= idleSince) return
          if (this.isClaiming && performance.now() - Math.max(this.claimSentAt, idleSince) >= drainedMs) {
            await (this.asking ??= this.ask().finally(() => (this.asking = undefined)))
            continue
          }
        }
        await this.progress.passWithin(nothingThereMs / 4)
      }
    } finally {
      this.drainers--
    }
  }

  /**
   * Whether the queue has nothing, while a claim is under way that may wait for work or only be answered late. Claims that do not
   * wait find out. There are two of them, since the first may be answered before the claim that took the last task.
   */
  private async ask(): Promise<void> {
    const { signal } = this.claims
    try {
      for (let asked = 0; asked < 2; asked++) {
        const sentAt = performance.now()
        const works = await this.config.source.claim({ ...this.request(), max: 1, waitMs: 0 }, signal)
        if (works.length > 0) return this.accept(works, sentAt)
        if (asked > 0) this.emptySentAt = sentAt
      }
    } catch (error) {
      if (signal.aborted) return
      if (codeOf(error) === 'not-found') this.emptySentAt = performance.now()
      // The claim under way tells what is wrong.
      else await pause(nothingThereMs, signal)
    }
  }

  stop(graceMs: number): Promise<void> {
    const deadline = Date.now() + graceMs
    if (deadline < this.deadline) {
      this.deadline = deadline
      this.progress.open()
    }
    return (this.stopping ??= this.shutDown())
  }

  private async shutDown(): Promise<void> {
    // 1. No new work.
    this.state = 'stopping'
    this.wakeClaims.open()
    await this.endClaims()
    // 2. Tasks claimed ahead: worked off, or given back.
    const left = this.deadline - Date.now()
    const needed = (this.ahead.size * this.pace.averageMs) / this.config.concurrency
    if (!(needed <= left / 2)) this.giveBackBuffered()
    // 3. Handlers.
    await this.until(() => this.running.size === 0 && this.ahead.size === 0, () => this.deadline)
    this.giveBackBuffered()
    for (const run of this.running) {
      if (run.state !== 'running') continue
      run.state = 'stopped'
      run.abort(new WorkerStopped('the worker stopped'))
    }
    const patience = Date.now() + abortedMs
    await this.until(() => this.running.size === 0, () => patience)
    for (const run of this.running) {
      if (run.state === 'overdue') this.abandonOverdue(run)
      if (run.state !== 'stopped') continue
      run.state = 'gone'
      this.counts.lost++
      this.leases.remove(run)
      this.tell({ type: 'abandoned', taskId: run.task.id, reason: 'stopped' })
    }
    // 4. Outcomes.
    this.settler.giveUpAt(Date.now() + handInMs)
    await this.until(() => this.settler.size === 0, () => Number.POSITIVE_INFINITY)
    this.leases.close()
    this.runLimit.close()
    this.state = 'stopped'
    this.progress.open()
    this.end?.resolve()
  }

  private async endClaims(): Promise<void> {
    const ended = new AbortController()
    void Promise.all([this.claiming, this.asking]).then(() => ended.abort())
    // A claim that was sent just now may be answered at any moment. Were it broken off, the tasks that it has taken would be nobody's.
    if (this.isClaiming) await pause(this.claimSentAt + nothingThereMs - performance.now(), ended.signal)
    this.claims.abort()
    // A source that ignores the signal must not keep the worker from stopping.
    await pause(Math.max(abortedMs, this.deadline - Date.now()), ended.signal)
  }

  private giveBackBuffered(): void {
    for (let run = this.ahead.next(); run !== undefined; run = this.ahead.next()) {
      this.ahead.left()
      this.settle(run, givenBack(run, this.config.agentId, 'the worker stopped before it began'))
    }
  }

  /** Until the condition holds, or the deadline is over. The deadline may move meanwhile. */
  private async until(isSo: () => boolean, deadline: () => number): Promise<void> {
    while (!isSo()) {
      const left = deadline() - Date.now()
      if (left <= 0) return
      await this.progress.passWithin(Math.min(left, 60_000))
    }
  }
}
