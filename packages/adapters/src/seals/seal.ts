/**
 * A seal is the member `chain` at the end of the metadata of an append's last event:
 *
 *     "chain":{"from":120,"to":122,"hash":"…","leaves":"…"}
 *
 * It covers the events `from` to `to`; `to` is the event that has it. `hash` is the SHA-256 of these lines: the hash of the previous seal (empty for
 * the first seal of a log), the leaf hashes of the events, and the number of events in the append. `leaves` has the first eight characters of the
 * leaf hash of each event of the append, to tell which event was altered. Events between two appends, by servers that know no seals, are covered, but
 * not told apart.
 */
import type { ChainEnd } from '../store/index.js'
import { sha256 } from './leaf.js'

export interface Seal {
  /** The first event that it covers: the one after the previous seal. For the first seal of a log: the first event of its append. */
  readonly from: number
  readonly to: number
  /** 43 characters of base64url. */
  readonly hash: string
  /** Marks of the events of the append, which are the last events that the seal covers. */
  readonly leaves: string
}

/** Number of characters of a leaf hash that a seal repeats: 48 bits. These marks tell where an alteration is; the hash tells whether there is one. */
export const markLength = 8

const opening = ',"chain":{'
const pattern = /,"chain":\{"from":(0|[1-9]\d{0,15}),"to":(0|[1-9]\d{0,15}),"hash":"([A-Za-z0-9_-]{43})","leaves":"((?:[A-Za-z0-9_-]{8})+)"\}\}$/

/** The largest number of bytes that the seal of this many events adds to an append. */
export const sealBytesMax = (events: number): number => 140 + markLength * events

/** `leaves`: the leaf hashes of all covered events, separated by line breaks. `count`: how many of them were appended together. */
export const sealHash = (before: string, leaves: string, count: number): string => sha256(`${before}\n${leaves}\n${count}`)

/** The seal of an append with these leaf hashes. Its last event gets the revision `to`. */
export const sealOf = (leaves: ReadonlyArray<string>, to: number, { head, open }: ChainEnd): Seal => {
  const joined = leaves.join('\n')
  const hash = open === undefined ? sealHash(head?.hash ?? '', joined, leaves.length) : open.copy().update(`\n${joined}\n${leaves.length}`).digest('base64url')
  return { from: head === undefined ? to - leaves.length + 1 : head.revision + 1, to, hash, leaves: marksOf(leaves) }
}

export const marksOf = (leaves: ReadonlyArray<string>): string => {
  let marks = ''
  for (const leaf of leaves) marks += leaf.slice(0, markLength)
  return marks
}

/** The metadata with a seal as the last member. */
export const withSeal = (metadata: string, { from, to, hash, leaves }: Seal): string =>
  `${metadata.slice(0, -1)}${opening}"from":${from},"to":${to},"hash":"${hash}","leaves":"${leaves}"}}`

/** The seal at the end of the metadata, and the metadata without it; `undefined` if there is none. */
export const readSeal = (metadata: string): { readonly seal: Seal; readonly bare: string } | undefined => {
  // Only the last event of an append has a seal, so for most events this is all the work.
  if (!metadata.endsWith('"}}')) return undefined
  const found = pattern.exec(metadata)
  if (found === null) return undefined
  const [, from, to, hash = '', leaves = ''] = found
  return { seal: { from: Number(from), to: Number(to), hash, leaves }, bare: `${metadata.slice(0, found.index)}}` }
}

/** Whether the metadata ends with a malformed seal. */
export const isBrokenSeal = (metadata: string): boolean => metadata.endsWith('}}') && metadata.includes(opening)
