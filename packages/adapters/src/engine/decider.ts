/**
 * Decides the commands of the mailbox and the due ticks, and collects their events in the next batch. Every event is
 * folded as soon as it is decided, so that the next command sees it. The batch's mark allows a rollback.
 */
import {
  activeAgentsOf,
  cancelMax,
  type ClaimShape,
  type Command,
  type CommandOf,
  decide,
  type Decision,
  type EventType,
  type Findings,
  headOf,
  holdBack,
  keepShape,
  nextAlertDue,
  nextForgotten,
  nextLeaseEnd,
  nextMisplaced,
  nextOtherDue,
  type QueueEvent,
  type QueueState,
  replyTo,
  type SettingsPatch,
  servedOf,
  takeWokenShapes,
  timeOf,
} from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { sealBytesMax } from '../seals/index.js'
import { appendBytes, appendBytesAtMost } from '../store/append-bytes.js'
import type { EventToAppend } from '../store/index.js'
import { type Batch, type ClaimItem, type CommandItem, type Item, Known, newBatch, type ReadItem } from './append/batch.js'
import { Encoder } from './log/encoder.js'
import { halved } from './contents/findings.js'
import { Grounded } from './contents/groundwork.js'
import type { Parts } from './parts.js'
import { streamOf } from './state/replay.js'
import { tooLarge, wrongClock } from './refusals.js'
import { type Caller, type Refusal, systemCaller } from './types.js'

export interface DeciderOptions {
  /** Maximum number of events in a batch besides those of a tick, unless a single command has more. */
  readonly batchEventsMax: number
  /** Settings of a new queue. */
  readonly defaults: SettingsPatch | undefined
  readonly alerts: boolean
  readonly random: () => number
}

/** The pause before what is due is tried again that fits in no append, in milliseconds. */
const tickAgainMs = 60_000
/** Interval at which a refused clock is read again, in milliseconds. */
const readClockAgainMs = 1_000
/** Forgotten tasks may be evicted this much later than their retention ends, so that many are evicted together. In milliseconds. */
const tidyAfterMs = 1_000
/** Number of tasks that are evicted, or change their lane, at a time. Requests meanwhile wait a millisecond or two. */
const tidyMax = 1_000
/** The largest number of tasks that change their lane before a batch. It takes some milliseconds. */
const settledMax = 4_096

export class Decider {
  private readonly encoder: Encoder
  /** When the present batch was begun, in the queue's time and by `performance.now()`. */
  private at = 0
  private begunAt = 0
  /** Number of events at which nothing more is added to the present batch. */
  private fullAt = 0
  /** Nothing that is due is decided before this time, because it fits in no append: without a pause, it would be tried without end. */
  private noTickBefore = Number.NEGATIVE_INFINITY
  /** Whether the clock was refused at the last look. */
  private wasRefused = false

  constructor(
    private readonly parts: Parts,
    private readonly options: DeciderOptions,
  ) {
    this.encoder = new Encoder(streamOf(parts.name))
  }

  /** Whether there is anything to decide besides the mailbox. */
  isDue(): boolean {
    const { clock, waiting, isClosing, availability } = this.parts
    const now = clock.now()
    this.noteClock()
    if (this.refusal() !== undefined) return waiting.size > 0
    if (isClosing() || availability.resumeInMs() > 0) return false
    return this.isTickDue(now) || waiting.isOfferDue || waiting.nextLook <= now
  }

  /** The answer to every command while the queue is read-only or the clock is refused; `undefined` otherwise. As of the last reading of the clock. */
  private refusal(): Refusal | undefined {
    const { readOnly, withholding, live, clock } = this.parts
    return readOnly.refusalIn(live.current) ?? withholding.refusalIn(live.current) ?? (clock.refusal === undefined ? undefined : wrongClock(clock.refusal))
  }

  /** While the clock was refused, so were all reports. Agents repeat them. */
  private noteClock(): void {
    const { clock, grace } = this.parts
    const isRefused = clock.refusal !== undefined
    if (this.wasRefused && !isRefused) grace.begin()
    this.wasRefused = isRefused
  }

