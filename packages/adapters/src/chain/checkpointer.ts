/**
 * Signs checkpoints of a queue: reads the events since the last one, verifies their seals, adds them to the tree, and signs size and root. It never
 * signs a log that does not begin with what was signed before, nor events that differ from what was sealed. In such a case it reports that and stops.
 */
import type { KeyObject } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { plural, theFirst } from '@daybook/core'
import { errorText } from '../error-text.js'
import { type LogReader, LostEvents, type RecordedEvent, StoreError } from '../store/index.js'
import { CheckpointFiles, type TreePlace } from './checkpoint-files.js'
import { leafOf } from '../seals/leaf.js'
import { type Checkpoint, checkpointText, signNote, type Signer } from './note.js'
import { readSeal } from '../seals/seal.js'
import { Tree } from './tree.js'
import { ChainVerifier } from './verify.js'
import type { Witness } from './witness.js'

export interface CheckpointerOptions {
  readonly log: Pick<LogReader, 'read' | 'head'>
  readonly stream: string
  readonly queue: string
  readonly folder: string
  readonly key: KeyObject
  readonly signer: Signer
  readonly witness?: Witness | undefined
  readonly warn: (message: string) => void
}

export const leafOfRecorded = ({ stream, revision, id, type, metadata, data }: RecordedEvent): string =>
  leafOf(stream, revision, id, type, readSeal(metadata)?.bare ?? metadata, data)

/** Lost segments are no damage: the error names their events, and they may come back. */
const isDamage = (error: unknown): error is StoreError => error instanceof StoreError && error.code === 'damaged' && !(error instanceof LostEvents)

/** The tree of the events that may be signed, and the events that were read after it. */
class Reading {
  readonly tree: Tree
  readonly verifier: ChainVerifier
  /** The leaf hash of the last event in the tree. */
  private leaf: string
  /** Leaf hashes of events that no seal covers yet. Either an older server wrote them, or somebody removed the seal. */
  private waiting: Array<string> = []
  /** Whether the log begins with what was last signed. */
  fits = true

  constructor(
    stream: string,
    place: TreePlace | undefined,
    public last: Checkpoint | undefined,
  ) {
    const { tree, leaf, seal } = place ?? { tree: new Tree(), leaf: '', seal: undefined }
    this.tree = tree
    this.leaf = leaf
    this.verifier = new ChainVerifier(stream, (next) => void this.waiting.push(next), { next: tree.size, seal })
    this.compare()
  }

  get place(): TreePlace {
    return { tree: this.tree, leaf: this.leaf, seal: this.verifier.part.seal }
  }

  /** Takes events. Returns false if further events would change nothing. */
  take(events: ReadonlyArray<RecordedEvent>): boolean {
    const isWhole = this.verifier.take(events)
    const { next, seal } = this.verifier.part
    // A log without seals is signed as it is, and compared with what was signed before.
    const end = seal === undefined ? next : Math.max(seal.to + 1, this.last?.size ?? 0)
    const count = Math.min(this.waiting.length, end - this.tree.size)
    for (let index = 0; index < count; index++) {
      this.leaf = this.waiting[index] as string
      this.tree.add(this.leaf)
      this.compare()
    }
    this.waiting = this.waiting.slice(count)
    return isWhole
  }

  private compare(): void {
    const { tree, last } = this
    if (last !== undefined && tree.size === last.size) this.fits &&= tree.root().equals(last.root)
  }
}

export class Checkpointer {
  private readonly files: CheckpointFiles
  private reading: Reading | undefined
  /** Why nothing is signed any more; `undefined` if signing goes on. */
  private refusal: string | undefined
  /** The last note, if the witness has not accepted it. */
  private owed: string | undefined

  constructor(private readonly options: CheckpointerOptions) {
    this.files = new CheckpointFiles(options.folder, options.queue, options.signer)
  }

  /** How many events the last checkpoint covers, and why there are no newer ones, if there is a problem. */
  get status(): { readonly events: number; readonly problem: string | undefined } {
    return { events: this.reading?.last?.size ?? 0, problem: this.refusal }
  }

