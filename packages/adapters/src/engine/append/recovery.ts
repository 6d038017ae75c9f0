/**
 * Handles failed appends. Everything in flight is rolled back, because each batch builds on the previous one.
 * Then:
 *
 *   conflict      the events of the other writer are read and folded, and all commands are decided again
 *   unavailable   callers are refused, and the store is not tried for a while
 *   too large     all commands are decided again, for smaller appends; one that does not even fit alone is refused by the decider
 *   unknown       nothing happens until it is known whether the batch is in the log (`unknown-append.ts`). What waits for that is refused after some
 *                 seconds: a cluster without a leader may take hours
 */
import { keepShape } from '@daybook/core'
import { errorText } from '../../error-text.js'
import type { AppendError, ChainHead } from '../../store/index.js'
import { type Batch, type ClaimItem, isOwn, type Item, refuse } from './batch.js'
import type { Parts } from '../parts.js'
import { outcomeUnknown, unavailable } from '../refusals.js'
import { isThere, sealInLog } from './unknown-append.js'

/** The longest single wait for written events to become readable, in milliseconds. All waits together take twice as long. */
const readableMsMax = 1_024
/** How long commands and questions wait for an append of unknown outcome, in milliseconds. A cluster elects a leader in less. */
const doubtMsMax = 5_000

export class Recovery {
  private conflictCount = 0

  constructor(private readonly parts: Parts) {}

  get conflicts(): number {
    return this.conflictCount
  }

  /** Recovers from an append that failed with this error. Afterwards, the batches still in flight can be settled, and everything else decided. */
  async run(error: AppendError): Promise<void> {
    const { availability, isClosing } = this.parts
    try {
      await this.recover(error)
    } catch (cause) {
      const reason = errorText(cause)
      availability.lost(reason)
      if (isClosing()) this.giveUp(reason)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    if (error._tag === 'Unavailable' || error._tag === 'OutcomeUnknown') this.parts.grace.begin()
  }

  private async recover(error: AppendError): Promise<void> {
    const { live, inFlight, contentStore: contents, availability } = this.parts
    // The batches after the failed one fail as well, because their expected revisions do not exist.
    await inFlight.allDone()
    const failed = inFlight.all
    const [first, second] = failed
    if (first === undefined) return
    const sealed = error._tag === 'OutcomeUnknown' ? await this.sealInLog(first, error.reason) : undefined
    if (sealed !== undefined) {
      // The next batch was refused, or its outcome is also unknown: it is handled on its own. If it was refused only because this one was not there
      // yet, it is sent again. The revision in that refusal is an old one, and would look as if the log had lost events.
      first.result = { _tag: 'Appended', sealed }
      if (second?.result?._tag === 'WrongExpectedRevision') second.result = { _tag: 'OutcomeUnknown', reason: 'the append before it was not there yet' }
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

  private async sealInLog(batch: Batch, reason: string): Promise<ChainHead | undefined> {
    const patience = setTimeout(() => this.refuseWaiting(), doubtMsMax)
    try {
      return await sealInLog(batch, reason, this.parts)
    } finally {
      clearTimeout(patience)
    }
  }

  /**
   * Refuses what has no effect yet: commands that were not decided, and questions. Commands in flight wait, because nobody knows whether they were done.
   * So do the engine's own commands, which nobody would send again.
   */
  private refuseWaiting(): void {
    const { availability, inFlight, mailbox } = this.parts
    availability.endWait()
    const refusal = unavailable(availability.refusal ?? '')
    const asked: Array<Item> = []
    for (const { decided } of inFlight.all) {
      const kept = decided.filter(({ item }) => item.kind !== 'read')
      asked.push(...decided.flatMap(({ item }) => (item.kind === 'read' ? [item] : [])))
      decided.splice(0, decided.length, ...kept)
    }
    const undecided = mailbox.drain()
    mailbox.putBack(undecided.filter(isOwn))
    for (const item of [...asked, ...undecided.filter((each) => !isOwn(each))]) refuse(item, refusal)
  }

  /**
   * Handles a batch that is in the log although the previous one is not. Another writer appended just as many events in between, and a store only
   * compares revisions. The batch's commands were decided on a state that never existed. So their callers do not get a success, and they are not
   * decided again, because they could happen twice. This cannot happen with one append in flight, or without another writer.
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

  /** Takes back the items of rolled-back batches. They are refused if the store cannot write, and decided again otherwise. */
  private takeBack(failed: ReadonlyArray<Batch>, error: AppendError): void {
    const { limits, mailbox, waiting, availability, isClosing } = this.parts
    const isConflict = error._tag === 'WrongExpectedRevision' || error._tag === 'OutcomeUnknown'
    if (isConflict) {
      this.conflictCount++
      this.parts.turns.lost()
    }
    if (error._tag === 'AppendTooLarge') limits.lower(error)
    const again: Array<Item> = []
    const patient: Array<ClaimItem> = []
    const refused: Array<Item> = []
    for (const item of itemsOf(failed)) {
      if (item.kind === 'claim') item.untake()
      if (item.kind === 'claim' && item.isOver()) continue
      if (item.kind === 'claim' && item.mayWait && !isClosing()) patient.push(item)
      else if (error._tag !== 'Unavailable' || item.kind === 'read') again.push(item)
      else refused.push(item)
    }
    waiting.putBack(patient, ({ command }) => keepShape(this.parts.live.current, command))
    mailbox.putBack(again)
    if (error._tag !== 'Unavailable') return
    availability.lost(error.reason)
    for (const item of refused) refuse(item, unavailable(error.reason))
  }

  /** Reads up to the revision that the store has reported. */
  private async catchUpTo(actual: number | 'no_stream'): Promise<void> {
    const { durable } = this.parts
    const before = durable.revision
    if (actual === 'no_stream' || actual <= before) {
      throw new Error(`the log has lost revision ${before}, which was there: was its file replaced? Restart to read it anew`)
    }
    await this.catchUp()
    // A replicated store may refuse an append before readers can see the earlier events.
    for (let waitMs = 1; durable.revision < actual; waitMs *= 2) {
      if (waitMs > readableMsMax) throw new Error(`the log goes to revision ${actual}, and cannot be read beyond ${durable.revision}`)
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      await this.catchUp()
    }
  }

  /** Folds the events of another writer. */
  private async catchUp(): Promise<void> {
    const { log, live, durable, contentStore: contents } = this.parts
    for await (const page of log.read(durable.revision + 1)) {
      const events = live.foldRecorded(page, (event, before) => contents.forgetFor(event, before, false))
      durable.advance({ events, isOwn: false }, page[page.length - 1]?.id)
    }
    durable.wake()
  }

  /** Ends a shutdown that the store does not complete: callers are told that the outcome is unknown. */
  private giveUp(detail: string): void {
    const { live, inFlight, mailbox } = this.parts
    const { first, all } = inFlight
    const sent = itemsOf(all)
    // The last snapshot must not contain events that may not be in the log.
    if (first !== undefined) live.rollback(first.mark)
    inFlight.clear()
    for (const item of sent) refuse(item, item.kind === 'read' ? unavailable(detail) : outcomeUnknown(detail))
    for (const item of mailbox.drain()) refuse(item, unavailable(detail))
  }
}

const itemsOf = (batches: ReadonlyArray<Batch>): ReadonlyArray<Item> =>
  batches.flatMap((batch) => batch.decided.map(({ item }) => item))
