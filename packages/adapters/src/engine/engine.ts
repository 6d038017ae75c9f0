/**
 * The engine of one queue: the only loop that decides commands and appends their events.
 *
 *            submit                    decide + fold, ahead of the log
 *   callers ────────▶ mailbox ───────▶ batch (speculative, marked) ───────▶ append at the expected revision
 *      ▲                                                                        │
 *      │   durable: release the mark, tell subscribers, answer ◀────────────────┤
 *      │   conflict: roll back, read what is missing, fold, decide again ◀──────┤
 *      │   unavailable: roll back, refuse ◀─────────────────────────────────────┤
 *      │   too large: roll back, decide again for smaller appends ◀─────────────┤
 *      └── unknown: send the same append again until it is known ◀──────────────┘
 *
 * At most two batches are in flight: one is written while the next is decided. They settle in order. If other
 * processes append to the same queue, only one is in flight, and the engine follows their events while it is idle.
 */
import { type ClaimedTask, clipped, type Command, type CommandOf, type CommandType, headOf, keptFailure, type QueueState, type Replies, takeWokenShapes, textMax, timeOf, unreadableCount, WaitingClaims } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { Subject } from 'rxjs'
import { errorText } from '../error-text.js'
import type { AppendError, ChainHead, Continues, EventStore, SnapshotStore } from '../store/index.js'
import { noKeys } from '../task-keys/index.js'
import { Alarm } from './time/alarm.js'
import { AppendLimits } from './append/append-limits.js'
import { Availability } from './append/availability.js'
import { answer, type Batch, type ClaimItem, type CommandItem, isOwn, type Item, refuse } from './append/batch.js'
import { Bulk } from './append/bulk.js'
import { CheckedClock } from './time/checked-clock.js'
import { PatientClaim } from './append/claim-item.js'
import { Contents } from './contents/contents.js'
import { Decider } from './decider.js'
import { Durable } from './append/durable.js'
import { refusalAt } from './entrance.js'
import { type EngineOptions, withDefaults } from './engine-options.js'
import { Eraser } from './contents/eraser.js'
import { Follower } from './state/follower.js'
import { type Archive, Grounded, incompleteBefore, needsGroundwork, withGroundwork } from './contents/groundwork.js'
import { InFlight } from './append/in-flight.js'
import { LeaseGrace } from './time/lease-grace.js'
import { LiveState } from './state/live-state.js'
import { Mailbox } from './append/mailbox.js'
import { QueueLog } from './log/queue-log.js'
import { QueueClock } from './time/queue-clock.js'
import { Recovery } from './append/recovery.js'
import { SlowAppends } from './append/slow-append.js'
import { ReadOnly } from './state/read-only.js'
import { overloaded, unavailable } from './refusals.js'
import { replay, type Replayed, type ReplayReport, streamOf } from './state/replay.js'
import { SettledWaits } from './append/settled-waits.js'
import { Snapshotter } from './state/snapshotter.js'
import { type Claim, type ClaimOptions, type Committed, type Caller, type EngineStatus, type Erased, type Outcome, type QueueEngine, systemCaller } from './types.js'
import { Turns } from './append/turns.js'
import { refusalOfErasable, Withholding } from './contents/withholding.js'

// The real `setImmediate`, even in tests with fake timers.
const { setImmediate } = globalThis

/** How long a command waits for an event that it needs and that is being appended. */
const durableWaitMs = 10_000
/** How long close waits for the contents of tasks that were claimed before, in milliseconds. */
const handOutMsMax = 2_000
/** How long a task is delayed whose content is in a segment of the archive that is missing or damaged, in milliseconds. */
const putOffMs = 300_000

/** Opens a queue: replays it and starts its loop. Rejects if the store cannot be read. */
export const openEngine = async (
  store: EventStore,
  queue: string,
  snapshots: SnapshotStore | undefined,
  report: ReplayReport,
  options: EngineOptions = {},
  /** Shared by all queues of a process, because a clock that starts later would not notice an earlier jump. */
  clock: CheckedClock = new CheckedClock(options, () => store.time?.()),
): Promise<QueueEngine> => {
  const engine = new Engine(store, queue, snapshots, await replay(store, snapshots, queue, report), options, clock)
  await engine.eraser.resume()
  engine.start()
  return engine
}

