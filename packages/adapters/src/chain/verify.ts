/**
 * Verifies the chain of a log (EV-07) from the events alone, and names the first event that differs from what was appended. Events are taken in the
 * order in which they are stored. They are collected until a seal comes, which says what they must hash to.
 */
import type { ChainHead, RecordedEvent } from '../store/index.js'
import { leafOf } from '../seals/leaf.js'
import { isBrokenSeal, markLength, marksOf, readSeal, type Seal, sealHash } from '../seals/seal.js'

export type BreakKind =
  | 'altered'
  /** The event is missing, or is somewhere else. */
  | 'missing'
  /** The event was not appended here. */
  | 'inserted'
  | 'reordered'
  /** An event was altered, and the hashes from it on were computed anew, but not those of all later events. */
  | 're-signed'
  /** The log ends before a signed checkpoint. */
  | 'cut'
  /** The log has other events than when a checkpoint was signed, with hashes that fit them. */
  | 'rewritten'

export interface Broken {
  readonly kind: BreakKind
  /** The first event that differs from what was appended. */
  readonly revision: number
  /** Only if the event is not known exactly: it is between `revision` and `to`, inclusive. */
  readonly to?: number
  /** In words. */
  readonly reason: string
}

export interface Verdict {
  readonly ok: boolean
  /** Number of events. */
  readonly events: number
  /** The revision of the last event (-1 for none), and the hash of the last seal (`null` if there is none). */
  readonly head: { readonly revision: number; readonly hash: string | null }
  /** The first event that a seal covers; `null` for a log without seals. */
  readonly begins: number | null
  /** Events after the last seal, which no seal covers yet. */
  readonly unsealed: { readonly from: number; readonly to: number } | null
  /** How many events only a later append sealed, and the first and the last of them. `null` if there are none. */
  readonly sealedLater: SealedLater | null
  readonly broken: Broken | null
}

export interface SealedLater {
  readonly events: number
  readonly from: number
  readonly to: number
}

interface Item {
  readonly event: RecordedEvent
  /** The metadata without the seal. */
  readonly bare: string
  leaf: string | undefined
}

/** Number of events kept before the first seal: an append has no more. */
const windowMax = 10_000

/** The verified beginning of a log: the revision of the next event, and the last seal before it, if there is one. */
export interface VerifiedPart {
  readonly next: number
  readonly seal: SealPlace | undefined
}

/** A seal, and the events that it covers. `to` is the event that has it. */
export type SealPlace = Pick<Seal, 'from' | 'to' | 'hash'>

export class ChainVerifier {
  private next = 0
  private last: ChainHead | undefined
  private begins: number | undefined
  /** The first event that the last seal covers. */
  private lastFrom = 0
  private items: Array<Item> = []
  private sealedLater: SealedLater | undefined
  private broken: Broken | undefined
  /** A revision that is missing so far: its event may come later. */
  private gap: number | undefined
  /** A seal whose marks fit but whose hash does not: either it was altered, or something before it. The next seal tells. */
  private doubt: { readonly hash: string; readonly at: number; readonly before: Broken } | undefined

  /**
   * `onLeaf` gets the leaf hash of each event, in order. `after`: the part that was verified before. `signed`: how many events at the beginning are as
   * in a checkpoint.
   */
  constructor(
    private readonly stream: string,
    private readonly onLeaf?: (leaf: string, revision: number) => void,
    after?: VerifiedPart,
    private readonly signed: () => number = () => 0,
  ) {
    if (after === undefined) return
    const { next, seal } = after
    this.next = next
    if (seal === undefined) return
    this.last = { revision: seal.to, hash: seal.hash }
    this.lastFrom = seal.from
  }

  /** The next event to take, and the last seal. */
  get part(): VerifiedPart {
    return { next: this.next, seal: this.last === undefined ? undefined : { from: this.lastFrom, to: this.last.revision, hash: this.last.hash } }
  }

