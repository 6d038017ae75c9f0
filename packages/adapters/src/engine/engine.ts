/**
 * The engine of one queue: the one loop that decides, and the only place where a decision becomes truth.
 *
 *            submit                    decide + fold, ahead of the log
 *   callers ────────▶ mailbox ───────▶ batch (speculative, marked) ───────▶ append at the expected revision
 *      ▲                                                                        │
 *      │   durable: release the mark, tell subscribers, answer ◀────────────────┤
 *      │   conflict: roll back, read what is missing, fold, decide again ◀──────┤
 *      │   unavailable: roll back, refuse ◀─────────────────────────────────────┤
 *      └── unknown: send the same append again until it is known ◀──────────────┘
 *
 * At most two batches are in flight: one is written while the next is decided. They settle in order.
 */
import {
  type Command,
  type CommandOf,
  type CommandType,
  cutSnapshot,
  decide,
  type Envelope,
  evolve,
  foldVersion,
  lastRevisionOf,
  mark,
  nextDue,
  pendingCount,
  type QueueEvent,
  type QueueState,
  reject,
  release,
  type Replies,
  replyTo,
  revisionOf,
  rollback,
  type SettingsPatch,
  timeOf,
} from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { Subject } from 'rxjs'
import { appendBytes } from '../store/append-bytes.js'
import type { AppendError, EventStore, EventToAppend, SnapshotStore } from '../store/index.js'
import { type Batch, type ClaimItem, type Decided, type Item, refuse } from './batch.js'
import { ContentCache } from './content-cache.js'
import { commandIdSource } from './ids.js'
import { foldRecorded, replay, type ReplayReport, streamOf } from './replay.js'
import type {
  Claim,
  ClaimOptions,
  Committed,
  Door,
  EngineStatus,
  Outcome,
  QueueEngine,
  Refusal,
} from './types.js'
import { WaitingClaims } from './waiting.js'
import { contentOf, encodeEvent, metadataOf } from './wire.js'

export interface EngineOptions {
  /** Commands that may wait to be decided; beyond, they are refused with `overloaded`. Default 100,000. */
  readonly mailboxMax?: number
  /**
   * Events of one append, unless a single command has more. Default 1,000: small enough that the next is decided
   * while one is written, large enough that the write is worth its fsync.
   */
  readonly batchEventsMax?: number
  /**
   * Appends under way at once: one is written while the next is decided. Default 2, for a queue that no other
   * process writes to. Take 1 where another may (see `settleStray`).
   */
  readonly inFlightMax?: 1 | 2
  /** Contents kept in memory for claims, in characters. Default 134,217,728. */
  readonly contentCacheMax?: number
  /** Events between two snapshots. Default 500,000. */
  readonly snapshotEvery?: number
  /** Settings that a new queue begins with, where they differ from the defaults: its first event. */
  readonly defaults?: SettingsPatch
  readonly clock?: () => number
  readonly random?: () => number
  readonly warn?: (message: string) => void
}

const settleTriesAtClose = 6
/** How long the engine leaves a store alone that could not write, in milliseconds. */
const retryMs = 1_000
const system: Door = { actor: 'daybook' }

/** Opens a queue: replays it, and starts its loop. Rejects when the store cannot be read. */
export const openEngine = async (
  store: EventStore,
  queue: string,
  snapshots: SnapshotStore | undefined,
  report: ReplayReport,
  options: EngineOptions = {},
): Promise<QueueEngine> => {
  const { state, snapshotRevision } = await replay(store, snapshots, queue, report)
  return new Engine(store, queue, snapshots, state, snapshotRevision, options)
}

