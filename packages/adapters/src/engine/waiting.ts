/**
 * The claims that wait (long polls), in a line for each shape of claim. A line costs nothing until something that its
 * claims may take becomes ready. Then the claims of all such lines are served in the order in which they came.
 */
import type { ClaimShape } from '@daybook/core'
import type { ClaimItem } from './batch.js'

/** The claims of one shape, first come, first served, each with its place among all that ever waited. */
interface Line {
  readonly shape: ClaimShape
  claims: Map<ClaimItem, number>
}

export class WaitingClaims {
  private readonly lines = new Map<ClaimShape, Line>()
  /** Lines whose claims are to be offered tasks. */
  private readonly due = new Set<Line>()
  private readonly lineOf = new Map<ClaimItem, Line>()
  /** When lines are to be offered tasks again because of the time, in the queue's time. */
  private readonly looks = new Map<Line, number>()
  private firstPlace = 0
  private lastPlace = 0

  get size(): number {
    return this.lineOf.size
  }

  /** Whether there may be tasks for some of them. */
  get isOfferDue(): boolean {
    return this.due.size > 0
  }

  add(item: ClaimItem, shape: ClaimShape): void {
    this.lineFor(shape).claims.set(item, ++this.lastPlace)
    this.enter(item, shape)
  }

  /** Puts back claims that were served by a batch that was rolled back, before all others, and offers tasks to all again. */
  putBack(items: ReadonlyArray<ClaimItem>, shapeOf: (item: ClaimItem) => ClaimShape): void {
    this.firstPlace -= items.length
    items.forEach((item, index) => {
      const shape = shapeOf(item)
      const line = this.lineFor(shape)
      const place = this.firstPlace + index
      line.claims = new Map([...line.claims, [item, place] as const].sort(([, a], [, b]) => a - b))
      this.enter(item, shape)
    })
    for (const line of this.lines.values()) this.due.add(line)
  }

  /** There may be more to take for the claims of these shapes. */
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

  /** When the next claims are to look again; infinity for never. */
  get nextLook(): number {
    let next = Number.POSITIVE_INFINITY
    for (const at of this.looks.values()) if (at < next) next = at
    return next
  }

  /** It is this time now. */
  passTime(now: number): void {
    for (const [line, at] of this.looks) {
      if (at > now) continue
      this.looks.delete(line)
      this.due.add(line)
    }
  }

  /**
   * Offers tasks to the claims of the lines that are due, in the order in which they came. Those that are served or over
   * leave. After `full` the rest stays due, so that none is served before an earlier one.
   */
  offer(serve: (item: ClaimItem, shape: ClaimShape) => 'served' | 'empty' | 'full'): void {
    const walks = [...this.due].map((line) => new LineWalk(line))
    for (;;) {
      let first: LineWalk | undefined
      for (const walk of walks) if (walk.place < (first?.place ?? Number.POSITIVE_INFINITY)) first = walk
      if (first?.item === undefined) break
      const { item, line } = first
      // The rest of the line finds nothing either. Without this, every arrival would ask each of a thousand equal claims.
      if (!line.shape.hasWork) {
        first.end()
        continue
      }
      const verdict = item.isOver() ? 'served' : serve(item, line.shape)
      if (verdict === 'full') return
      first.advance()
      if (verdict === 'served') this.remove(item)
    }
    this.due.clear()
  }

  /** Called also for claims that do not wait. */
  remove(item: ClaimItem): void {
    const line = this.lineOf.get(item)
    if (line === undefined) return
    this.lineOf.delete(item)
    line.claims.delete(item)
    line.shape.waiting--
    if (line.claims.size > 0) return
    this.lines.delete(line.shape)
    this.due.delete(line)
    this.looks.delete(line)
  }

  /** All of them, in the order in which they came. They no longer wait. */
  drain(): ReadonlyArray<ClaimItem> {
    const places = [...this.lines.values()].flatMap(({ claims }) => [...claims]).sort(([, a], [, b]) => a - b)
    const items = places.map(([item]) => item)
    for (const item of items) this.remove(item)
    return items
  }

  private lineFor(shape: ClaimShape): Line {
    let line = this.lines.get(shape)
    if (line === undefined) this.lines.set(shape, (line = { shape, claims: new Map() }))
    return line
  }

  private enter(item: ClaimItem, shape: ClaimShape): void {
    this.lineOf.set(item, this.lineFor(shape))
    shape.waiting++
  }
}

/** A walk along a line. At its end `item` is `undefined` and `place` infinite. */
class LineWalk {
  item: ClaimItem | undefined
  place = Number.POSITIVE_INFINITY
  private readonly rest: Iterator<[ClaimItem, number]>

  constructor(readonly line: Line) {
    this.rest = line.claims.entries()
    this.advance()
  }

  advance(): void {
    const next = this.rest.next()
    if (next.done === true) this.end()
    else [this.item, this.place] = next.value
  }

  end(): void {
    this.item = undefined
    this.place = Number.POSITIVE_INFINITY
  }
}