export class Engine implements QueueEngine {
  readonly committed: Subject<Committed>
  readonly log: QueueLog
  readonly live: LiveState
  readonly clock: QueueClock
  readonly durable: Durable
  private readonly settledWaits: SettledWaits
  readonly mailbox: Mailbox
  readonly waiting = new WaitingClaims<ClaimItem>()
  readonly inFlight = new InFlight()
  private readonly inFlightMax: number
  readonly limits: AppendLimits
  readonly contentStore: Contents
  readonly availability: Availability
  private readonly slowAppends: SlowAppends
  readonly grace: LeaseGrace
  readonly readOnly: ReadOnly
  readonly withholding: Withholding
  private readonly hasPlaceForKeys: boolean
  readonly eraser: Eraser
  private readonly decider: Decider
  private readonly recovery: Recovery
  private readonly snapshotter: Snapshotter
  private readonly alarm: Alarm
  /** Follows other processes. Only on a shared store. */
  private readonly follower: Follower | undefined
  readonly turns = new Turns()
  private turn: NodeJS.Timeout | undefined
  readonly warn: (message: string) => void
  private scheduled = false
  private recovering = false
  private closed: Promise<void> | undefined
  private idle: () => void = () => undefined

  constructor(
    store: EventStore,
    readonly name: string,
    snapshots: SnapshotStore | undefined,
    { state, chain, snapshot, lastId }: Replayed,
    options: EngineOptions,
    checkedClock: CheckedClock,
  ) {
    const { random, alerts, defaults, pastUnreadable, leaseGraceMs, keys, ...resolved } = withDefaults(options)
    const warn = (this.warn = (message: string): void => resolved.warn(`queue ${name}: ${message}`))
    this.limits = new AppendLimits(store.limits, warn)
    this.log = new QueueLog(store, name)
    this.live = new LiveState(state, chain)
    const clock = (this.clock = new QueueClock(checkedClock, timeOf(state), warn))
    this.durable = new Durable(this.live.revision, lastId, headOf(state).deleted, clock)
    this.committed = this.durable.committed
    this.settledWaits = new SettledWaits(this.committed, clock.timers)
    this.mailbox = new Mailbox(resolved.mailboxMax)
    // A second batch builds on the first, but a store only compares revisions (see `settleStray` in `recovery.ts`).
    this.inFlightMax = store.isShared ? 1 : 2
    this.contentStore = new Contents(this.log, this, resolved.contentCacheMax, keys ?? noKeys)
    this.withholding = new Withholding(name, keys, store.isShared)
    this.hasPlaceForKeys = keys !== undefined
    this.eraser = new Eraser({ queue: name, keys, log: this.log, isShared: store.isShared, engine: this, warn })
    this.availability = new Availability(clock.monotonic, warn)
    this.slowAppends = new SlowAppends(this.availability, warn)
    this.grace = new LeaseGrace(leaseGraceMs, store.isShared, clock.monotonic)
    this.readOnly = new ReadOnly(name, Object.hasOwn(pastUnreadable, name) ? (pastUnreadable[name] as number) : -1, warn)
    const batchEventsMax = Math.min(resolved.batchEventsMax, this.limits.appendEventsMax)
    this.decider = new Decider(this, { batchEventsMax, defaults, alerts, random })
    this.recovery = new Recovery(this)
    const { log, live, durable, mailbox, inFlight } = this
    this.snapshotter = new Snapshotter(snapshots, snapshot, {
      stream: streamOf(name),
      lastId: () => durable.lastId,
      sealed: () => live.chain.head,
      every: resolved.snapshotEvery,
      isBusy: () => inFlight.size > 0,
      warn,
    })
    this.alarm = new Alarm(clock, () => this.schedule())
    this.follower = store.isShared
      ? new Follower({
          subscribe: (from) => log.subscribe(from),
          revision: () => durable.revision,
          isIdle: () => mailbox.size === 0 && inFlight.size === 0 && !this.recovering,
          onHeard: () => this.schedule(),
          warn,
        })
      : undefined
  }

