/**
 * The single writer: decides, writes, and answers when the write is on disk and visible to readers.
 */
import { randomUUID } from 'node:crypto'
import { decide, type Expected } from './decision.js'
import type { Log, LogWrite } from './log.js'
import { metadataType, tombstoneRevision, tombstoneType, type NewEvent } from './log-event.js'
import { isMetastream, metastreamOf, originalOf, recreatedFrom, softDeletion } from './metadata.js'

export type Outcome =
  | { readonly kind: 'written'; readonly revision: number; readonly position: number | undefined }
  | { readonly kind: 'wrong_revision'; readonly actual: number }
  | { readonly kind: 'deleted' }

export type Answer = (outcome: Outcome) => void

/** Stores writes. `kept` is called when a write is durable, in the order of the writes. */
export type Keep = (write: LogWrite, kept: () => void) => void

const atOnce: Keep = (_write, kept) => kept()

export interface WriterOptions {
  readonly keep?: Keep
  readonly nowMs?: () => number
  /** Called when a real node would stop for good: at a tombstone on a metastream. */
  readonly onFatal?: () => void
}

const systemEvent = (type: string, data: Uint8Array, isJson: boolean): NewEvent => ({
  id: randomUUID(), type, isJson, data, metadata: new Uint8Array(),
})

export class Writer {
  private readonly keep: Keep
  private readonly nowMs: () => number
  private readonly onFatal: () => void

  constructor(readonly log: Log, { keep = atOnce, nowMs = Date.now, onFatal = () => {} }: WriterOptions = {}) {
    this.keep = keep
    this.nowMs = nowMs
    this.onFatal = onFatal
  }

  readonly append = (stream: string, expected: Expected, events: ReadonlyArray<NewEvent>, answer: Answer): void => {
    const decision = this.decide(stream, expected, events.map((event) => event.id), answer)
    if (decision === undefined) return
    const before = this.log.head(stream)
    const undeleteOriginal = isMetastream(stream) && this.log.softDeleted(originalOf(stream))
    this.write(stream, events, (write) =>
      answer({ kind: 'written', revision: before + events.length, position: write.position }))
    if (decision.undelete) this.recreate(stream, before + 1)
    if (undeleteOriginal) this.recreate(originalOf(stream), this.revisionAfter(originalOf(stream)))
  }

  /** After a tombstone, at 2^63-1, the revision overflows. */
  private revisionAfter(stream: string): number {
    return this.log.tombstoned(stream) ? -tombstoneRevision : this.log.head(stream) + 1
  }

  /** Soft delete: the events are hidden, and the next append continues after them. */
  readonly delete = (stream: string, expected: Expected, answer: Answer): void => {
    if (this.decide(stream, expected, [randomUUID()], answer) === undefined) return
    if (this.log.head(stream) < 0 && this.log.head(metastreamOf(stream)) < 0) {
      answer({ kind: 'wrong_revision', actual: -1 })
      return
    }
    this.write(metastreamOf(stream), [systemEvent(metadataType, Buffer.from(softDeletion), true)], ({ position }) =>
      answer({ kind: 'written', revision: 0, position }))
  }

  /** Hard delete: nothing can ever be written to or read from the stream again. */
  readonly tombstone = (stream: string, expected: Expected, answer: Answer): void => {
    if (this.decide(stream, expected, [randomUUID()], answer) === undefined) return
    if (isMetastream(stream)) {
      this.onFatal()
      return
    }
    this.write(stream, [systemEvent(tombstoneType, new Uint8Array(), false)], ({ position }) =>
      answer({ kind: 'written', revision: 0, position }), true)
  }

  /** `undefined` if the answer has been given or will never be given. */
  private decide(stream: string, expected: Expected, ids: ReadonlyArray<string>, answer: Answer): { undelete: boolean } | undefined {
    const decision = decide(this.log.facts(stream), expected, ids)
    switch (decision.kind) {
      case 'append':
        return decision
      case 'idempotent':
        answer({ kind: 'written', revision: decision.last, position: this.positionOf(stream, decision.last) })
        return undefined
      case 'wrong_revision':
        answer({ kind: 'wrong_revision', actual: this.log.head(stream) })
        return undefined
      case 'deleted':
        answer({ kind: 'deleted' })
        return undefined
      case 'silent':
        return undefined
    }
  }

  /** The position for the reply to a repeated append. There is one only if the event can still be read. */
  private positionOf(stream: string, revision: number): number | undefined {
    const found = this.log.readable(stream, revision, this.nowMs())
    return found?.position
  }

  private write(stream: string, events: ReadonlyArray<NewEvent>, done: (write: LogWrite) => void, tombstone = false): LogWrite {
    const write = this.log.add(stream, events, this.nowMs(), tombstone)
    this.keep(write, () => {
      this.log.publish(write.end)
      done(write)
    })
    return write
  }

  private recreate(stream: string, from: number): void {
    const metastream = metastreamOf(stream)
    const last = this.log.stream(metastream)?.events.at(-1)
    const data = last === undefined ? undefined : recreatedFrom(last.data, from)
    if (data !== undefined) this.write(metastream, [systemEvent(metadataType, data, true)], () => {})
  }
}