  /** When there will be something to decide besides the mailbox, in the queue's time; infinity for never. */
  dueAt(): number {
    const { live, waiting, availability, clock, grace } = this.parts
    const now = clock.now()
    const forgotten = this.tidyDue() + tidyAfterMs
    if (this.refusal() !== undefined) return Math.min(forgotten, clock.refusal === undefined ? forgotten : now + readClockAgainMs)
    const leaseEnd = nextLeaseEnd(live.current)
    const tickDue = Math.min(this.otherDue(), leaseEnd === undefined ? Number.POSITIVE_INFINITY : grace.dueAt(leaseEnd, now))
    const due = Math.min(waiting.isOfferDue ? 0 : waiting.nextLook, Math.max(tickDue, this.noTickBefore))
    return Math.min(forgotten, Math.max(due, now + availability.resumeInMs()))
  }

  /** Evicts forgotten tasks and moves tasks to their lanes, if nothing is in flight. True if more are left. */
  tidy(): boolean {
    const { live, clock } = this.parts
    const at = clock.now()
    if (this.tidyDue() <= at) {
      live.forget(at, tidyMax)
      clock.saw(at)
    }
    return this.tidyDue() <= at
  }

  /**
   * Moves tasks to the lanes in which they belong now, so that no decision has to look at many tasks in wrong lanes. True if more are left, as when
   * very many deadlines come at the same moment: they must be moved before anything is decided.
   */
  settle(): boolean {
    const { live, clock } = this.parts
    const at = this.now()
    if (this.misplacedFrom() <= at) {
      live.settle(at, settledMax)
      clock.saw(at)
    }
    return this.misplacedFrom() <= at
  }

  private tidyDue(): number {
    return Math.min(nextForgotten(this.parts.live.current) ?? Number.POSITIVE_INFINITY, this.misplacedFrom())
  }

  private misplacedFrom(): number {
    return nextMisplaced(this.parts.live.current) ?? Number.POSITIVE_INFINITY
  }

  /** The time of a decision. The state may be ahead of the log, and therefore of the clock. */
  private now(): number {
    const { live, clock } = this.parts
    return Math.max(clock.now(), timeOf(live.current))
  }

  /** Decides as much as fits in one batch. Items that were decided without events are in the batch as well. */
  nextBatch(eventsMax = Number.POSITIVE_INFINITY): Batch {
    const { live, mailbox, waiting, isClosing, availability } = this.parts
    this.begunAt = performance.now()
    this.at = this.now()
    this.noteClock()
    const batch = newBatch(live.mark(), live.revision)
    const refusal = this.refusal()
    if (refusal !== undefined) for (const item of waiting.drain()) batch.decided.push(new Known(item, E.left(refusal)))
    else if (!isClosing() && availability.resumeInMs() === 0 && this.isTickDue(this.at)) this.tick(batch)
    // A tick may fill an append, and the next one as well. What waits must not wait for all that is due.
    this.fullAt = batch.texts.length + Math.min(eventsMax, this.options.batchEventsMax)
    this.serveWaiting(batch)
    let taken = 0
    for (; taken < mailbox.size; taken++) {
      if (batch.texts.length >= this.fullAt) break
      if (!this.handle(batch, mailbox.at(taken), refusal)) break
    }
    mailbox.remove(taken)
    this.serveWaiting(batch)
    return batch
  }

  private isTickDue(now: number): boolean {
    const { live } = this.parts
    if (now < this.noTickBefore) return false
    const leaseEnd = nextLeaseEnd(live.current)
    return this.otherDue() <= now || (leaseEnd !== undefined && leaseEnd <= this.leasesUntil(now))
  }

  /** When anything but a lease is due; infinity for never. */
  private otherDue(): number {
    const { live } = this.parts
    const other = nextOtherDue(live.current) ?? Number.POSITIVE_INFINITY
    return this.options.alerts ? Math.min(other, nextAlertDue(live.current) ?? Number.POSITIVE_INFINITY) : other
  }

