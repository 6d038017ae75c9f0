/**
 * A worker: claims tasks, runs the handler on them, and reports the outcomes.
 *
 * new ─start→ running ─stop→ stopping ─all outcomes sent, or given up→ stopped
 *                  └─claims refused for good─┘
 *
 * Three activities run concurrently and do not wait for each other. One claim is in flight whenever there is room for its tasks; handlers run;
 * outcomes are sent in batches. One timer renews all leases, another one limits the run time of handlers.
 */
import type { Status } from '@daybook/core'
import { backoffMs, pause } from '../transport/retry.js'
import type { OnWorkerEvent, WorkerEvent, WorkerStats } from './events.js'
import { ClaimedAhead } from './claimed-ahead.js'
import { Gate } from './gate.js'
import { LeaseLost, RunTimeExceeded, WorkerStopped } from './handler.js'
import { Leases } from './leases.js'
import type { WorkerConfig } from './options.js'
import { givenBack, type Host, outcomeOf, ranTooLong, runTimeMessage } from './outcome.js'
import type { Reason } from '../methods/explanation.js'
import { Pace } from './pace.js'
import { Registration } from './registration.js'
import { codeOf, isFatal } from './refusals.js'
import { Run } from './run.js'
import { RunLimit } from './run-limit.js'
import { Settler } from './settler.js'
import { tracedHandler } from './traced-handler.js'
import type { ClaimedWork, SettleAnswer, SettleOutcome, SourceClaim } from './source.js'

/** The server's limit on one claim. */
const claimMax = 1_000
/** How long an aborted handler may take to end when the worker stops. */
const abortedMs = 1_000
/** The same for a handler that ran too long. `daybook work` needs five seconds to kill a program that ignores SIGTERM. */
const overdueMs = 6_000
/** How long outcomes are still sent after the handlers have ended. */
const handInMs = 5_000
/** A claim that finds tasks is mostly answered within this time. After that, it is a long poll that waits for tasks. */
const nothingThereMs = 100
/** How long a worker that stops waits for the answer to a claim that should have been answered. */
const lateMs = 1_000
/** How long a claim waits if the last one found tasks, or is the first. Its answer says why there are no tasks, and people should know that soon. */
const firstWaitMs = 1_000
/** The same as `nothingThereMs`, before the worker checks whether the queue is drained. */
const drainedMs = 500

/** The implementation of `createWorker`. */
export class WorkerLoop {
  private state: WorkerStats['state'] = 'new'
  private readonly ahead = new ClaimedAhead()
  /** Runs whose handlers have returned promises, in the order of their start. */
  private readonly running = new Set<Run>()
  /** 1 while a handler is being called. */
  private calling = 0
  private pumping = false
  private claimSentAt = 0
  /** Until when the claim in flight may wait for tasks on the server. After that its answer is only late. */
  private claimWaitsUntil = 0
  private isClaiming = false
  /** When the last claim that returned no tasks was sent. */
  private emptySentAt = Number.NEGATIVE_INFINITY
  /** When the last outcome was accepted, refused or given up. */
  private settledAt = Number.NEGATIVE_INFINITY
  private prefetch = 0
  private counts = { claimed: 0, started: 0, completed: 0, failed: 0, released: 0, parked: 0, lost: 0 }

  private readonly pace = new Pace()
  private readonly leases: Leases
  private readonly settler: Settler
  private readonly host: Host
  private readonly runLimit: RunLimit
  private readonly registration: Registration | undefined
  private toldReason: string | undefined
  /** Whether the last claim got nothing because the agent holds tasks that this worker has, or is about to get. */
  private isFull = false
  private readonly claims = new AbortController()
  private readonly wakeClaims = new Gate()
  /** Opened when callers that wait for the end should check again: a run is over, or a deadline has moved. */
  private readonly progress = new Gate()
  private drainers = 0
  private claiming: Promise<void> = Promise.resolve()
  /** Set while the worker checks whether the queue has no more tasks. */
  private asking: Promise<void> | undefined
  private stopping: Promise<void> | undefined
  private deadline = Number.POSITIVE_INFINITY
  private end: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined
  readonly ended: Promise<void>