  /** Begins to decide. It does so after this turn of the event loop, so that whoever opened the queue can subscribe before. */
  start(): void {
    this.schedule()
  }

  // ------------------------------------------------------------------ what callers see

  submit<C extends Command>(command: C, caller: Caller): Promise<Outcome<Replies[C['type']]>> {
    return new Promise((resolve) => {
      // `replyTo` gives each command the reply of its own type.
      const settle = resolve as (outcome: Outcome<Replies[CommandType]>) => void
      this.enterPrepared({ kind: 'command', command, caller, settle, arrivedAt: this.clock.now() })
    })
  }

  submitAll(commands: ReadonlyArray<Command>, caller: Caller): Promise<ReadonlyArray<Outcome<Replies[CommandType]>>> {
    if (commands.length === 0) return Promise.resolve([])
    return new Promise((resolve) => {
      for (const item of new Bulk(commands, caller, this.clock.now(), resolve).items()) this.enterPrepared(item)
    })
  }

  claim(command: CommandOf<'Claim'>, caller: Caller, options: ClaimOptions = {}): Promise<Outcome<ReadonlyArray<Claim>>> {
    return new Promise((resolve) => {
      const item: PatientClaim = new PatientClaim(command, caller, this.clock.now(), options, {
        answer: resolve,
        revision: () => this.durable.revision,
        timers: this.clock.timers,
        leaveLine: () => this.waiting.remove(item),
      })
      if (!item.isOver()) this.enter(item)
    })
  }

  erase(task: string, reason: string, caller: Caller): Promise<Outcome<Erased>> {
    return this.eraser.erase(task, reason, caller)
  }

  read<A>(query: (state: QueueState, at: number) => A): Promise<Outcome<A>> {
    return new Promise((resolve, reject) =>
      this.post({ kind: 'read', query, settle: resolve as (outcome: Outcome<unknown>) => void, fail: reject, arrivedAt: this.clock.now() }),
    )
  }

  reached(revision: number, waitMs: number): Promise<boolean> {
    return this.durable.reached(revision, waitMs)
  }

  nextSettled(task: string, waitMs: number, signal?: AbortSignal): Promise<void> {
    return this.settledWaits.next(task, waitMs, signal)
  }

  contents(revisions: ReadonlyArray<number>): Promise<ReadonlyArray<string | undefined>> {
    return this.contentStore.read(revisions)
  }

  status(): EngineStatus {
    return {
      queue: this.name,
      revision: this.durable.revision,
      deleted: this.durable.deleted,
      mailbox: this.mailbox.size,
      appendsInFlight: this.inFlight.size,
      waitingClaims: this.waiting.size,
      settledWaits: this.settledWaits.size,
      unavailable: this.availability.reason,
      readOnly: this.readOnly.refusalIn(this.live.current)?.detail,
      aheadMs: this.clock.aheadMs(),
      clockRefusal: this.clock.refusal,
      unreadable: unreadableCount(this.live.current),
      conflicts: this.recovery.conflicts,
      snapshotRevision: this.snapshotter.revision,
      cachedContent: this.contentStore.cached,
    }
  }

  close(): Promise<void> {
    this.closed ??= this.shutDown()
    return this.closed
  }

  takeBack(claims: ReadonlyArray<Claim>, reason: string): void {
    for (const { task, agent, token } of claims) {
      this.enterOwn({ type: 'Release', task, agent, token, reason: clipped(reason.toWellFormed(), textMax), undelivered: true })
    }
  }

  /** Gives back a task whose content may be brought back, and delays it, so that other tasks are claimed meanwhile. */
  putOff(claim: ClaimedTask, reason: string): void {
    this.takeBack([claim], reason)
    const why = `its content cannot be read from the log: ${reason}`
    this.enterOwn({ type: 'AmendTask', task: claim.task, availableAt: this.clock.now() + putOffMs, reason: clipped(why.toWellFormed(), textMax) })
  }