  /** Leases that end after this time are not ended yet. */
  private leasesUntil(now: number): number {
    const { grace, live, mailbox } = this.parts
    return grace.endsUntil(now, nextLeaseEnd(live.current), mailbox.oldestAt ?? now)
  }

  /** False if the item's events do not fit in this batch. */
  private handle(batch: Batch, item: Item, refusal: Refusal | undefined): boolean {
    if (refusal !== undefined && item.kind !== 'read') {
      batch.decided.push(new Known<never>(item as Exclude<Item, ReadItem>, E.left(refusal)))
      return true
    }
    switch (item.kind) {
      case 'read':
        return this.handleRead(batch, item)
      case 'claim':
        return this.handleClaim(batch, item)
      case 'command':
        return this.handleCommand(batch, item)
    }
  }

  private handleRead(batch: Batch, item: ReadItem): boolean {
    const { live } = this.parts
    const { revision } = live
    let value: unknown
    try {
      value = item.query(live.current, this.at)
    } catch (error) {
      // A query that throws affects only its own caller.
      item.fail(error)
      return true
    }
    batch.decided.push(new Known(item, E.right({ value, revision })))
    return true
  }

  private handleClaim(batch: Batch, item: ClaimItem): boolean {
    const { live, waiting, isClosing } = this.parts
    if (item.isOver()) return true
    // Claims that have waited longer come first.
    this.serveWaiting(batch)
    if (waiting.isOfferDue) return false
    const shape = keepShape(live.current, item.command, this.at)
    const verdict = this.tryClaim(batch, item, shape)
    if (verdict === 'empty') {
      if (item.mayWait && !isClosing()) {
        waiting.add(item, shape)
        this.stillWaits(item, shape)
      } else {
        batch.decided.push(new Known(item, E.right({ value: [], revision: live.revision })))
      }
    }
    return verdict !== 'full'
  }

  private handleCommand(batch: Batch, item: CommandItem): boolean {
    const { live, limits } = this.parts
    const { defaults } = this.options
    if (Grounded.isOutdated(item, live.current)) {
      this.parts.enterPrepared(item instanceof Grounded ? item.item : item)
      return true
    }
    // The type is wider, because a command that is too large is replaced by a smaller one.
    let command: Command = item.command
    let events = this.decideCommand(command)
    const isFirst = defaults !== undefined && isNew(live.current) && E.isRight(events) && events.right.length > 0
    if (isFirst) {
      // The settings begin a batch, so that they can be taken out of it again.
      if (batch.texts.length > 0) return false
      const settings = this.decideCommand({ type: 'Configure', patch: defaults })
      events = this.decideAfter(settings, command)
      if (E.isRight(events) && E.isRight(settings)) this.accept(batch, systemCaller, settings.right)
    }
    if (E.isLeft(events)) {
      batch.decided.push(new Known(item, events))
      return true
    }
    let accepted = events.right
    let verdict = this.accept(batch, item.caller, accepted)
    while (verdict === 'too-large') {
      const less = this.lessThan(command, accepted)
      if (less === undefined) break
      command = less.command
      accepted = less.events
      verdict = this.accept(batch, item.caller, accepted)
    }
    if (verdict === 'full' && isFirst) {
      this.empty(batch)
      verdict = 'too-large'
    }
    if (verdict === 'full') return false
    if (verdict === 'too-large') {
      batch.decided.push(new Known(item, E.left(tooLarge(limits))))
      return true
    }
    const value = replyTo(command, accepted, live.current, this.at)
    batch.decided.push(new Known(item, E.right({ value, revision: live.revision })))
    return true
  }

  /** What is tried in place of a command whose events do not fit in one append; `undefined` if there is nothing less. */
  private lessThan(command: Command, events: ReadonlyArray<QueueEvent>): { readonly command: Command; readonly events: ReadonlyArray<QueueEvent> } | undefined {
    // An agent may have more leases than one append can end. The answer has the number of leases that remain.
    if (command.type === 'TerminateAgent') return events.length > 2 ? { command, events: events.slice(0, Math.ceil(events.length / 2)) } : undefined
    const smaller = smallerOf(command)
    if (smaller === undefined) return undefined
    const decision = this.decideCommand(smaller)
    return { command: smaller, events: E.isRight(decision) ? decision.right : [] }
  }