class Engine implements QueueEngine {
  readonly committed = new Subject<Committed>()
  private readonly stream: string
  private mailbox: Array<Item> = []
  private readonly waiting = new WaitingClaims()
  private readonly cache: ContentCache
  private readonly commandIds = commandIdSource()
  private inFlight: Array<Batch> = []
  private durable: number
  private scheduled = false
  private recovering = false
  private unavailable: string | undefined
  private conflicts = 0
  private closed: Promise<void> | undefined
  private idle: () => void = () => undefined
  private timer: NodeJS.Timeout | undefined
  private timerAt = Number.POSITIVE_INFINITY
  private tickNotBefore = 0
  /** There may be work for claims that wait, and no command that would have it handed out. */
  private hungry = false
  private atMs = -1
  private atText = ''
  private snapshotRevision: number
  private snapshotTried: number
  private snapshotting = false
  private readonly watchers = new Set<() => void>()
  private readonly mailboxMax: number
  private readonly batchEventsMax: number
  private readonly inFlightMax: number
  private readonly snapshotEvery: number
  private readonly defaults: SettingsPatch | undefined
  private readonly clock: () => number
  private readonly random: () => number
  private readonly warn: (message: string) => void

  constructor(
    private readonly store: EventStore,
    readonly name: string,
    private readonly snapshots: SnapshotStore | undefined,
    private state: QueueState,
    snapshotRevision: number,
    options: EngineOptions,
  ) {
    this.stream = streamOf(name)
    this.durable = revisionOf(state)
    this.snapshotRevision = snapshotRevision
    this.snapshotTried = snapshotRevision
    this.cache = new ContentCache(options.contentCacheMax ?? 2 ** 27)
    this.mailboxMax = options.mailboxMax ?? 100_000
    this.batchEventsMax = Math.min(options.batchEventsMax ?? 1_000, store.limits.appendEventsMax)
    this.inFlightMax = options.inFlightMax ?? 2
    this.snapshotEvery = options.snapshotEvery ?? 500_000
    this.defaults = options.defaults
    this.clock = options.clock ?? Date.now
    this.random = options.random ?? Math.random
    this.warn = options.warn ?? (() => undefined)
    this.schedule()
  }

  // ------------------------------------------------------------------ what callers see

  submit<C extends Command>(command: C, door: Door): Promise<Outcome<Replies[C['type']]>> {
    return new Promise((resolve) => {
      // `replyTo` gives each command the reply of its own type.
      const settle = resolve as (outcome: Outcome<Replies[CommandType]>) => void
      this.post({ kind: 'command', command, door, settle })
    })
  }

  submitAll(commands: ReadonlyArray<Command>, door: Door): Promise<ReadonlyArray<Outcome<Replies[CommandType]>>> {
    if (commands.length === 0) return Promise.resolve([])
    return new Promise((resolve) => {
      const outcomes = new Array<Outcome<Replies[CommandType]>>(commands.length)
      let open = commands.length
      commands.forEach((command, index) =>
        this.post({
          kind: 'command',
          command,
          door,
          settle: (outcome) => {
            outcomes[index] = outcome
            if (--open === 0) resolve(outcomes)
          },
        }),
      )
    })
  }

  claim(command: CommandOf<'Claim'>, door: Door, options: ClaimOptions = {}): Promise<Outcome<ReadonlyArray<Claim>>> {
    const { waitMs = 0, signal } = options
    return new Promise((resolve) => {
      let over = signal?.aborted === true
      let taken = false
      let gaveUp = false
      let timer: NodeJS.Timeout | undefined
      const settle = (outcome: Outcome<ReadonlyArray<Claim>>): void => {
        over = true
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        resolve(outcome)
      }
      const giveUp = (): void => {
        gaveUp = true
        // Once work was found for it, a claim is answered with that work, whatever its patience.
        if (over || taken) return
        settle(E.right({ value: [], revision: this.durable }))
        this.waiting.sweep()
      }
      const take = (isTaken: boolean): void => {
        taken = isTaken
        if (!taken && gaveUp) giveUp()
      }
      if (over) return settle(E.right({ value: [], revision: this.durable }))
      if (waitMs > 0) timer = setTimeout(giveUp, waitMs)
      signal?.addEventListener('abort', giveUp, { once: true })
      this.post({ kind: 'claim', command, door, settle, take, isOver: () => over, mayWait: waitMs > 0 })
    })
  }