  /** Makes a dead letter of a task whose content is damaged, for a reviewer. */
  giveUpOn({ task, token, agent }: ClaimedTask, reason: string): void {
    const message = `the task's content cannot be read from the log: ${reason.toWellFormed()}`
    this.enterOwn({ type: 'Fail', task, agent, token, error: keptFailure({ message, code: 'content-unreadable' }), retryable: false })
  }

  private enterOwn(command: Command): void {
    this.enter({ kind: 'command', command, caller: systemCaller, settle: () => undefined, arrivedAt: this.clock.now() })
  }

  private async shutDown(): Promise<void> {
    this.alarm.stop()
    this.dismissWaiting()
    while (this.mailbox.size > 0 || this.inFlight.size > 0 || this.recovering) {
      this.schedule()
      await new Promise<void>((resolve) => (this.idle = resolve))
    }
    this.dismissWaiting()
    // The store may be closed after this, and tasks without contents would stay claimed until their leases end.
    for (let waitedMs = 0; this.contentStore.isHandingOut && waitedMs < handOutMsMax; waitedMs += 5) await new Promise((resolve) => setTimeout(resolve, 5))
    this.follower?.stop()
    await this.snapshotter.stop()
    if (this.durable.revision > this.snapshotter.revision && this.mayKeep()) await this.snapshotter.take(this.live.current)
    this.committed.complete()
  }

  private dismissWaiting(): void {
    for (const item of this.waiting.drain()) item.settle(E.right({ value: [], revision: this.durable.revision }))
  }

  // ------------------------------------------------------------------ the loop

  readonly isClosing = (): boolean => this.closed !== undefined

  /** Enters the command, together with what it needs from the log. A command that needs nothing enters at once. */
  enterPrepared(item: CommandItem): void {
    if (!needsGroundwork(item.command, this.live.current)) return this.enter(item)
    const refusal = refusalAt(item.command, item.caller)
    if (refusal !== undefined) return refuse(item, refusal)
    const before = incompleteBefore(item.command, this.live.current)
    const archive: Archive = {
      state: () => this.live.current,
      read: (revisions) => this.contentStore.read(revisions),
      // The state may be ahead of the log.
      incompleteResult: async (task) => ((await this.durable.reached(task.last, durableWaitMs)) ? this.contentStore.incompleteResult(task) : undefined),
    }
    void withGroundwork(item.command, before, archive).then((ready) => {
      if (E.isLeft(ready)) refuse(item, ready.left)
      else this.enter(new Grounded(item, ready.right, before))
    })
  }

  /** Every command enters here. */
  private enter(item: CommandItem | ClaimItem): void {
    const refusal = refusalAt(item.command, item.caller) ?? (this.hasPlaceForKeys ? undefined : refusalOfErasable(item.command))
    if (refusal === undefined) this.post(item)
    else refuse(item, refusal)
  }

  private post(item: Item): void {
    const { refusal } = this.availability
    if (this.isClosing()) refuse(item, unavailable('the server is stopping: try again shortly'))
    else if (refusal !== undefined && !isOwn(item)) refuse(item, unavailable(refusal))
    else if (this.mailbox.isFull && !isOwn(item)) refuse(item, overloaded(this.mailbox.sizeMax))
    else {
      this.mailbox.put(item)
      this.schedule()
    }
  }