  constructor(readonly config: WorkerConfig) {
    const { source, agentId, leaseRenewRatio, maxRunSeconds } = config
    this.leases = new Leases(source, agentId, leaseRenewRatio, { tell: this.tell, lost: (run, detail) => this.lost(run, detail) })
    this.host = { handler: tracedHandler(config.handler, agentId), agentId, isStopping: () => this.state !== 'running' }
    this.settler = new Settler(config, this.tell, { over: (run, outcome, answer) => this.over(run, outcome, answer) })
    this.runLimit = new RunLimit(this.running, maxRunSeconds * 1_000, (run) => this.ranTooLong(run))
    this.registration = config.register ? new Registration(source, config, this.tell) : undefined
    this.ended = new Promise((resolve, reject) => (this.end = { resolve, reject }))
    // Its rejection must not end a program that does not use `ended`.
    this.ended.catch(() => undefined)
  }

  start(): void {
    if (this.state !== 'new') throw new Error(`this worker is ${this.state}; create another one`)
    this.state = 'running'
    // In a microtask, so that the first claim knows of a call of `drained` right after `start`, and need not wait.
    this.claiming = Promise.resolve().then(() => this.claimLoop())
    void this.registration?.begin()
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
      // An error in `onEvent` must not cost a task, but must not be hidden either.
      queueMicrotask(() => {
        throw error
      })
    }
  }

  // ------------------------------------------------------------ claiming

  private async claimLoop(): Promise<void> {
    const { source, claimWaitMs } = this.config
    const { signal } = this.claims
    let isIdle = false
    for (let failures = 0; this.state === 'running'; ) {
      const max = this.room()
      if (max === 0) {
        await this.wakeClaims.pass()
        continue
      }
      try {
        this.claimSentAt = performance.now()
        this.isClaiming = true
        const waitMs = this.drainers > 0 ? 0 : isIdle ? claimWaitMs : Math.min(claimWaitMs, firstWaitMs)
        this.claimWaitsUntil = this.claimSentAt + waitMs
        const works = await source.claim({ ...this.request(), max, waitMs }, signal)
        this.isClaiming = false
        failures = 0
        isIdle = works.length === 0
        if (works.length > 0) this.accept(works, this.claimSentAt)
        else await this.foundNothing(performance.now() - this.claimSentAt)
      } catch (error) {
        this.isClaiming = false
        if (signal.aborted) return
        if (codeOf(error) === 'not-found') {
          // A queue is created by its first task. Before that it counts as empty.
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
    const isSettling = this.settler.size > 0
    const { claimed } = this.counts
    return { agentId, types, phases, skills, tenant, leaseSeconds, onNothing: (reason) => this.onNothing(reason, isSettling || claimed !== this.counts.claimed) }
  }

  private onNothing(reason: Reason | undefined, hadTasks: boolean): void {
    // To the queue, the agent holds its tasks until their outcomes have arrived, and holds those of another claim before the worker has its answer. So it
    // is full for a moment, and nobody has to change that.
    const mayHaveTasks = hadTasks || this.settler.size > 0 || (this.isClaiming && this.asking !== undefined)
    this.isFull = reason?.code === 'agent-full' && mayHaveTasks
    if (this.isFull) return
    const told = reason === undefined ? undefined : `${reason.code} ${reason.message}`
    if (told !== this.toldReason && reason !== undefined) this.tell({ type: 'found-nothing', reason })
    this.toldReason = told
  }

  /** Pauses if the source returned no tasks without waiting. Otherwise the worker would ask again at once, without end. */
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

  /** How many tasks to claim now; 0 while the worker has enough. */
  private room(): number {
    const { concurrency, prefetchMax, prefetchMs, unsettledMax } = this.config
    if (this.settler.size >= unsettledMax) return 0
    this.prefetch = this.pace.within(prefetchMs, concurrency, prefetchMax)
    // Claim only when half of the tasks ahead are used up: otherwise every task would cost a request.
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
      // Measured from the sending of the claim, because the lease began before the answer arrived.
      const run = new Run(this.leases, work, sentAt + work.waitedMs, this.config.leaseRenewRatio)
      this.leases.add(run)
      this.ahead.add(run)
    }
    this.pump()
  }

  // ------------------------------------------------------------- running

  /** Starts as many tasks as possible. */
  private pump(): void {
    // A handler that returns at once ends within `begin`, which would call this function recursively.
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

  /** Returns the time at which the handler's call returned. Most quick handlers have ended by then, and are never in `running`. */
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
      this.runLimit.watch(run)
    } else {
      this.finished(run, outcome, calledAt)
    }
    return calledAt
  }

  private readonly endedLater = (run: Run, outcome: SettleOutcome): void => {
    this.running.delete(run)
    this.runLimit.ended(run)
    this.finished(run, outcome, performance.now())
    this.pump()
  }

  private finished(run: Run, outcome: SettleOutcome, now: number): void {
    const { agentId } = this.config
    this.pace.finish(now - run.startedAt)
    if (run.state === 'running') this.settle(run, outcome)
    else if (run.state === 'stopped') this.settle(run, givenBack(run, agentId, 'the worker stopped'))
    else if (run.state === 'overdue') this.settle(run, ranTooLong(run, agentId, this.limitOf(run)))
    this.progress.open()
  }

  private settle(run: Run, outcome: SettleOutcome): void {
    run.state = 'settling'
    this.settler.push(run, outcome)
  }

  private over(run: Run, outcome: SettleOutcome, answer: SettleAnswer | undefined): void {
    run.state = 'gone'
    this.settledAt = performance.now()
    run.over()
    this.leases.remove(run)
    if (answer?.ok === true) this.accepted(outcome, answer.status)
    else this.counts.lost++
    if (this.wakeClaims.isWaitedAt) this.wakeClaims.open()
    this.progress.open()
  }

  private accepted({ kind, taskId }: SettleOutcome, status: Status): void {
    if (kind === 'complete') this.counts.completed++
    else if (kind === 'fail') this.counts.failed++
    else if (kind === 'park') this.counts.parked++
    else this.counts.released++
    if (this.config.onEvent === undefined) return
    this.tell({ type: 'outcome-accepted', taskId, kind, status })
    if (status === 'incomplete') this.tell({ type: 'incomplete', taskId })
  }

  /** How long the handler may run, in seconds: the worker's limit, or the task's own if that is less. */
  private limitOf({ task: { maxRunSeconds = Number.POSITIVE_INFINITY } }: Run): number {
    return Math.min(maxRunSeconds, this.config.maxRunSeconds)
  }

  private ranTooLong(run: Run): void {
    const maxRunSeconds = this.limitOf(run)
    if (run.state === 'lost') return this.abandonOverdue(run)
    if (run.state !== 'running') return
    run.state = 'overdue'
    this.tell({ type: 'run-time-exceeded', taskId: run.task.id, maxRunSeconds })
    run.abort(new RunTimeExceeded(runTimeMessage(maxRunSeconds)))
    setTimeout(() => this.abandonOverdue(run), overdueMs).unref()
  }

  /** Abandons a handler that hangs, to free its place and its task's lease. The handler cannot be stopped. */
  private abandonOverdue(run: Run): void {
    if (!this.running.delete(run)) return
    this.runLimit.ended(run)
    this.tell({ type: 'abandoned', taskId: run.task.id, reason: 'run-time-exceeded' })
    if (run.state === 'overdue') this.settle(run, ranTooLong(run, this.config.agentId, this.limitOf(run)))
    this.progress.open()
    this.pump()
  }

  /** Called for a run in state `buffered` or later, but not while its outcome is being sent. */
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
        // While it asks, it may have begun and ended tasks. A claim that was sent before their outcomes were accepted does not know what these freed.
        idleSince = idle ? Math.max(idleSince, this.settledAt) : performance.now()
        if (idle && this.state === 'running') {
          if (this.emptySentAt >= idleSince) return
          const now = performance.now()
          if (this.isClaiming && now < this.claimWaitsUntil && now - Math.max(this.claimSentAt, idleSince) >= drainedMs) {
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
   * Checks whether the queue has no more tasks while a claim waits for tasks. It may have got some, and its answer is late. So the worker sends claims
   * that do not wait: two, because the first may be answered before the claim that took the last task.
   */
  private async ask(): Promise<void> {
    const { signal } = this.claims
    try {
      for (let asked = 0; asked < 2; asked++) {
        const sentAt = performance.now()
        const works = await this.config.source.claim({ ...this.request(), max: 1, waitMs: 0 }, signal)
        if (works.length > 0) return this.accept(works, sentAt)
        // The claim in flight has taken tasks. Its answer is late, and the queue is not drained.
        if (this.isFull) return await pause(nothingThereMs, signal)
        if (asked > 0) this.emptySentAt = sentAt
      }
    } catch (error) {
      if (signal.aborted) return
      if (codeOf(error) === 'not-found') this.emptySentAt = performance.now()
      // The claim in flight reports the error.
      else await pause(nothingThereMs, signal)
    }
  }

  stop(graceMs: number): Promise<void> {
    const deadline = performance.now() + graceMs
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
    // 2. Tasks claimed ahead: finished, or given back.
    const left = this.deadline - performance.now()
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
    const patience = performance.now() + abortedMs
    await this.until(() => this.running.size === 0, () => patience)
    for (const run of this.running) {
      if (run.state === 'overdue') this.abandonOverdue(run)
      if (run.state !== 'stopped') continue
      run.state = 'gone'
      run.over()
      this.counts.lost++
      this.leases.remove(run)
      this.tell({ type: 'abandoned', taskId: run.task.id, reason: 'stopped' })
    }
    // 4. Outcomes.
    this.settler.giveUpAt(performance.now() + handInMs)
    await this.until(() => this.settler.size === 0, () => Number.POSITIVE_INFINITY)
    this.leases.close()
    this.runLimit.close()
    await this.registration?.end()
    this.state = 'stopped'
    this.progress.open()
    this.end?.resolve()
  }

  private async endClaims(): Promise<void> {
    const ended = new AbortController()
    void Promise.all([this.claiming, this.asking]).then(() => ended.abort())
    // A claim that was just sent may be answered at any moment. If it were aborted, nobody would work on the tasks that it took.
    const now = performance.now()
    const mayWait = now < this.claimWaitsUntil
    if (this.isClaiming) await pause(mayWait ? this.claimSentAt + nothingThereMs - now : lateMs, ended.signal)
    this.claims.abort()
    // A source that ignores the signal must not keep the worker from stopping.
    await pause(Math.max(abortedMs, this.deadline - performance.now()), ended.signal)
  }

  private giveBackBuffered(): void {
    for (let run = this.ahead.next(); run !== undefined; run = this.ahead.next()) {
      this.ahead.left()
      this.settle(run, givenBack(run, this.config.agentId, 'the worker stopped before it began'))
    }
  }

  /** Waits until the condition holds or the deadline has passed. The deadline may move meanwhile. */
  private async until(isSo: () => boolean, deadline: () => number): Promise<void> {
    while (!isSo()) {
      const left = deadline() - performance.now()
      if (left <= 0) return
      await this.progress.passWithin(Math.min(left, 60_000))
    }
  }
}
