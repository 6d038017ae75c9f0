/**
 * What happens when an append fails. Everything in flight is rolled back, since each batch builds on the one
 * before; then
 *
 *   conflict      what another writer appended is read and folded, and all is decided again
 *   unavailable   callers are refused, and the store is left alone for a while
 *   unknown       nothing moves until it is known whether it is in the log (`unknown-append.ts`)
 */
import type { AppendError } from '../store/index.js'
import type { Availability } from './availability.js'
import { type Batch, type ClaimItem, type Item, refuse } from './batch.js'
import type { Contents } from './contents.js'
import type { Durable } from './durable.js'
import type { LeaseGrace } from './lease-grace.js'
import type { InFlight } from './in-flight.js'
import type { LiveState } from './live-state.js'
import type { Mailbox } from './mailbox.js'
import type { QueueLog } from './queue-log.js'
import { describe, outcomeUnknown, tooLarge, unavailable } from './refusals.js'
import { isInLog, isThere } from './unknown-append.js'
import type { Turns } from './turns.js'
import type { WaitingClaims } from './waiting.js'

/** All that a failed append takes back, and what it is read again from. */
export interface Recovered {
  readonly log: QueueLog
  readonly live: LiveState
  readonly durable: Durable
  readonly inFlight: InFlight
  readonly mailbox: Mailbox
  readonly waiting: WaitingClaims
  readonly contents: Contents
  readonly availability: Availability
  readonly turns: Turns
  readonly grace: LeaseGrace
  readonly isClosing: () => boolean
  readonly warn: (message: string) => void
}

/** How long the last wait for what was written to be readable is, in milliseconds; all of them are twice that. */
const readableMsMax = 1_024

export class Recovery {
  private conflictCount = 0

  constructor(private readonly parts: Recovered) {}

  get conflicts(): number {
    return this.conflictCount
  }

  /** After an append that failed with this error. What is in flight after that is to be settled, and all else to be decided. */
  async run(error: AppendError): Promise<void> {
    const { availability, isClosing, warn } = this.parts
    try {
      await this.recover(error)
    } catch (cause) {
      const reason = describe(cause)
      availability.lost(reason)
      warn(reason)
      if (isClosing()) this.giveUp(reason)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    if (error._tag === 'Unavailable' || error._tag === 'OutcomeUnknown') this.parts.grace.begin()
  }

  private async recover(error: AppendError): Promise<void> {
    const { live, inFlight, contents, availability } = this.parts
    // Whatever was sent after the failed batch fails as well: its expected revision never came to be.
    await inFlight.allDone()
    const failed = inFlight.all
    const [first, second] = failed
    if (first === undefined) return
    if (error._tag === 'OutcomeUnknown' && (await isInLog(first, error.reason, this.parts))) {
      // The batch behind it was refused, or is unknown in its turn; it is looked at on its own.
      first.result = { _tag: 'Appended' }
      return
    }
    const isStray = await this.settleStray(second)
    inFlight.clear()
    live.rollback(first.mark)
    for (const { expected, texts } of failed) contents.drop(expected + 1, texts.length)
    this.takeBack(isStray ? [first] : failed, error)
    if (error._tag === 'Unavailable' && !isStray) return
    if (error._tag === 'WrongExpectedRevision') await this.catchUpTo(error.actual)
    else await this.catchUp()
    if (error._tag !== 'Unavailable') availability.restored()
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
    if (tag === 'OutcomeUnknown' && (await isThere(this.parts.log, batch)) !== 'yes') return false
    this.parts.warn('another process writes to this queue: let both have one append in flight at most')
    const refusal = outcomeUnknown('another process changed the queue at the same time: look whether it happened before you try again')
    const again: Array<Item> = []
    for (const { item } of batch.decided) {
      if (item.kind === 'read') again.push(item)
      else refuse(item, refusal)
    }
    this.parts.mailbox.putBack(again)
    return true
  }

  /** The items of batches that did not come to be: refused when the store cannot write, else decided again. */
  private takeBack(failed: ReadonlyArray<Batch>, error: AppendError): void {
    const { log, mailbox, waiting, availability, isClosing } = this.parts
    const isConflict = error._tag === 'WrongExpectedRevision' || error._tag === 'OutcomeUnknown'
    if (isConflict) {
      this.conflictCount++
      this.parts.turns.lost()
    }
    const again: Array<Item> = []
    const patient: Array<ClaimItem> = []
    const refused: Array<Item> = []
    for (const item of itemsOf(failed)) {
      if (item.kind === 'claim') item.untake()
      if (item.kind === 'claim' && item.isOver()) continue
      if (item.kind === 'claim' && item.mayWait && !isClosing()) patient.push(item)
      else if (isConflict || item.kind === 'read') again.push(item)
      else refused.push(item)
    }
    waiting.putBack(patient)
    mailbox.putBack(again)
    if (isConflict) return
    if (error._tag === 'Unavailable') availability.lost(error.reason)
    const refusal = error._tag === 'AppendTooLarge' ? tooLarge(log.limits) : unavailable(error.reason)
    for (const item of refused) refuse(item, refusal)
  }

  /** As far as the store says that the log goes. */
  private async catchUpTo(actual: number | 'no_stream'): Promise<void> {
    const { durable } = this.parts
    const before = durable.revision
    if (actual === 'no_stream' || actual <= before) {
      throw new Error(`the log has lost revision ${before}, which was there: was its file replaced? Restart to read it anew`)
    }
    await this.catchUp()
    // A replicated store may refuse an append before those who read can see what came first.
    for (let waitMs = 1; durable.revision < actual; waitMs *= 2) {
      if (waitMs > readableMsMax) throw new Error(`the log goes to revision ${actual}, and cannot be read beyond ${durable.revision}`)
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      await this.catchUp()
    }
  }

  /** Folds what another writer has appended. */
  private async catchUp(): Promise<void> {
    const { log, live, durable, contents } = this.parts
    for await (const page of log.read(durable.revision + 1)) {
      const events = live.foldRecorded(page, (event, before) => contents.forgetFor(event, before, false))
      durable.advance({ events, isOwn: false }, page[page.length - 1]?.id)
    }
    durable.wake()
  }

  /** At the end of a shutdown that the store does not let finish: everybody is told that nothing is known. */
  private giveUp(detail: string): void {
    const { live, inFlight, mailbox } = this.parts
    const { first, all } = inFlight
    const sent = itemsOf(all)
    // The snapshot that is taken last must not hold what may not be in the log.
    if (first !== undefined) live.rollback(first.mark)
    inFlight.clear()
    for (const item of sent) refuse(item, item.kind === 'read' ? unavailable(detail) : outcomeUnknown(detail))
    for (const item of mailbox.drain()) refuse(item, unavailable(detail))
  }
}

const itemsOf = (batches: ReadonlyArray<Batch>): ReadonlyArray<Item> =>
  batches.flatMap((batch) => batch.decided.map(({ item }) => item))