  /** Whether the log is known to be broken. Further events may still tell what happened to the first one. */
  get isBroken(): boolean {
    return this.broken !== undefined
  }

  /** Takes events. Returns false if further events would change nothing. */
  take(events: ReadonlyArray<RecordedEvent>): boolean {
    for (const event of events) {
      if (this.gap !== undefined) this.seek(event, this.gap)
      else this.takeOne(event)
      if (this.broken !== undefined && this.gap === undefined) return false
    }
    return true
  }

  /** Ends the verification. `head`: the last revision that the store claims to have. */
  end(head = this.next - 1): Verdict {
    if (this.broken === undefined) this.broken = this.doubted()
    if (this.broken === undefined && head >= this.next) this.broken = missing(this.next, head)
    const unsealed = this.last !== undefined && this.items.length > 0 ? { from: this.last.revision + 1, to: this.next - 1 } : null
    return {
      ok: this.broken === undefined,
      events: this.next,
      head: { revision: this.next - 1, hash: this.last?.hash ?? null },
      begins: this.begins ?? null,
      unsealed,
      sealedLater: this.sealedLater ?? null,
      broken: this.broken ?? null,
    }
  }

  /** The first fault counts. A suspected fault before it takes precedence. */
  private fail(broken: Broken): void {
    this.broken ??= this.doubted() ?? broken
  }

  /** The suspected fault: as long as no next seal tells, it may be the seal itself. */
  private doubted(): Broken | undefined {
    if (this.doubt === undefined) return undefined
    const { at, before } = this.doubt
    const { kind, revision, reason } = before
    return { kind, revision, ...until(revision, at), reason: `${reason}, or the hash in the metadata of revision ${at} was altered` }
  }

  private seek({ revision }: RecordedEvent, gap: number): void {
    if (revision !== gap) return
    this.gap = undefined
    this.broken = { kind: 'reordered', revision: gap, reason: `revision ${gap} comes later than it should` }
  }

  private takeOne(event: RecordedEvent): void {
    const { revision, metadata } = event
    if (revision > this.next) {
      this.gap = this.doubt === undefined ? this.next : undefined
      return this.fail(missing(this.next, revision - 1))
    }
    if (revision < this.next) return this.fail({ kind: 'inserted', revision, reason: `there is a second event with revision ${revision}` })
    this.next++
    const sealed = readSeal(metadata)
    if (sealed === undefined && isBrokenSeal(metadata)) return this.fail({ kind: 'altered', revision, reason: `the hash in the metadata of revision ${revision} was altered` })
    const item: Item = { event, bare: sealed?.bare ?? metadata, leaf: undefined }
    this.onLeaf?.(this.leaf(item), revision)
    this.items.push(item)
    if (sealed !== undefined) this.close(sealed.seal)
    else if (this.last === undefined && this.items.length > 2 * windowMax) this.items = this.items.slice(-windowMax)
  }

  private leaf(item: Item): string {
    return (item.leaf ??= this.leafAt(item, item.event.revision))
  }

  /** The leaf hash that the event would have with another revision. */
  private leafAt({ event, bare }: Item, revision: number): string {
    return leafOf(this.stream, revision, event.id, event.type, bare, event.data)
  }

  /** The events that the first seal of a log covers: only its own append, unless something was altered or moved. */
  private firstItems(seal: Seal, count: number, end: number): ReadonlyArray<Item> {
    const own = this.items.slice(-count)
    if (sealHash('', own.map((item) => this.leaf(item)).join('\n'), count) === seal.hash) return own
    const begin = Math.min(seal.from, seal.to - count + 1) + Math.min(0, end - seal.to)
    return this.items.filter(({ event }) => event.revision >= begin)
  }