  read<A>(query: (state: QueueState) => A): Promise<Outcome<A>> {
    return new Promise((resolve, reject) =>
      this.post({ kind: 'read', query, settle: resolve as (outcome: Outcome<unknown>) => void, fail: reject }),
    )
  }

  reached(revision: number, waitMs: number): Promise<boolean> {
    if (this.durable >= revision) return Promise.resolve(true)
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(false), waitMs)
      const check = (): void => {
        if (this.durable >= revision) end(true)
      }
      const end = (reached: boolean): void => {
        clearTimeout(timer)
        this.watchers.delete(check)
        resolve(reached)
      }
      this.watchers.add(check)
    })
  }

  async contents(revisions: ReadonlyArray<number>): Promise<ReadonlyArray<string | undefined>> {
    const events = await this.store.pick(this.stream, revisions)
    return events.map((event) => event?.data)
  }

  status(): EngineStatus {
    return {
      queue: this.name,
      revision: this.durable,
      mailbox: this.mailbox.length,
      appendsInFlight: this.inFlight.length,
      waitingClaims: this.waiting.size,
      unavailable: this.unavailable,
      conflicts: this.conflicts,
      snapshotRevision: this.snapshotRevision,
    }
  }

  close(): Promise<void> {
    this.closed ??= this.shutDown()
    return this.closed
  }

  private async shutDown(): Promise<void> {
    clearTimeout(this.timer)
    this.dismissWaiting()
    while (this.mailbox.length > 0 || this.inFlight.length > 0 || this.recovering) {
      this.schedule()
      await new Promise<void>((resolve) => (this.idle = resolve))
    }
    this.dismissWaiting()
    while (this.snapshotting) await new Promise((resolve) => setTimeout(resolve, 5))
    if (this.durable > this.snapshotRevision) await this.takeSnapshot()
    this.committed.complete()
  }

  private dismissWaiting(): void {
    for (const item of this.waiting.drain()) item.settle(E.right({ value: [], revision: this.durable }))
  }

  // ------------------------------------------------------------------ the mailbox

  private post(item: Item): void {
    if (this.closed !== undefined) {
      refuse(item, { code: 'unavailable', detail: 'the server is stopping: try again shortly', retryAfterSeconds: 1 })
    } else if (this.mailbox.length >= this.mailboxMax) {
      refuse(item, {
        code: 'overloaded',
        detail: `${this.mailboxMax} commands are waiting already: slow down and try again`,
        retryAfterSeconds: 1,
      })
    } else {
      this.mailbox.push(item)
      this.schedule()
    }
  }

  /** Decides at the end of this turn of the event loop, so that what arrives together goes together. */
  private schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    setImmediate(() => {
      this.scheduled = false
      this.pump()
    })
  }

  private pump(): void {
    while (!this.recovering && this.inFlight.length < this.inFlightMax) {
      if (this.wantsSnapshot()) {
        if (this.inFlight.length > 0) break
        void this.takeSnapshot()
      }
      if (!this.isWorkThere()) break
      this.decideBatch()
    }
    if (this.mailbox.length === 0 && this.inFlight.length === 0 && !this.recovering) {
      this.setTimer()
      this.idle()
    }
  }

  private isWorkThere(): boolean {
    return this.mailbox.length > 0 || this.isTickDue() || this.isLineDue()
  }

  private isLineDue(): boolean {
    return this.hungry && this.waiting.size > 0 && this.closed === undefined && this.clock() >= this.resumeAt()
  }

  private isTickDue(): boolean {
    const due = nextDue(this.state)
    const now = this.clock()
    return due !== undefined && due <= now && now >= this.resumeAt() && this.closed === undefined
  }

  /** When the store may be tried again without being asked to. A clock that was set back must not put that off. */
  private resumeAt(): number {
    if (this.tickNotBefore - this.clock() > retryMs) this.tickNotBefore = 0
    return this.tickNotBefore
  }

  private setTimer(): void {
    if (this.closed !== undefined) return
    const due = this.hungry && this.waiting.size > 0 ? 0 : nextDue(this.state)
    const at = due === undefined ? Number.POSITIVE_INFINITY : Math.max(due, this.resumeAt())
    if (at === this.timerAt && this.timer !== undefined) return
    clearTimeout(this.timer)
    this.timer = undefined
    this.timerAt = at
    if (at === Number.POSITIVE_INFINITY) return
    // Wake up at least once an hour: a wall clock that is set forward makes leases end earlier than the timer thinks.
    const delay = Math.min(Math.max(at - this.clock(), 0) + 1, 3_600_000)
    this.timer = setTimeout(() => {
      this.timer = undefined
      this.schedule()
    }, delay)
  }

  // ------------------------------------------------------------------ deciding

  private decideBatch(): void {
    const batch: Batch = {
      mark: mark(this.state),
      expected: revisionOf(this.state),
      events: [],
      texts: [],
      bytes: 0,
      decided: [],
      result: undefined,
      told: undefined,
    }
    if (this.isTickDue()) this.tick(batch)
    if (this.hungry) {
      this.hungry = false
      this.serveWaiting(batch)
    }
    let taken = 0
    for (; taken < this.mailbox.length; taken++) {
      if (batch.texts.length >= this.batchEventsMax) break
      const item = this.mailbox[taken] as Item
      if (!this.handle(batch, item)) break
    }
    this.mailbox.splice(0, taken)
    this.serveWaiting(batch)
    this.dispatch(batch)
  }

  /** False when the item's events have no room in this batch. */
  private handle(batch: Batch, item: Item): boolean {
    switch (item.kind) {
      case 'read': {
        const revision = revisionOf(this.state)
        let value: unknown
        try {
          value = item.query(this.state)
        } catch (error) {
          // A question that cannot be answered is its asker's trouble alone.
          item.fail(error)
          return true
        }
        this.decided(batch, item, () => item.settle(E.right({ value, revision })))
        return true
      }
      case 'claim': {
        if (item.isOver()) return true
        // Whoever has waited longer is first.
        this.serveWaiting(batch)
        if (this.hungry) return false
        const verdict = this.tryClaim(batch, item)
        if (verdict === 'empty') {
          if (item.mayWait && this.closed === undefined) this.waiting.add(item)
          else {
            const revision = revisionOf(this.state)
            this.decided(batch, item, () => item.settle(E.right({ value: [], revision })))
          }
        }
        return verdict !== 'full'
      }
      case 'command': {
        let events = this.decideCommand(item.command)
        if (this.defaults !== undefined && revisionOf(this.state) < 0 && E.isRight(events) && events.right.length > 0) {
          this.configure(batch, this.defaults)
          events = this.decideCommand(item.command)
        }
        if (E.isLeft(events)) {
          const rejection = events.left
          this.decided(batch, item, () => item.settle(E.left(rejection)))
          return true
        }
        const verdict = this.accept(batch, item.door, events.right)
        if (verdict === 'full') return false
        if (verdict === 'too-large') {
          this.decided(batch, item, () => item.settle(E.left(this.tooLarge())))
          return true
        }
        const value = replyTo(item.command, events.right, this.state)
        const revision = revisionOf(this.state)
        this.decided(batch, item, () => item.settle(E.right({ value, revision })))
        return true
      }
    }
  }

  private decided(batch: Batch, item: Item, answer: () => void): void {
    batch.decided.push({ item, answer })
  }

  private decideCommand(command: Command): E.Either<Refusal, ReadonlyArray<QueueEvent>> {
    return decide(command, this.envelope())(this.state)
  }

  private envelope(): Envelope {
    return { at: Math.max(this.clock(), timeOf(this.state)), random: this.random() }
  }

  private tick(batch: Batch): void {
    const decision = this.decideCommand({ type: 'Tick' })
    let events = E.isRight(decision) ? decision.right : []
    // What one append cannot hold is due again in the next.
    while (this.accept(batch, system, events) === 'too-large') events = firstHalf(events)
  }

  /** The queue comes into being, with the settings that new queues begin with here. */
  private configure(batch: Batch, patch: SettingsPatch): void {
    const events = this.decideCommand({ type: 'Configure', patch })
    if (E.isRight(events)) this.accept(batch, system, events.right)
  }

  private tryClaim(batch: Batch, item: ClaimItem): 'served' | 'empty' | 'full' {
    if (pendingCount(this.state) === 0) return 'empty'
    const decision = this.decideCommand(item.command)
    if (E.isLeft(decision) || decision.right.length === 0) return 'empty'
    let events = decision.right
    for (;;) {
      const verdict = this.accept(batch, item.door, events)
      if (verdict === 'accepted') break
      if (verdict === 'full') return 'full'
      if (events.length === 1) return 'empty'
      // `max` is what the agent takes at most: fewer is an answer, too.
      events = events.slice(0, Math.ceil(events.length / 2))
    }
    item.take(true)
    const claimed = replyTo(item.command, events, this.state)
    const revision = revisionOf(this.state)
    this.decided(batch, item, () => void this.answerClaim(item, claimed, revision))
    return 'served'
  }

  private serveWaiting(batch: Batch): void {
    if (this.waiting.size === 0 || pendingCount(this.state) === 0) return
    this.waiting.offer((item) => {
      if (this.hungry) return false
      const verdict = batch.texts.length < this.batchEventsMax ? this.tryClaim(batch, item) : 'full'
      // Those behind wait for the next batch, so that nobody is served before who came first.
      if (verdict === 'full') this.hungry = true
      return verdict === 'served'
    })
  }

  /** Serialises and folds a command's events, all of them or none. */
  private accept(batch: Batch, door: Door, events: ReadonlyArray<QueueEvent>): 'accepted' | 'full' | 'too-large' {
    const first = events[0]
    if (first === undefined) return 'accepted'
    const texts = this.encode(door, first.at, events)
    const bytes = appendBytes(texts)
    const { appendBytesMax, appendEventsMax } = this.store.limits
    if (batch.bytes + bytes > appendBytesMax || batch.texts.length + texts.length > appendEventsMax) {
      return batch.texts.length > 0 ? 'full' : 'too-large'
    }
    batch.bytes += bytes
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as QueueEvent
      this.state = evolve(this.state, event)
      batch.events.push(event)
      batch.texts.push(texts[i] as EventToAppend)
      if (event.type === 'TaskEnqueued') this.cache.put(revisionOf(this.state), event.content ?? '{}')
    }
    return 'accepted'
  }

  private encode(door: Door, at: number, events: ReadonlyArray<QueueEvent>): ReadonlyArray<EventToAppend> {
    const ids = this.commandIds()
    if (at !== this.atMs) {
      this.atMs = at
      this.atText = new Date(at).toISOString()
    }
    const metadata = metadataOf(this.atText, door, ids.command)
    const [first] = events
    if (first?.type === 'TaskEnqueued') return events.map((event, index) => encodeEvent(event, ids.event(index), metadata, undefined))
    // Two events of one command about one task: the second follows the first, which is not folded yet.
    const earlier = events.length > 1 && first?.type !== 'Claimed' ? new Map<string, number>() : undefined
    const from = revisionOf(this.state) + 1
    return events.map((event, index) => {
      let prev: number | undefined
      if ('task' in event.data) {
        const { task } = event.data
        prev = earlier?.get(task) ?? lastRevisionOf(this.state, task)
        earlier?.set(task, from + index)
      }
      return encodeEvent(event, ids.event(index), metadata, prev)
    })
  }

  private tooLarge(): Refusal {
    const { appendBytesMax, appendEventsMax } = this.store.limits
    return reject('too-large', `what this command makes happen is over ${appendBytesMax} bytes or ${appendEventsMax} events, and one append holds no more: split it`)
  }

  // ------------------------------------------------------------------ appending

  private dispatch(batch: Batch): void {
    if (batch.texts.length === 0) {
      // Nothing to write. What was seen may still be speculative, then it waits for the batch that it saw.
      const last = this.inFlight[this.inFlight.length - 1]
      if (last === undefined) {
        release(this.state, batch.mark)
        this.answer(batch.decided)
      } else {
        this.state = rollback(this.state, batch.mark)
        for (const decided of batch.decided) last.decided.push(decided)
      }
      return
    }
    this.inFlight.push(batch)
    batch.told = this.append(batch)
  }

  private async append(batch: Batch): Promise<void> {
    const expected = batch.expected < 0 ? 'no_stream' : batch.expected
    const result = await this.store.append(this.stream, batch.texts, expected)()
    batch.result = E.isRight(result) ? { _tag: 'Appended' } : result.left
    this.settle()
  }

  /** Settles batches in order, as far as their results are in. */
  private settle(): void {
    if (this.recovering) return
    for (;;) {
      const batch = this.inFlight[0]
      if (batch?.result === undefined) break
      if (batch.result._tag !== 'Appended') {
        void this.recover(batch.result)
        return
      }
      this.inFlight.shift()
      this.commit(batch)
    }
    this.pump()
  }

  private commit(batch: Batch): void {
    release(this.state, batch.mark)
    const from = this.durable + 1
    this.durable = batch.expected + batch.texts.length
    this.unavailable = undefined
    this.committed.next({ from, events: batch.events })
    this.answer(batch.decided)
    for (const check of this.watchers) check()
  }

  private answer(decided: ReadonlyArray<Decided>): void {
    for (const { answer } of decided) answer()
  }

  private async answerClaim(item: ClaimItem, claimed: Replies['Claim'], revision: number): Promise<void> {
    try {
      item.settle(E.right({ value: await this.join(claimed), revision }))
    } catch (error) {
      // The tasks are claimed, their contents cannot be read: the leases will run out, and say so.
      item.settle(E.left(this.storeFailed(error)))
    }
  }

  private async join(claimed: Replies['Claim']): Promise<ReadonlyArray<Claim>> {
    // What the cache has is taken out before anything is awaited: it may be gone after that.
    const cached = claimed.map(({ enqueuedRevision }) => this.cache.take(enqueuedRevision))
    const missing: Array<number> = []
    claimed.forEach(({ enqueuedRevision, checkpointRevision }, index) => {
      if (cached[index] === undefined) missing.push(enqueuedRevision)
      if (checkpointRevision !== undefined) missing.push(checkpointRevision)
    })
    const read = new Map<number, string>()
    if (missing.length > 0) {
      const texts = await this.contents(missing)
      missing.forEach((revision, index) => {
        const text = texts[index]
        if (text === undefined) throw new Error(`revision ${revision} of queue ${this.name} is not there`)
        read.set(revision, text)
      })
    }
    claimed.forEach((claim, index) => {
      const { enqueuedRevision, checkpointRevision } = claim
      claim.content = cached[index] ?? contentOf(read.get(enqueuedRevision) ?? '') ?? '{}'
      if (checkpointRevision !== undefined) claim.checkpoint = checkpointOf(read.get(checkpointRevision))
    })
    return claimed
  }

  // ------------------------------------------------------------------ when an append fails

  private async recover(error: AppendError): Promise<void> {
    this.recovering = true
    try {
      // Whatever was sent after the failed batch fails as well: its expected revision never came to be.
      await Promise.all(this.inFlight.map((batch) => batch.told))
      const failed = this.inFlight
      const [first] = failed
      if (first === undefined) return
      if (error._tag === 'OutcomeUnknown' && (await this.isInLog(first, error.reason))) {
        this.inFlight = failed.slice(1)
        this.commit(first)
        // The batch behind it was refused, or is unknown in its turn; it is looked at on its own.
        return
      }
      const isStray = await this.settleStray(failed[1])
      this.inFlight = []
      this.state = rollback(this.state, first.mark)
      for (const { expected, texts } of failed) {
        for (let revision = expected + 1; revision <= expected + texts.length; revision++) this.cache.drop(revision)
      }
      this.takeBack(isStray ? [first] : failed, error)
      if (error._tag === 'Unavailable' && !isStray) return
      const before = this.durable
      await this.catchUp()
      if (error._tag === 'WrongExpectedRevision' && this.durable === before) {
        throw new Error(`the log has lost revision ${before}, which was there: was its file replaced? Restart to read it anew`)
      }
      if (error._tag !== 'Unavailable') this.unavailable = undefined
    } catch (cause) {
      this.unavailable = describe(cause)
      this.warn(`queue ${this.name}: ${this.unavailable}`)
      this.tickNotBefore = this.clock() + retryMs
      if (this.closed !== undefined) this.giveUp(this.unavailable)
      await new Promise((resolve) => setTimeout(resolve, 100))
    } finally {
      this.recovering = false
      this.settle()
      this.schedule()
    }
  }

  /**
   * A batch is in the log though the one that it builds on is not: another writer appended just as many events
   * in between, and a revision is all that a store compares. Its commands were decided on what never was, so
   * nobody is told that they succeeded, and they are not decided again: they could happen twice. Cannot be with
   * one append in flight, or without another writer.
   */
  private async settleStray(batch: Batch | undefined): Promise<boolean> {
    const tag = batch?.result?._tag
    if (batch === undefined || (tag !== 'Appended' && tag !== 'OutcomeUnknown')) return false
    if (tag === 'OutcomeUnknown') {
      const [found] = await this.store.pick(this.stream, [batch.expected + 1])
      if (found?.id !== batch.texts[0]?.id) return false
    }
    this.warn(`queue ${this.name}: another process writes to this queue: let both have one append in flight at most`)
    const detail = 'another process changed the queue at the same time: look whether it happened before you try again'
    const again: Array<Item> = []
    for (const { item } of batch.decided) {
      if (item.kind === 'read') again.push(item)
      else refuse(item, { code: 'unavailable', detail, retryAfterSeconds: 1 })
    }
    this.mailbox = again.concat(this.mailbox)
    return true
  }

  /** The items of batches that did not come to be: refused when the store cannot write, else decided again. */
  private takeBack(failed: ReadonlyArray<Batch>, error: AppendError): void {
    const items = failed.flatMap((batch) => batch.decided.map(({ item }) => item))
    const isConflict = error._tag === 'WrongExpectedRevision' || error._tag === 'OutcomeUnknown'
    if (isConflict) this.conflicts++
    const again: Array<Item> = []
    const waiting: Array<ClaimItem> = []
    const refused: Array<Item> = []
    for (const item of items) {
      if (item.kind === 'claim') item.take(false)
      if (item.kind === 'claim' && item.isOver()) continue
      if (item.kind === 'claim' && item.mayWait && this.closed === undefined) waiting.push(item)
      else if (isConflict || item.kind === 'read') again.push(item)
      else refused.push(item)
    }
    this.waiting.putBack(waiting)
    this.hungry = this.waiting.size > 0
    this.mailbox = again.concat(this.mailbox)
    if (isConflict) return
    const refusal: Refusal =
      error._tag === 'AppendTooLarge'
        ? this.tooLarge()
        : { code: 'unavailable', detail: error.reason, retryAfterSeconds: 1 }
    if (error._tag === 'Unavailable') {
      this.unavailable = error.reason
      this.tickNotBefore = this.clock() + retryMs
    }
    for (const item of refused) refuse(item, refusal)
  }

  /** At the end of a shutdown that the store does not let finish: everybody is told that nothing is known. */
  private giveUp(detail: string): void {
    const items = this.inFlight.flatMap((batch) => batch.decided.map(({ item }) => item)).concat(this.mailbox)
    const [first] = this.inFlight
    // The snapshot that is taken last must not hold what may not be in the log.
    if (first !== undefined) this.state = rollback(this.state, first.mark)
    this.inFlight = []
    this.mailbox = []
    for (const item of items) refuse(item, { code: 'unavailable', detail, retryAfterSeconds: 1 })
  }

  /** Folds what another writer has appended. */
  private async catchUp(): Promise<void> {
    for await (const page of this.store.read(this.stream, { from: this.durable + 1 })) {
      const from = this.durable + 1
      this.state = foldRecorded(this.state, page)
      this.durable = revisionOf(this.state)
      this.committed.next({ from, events: [] })
    }
    for (const check of this.watchers) check()
  }

  /**
   * Settles an append of unknown outcome: the same append is sent again, same ids and expected revision, and
   * the log is read, until one of them knows. Never decided anew before that: it could happen twice.
   */
  private async isInLog(batch: Batch, reason: string): Promise<boolean> {
    this.unavailable = `an append's outcome is unknown (${reason}); it is being settled`
    this.warn(`queue ${this.name}: ${this.unavailable}`)
    const id = batch.texts[0]?.id
    for (let attempt = 0; ; attempt++) {
      try {
        const [found] = await this.store.pick(this.stream, [batch.expected + 1])
        if (found !== undefined) return found.id === id
        const again = await this.store.append(this.stream, batch.texts, batch.expected < 0 ? 'no_stream' : batch.expected)()
        if (E.isRight(again)) return true
        if (again.left._tag === 'AppendTooLarge') return false
      } catch (cause) {
        this.warn(`queue ${this.name}: still unknown: ${describe(cause)}`)
      }
      if (this.closed !== undefined && attempt >= settleTriesAtClose) {
        throw new Error(`stopped while an append's outcome was unknown (${reason}): it is in the log or it is not`)
      }
      await new Promise((resolve) => setTimeout(resolve, Math.min(50 * 2 ** Math.min(attempt, 7), 5_000)))
    }
  }

  private storeFailed(error: unknown): Refusal {
    return { code: 'unavailable', detail: `the log cannot be read: ${describe(error)}`, retryAfterSeconds: 1 }
  }

  // ------------------------------------------------------------------ snapshots

  private wantsSnapshot(): boolean {
    return (
      this.snapshots !== undefined &&
      !this.snapshotting &&
      this.closed === undefined &&
      this.durable - this.snapshotTried >= this.snapshotEvery
    )
  }

  /** Call with nothing in flight: a snapshot never holds what is not durable. */
  private async takeSnapshot(): Promise<void> {
    if (this.snapshots === undefined) return
    this.snapshotting = true
    const cut = cutSnapshot(this.state)
    this.snapshotTried = cut.revision
    try {
      const writer = await this.snapshots.create({ stream: this.stream, revision: cut.revision, foldVersion })
      try {
        for (let lines = cut.next(tasksPerTurn); lines !== undefined; lines = cut.next(tasksPerTurn)) {
          for (const line of lines) await writer.line(line)
          await new Promise((resolve) => setImmediate(resolve))
        }
        await writer.commit()
        this.snapshotRevision = cut.revision
      } catch (error) {
        await writer.abort()
        throw error
      }
    } catch (error) {
      // Only the next start is slower; the next snapshot is tried when it is due.
      this.warn(`queue ${this.name}: no snapshot at revision ${cut.revision}: ${describe(error)}`)
      cut.abandon()
    } finally {
      this.snapshotting = false
    }
  }
}

const tasksPerTurn = 512

/** The first half of a tick's events, none of them without what follows from it: each timer that ran out opens a part. */
const firstHalf = (events: ReadonlyArray<QueueEvent>): ReadonlyArray<QueueEvent> => {
  const starts = events.flatMap(({ type }, index) =>
    type === 'ClaimExpired' || type === 'TaskDue' || type === 'BreakerHalfOpened' ? [index] : [],
  )
  return starts.length > 1 ? events.slice(0, starts[Math.ceil(starts.length / 2)]) : []
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const checkpointOf = (data: string | undefined): string | undefined => {
  if (data === undefined) return undefined
  const parsed = JSON.parse(data) as { readonly checkpoint?: unknown }
  return parsed.checkpoint === undefined ? undefined : JSON.stringify(parsed.checkpoint)
}