  /** Decides at the end of this turn of the event loop, so that commands of one turn share an append. */
  private schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    setImmediate(() => {
      this.scheduled = false
      this.pump()
    })
  }

  private pump(): void {
    if (!this.recovering && this.inFlight.size === 0) {
      this.foldHeard()
      if (!this.isClosing() && this.decider.tidy()) this.schedule()
    }
    if (!this.recovering && !this.isClosing() && this.decider.settle()) return this.schedule()
    while (!this.recovering && this.inFlight.size < this.inFlightMax) {
      if (!this.isClosing() && this.snapshotter.isDue(this.durable.revision, this.live.current) && this.mayKeep()) {
        if (this.inFlight.size > 0) break
        void this.snapshotter.take(this.live.current)
      }
      if (this.mailbox.size === 0 && !this.decider.isDue()) break
      if (this.isTheirTurn()) break
      this.turns.begin()
      this.dispatch(this.decider.nextBatch(this.turns.eventsMax))
    }
    if (this.mailbox.size === 0 && this.inFlight.size === 0 && !this.recovering) {
      // Timers wait during the turn of other processes.
      if (!this.isClosing() && this.turn === undefined) this.alarm.set(this.decider.dueAt())
      this.follower?.rest()
      this.idle()
    }
  }

  /** Whether a snapshot may be taken. An incomplete state must not be saved, because a version that can read the whole log would start from it. */
  private mayKeep(): boolean {
    return this.readOnly.refusalIn(this.live.current) === undefined
  }

  /** Whether it is the turn of other processes to append. The loop continues after it. */
  private isTheirTurn(): boolean {
    if (this.follower === undefined || this.isClosing()) return false
    const { waitMs } = this.turns
    if (waitMs === 0) return false
    this.turn ??= setTimeout(() => {
      this.turn = undefined
      this.schedule()
    }, waitMs)
    return true
  }

  /** Folds the events of other processes. Only with nothing in flight, when the state is at the known end of the log. */
  private foldHeard(): void {
    const heard = this.follower?.take(this.durable.revision) ?? []
    if (heard.length === 0) return
    try {
      const events = this.live.foldRecorded(heard, (event, before) => this.contentStore.forgetFor(event, before, false))
      this.durable.advance({ events, isOwn: false }, heard[heard.length - 1]?.id)
    } catch (error) {
      // The log has changed unexpectedly. This is reported, and the log is read again later.
      this.availability.lost(errorText(error))
      this.follower?.leave()
      return
    }
    this.turns.heard()
    this.decider.followRegistrations()
    this.waiting.wake(takeWokenShapes(this.live.current))
    this.durable.wake()
  }

  private dispatch(batch: Batch): void {
    if (batch.texts.length > 0) {
      const continues = this.inFlight.size > 0 ? 'sent' : this.live.chain.end
      this.inFlight.add(batch)
      batch.whenDone = this.append(batch, continues)
      return
    }
    // A batch without events. If it saw events that are not durable yet, it waits for the batch before it.
    const { last } = this.inFlight
    if (last === undefined) {
      this.live.release(batch.mark)
      answer(batch.decided)
    } else {
      this.live.rollback(batch.mark)
      for (const decided of batch.decided) last.decided.push(decided)
    }
  }

  private async append(batch: Batch, continues: Continues): Promise<void> {
    const unsaved = this.saveKeys()
    const result = unsaved === undefined ? await this.slowAppends.watch(this.log.append(batch.texts, batch.expected, continues)) : await Promise.resolve(E.left(unsaved))
    batch.result = E.isRight(result) ? { _tag: 'Appended', sealed: result.right } : result.left
    this.settle()
  }

  /** Encrypted contents must not be in the log without their keys. */
  private saveKeys(): AppendError | undefined {
    try {
      this.withholding.save()
      return undefined
    } catch (error) {
      return { _tag: 'Unavailable', reason: `the keys of erasable tasks cannot be used: ${errorText(error)}` }
    }
  }

  /** Settles batches in order, as far as their results are known. */
  private settle(): void {
    if (this.recovering) return
    for (;;) {
      const batch = this.inFlight.first
      if (batch?.result === undefined) break
      if (batch.result._tag !== 'Appended') {
        void this.recover(batch.result)
        return
      }
      this.inFlight.removeFirst()
      this.commit(batch, batch.result.sealed)
    }
    this.pump()
  }

  private commit(batch: Batch, sealed: ChainHead): void {
    this.live.release(batch.mark)
    this.live.chain.advance(sealed)
    this.availability.restored()
    this.durable.advance({ events: batch.events, isOwn: true }, batch.texts[batch.texts.length - 1]?.id)
    this.turns.won()
    answer(batch.decided)
    this.durable.wake()
  }

  private async recover(error: AppendError): Promise<void> {
    this.recovering = true
    try {
      await this.recovery.run(error)
    } finally {
      this.recovering = false
      this.settle()
      this.schedule()
    }
  }
}