  /** Ends a group of events with the seal of its last event. */
  private close(seal: Seal): void {
    const count = seal.leaves.length / markLength
    const { last } = this
    const end = this.next - 1
    const items = last === undefined ? this.firstItems(seal, count, end) : this.items
    const group = new Group(items, seal, (item, revision) => (item.event.revision === revision ? this.leaf(item) : this.leafAt(item, revision)))
    const first = items[0]?.event.revision ?? end
    const text = items.map((item) => this.leaf(item)).join('\n')
    const hash = sealHash(last?.hash ?? '', text, count)
    const fits = seal.from === first && seal.to === end
    const isMarked = group.firstUnlike() === undefined
    if (hash === seal.hash || sealHash(last?.hash ?? '', text, items.length) === seal.hash) {
      if (!fits || !isMarked || hash !== seal.hash) return this.fail({ kind: 'altered', revision: end, reason: `what revision ${end} says about its hash was altered` })
    } else if (last === undefined && seal.from <= seal.to - count && seal.from > 0) {
      const before = Math.max(0, seal.from - 1 + Math.min(0, end - seal.to))
      return this.fail({ kind: 'altered', revision: before, ...until(before, end), reason: `the hash that the events up to ${end} continue is not there: ${named(before, end)} was altered or removed` })
    } else if (!fits || !isMarked) {
      return this.fail(group.fault(last === undefined))
    }
    if (this.doubt !== undefined) {
      // If the next seal continues with the hash that the seal in doubt should have, only that seal's event was altered.
      const { at, before, hash: wanted } = this.doubt
      this.doubt = undefined
      const isOwn = sealHash(wanted, text, count) === seal.hash
      return this.fail(isOwn ? { kind: 'altered', revision: at, reason: `the hash in the metadata of revision ${at} was altered` } : before)
    }
    if (hash !== seal.hash) {
      const before = group.faultBefore(last !== undefined, this.begins ?? 0, this.signed())
      if (last === undefined && first === 0) return this.fail(before)
      this.doubt = { hash, at: end, before }
    }
    // Every append of this version has a mark for each of its events.
    if (group.ownFrom > first) this.sealedLater = { events: (this.sealedLater?.events ?? 0) + group.ownFrom - first, from: this.sealedLater?.from ?? first, to: group.ownFrom - 1 }
    this.begins ??= first
    this.lastFrom = first
    this.last = { revision: end, hash: seal.hash }
    this.items = []
  }
}

const missing = (from: number, to: number): Broken => ({
  kind: 'missing',
  revision: from,
  reason: from === to ? `revision ${from} is missing` : `the revisions ${from} to ${to} are missing`,
})

/** The events before a seal, and what the seal says about them. */
class Group {
  readonly end: number
  /** The first event of the append, according to the seal. */
  readonly ownFrom: number

  constructor(
    private readonly items: ReadonlyArray<Item>,
    private readonly seal: Seal,
    private readonly leafAt: (item: Item, revision: number) => string,
  ) {
    this.end = items[items.length - 1]?.event.revision ?? -1
    this.ownFrom = seal.to - seal.leaves.length / markLength + 1
  }

  /** The first revision of the append whose event differs from the seal's mark; `undefined` if all fit. */
  firstUnlike(): number | undefined {
    const first = this.items[0]?.event.revision ?? 0
    const { seal } = this
    // Mostly all fit.
    if (seal.to === this.end && this.ownFrom >= first && marksOf(this.items.slice(this.ownFrom - first).map((item) => this.leafAt(item, item.event.revision))) === seal.leaves) return undefined
    for (let revision = Math.max(first, this.ownFrom); revision <= seal.to; revision++) {
      const item = this.items[revision - first]
      if (item === undefined || !this.isMarked(item, revision)) return revision
    }
    return this.ownFrom < first ? first : undefined
  }

