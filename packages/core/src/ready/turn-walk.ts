/** A walk along the tenants of a shape in the order of their turns: a merge of its lists. */
import type { Meter } from '../limits/meter.js'
import type { Cursor, SortedList } from '../structures/sorted-list.js'
import type { ShapeTurn } from './shape-turn.js'
import { byName, type TurnList } from './turn-list.js'

export class TurnWalk {
  /** The next entry; `undefined` at the end. A tenant has an entry in each list with groups of it, and these follow each other. */
  item: ShapeTurn | undefined
  private readonly plain: Cursor<ShapeTurn>
  /** The lists of limits that have room. */
  private readonly apart: Array<{ readonly meter: Meter; readonly cursor: Cursor<ShapeTurn> }> = []
  /** The cursor at {@link item}. */
  private current: Cursor<ShapeTurn>

  constructor(
    plain: SortedList<ShapeTurn>,
    apart: ReadonlyMap<Meter, TurnList>,
    private readonly hasRoom: (meter: Meter) => boolean,
  ) {
    this.plain = this.current = plain.cursor()
    for (const [meter, { turns }] of apart) if (hasRoom(meter)) this.apart.push({ meter, cursor: turns.cursor() })
    this.find()
  }

  advance(): void {
    this.current.advance()
    this.find()
  }

  private find(): void {
    const { apart } = this
    this.current = this.plain
    // Mostly there are no such lists.
    for (let i = apart.length - 1; i >= 0; i--) {
      const { meter, cursor } = apart[i] as (typeof apart)[number]
      if (cursor.item === undefined || !this.hasRoom(meter)) apart.splice(i, 1)
      else if (this.current.item === undefined || isBefore(cursor.item, this.current.item)) this.current = cursor
    }
    this.item = this.current.item
  }
}

const isBefore = (a: ShapeTurn, b: ShapeTurn): boolean => a.account.turn < b.account.turn || (a.account.turn === b.account.turn && byName(a.share, b.share) < 0)
