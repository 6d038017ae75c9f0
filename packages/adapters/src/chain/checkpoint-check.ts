/** Compares a log with its signed checkpoints. */
import { plural, theFirst } from '@daybook/core'
import type { SignedCheckpoints } from './checkpoint-files.js'
import { type Checkpoint, openNote, readCheckpoint } from './note.js'
import { Tree } from './tree.js'
import type { Broken } from './verify.js'

/** What the checkpoints prove: the first `size` events are the ones that were signed. */
export interface CheckpointProof {
  readonly size: number
  /** The name of the signer. */
  readonly signer: string
  /** Number of checkpoints. */
  readonly count: number
}

export class CheckpointCheck {
  private readonly tree = new Tree()
  private readonly checkpoints: ReadonlyArray<Checkpoint>
  private at = 0
  private proven = 0
  private broken: Broken | undefined
  /** A checkpoint without a valid signature. */
  private unsigned: string | undefined

  constructor(private readonly signed: SignedCheckpoints) {
    const { signer, notes } = signed
    const checkpoints = notes.flatMap((note, index): ReadonlyArray<Checkpoint> => {
      const text = openNote(note, signer)
      const checkpoint = text === undefined ? undefined : readCheckpoint(text)
      if (checkpoint?.origin === signer.name) return [checkpoint]
      this.unsigned ??= `checkpoint ${index + 1} of ${notes.length} is not signed by ${signer.name}: it was altered, or another key signed it`
      return []
    })
    this.checkpoints = [...checkpoints].sort((a, b) => a.size - b.size)
  }

  /** Takes the leaf hashes of all events, in order. */
  add(leaf: string): void {
    this.tree.add(leaf)
    for (let next = this.checkpoints[this.at]; next !== undefined && next.size <= this.tree.size; next = this.checkpoints[this.at]) {
      this.at++
      if (next.size === 0 || this.broken !== undefined) continue
      if (next.root.equals(this.tree.root())) this.proven = next.size
      else {
        const [revision, to] = [this.proven, next.size - 1]
        this.broken = { kind: 'rewritten', revision, ...(revision < to ? { to } : {}), reason: `${theFirst(next.size, 'event')} not as the checkpoint says that was signed: the first that differs is ${revision < to ? `one of ${revision} to ${to}` : revision}` }
      }
    }
  }

  /** Called after the last event. The fault; `undefined` if there is none. */
  fault(): Broken | undefined {
    if (this.broken !== undefined) return this.broken
    const { size } = this.tree
    const last = this.checkpoints[this.checkpoints.length - 1]?.size ?? 0
    if (last > size) return { kind: 'cut', revision: size, ...(size < last - 1 ? { to: last - 1 } : {}), reason: `the log has ${plural(size, 'event')}, and a checkpoint of ${last} was signed: the end was cut off` }
    return this.unsigned === undefined ? undefined : { kind: 'rewritten', revision: this.proven, reason: this.unsigned }
  }

  get proof(): CheckpointProof | null {
    return this.checkpoints.length === 0 ? null : { size: this.proven, signer: this.signed.signer.name, count: this.checkpoints.length }
  }
}