  /** The fault, if the seal does not fit the events before it. */
  fault(isFirst: boolean): Broken {
    const { items, seal, end } = this
    const first = items[0]?.event.revision ?? 0
    const shift = end - seal.to
    const unlike = this.firstUnlike() ?? seal.to + 1
    // Events without a mark may include the first that differs.
    const from = this.ownFrom > first && seal.from === first ? first : unlike
    const between = from < unlike ? { to: unlike } : {}
    const name = from < unlike ? `one of the revisions ${from} to ${unlike}` : `revision ${from}`
    if (shift === 0 && seal.from === first) {
      const item = items[unlike - first]
      const isMoved = item !== undefined && items.some((other) => other !== item && this.isMarked(other, unlike))
      return isMoved
        ? { kind: 'reordered', revision: from, ...between, reason: `${name} is not the event that was appended there, which is in another place` }
        : { kind: 'altered', revision: from, ...between, reason: `${name} is not the event that was appended there` }
    }
    if (shift === 0 && seal.from > first) return { kind: 'altered', revision: seal.from - 1, reason: `the hash in the metadata of revision ${seal.from - 1} was removed` }
    if (shift > 0 && seal.from >= first) return { kind: 'inserted', revision: from, ...between, reason: `${name} was not appended there: the events after it were moved by ${shift}` }
    const displaced = end - this.displaced(shift) + 1
    if (shift > 0) return { kind: 'inserted', revision: displaced, reason: `revision ${displaced} was not appended there: it is of revision ${displaced - shift}` }
    if (seal.from <= first && !isFirst) return { kind: 'missing', revision: from, ...between, reason: `${name} is missing: the events after it were moved by ${-shift}` }
    // Between the missing event and the first one with a mark there may be events without one.
    const lowest = this.ownFrom > seal.from ? Math.min(displaced, Math.max(first, seal.from + shift)) : displaced
    if (lowest < displaced) return { kind: 'missing', revision: lowest, to: displaced, reason: `one of the revisions ${lowest} to ${displaced} is missing` }
    return { kind: 'missing', revision: displaced, reason: `revision ${displaced} is missing: in its place there is the event of revision ${displaced - shift}` }
  }

  /**
   * The fault, if the events of the append fit but the hash does not: the fault is before them. Where, the hashes do not tell: whoever altered an event
   * computed those from it on anew. `begins`: the first event that a seal covers. `signed`: how many events are as in a checkpoint.
   */
  faultBefore(continues: boolean, begins: number, signed: number): Broken {
    const first = this.items[0]?.event.revision ?? 0
    const { end, ownFrom } = this
    // The first seal continues no other seal.
    if (!continues && first > 0) return { kind: 'altered', revision: first - 1, reason: `the hash in the metadata of revision ${first - 1} was removed: the events after it continue one` }
    if (!continues) return { kind: 'altered', revision: end, reason: `the hash in the metadata of revision ${end} was altered` }
    const to = ownFrom - 1
    // If all of them are as they were signed, only hashes were altered, and checkpoints do not cover those.
    const revision = signed > to ? begins : Math.max(begins, signed)
    const range = { revision, ...until(revision, to) }
    // Events without a mark may be the altered ones.
    if (ownFrom > first) return { kind: 'altered', ...range, reason: `some event up to revision ${to} was altered: the event after it has another hash before it` }
    return { kind: 're-signed', ...range, reason: `some event up to revision ${to}, or its hash, was altered, and the hashes from it to revision ${to} were computed anew: the events after it continue another hash` }
  }

  /** How many events at the end belong to the append, if they are moved by this many revisions. */
  private displaced(shift: number): number {
    let count = 0
    for (let index = this.items.length - 1; index >= 0; index--) {
      const item = this.items[index] as Item
      if (!this.isMarked(item, item.event.revision - shift)) break
      count++
    }
    return count
  }

  private isMarked(item: Item, revision: number): boolean {
    const at = (revision - this.ownFrom) * markLength
    return at >= 0 && at < this.seal.leaves.length && this.seal.leaves.startsWith(this.leafAt(item, revision).slice(0, markLength), at)
  }
}

const until = (from: number, to: number): { readonly to?: number } => (from < to ? { to } : {})
const named = (from: number, to: number): string => (from < to ? `one of the revisions ${from} to ${to}` : `revision ${from}`)
