/** A walk along the tenants of a shape in the order of their turns: a merge of its lists. */
import type { Meter } from '../limits/meter.js'
import type { Section } from '../limits/section.js'
import type { Cursor, SortedList } from '../structures/sorted-list.js'
import type { ShapeTurn } from './shape-turn.js'
import { byName, type TurnList } from './turn-list.js'

export class TurnWalk {
  /** The next entry; `undefined` at the end. A tenant has an entry in each list with groups of it, and these follow each other. */
  item: ShapeTurn | undefined
  private readonly plain: Cursor<ShapeTurn>
  /** The sections whose limits have room. */
  private readonly sections: Array<{ readonly section: Section; readonly cursor: Cursor<ShapeTurn> }> = []
  /** The cursor at {@link item}. */
  private current: Cursor<ShapeTurn>

  constructor(
    plain: SortedList<ShapeTurn>,
    sections: ReadonlyMap<Section, TurnList>,
    private readonly hasRoom: (meter: Meter) => boolean,
  ) {
    this.plain = this.current = plain.cursor()
    for (const [section, { turns }] of sections) if (section.meters.every(hasRoom)) this.sections.push({ section, cursor: turns.cursor() })
    this.find()
  }

  advance(): void {
    this.current.advance()
    this.find()
  }

  private find(): void {
    const { sections } = this
    this.current = this.plain
    // Mostly there are none.
    for (let i = sections.length - 1; i >= 0; i--) {
      const { section, cursor } = sections[i] as (typeof sections)[number]
      if (cursor.item === undefined || !section.meters.every(this.hasRoom)) sections.splice(i, 1)
      else if (this.current.item === undefined || isBefore(cursor.item, this.current.item)) this.current = cursor
    }
    this.item = this.current.item
  }
}

const isBefore = (a: ShapeTurn, b: ShapeTurn): boolean => a.account.turn < b.account.turn || (a.account.turn === b.account.turn && byName(a.share, b.share) < 0)
