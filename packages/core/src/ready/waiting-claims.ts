/**
 * The claims that wait (long polls), in one line for each shape of claim. A line costs nothing until something that its claims may take becomes
 * ready. Then the claims of all such lines are served in the order in which they came.
 */
import { addTo, removeFrom } from '../structures/by-key.js'
import { Heap } from '../structures/heap.js'
import type { ClaimShape } from './claim-shape.js'

/** A claim that may wait. */
export interface WaitingClaim {
  readonly command: { readonly agent: string }
  /** Whether the claim was answered, or its caller has left. */
  readonly isOver: () => boolean
}

/** The waiting claims of one shape, first come, first served. Each has its place among all claims that ever waited. */
interface Line<C> {
  readonly shape: ClaimShape
  claims: Map<C, number>
}

export class WaitingClaims<C extends WaitingClaim> {
  private readonly lines = new Map<ClaimShape, Line<C>>()
  /** Lines whose claims are to be offered tasks. */
  private readonly due = new Set<Line<C>>()
  private readonly lineOf = new Map<C, Line<C>>()
  private readonly byAgent = new Map<string, Set<C>>()
  /** Times at which lines are to be offered tasks even if nothing happens until then, in the queue's time. */
  private readonly looks = new Map<Line<C>, number>()
  private firstPlace = 0
  private lastPlace = 0

  get size(): number {
    return this.lineOf.size
  }

  /** Whether there may be tasks for some of the claims. */
  get isOfferDue(): boolean {
    return this.due.size > 0
  }

  add(item: C, shape: ClaimShape): void {
    this.enter(item, shape).claims.set(item, ++this.lastPlace)
  }

  /** Puts back claims that were served by a batch that was rolled back, before all others, and offers tasks to all again. */
  putBack(items: ReadonlyArray<C>, shapeOf: (item: C) => ClaimShape): void {
    this.firstPlace -= items.length
    const back = new Map<Line<C>, Array<readonly [C, number]>>()
    items.forEach((item, index) => {
      const line = this.enter(item, shapeOf(item))
      const place = [item, this.firstPlace + index] as const
      const others = back.get(line)
      if (others === undefined) back.set(line, [place])
      else others.push(place)
    })
    for (const [line, places] of back) line.claims = new Map([...places, ...line.claims])
    for (const line of this.lines.values()) this.due.add(line)
  }

  /** The agent has registered, so its claims may ask for something else. They keep their places, in the lines of these shapes, which are due. */
  moveClaimsOf(agent: string, shapeOf: (item: C) => ClaimShape): void {
    for (const item of [...(this.byAgent.get(agent) ?? [])]) {
      const from = this.lineOf.get(item)
      const shape = shapeOf(item)
      if (from === undefined || from.shape === shape) continue
      const place = from.claims.get(item) as number
      this.remove(item)
      const line = this.enter(item, shape)
      line.claims = new Map([...line.claims, [item, place] as const].sort(([, a], [, b]) => a - b))
      this.due.add(line)
    }
  }

  /** There may be more tasks for the claims of these shapes. */
  wake(shapes: ReadonlyArray<ClaimShape>): void {
    for (const shape of shapes) {
      const line = this.lines.get(shape)
      if (line !== undefined) this.due.add(line)
    }
  }

  /** Claims of this shape are to be offered tasks at this time, even if nothing happens until then. */
  lookAgain(shape: ClaimShape, at: number): void {
    const line = this.lines.get(shape)
    if (line !== undefined) this.looks.set(line, Math.min(at, this.looks.get(line) ?? at))
  }

  /** The earliest of these times; infinity for never. */
  get nextLook(): number {
    let next = Number.POSITIVE_INFINITY
    for (const at of this.looks.values()) if (at < next) next = at
    return next
  }

  /** Makes the lines due whose time has come. */
  passTime(now: number): void {
    for (const [line, at] of this.looks) {
      if (at > now) continue
      this.looks.delete(line)
      this.due.add(line)
    }
  }

