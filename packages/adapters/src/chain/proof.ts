/**
 * Proofs that need no log. A proof of inclusion shows that an event is in the log: C2SP's tlog-proof, whose `extra` is the event's canonical text. A
 * proof of consistency shows that a signed log is the beginning of a later one: the body of C2SP's add-checkpoint, with the older size, the hashes,
 * and the later checkpoint.
 */
import crypto from 'node:crypto'
import { plural } from '@daybook/core'
import type { SignedCheckpoints } from './checkpoint-files.js'
import { canonicalText } from '../seals/leaf.js'
import { type Checkpoint, openNote, readCheckpoint, type Signer, splitNotes } from './note.js'
import { readSeal } from '../seals/seal.js'
import { consistencyRanges, inclusionRanges, RangeRoots, Tree, verifyConsistency, verifyInclusion } from './tree.js'
import { leafOfRecorded } from './checkpointer.js'
import type { Scan } from './verify-log.js'

/** Something cannot be proven, or a proof does not prove what it says. */
export class ProofError extends Error {
  override readonly name = 'ProofError'
}

/** The first line of a proof that an event is in a log. */
const proofVersion = 'c2sp.org/tlog-proof@v1'

interface Noted extends Checkpoint {
  readonly note: string
}

/** The newest checkpoint that the signer has signed. */
const newest = ({ signer, notes }: SignedCheckpoints): Noted => {
  const read = notes.flatMap((note) => readSigned(note, signer) ?? [])
  const [last] = [...read].sort((a, b) => b.size - a.size)
  if (last === undefined) throw new ProofError(`there is no checkpoint signed by ${signer.name}`)
  return last
}

const readSigned = (note: string, signer: Signer): Noted | undefined => {
  const text = openNote(note, signer)
  const checkpoint = text === undefined ? undefined : readCheckpoint(text)
  return checkpoint?.origin === signer.name ? { ...checkpoint, note } : undefined
}

/** The signed checkpoint of this size in a file of one or more, such as a witness's. If there is none: another signed one. */
const signedOf = (file: string, signer: Signer, size: number): Noted | undefined => {
  const signed = splitNotes(file).flatMap((note) => readSigned(note, signer) ?? [])
  return signed.find((each) => each.size === size) ?? signed[signed.length - 1]
}

const encoded = (hashes: ReadonlyArray<Buffer>): string => hashes.map((hash) => `${hash.toString('base64')}\n`).join('')
const notThere = (size: number): ProofError => new ProofError(`the log does not have the ${plural(size, 'event')} that were signed: run daybook audit verify`)

/** A proof that the event of this revision is in the log of the newest checkpoint. Reads the log up to there. */
export const proveInclusion = async ({ pages }: Scan, checkpoints: SignedCheckpoints, revision: number): Promise<string> => {
  const { size, root, note } = newest(checkpoints)
  if (revision >= size) throw new ProofError(`revision ${revision} is in no checkpoint yet: the newest is of ${plural(size, 'event')}. A server signs one every minute, and when it stops`)
  const roots = new RangeRoots(inclusionRanges(revision, size))
  let next = 0
  let text: string | undefined
  for await (const page of pages) {
    for (const event of page) {
      if (next === size) break
      const { stream, id, type, metadata, data } = event
      if (next === revision) text = canonicalText(stream, event.revision, id, type, readSeal(metadata)?.bare ?? metadata, data)
      roots.add(leafOfRecorded(event))
      next++
    }
    if (next === size) break
  }
  if (text === undefined || next < size) throw notThere(size)
  const proof = roots.roots()
  if (!verifyInclusion(leafOfText(text), revision, size, proof, root)) throw notThere(size)
  return `${proofVersion}\nextra ${Buffer.from(text).toString('base64')}\nindex ${revision}\n${encoded(proof)}\n${note}`
}

/** A proof that the log of the newest checkpoint begins with the `older` events of an earlier one. */
export const proveConsistency = async ({ pages }: Scan, checkpoints: SignedCheckpoints, older: number): Promise<string> => {
  const { size, root, note } = newest(checkpoints)
  if (older < 1 || older > size) throw new ProofError(`the newest checkpoint is of ${plural(size, 'event')}: nothing proves what ${older} were`)
  const roots = new RangeRoots(consistencyRanges(older, size))
  const whole = new Tree()
  let next = 0
  for await (const page of pages) {
    for (const event of page) {
      if (next === size) break
      const leaf = leafOfRecorded(event)
      roots.add(leaf)
      whole.add(leaf)
      next++
    }
    if (next === size) break
  }
  // A proof from another log would be refused by whoever gets it.
  if (next < size || !whole.root().equals(root)) throw notThere(size)
  return `old ${older}\n${encoded(roots.roots())}\n${note}`
}

/** The text begins with the zero byte of a leaf. */
const leafOfText = (text: string): Buffer => crypto.createHash('sha256').update(text).digest()

/** What a proof proves. */
export type Proven =
  /** This event is in the log. Its lines are described in docs/tamper-evidence.md. */
  | { readonly kind: 'inclusion'; readonly index: number; readonly size: number; readonly event: string }
  /** The log of `size` events begins with the `older` events of the other checkpoint. */
  | { readonly kind: 'consistency'; readonly older: number; readonly size: number }

/** @throws ProofError if it does not prove what it says. `older`: the earlier checkpoint, for a proof of consistency. */
export const checkProof = (text: string, signer: Signer, older?: string): Proven => {
  if (text === '') throw new ProofError('the file is empty: was daybook audit prove refused?')
  const end = text.indexOf('\n\n')
  const lines = text.slice(0, end).split('\n')
  if (lines[0] !== proofVersion && lines[0]?.startsWith('old ') !== true) throw new ProofError('it is no proof: daybook audit prove prints one')
  const checkpoint = readSigned(splitNotes(text.slice(end + 2))[0] ?? '', signer)
  if (end < 0 || checkpoint === undefined) throw new ProofError(`its checkpoint is not signed by ${signer.name}`)
  const { size, root } = checkpoint
  if (lines[0] !== proofVersion) {
    const claimed = Number(/^old (0|[1-9]\d{0,15})$/.exec(lines[0])?.[1])
    if (Number.isNaN(claimed)) throw new ProofError('it is no proof: its first line does not say of how many events the older log was')
    const first = older === undefined ? undefined : signedOf(older, signer, claimed)
    if (first === undefined) throw new ProofError(older === undefined ? 'which checkpoint was there before? Give it with --older' : `the older checkpoint is not signed by ${signer.name}`)
    if (claimed !== first.size) throw new ProofError(`it is about ${plural(claimed, 'event')}, and the older checkpoint of ${first.size}`)
    if (!verifyConsistency(first.size, size, lines.slice(1).map(hashOf), first.root, root)) throw new ProofError(`the log of ${plural(size, 'event')} does not begin with the ${first.size} that were signed before`)
    return { kind: 'consistency', older: first.size, size }
  }
  const [, extra = '', index = '', ...hashes] = lines
  if (!extra.startsWith('extra ') || !/^index (0|[1-9]\d{0,15})$/.test(index)) throw new ProofError('it is no proof of an event')
  const event = Buffer.from(extra.slice('extra '.length), 'base64').toString('utf8')
  const place = Number(index.slice('index '.length))
  if (!event.startsWith('\u0000') || !verifyInclusion(leafOfText(event), place, size, hashes.map(hashOf), root)) throw new ProofError(`the event is not number ${place} of the ${size} that were signed`)
  return { kind: 'inclusion', index: place, size, event: event.slice(1) }
}

const hashOf = (line: string): Buffer => Buffer.from(line, 'base64')
