/**
 * A seal is the member `chain` at the end of the metadata of an append's last event:
 *
 *     "chain":{"from":120,"to":122,"hash":"…","leaves":"…"}
 *
 * It covers the events `from` to `to`, which is its own event. `hash` is SHA-256 of the hash of the seal before, the leaf hashes of the events,
 * and the number of events of the append, each on a line of its own; the first seal of a log has an empty line for the hash before. `leaves` has
 * the first eight characters of the leaf hash of each event of the append, so that one can tell which was altered. Events between two appends, of servers that know no
 * seals, are covered, but not told apart.
 */
import type { Hash } from 'node:crypto'
import { sha256 } from './leaf.js'

export interface Seal {
  /** The first event that it covers: the one after the seal before, or, for the first seal of a log, the first of its append. */
  readonly from: number
  readonly to: number
  /** 43 characters of base64url. */
  readonly hash: string
  /** Of the events that were appended together, which are the last ones that it covers. */
  readonly leaves: string
}

/** The last seal of a log. */
export interface ChainHead {
  /** Of the event that has it. */
  readonly revision: number
  readonly hash: string
}

/** What a seal continues. */
export interface ChainEnd {
  /** The seal before; `undefined` in a log without one, whose chain begins with this append. */
  readonly head: ChainHead | undefined
  /** Has hashed the seal before and the events without a seal after it, if there are any: servers before this version wrote them. */
  readonly open?: Hash | undefined
}

/** Characters of a leaf hash that a seal repeats: 48 bits. They say where, the hash says whether. */
export const markLength = 8

const opening = ',"chain":{'
const pattern = /,"chain":\{"from":(0|[1-9]\d{0,15}),"to":(0|[1-9]\d{0,15}),"hash":"([A-Za-z0-9_-]{43})","leaves":"((?:[A-Za-z0-9_-]{8})+)"\}\}$/

/** Bytes that the seal of so many events adds to an append, at most. */
export const sealBytesMax = (events: number): number => 140 + markLength * events

/** `leaves`: the leaf hashes of all events that it covers, with a line break between two. `count`: how many of them were appended together. */
export const sealHash = (before: string, leaves: string, count: number): string => sha256(`${before}\n${leaves}\n${count}`)

/** The seal of an append with these leaf hashes, whose last event gets the revision `to`. */
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
  // All but the last event of an append have none, so this is all that is done for most.
  if (!metadata.endsWith('"}}')) return undefined
  const found = pattern.exec(metadata)
  if (found === null) return undefined
  const [, from, to, hash = '', leaves = ''] = found
  return { seal: { from: Number(from), to: Number(to), hash, leaves }, bare: `${metadata.slice(0, found.index)}}` }
}

/** Whether the metadata has something like a seal that is not one. */
export const isBrokenSeal = (metadata: string): boolean => metadata.endsWith('}}') && metadata.includes(opening)