  private tryClaim(batch: Batch, item: ClaimItem, shape: ClaimShape): 'served' | 'empty' | 'full' {
    const { live, contentStore: contents } = this.parts
    if (!shape.hasWork) return 'empty'
    const decision = this.decideCommand(item.command)
    if (E.isLeft(decision) || decision.right.length === 0) return 'empty'
    let events = decision.right
    for (;;) {
      const verdict = this.accept(batch, item.caller, events)
      if (verdict === 'accepted') break
      if (verdict === 'full') return 'full'
      if (events.length === 1) return 'empty'
      // `max` is an upper limit, so fewer tasks are a valid answer.
      events = events.slice(0, Math.ceil(events.length / 2))
    }
    // The start of the batch, before its clock was read. So a lease measured from this time is never too long.
    item.take(this.begunAt)
    const claimed = replyTo(item.command, events, live.current)
    const { revision } = live
    batch.decided.push({ item, answer: () => void contents.handOut(item, claimed, revision) })
    return 'served'
  }

  /** Claims of agents that have registered meanwhile wait for what these registered for. */
  followRegistrations(): void {
    const { live, waiting } = this.parts
    for (const agent of live.takeRegistered()) waiting.moveClaimsOf(agent, ({ command }) => keepShape(live.current, command, this.now()))
  }

  private serveWaiting(batch: Batch): void {
    const { live, waiting } = this.parts
    this.followRegistrations()
    if (waiting.size === 0) return
    waiting.passTime(this.at)
    // A claim that is served may make room for another one, or leave a task to it.
    for (let isFull = false; !isFull; ) {
      waiting.wake(takeWokenShapes(live.current))
      if (!waiting.isOfferDue) return
      const offer = (item: ClaimItem, shape: ClaimShape): 'served' | 'empty' | 'full' => {
        const verdict = batch.texts.length < this.fullAt ? this.tryClaim(batch, item, shape) : 'full'
        if (verdict === 'empty') this.stillWaits(item, shape)
        isFull = verdict === 'full'
        return verdict
      }
      waiting.offer(offer, (shape) => servedOf(live.current, shape), () => activeAgentsOf(live.current))
    }
  }

  /** A waiting claim found nothing. If it leaves tasks to other agents, it looks again when that may have changed by time alone. */
  private stillWaits({ command }: ClaimItem, shape: ClaimShape): void {
    const { live, waiting } = this.parts
    const until = shape.hasWork ? holdBack(live.current, command, shape, this.at) : undefined
    if (until !== undefined) waiting.lookAgain(shape, until)
  }

  private tick(batch: Batch): void {
    const decision = this.decideCommand({ type: 'Tick', leasesUntil: this.leasesUntil(this.at), ...(this.options.alerts ? { alerts: true } : {}) })
    const due = E.isRight(decision) ? decision.right : []
    let events = due
    // The events that do not fit are due again in the next batch.
    while (this.accept(batch, systemCaller, events) === 'too-large') events = firstHalf(events)
    if (events.length === 0 && due.length > 0) this.holdTicks(due)
  }

  /** Not even the first timer's events fit in one append. All timers stand still, because each may depend on those before it. */
  private holdTicks([first]: ReadonlyArray<QueueEvent>): void {
    const { limits, warn } = this.parts
    this.noTickBefore = this.at + tickAgainMs
    warn(`what is due does not fit in one append of ${limits.appendBytesMax} bytes and ${limits.appendEventsMax} events (it begins with ${first?.type}): no lease ends, and no delay, retry or schedule, until it does. Raise the limit of the store. It is tried again every ${tickAgainMs / 1_000} s`)
  }

