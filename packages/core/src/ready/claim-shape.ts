/**
 * The shape of a claim: what it asks for, whichever agent asks. Workers send the same types, phases, skills and tenant over and over. So the matching
 * groups are kept for each shape, by tenant, and are updated as groups open and close. A claim looks only at the open groups of its shape, and
 * waiting claims wait for their shape (INV-28).
 */
import type { CommandOf } from '../model/commands.js'
import { isGroupShut } from '../gates/gates.js'
import type { Group } from '../records/group.js'
import { SortedList } from '../structures/sorted-list.js'
import type { Account, TaskRecord, TenantShare } from '../records/records.js'
import type { Placements } from './placements.js'
import { ShapeTurn } from './shape-turn.js'

export type ShapeOf = Pick<CommandOf<'Claim'>, 'types' | 'phases' | 'skills' | 'tenant'>

const turnOf = ({ account }: ShapeTurn): number => account.turn
/** Tenants with equal turns are ordered by name; tasks without a tenant come first. */
export const byName = (a: Pick<Account, 'name'>, b: Pick<Account, 'name'>): number =>
  a.name === b.name ? 0 : a.name === undefined || (b.name !== undefined && a.name < b.name) ? -1 : 1

export class ClaimShape {
  /** The tenants with open groups, in the order of their turns. */
  readonly turns = new SortedList<ShapeTurn>(turnOf, (a, b) => byName(a.share, b.share))
  private readonly byShare = new Map<TenantShare, ShapeTurn>()
  /** When it was last used, on a counter of uses of all shapes. */
  lastUse = 0
  /** Number of claims that wait for this shape, and whether there may be tasks for them. */
  waiting = 0
  isWoken = false
  /** The types that it names; `undefined` if it has a pattern or takes all types. */
  readonly types: ReadonlySet<string> | undefined
  readonly tenant: string | undefined
  /** Whether it names exactly one type. Then tenants take turns by their leases of this type, otherwise by all of their leases. */
  private readonly isOfType: boolean

  /** `asked`: `undefined` for everything, whatever skills it requires. `isKept`: the shape is told of changes; otherwise it is made for one question. */
  constructor(
    private readonly asked: ShapeOf | undefined,
    readonly isKept: boolean,
    private readonly places: Placements,
  ) {
    const types = asked?.types
    this.tenant = asked?.tenant
    this.types = types === undefined || types.some((pattern) => pattern.endsWith('*')) ? undefined : new Set(types)
    this.isOfType = this.types?.size === 1
  }

  get hasWork(): boolean {
    return this.turns.size > 0
  }

  matches(group: Group): boolean {
    return this.asked === undefined || !isGroupShut(this.asked, group)
  }

  open(group: Group): void {
    const { share } = group
    const known = this.byShare.get(share)
    if (known !== undefined) return known.add(group)
    const account = this.isOfType ? group.account : share
    const turn = new ShapeTurn(this, share, account, this.places, group)
    this.byShare.set(share, turn)
    this.turns.add(turn)
    if (this.isKept) account.turns = [...account.turns, turn]
  }

  close(group: Group): void {
    const turn = this.byShare.get(group.share)
    if (turn === undefined) return
    turn.remove(group)
    if (!turn.hasGroups) this.leave(turn)
  }

  /** The tenant's matching open groups. */
  turnOf(share: TenantShare): ShapeTurn | undefined {
    return this.byShare.get(share)
  }

  /** Adds a task that may now be the first of its group, which is open and matches. */
  addHead(task: TaskRecord): void {
    this.byShare.get(task.group.share)?.addHead(task)
  }

  /** Removes a task that can no longer be the first of its group, or has left it. */
  removeHead(task: TaskRecord): void {
    this.byShare.get(task.group.share)?.removeHead(task)
  }

  /** Sorts the tasks of the tenants that a claim of `max` tasks looks at first. */
  sortFirst(max: number): void {
    const cursor = this.turns.cursor()
    for (let i = 0; i < max && cursor.item !== undefined; i++) {
      cursor.item.sort()
      cursor.advance()
    }
  }

  /** Called when the shape is no longer kept. */
  drop(): void {
    for (const turn of [...this.turns]) this.leave(turn)
  }

  private leave(turn: ShapeTurn): void {
    const { share, account } = turn
    this.turns.remove(turn)
    this.byShare.delete(share)
    turn.end()
    if (this.isKept) account.turns = account.turns.filter((other) => other !== turn)
  }
}

/** A key that is equal for shapes that name the same things in any order. For a single type the key is the type itself, unless that looks like a list. */
export const shapeKey = ({ types, phases, skills, tenant }: ShapeOf): string => {
  const [type, ...others] = types ?? noTypes
  const isOneType = type !== undefined && others.length === 0 && phases === undefined && skills === undefined && tenant === undefined
  return isOneType && !type.startsWith('[') ? type : JSON.stringify([inOrder(types), inOrder(phases), inOrder(skills), tenant])
}
const noTypes: ReadonlyArray<string> = []
const inOrder = (names: ReadonlyArray<string> | undefined): ReadonlyArray<string> | undefined =>
  names === undefined || names.length < 2 ? names : [...names].sort()
