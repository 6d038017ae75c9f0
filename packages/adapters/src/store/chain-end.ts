/** Where the chain of hashes in a log ends (EV-07). A store makes the seals (`seals/`), because it knows what was appended before. */
import type { Hash } from 'node:crypto'

/** The last seal of a log. */
export interface ChainHead {
  /** Revision of the event that has the seal. */
  readonly revision: number
  readonly hash: string
}

/** What the next seal continues. */
export interface ChainEnd {
  /** The previous seal; `undefined` in a log without seals, whose chain begins with this append. */
  readonly head: ChainHead | undefined
  /** A hash that has taken the previous seal and the unsealed events after it. Only if there are such events: servers before this version wrote them. */
  readonly open?: Hash | undefined
}