  /** Decides the command as if these events had happened. They are undone, because a refused command must leave nothing behind (INV-16). */
  private decideAfter(events: Decision, command: Command): Decision {
    const { live } = this.parts
    const before = live.mark()
    if (E.isRight(events)) for (const event of events.right) live.evolve(event)
    const decision = this.decideCommand(command)
    live.rollback(before)
    return decision
  }

  private decideCommand(command: Command): Decision {
    return decide(command, { at: this.at, random: this.options.random() })(this.parts.live.current)
  }

  /** Takes all events out of the batch. */
  private empty(batch: Batch): void {
    const { live } = this.parts
    live.rollback(batch.mark)
    batch.mark = live.mark()
    batch.events.length = batch.texts.length = batch.bytes = 0
  }

  /** Serialises and folds a command's events: all of them or none. */
  private accept(batch: Batch, caller: Caller, decided: ReadonlyArray<QueueEvent>): 'accepted' | 'full' | 'too-large' {
    const first = decided[0]
    if (first === undefined) return 'accepted'
    const { live, contentStore: contents, limits, withholding } = this.parts
    const withheld = withholding.of(live.current, decided)
    const events = withheld?.events ?? decided
    const texts = this.encoder.encode(live.current, caller, first.at, events, withheld?.secrets)
    const bytesMax = limits.appendBytesMax - sealBytesMax(batch.texts.length + texts.length)
    let bytes = appendBytesAtMost(texts)
    if (batch.bytes + bytes > bytesMax) {
      batch.bytes = appendBytes(batch.texts)
      bytes = appendBytes(texts)
    }
    if (batch.bytes + bytes > bytesMax || batch.texts.length + texts.length > limits.appendEventsMax) {
      return batch.texts.length > 0 ? 'full' : 'too-large'
    }
    batch.bytes += bytes
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as QueueEvent
      if (event.type === 'Cancelled' || event.type === 'TaskAmended') contents.forgetFor(event, live.current, true)
      live.evolve(event)
      batch.events.push(event)
      batch.texts.push(texts[i] as EventToAppend)
      if (event.type === 'TaskEnqueued') contents.put(live.revision, event.content ?? '{}')
    }
    return 'accepted'
  }
}

/** The same command for less. `undefined` if it has to be done as a whole. */
const smallerOf = (command: Command): Command | undefined => {
  // More tasks may match than one append can cancel. Each is cancelled with its dependents, so a smaller command is decided again.
  if (command.type === 'CancelAll' || command.type === 'CancelBatch') {
    const { max = cancelMax } = command
    return max > 1 ? { ...command, max: Math.ceil(max / 2) } : undefined
  }
  // A completion must not fail because of its findings.
  if (command.type === 'Complete' && command.found !== undefined) {
    const { found, ...bare }: CommandOf<'Complete'> = command
    const fewer = halved(found as Findings)
    return fewer === undefined ? bare : { ...bare, found: fewer }
  }
  return undefined
}

/** Whether the queue has no event, or none since it was deleted. */
const isNew = (state: QueueState): boolean => {
  const { revision, deleted } = headOf(state)
  return revision < 0 || deleted !== null
}

/** The events with which a tick answers a timer. The events after each one are its consequences. */
const ofTimers: ReadonlySet<string> = new Set<EventType>(['ClaimExpired', 'TaskDue', 'ParkTimedOut', 'BreakerHalfOpened', 'SlowdownEnded', 'AgentResumed', 'LimitOpened', 'Requeued', 'SnoozeLapsed', 'RedriveStopped', 'ScheduleRan', 'ScheduleSkipped', 'ScheduleHeld', 'AlertRaised', 'AlertCleared'])

/** The first half of a tick's events. It is cut before an event of an expired timer, so that its consequences stay with it. */
const firstHalf = (events: ReadonlyArray<QueueEvent>): ReadonlyArray<QueueEvent> => {
  const starts = events.flatMap(({ type }, index) =>
    ofTimers.has(type) ? [index] : [],
  )
  return starts.length > 1 ? events.slice(0, starts[Math.ceil(starts.length / 2)]) : []
}