  /** Signs a checkpoint if the log has grown. Rejects if something cannot be read or written; then it may be tried again. */
  async round(signal?: AbortSignal): Promise<void> {
    if (this.refusal === undefined) {
      const obstacle = this.reading === undefined ? await this.files.obstacle() : undefined
      // What was signed before cannot be compared with the log, or what is signed now could not be verified.
      if (obstacle !== undefined) this.refuse(obstacle, 'Then start the server again')
      else await this.sign(signal)
    }
    await this.payWitness(signal)
  }

  private async sign(signal: AbortSignal | undefined): Promise<void> {
    const { log, stream, signer, key } = this.options
    const head = await log.head(stream)
    const reading = (this.reading ??= await this.begin(head))
    const { tree, last } = reading
    const signed = Math.max(tree.size, last?.size ?? 0)
    if (head + 1 < signed) return this.refuse(`the log has ${plural(head + 1, 'event')}, and ${signed} were signed`)
    if (!(await this.catchUp(reading, head, signal)) || tree.size <= (last?.size ?? 0)) return
    const checkpoint = { origin: signer.name, size: tree.size, root: tree.root() }
    const note = signNote(checkpointText(checkpoint), signer, key)
    await this.files.add(note, reading.place)
    reading.last = checkpoint
    this.owed = note
  }

  /** The tree at its former end, if the log still has its last event. Otherwise the tree is built anew and compared with what was signed on the way. */
  private async begin(head: number): Promise<Reading> {
    const { log, stream } = this.options
    const [last, place] = [await this.files.last(), await this.files.place()]
    // It is not ahead of the checkpoints: that would have been an obstacle. So what was signed is compared with it.
    if (place !== undefined && place.tree.size > 0 && place.tree.size <= head + 1) {
      for await (const [event] of log.read(stream, { from: place.tree.size - 1, limit: 1 })) {
        if (event !== undefined && leafOfRecorded(event) === place.leaf) return new Reading(stream, place, last)
      }
    }
    return new Reading(stream, undefined, last)
  }

  /** Takes the events up to `head`. False if they differ from what was appended or signed, or if it was aborted. */
  private async catchUp(reading: Reading, head: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { verifier } = reading
    for await (const page of this.pages(verifier, head)) {
      if (!reading.take(page)) break
      if (signal?.aborted === true) return false
      await nextTurn()
    }
    if (this.refusal !== undefined) return false
    // The seals tell which event it is.
    const { broken } = verifier.end(head)
    if (broken !== null) this.refuse(`${broken.kind}: ${broken.reason}`)
    else if (!reading.fits) this.refuse(`${theFirst(reading.last?.size ?? 0, 'event')} not as signed`)
    return this.refusal === undefined
  }

  /** The events after those already taken. If a page is damaged, its events are read one by one, to find the first that cannot be read. */
  private async *pages(verifier: ChainVerifier, head: number): AsyncGenerator<ReadonlyArray<RecordedEvent>, void, undefined> {
    const { log, stream } = this.options
    const { next: from } = verifier.part
    if (from > head) return
    try {
      yield* log.read(stream, { from, limit: head - from + 1 })
      return
    } catch (error) {
      if (!isDamage(error)) throw error
    }
    for (let next = verifier.part.next; next <= head; next++) {
      try {
        yield* log.read(stream, { from: next, limit: 1 })
      } catch (error) {
        if (!isDamage(error)) throw error
        return this.refuse(`revision ${next} cannot be read: ${error.message}`)
      }
    }
  }

  private refuse(why: string, advice = `Run daybook audit verify; after restoring a backup, move the files of the queue in ${this.options.folder} away`): void {
    this.refusal = why
    this.options.warn(`queue ${this.options.queue}: no more checkpoints are signed: ${why}. ${advice}`)
  }

  private async payWitness(signal: AbortSignal | undefined): Promise<void> {
    const { witness, queue, warn } = this.options
    if (witness === undefined || this.owed === undefined) return
    try {
      await witness(this.owed, signal)
      this.owed = undefined
    } catch (error) {
      warn(`queue ${queue}: the witness has not taken a checkpoint, and will be asked again: ${errorText(error)}`)
    }
  }
}