  /**
   * Offers tasks to the claims of the lines that are due, in the order in which they came. Claims that were served or are over are removed. After
   * `full` the rest stays due, so that no claim is served before an earlier one.
   *
   * `who`: which claims of a line may find something. At capacity these are the claims of the few active agents, and the others are not asked.
   */
  offer(
    serve: (item: C, shape: ClaimShape) => 'served' | 'empty' | 'full',
    who: (shape: ClaimShape) => 'all' | 'active' | 'none',
    active: () => ReadonlyMap<string, unknown>,
  ): void {
    const walks = new Heap<Walk<C>>(isBefore)
    for (const line of this.due) walks.add(new Walk(line.claims.entries(), line))
    let hasActive = false
    for (let first = walks.first; first !== undefined; first = walks.first) {
      const { item } = first
      if (item === undefined) {
        walks.removeFirst()
        continue
      }
      const { line = this.lineOf.get(item) } = first
      const isWanted = line !== undefined && (first.line !== undefined || this.due.has(line))
      const asked = isWanted ? who(line.shape) : 'none'
      // The rest of the line finds nothing either. Without this, every arrival would ask each of a thousand equal claims.
      if (first.line !== undefined && asked !== 'all') {
        walks.removeFirst()
        if (asked === 'active' && !hasActive) {
          hasActive = true
          walks.add(new Walk(this.ofAgents(active()).values()))
        }
        continue
      }
      const verdict = item.isOver() ? 'served' : asked === 'none' || line === undefined ? 'empty' : serve(item, line.shape)
      if (verdict === 'full') return
      first.advance()
      walks.sinkFirst()
      if (verdict === 'served') this.remove(item)
    }
    this.due.clear()
  }

  /** The waiting claims of these agents, in the order in which they came. */
  private ofAgents(agents: ReadonlyMap<string, unknown>): ReadonlyArray<readonly [C, number]> {
    const found: Array<readonly [C, number]> = []
    const add = (items: Iterable<C>): void => {
      for (const item of items) found.push([item, this.lineOf.get(item)?.claims.get(item) ?? 0])
    }
    if (agents.size < this.byAgent.size) for (const agent of agents.keys()) add(this.byAgent.get(agent) ?? [])
    else for (const [agent, items] of this.byAgent) if (agents.has(agent)) add(items)
    return found.sort(([, a], [, b]) => a - b)
  }

  /** Removes a claim, if it waits. */
  remove(item: C): void {
    const line = this.lineOf.get(item)
    if (line === undefined) return
    this.lineOf.delete(item)
    removeFrom(this.byAgent, item.command.agent, item)
    line.claims.delete(item)
    line.shape.waiting--
    if (line.claims.size > 0) return
    this.lines.delete(line.shape)
    this.due.delete(line)
    this.looks.delete(line)
  }

  /** Removes all claims. Returns them in the order in which they came. */
  drain(): ReadonlyArray<C> {
    const places = [...this.lines.values()].flatMap(({ claims }) => [...claims]).sort(([, a], [, b]) => a - b)
    const items = places.map(([item]) => item)
    for (const item of items) this.remove(item)
    return items
  }

  /** Notes that the claim waits. Returns its line, in which the caller gives it a place. */
  private enter(item: C, shape: ClaimShape): Line<C> {
    let line = this.lines.get(shape)
    if (line === undefined) this.lines.set(shape, (line = { shape, claims: new Map() }))
    this.lineOf.set(item, line)
    addTo(this.byAgent, item.command.agent, item)
    shape.waiting++
    return line
  }
}

/** A walk along claims in the order of their places: the claims of one line, or of several. At its end `item` is `undefined` and `place` infinite. */
class Walk<C> {
  item: C | undefined
  place = Number.POSITIVE_INFINITY

  constructor(
    private readonly rest: Iterator<readonly [C, number]>,
    readonly line?: Line<C>,
  ) {
    this.advance()
  }

  advance(): void {
    const { done, value } = this.rest.next()
    if (done === true) [this.item, this.place] = [undefined, Number.POSITIVE_INFINITY]
    else [this.item, this.place] = value
  }
}

/** A claim may be in two walks at once. That of its own line comes first, so that it is not offered there after it was served. */
const isBefore = <C>(a: Walk<C>, b: Walk<C>): boolean => a.place < b.place || (a.place === b.place && a.line !== undefined && b.line === undefined)
