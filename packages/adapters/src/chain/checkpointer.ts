/**
 * Signs checkpoints of a queue: reads what was appended since the last one, adds it to the tree, and signs size and root. It never signs a log that does not
 * begin with what was signed before: then it says so, and stops.
 */
import type { KeyObject } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogReader, RecordedEvent } from '../store/index.js'
import { CheckpointFiles } from './checkpoint-files.js'
import { leafOf } from './leaf.js'
import { type Checkpoint, checkpointText, signNote, type Signer } from './note.js'
import { readSeal } from './seal.js'
import { Tree } from './tree.js'
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

export class Checkpointer {
  private readonly files: CheckpointFiles
  private state: { tree: Tree; leaf: string; last: Checkpoint | undefined } | undefined
  /** Why nothing is signed any more. */
  private refusal: string | undefined
  /** The last note, if the witness has not taken it. */
  private owed: string | undefined

  constructor(private readonly options: CheckpointerOptions) {
    this.files = new CheckpointFiles(options.folder, options.queue, options.signer)
  }

  /** Signs a checkpoint if the log has grown. Rejects if something cannot be read or written; then it may be tried again. */
  async round(signal?: AbortSignal): Promise<void> {
    const { log, stream, signer, key } = this.options
    if (this.refusal === undefined) {
      const head = await log.head(stream)
      this.state ??= await this.begin(head)
      const { state } = this
      if (head + 1 < state.tree.size || head + 1 < (state.last?.size ?? 0)) this.refuse(`the log has ${head + 1} events, and ${Math.max(state.tree.size, state.last?.size ?? 0)} were signed`)
      else if (await this.catchUp(state, head, signal)) {
        if (state.tree.size > (state.last?.size ?? 0)) {
          const checkpoint = { origin: signer.name, size: state.tree.size, root: state.tree.root() }
          const note = signNote(checkpointText(checkpoint), signer, key)
          await this.files.add(note, state)
          state.last = checkpoint
          this.owed = note
        }
      }
    }
    await this.payWitness()
  }

  /** The tree where it ended, if the log still has its last event. Otherwise it is built anew, and compared with what was signed on the way. */
  private async begin(head: number): Promise<{ tree: Tree; leaf: string; last: Checkpoint | undefined }> {
    const { log, stream } = this.options
    const [last, place] = [await this.files.last(), await this.files.place()]
    const anew = { tree: new Tree(), leaf: '', last }
    if (place === undefined || place.tree.size === 0 || place.tree.size > head + 1) return anew
    for await (const [event] of log.read(stream, { from: place.tree.size - 1, limit: 1 })) {
      if (event !== undefined && leafOfRecorded(event) === place.leaf) return { ...place, last }
    }
    return anew
  }

  /** Adds the events up to `head`. False if they are not those that were signed, or it was aborted. */
  private async catchUp(state: { tree: Tree; leaf: string; last: Checkpoint | undefined }, head: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { log, stream } = this.options
    const { tree, last } = state
    const isSigned = (): boolean => last === undefined || tree.size !== last.size || tree.root().equals(last.root)
    let fits = isSigned()
    if (tree.size <= head) {
      for await (const page of log.read(stream, { from: tree.size, limit: head - tree.size + 1 })) {
        for (const event of page) {
          state.leaf = leafOfRecorded(event)
          tree.add(Buffer.from(state.leaf, 'base64url'))
          fits &&= isSigned()
        }
        if (signal?.aborted === true) return false
        await nextTurn()
      }
    }
    if (!fits) this.refuse(`the first ${last?.size ?? 0} events are not those that were signed`)
    return fits
  }

  private refuse(why: string): void {
    this.refusal = why
    this.options.warn(`queue ${this.options.queue}: no more checkpoints are signed: ${why}. Run daybook audit verify; after restoring a backup, move the files of the queue in ${this.options.folder} away`)
  }

  private async payWitness(): Promise<void> {
    const { witness, queue, warn } = this.options
    if (witness === undefined || this.owed === undefined) return
    try {
      await witness(this.owed)
      this.owed = undefined
    } catch (error) {
      warn(`queue ${queue}: the witness has not taken a checkpoint, and will be asked again: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
