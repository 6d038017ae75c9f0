/** The tenants with open groups that match a shape of claims, in the order of their turns. */
import type { Group } from '../records/group.js'
import type { Section } from '../limits/section.js'
import type { Account, TenantShare } from '../records/records.js'
import { SortedList } from '../structures/sorted-list.js'
import type { ClaimShape } from './claim-shape.js'
import type { Placements } from './placements.js'
import { ShapeTurn } from './shape-turn.js'

/** Tenants with equal turns are ordered by name; tasks without a tenant come first. */
export const byName = (a: Pick<Account, 'name'>, b: Pick<Account, 'name'>): number =>
  a.name === b.name ? 0 : a.name === undefined || (b.name !== undefined && a.name < b.name) ? -1 : 1

export class TurnList {
  readonly turns = new SortedList<ShapeTurn>(({ account }) => account.turn, (a, b) => byName(a.share, b.share))
  private readonly byShare = new Map<TenantShare, ShapeTurn>()

  constructor(
    readonly shape: ClaimShape,
    private readonly places: Placements,
    /** The section of all its groups. */
    readonly section?: Section,
  ) {}

  get size(): number {
    return this.turns.size
  }

  /** The tenant's groups in this list. */
  of(share: TenantShare): ShapeTurn | undefined {
    return this.byShare.get(share)
  }

  open(group: Group): void {
    const { share } = group
    const known = this.byShare.get(share)
    if (known !== undefined) return known.add(group)
    const { shape } = this
    const account = shape.isOfType ? group.account : share
    const turn = new ShapeTurn(this, share, account, this.places, group)
    this.byShare.set(share, turn)
    this.turns.add(turn)
    if (shape.isKept) account.turns = [...account.turns, turn]
  }

  close(group: Group): void {
    const turn = this.byShare.get(group.share)
    if (turn === undefined) return
    turn.remove(group)
    if (!turn.hasGroups) this.leave(turn)
  }

  clear(): void {
    for (const turn of [...this.turns]) this.leave(turn)
  }

  private leave(turn: ShapeTurn): void {
    const { share, account } = turn
    this.turns.remove(turn)
    this.byShare.delete(share)
    turn.end()
    if (this.shape.isKept) account.turns = account.turns.filter((other) => other !== turn)
  }
}
