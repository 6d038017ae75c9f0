/**
 * The shape of a claim: what it asks for, whichever agent asks. Workers send the same types, phases, skills and tenant over and over. So the matching
 * groups are kept for each shape, by tenant, and are updated as groups open and close. A claim looks only at the open groups of its shape, and
 * waiting claims wait for their shape (INV-28).
 */
import type { CommandOf } from '../model/commands.js'
import { isGroupShut } from '../gates/gates.js'
import { isShut, type Meter } from '../limits/meter.js'
import { isSectionShut, type Section, sectionOf } from '../limits/section.js'
import type { Group } from '../records/group.js'
import type { Heads } from './heads.js'
import type { Placements } from './placements.js'
import { TurnList } from './turn-list.js'
import { TurnWalk } from './turn-walk.js'

export type ShapeOf = Pick<CommandOf<'Claim'>, 'types' | 'phases' | 'skills' | 'tenant'>

export class ClaimShape {
  /** The open groups, except for those below. */
  private readonly plain: TurnList
  /** The open groups of limits that stand apart. No list is empty. */
  private readonly sections = new Map<Section, TurnList>()
  /** When it was last used, on a counter of uses of all shapes. */
  lastUse = 0
  /** Number of claims that wait for this shape, and whether there may be tasks for them. */
  waiting = 0
  isWoken = false
  /** The types that it names; `undefined` if it has a pattern or takes all types. */
  readonly types: ReadonlySet<string> | undefined
  readonly tenant: string | undefined
  /** Whether it names exactly one type. Then tenants take turns by their leases of this type, otherwise by all of their leases. */
  readonly isOfType: boolean

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
    this.plain = new TurnList(this, places)
  }

  get hasWork(): boolean {
    if (this.plain.size > 0) return true
    for (const section of this.sections.keys()) if (!isSectionShut(section)) return true
    return false
  }

  matches(group: Group): boolean {
    return this.asked === undefined || !isGroupShut(this.asked, group)
  }

  open(group: Group): void {
    const section = sectionOf(group)
    let list = this.listOf(group)
    if (list === undefined && section !== undefined) {
      this.sections.set(section, (list = new TurnList(this, this.places, section)))
      if (this.isKept) for (const { apart } of section.meters) apart?.shapes.add(this)
    }
    list?.open(group)
  }

  close(group: Group): void {
    const list = this.listOf(group)
    list?.close(group)
    const section = sectionOf(group)
    if (section !== undefined && list?.size === 0) this.dropSection(section)
  }

  /** The list that has the group while it is open. `undefined` if its section has none. */
  listOf(group: Group): TurnList | undefined {
    const section = sectionOf(group)
    return section === undefined ? this.plain : this.sections.get(section)
  }

  /** The order of the tenant's first tasks that has those of this group, if this shape keeps one. */
  headsOf(group: Group): Heads | undefined {
    return this.listOf(group)?.of(group.share)?.own
  }

  /** The tenants that a claim looks at, in the order of their turns. `hasRoom`: whether the claim may take a task of this limit; asked again at each step. */
  walk(hasRoom: (meter: Meter) => boolean = (meter) => !isShut(meter)): TurnWalk {
    return new TurnWalk(this.plain.turns, this.sections, hasRoom)
  }

  /** Sorts the tasks of the tenants that a claim of `max` tasks looks at first. */
  sortFirst(max: number): void {
    const walk = this.walk()
    for (let i = 0; i < max && walk.item !== undefined; i++) {
      walk.item.sort()
      walk.advance()
    }
  }

  /** Called when the shape is no longer kept. */
  drop(): void {
    for (const list of this.lists()) list.clear()
    for (const section of [...this.sections.keys()]) this.dropSection(section)
  }

  private *lists(): Generator<TurnList, void> {
    yield this.plain
    yield* this.sections.values()
  }

  private dropSection(section: Section): void {
    this.sections.delete(section)
    for (const meter of section.meters) {
      const hasOther = [...this.sections.keys()].some(({ meters }) => meters.includes(meter))
      if (!hasOther) meter.apart?.shapes.delete(this)
    }
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
