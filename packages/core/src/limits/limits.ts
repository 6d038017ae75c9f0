/**
 * The limits of a queue, and what they count. When a limit is reached, its meter closes the groups that it counts, as an open breaker closes the
 * groups of its type.
 */
import type { ClaimShape } from '../ready/claim-shape.js'
import type { Group } from '../records/group.js'
import { SmallSet } from '../structures/small-set.js'
import { SortedList } from '../structures/sorted-list.js'
import type { Head, TaskRecord } from '../records/records.js'
import type { UndoLog } from '../structures/undo-log.js'
import { defaultOf, isDefault, isOfKey, isOfTenant, isSameRate, type Limit, tenantLimit, typeLimit } from '../model/limit.js'
import { isShut, type Meter, periodMs, Starts } from './meter.js'
import { standApart } from './section.js'

/** The part of the tables that limits need. */
export interface Limited {
  readonly groups: () => Iterable<Group>
  readonly held: () => Iterable<TaskRecord>
  /** Opens and closes groups. */
  readonly refresh: (groups: Iterable<Group>) => void
  /** Closes groups before their meters change. `refresh` must follow. */
  readonly close: (groups: Iterable<Group>) => void
  /** There may be tasks for these shapes of claims. */
  readonly wake: (shapes: Iterable<ClaimShape>) => void
}

/** A meter with its counted starts, for snapshots. */
export type MeterEntry = readonly [key: string, starts: ReadonlyArray<number>, shutUntil: number]

/** A limit that counts at least this many groups, and this many for each limit that stands apart already, does so too once it is reached. */
const [manyGroups, groupsPerSection] = [16, 2]
/** The largest number of meters that are forgotten with one event. */
const forgottenMax = 4
const byKey = (a: Meter, b: Meter): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
const none: ReadonlyArray<never> = []

export class Limits {
  /** The limits that are set, by key. */
  readonly set = new Map<string, Limit>()
  /**
   * A meter for each concurrency key of a task in the state, and for each type and tenant of such a task that has a limit. Also meters without tasks
   * that have had starts within their rate's period.
   */
  readonly meters = new Map<string, Meter>()
  /** The meters whose rate admits no start now, by the time when it does again. */
  readonly closed = new SortedList<Meter>(({ shutUntil }) => shutUntil, byKey)
  /** The meters without tasks, by the time when their last start no longer counts. */
  private readonly idle = new SortedList<Meter>(countsUntil, byKey)
  /** The meters that stand apart. Those of tenants do not: there may be thousands, and each has the groups of one tenant only. */
  private readonly apart = new Set<Meter>()

  constructor(
    private readonly head: Readonly<Head>,
    private readonly undoLog: UndoLog,
    private readonly limited: Limited,
  ) {}

  /** The limit that holds for this key. */
  limitOf(key: string): Limit | undefined {
    return this.set.get(key) ?? this.set.get(defaultOf(key))
  }

  /** Called when the group gets its first task. */
  join(group: Group): void {
    if (this.set.size === 0 && group.concurrencyKey === undefined) return
    group.meters = this.metersOf(group)
    for (const { groups } of group.meters) groups.add(group)
  }

  /** Called when the group has no more tasks. */
  part(group: Group): void {
    for (const meter of group.meters) this.takeOut(meter, group)
    group.meters = none
  }

  /** A lease of the group has begun (1) or ended (-1). */
  moved(group: Group, by: 1 | -1): void {
    for (const meter of group.meters) {
      const was = isShut(meter)
      meter.live += by
      if (was !== isShut(meter)) this.turned(meter)
    }
  }

  /** Counts a start of a task of the group. */
  started(group: Group, at: number): void {
    for (const meter of group.meters) {
      const { starts, limit } = meter
      if (starts === undefined || limit?.rate === undefined) continue
      const replaced = starts.add(at)
      this.undoLog.note(() => starts.takeBack(replaced))
      const until = starts.shutUntil(at, periodMs(limit.rate))
      if (until !== meter.shutUntil) this.shut(meter.key, until)
    }
  }

  /** The rate of this key admits starts again. False if it admits them already, or not yet at `at`. */
  opened(key: string, at: number): boolean {
    const meter = this.meters.get(key)
    if (meter === undefined || meter.shutUntil === 0 || meter.shutUntil > at) return false
    this.shut(key, 0)
    return true
  }

  /** Sets or removes a limit. Cost: O(groups and leases), for a concurrency key O(its groups). */
  put(key: string, limit: Limit | undefined): void {
    const before = this.set.get(key)
    const saved = [...this.affected(key)].map((meter) => ({ ...meter }))
    this.undoLog.note(() => {
      this.apply(key, before)
      for (const one of saved) this.putBack(one)
    })
    this.apply(key, limit)
  }

  /** Forgets all limits. There must be no tasks. */
  clear(): void {
    const [limits, meters] = [[...this.set], [...this.meters.values()]]
    this.set.clear()
    for (const meter of meters) this.drop(meter)
    this.undoLog.note(() => {
      for (const [key, limit] of limits) this.set.set(key, limit)
      for (const meter of meters) this.keep(meter)
    })
  }

  /** Forgets meters without tasks whose starts no longer count. No decision depends on this. */
  passTime(): void {
    for (let n = 0; n < forgottenMax; n++) {
      const first = this.idle.first()
      if (first === undefined || countsUntil(first) > this.head.at || first.shutUntil > 0) return
      this.drop(first)
      this.undoLog.note(() => this.keep(first))
    }
  }

  /** When a rate next admits a start again; `undefined` for never. */
  get nextOpening(): number | undefined {
    return this.closed.first()?.shutUntil
  }

  entries(): ReadonlyArray<MeterEntry> {
    const counted = [...this.meters.values()].filter(({ starts }) => starts?.isEmpty === false)
    return counted.sort(byKey).map(({ key, starts, shutUntil }) => [key, starts?.list() ?? none, shutUntil])
  }

  /** Restores the starts of a snapshot. Its limits and tasks must be restored before. */
  restore(entries: ReadonlyArray<MeterEntry>): void {
    for (const [key, times, shutUntil] of entries) {
      const rate = this.limitOf(key)?.rate
      if (rate === undefined) continue
      const meter = this.meters.get(key) ?? this.newMeter(key)
      meter.starts = new Starts(rate.starts, times)
      meter.shutUntil = shutUntil
      this.keep(meter)
      this.turned(meter)
    }
  }

  private metersOf({ type, tenant, concurrencyKey }: Group): ReadonlyArray<Meter> {
    const meters: Array<Meter> = []
    const { set } = this
    if (concurrencyKey !== undefined) meters.push(this.meterOf(concurrencyKey))
    if (set.size === 0) return meters
    for (const key of tenant === undefined ? [typeLimit(type)] : [typeLimit(type), tenantLimit(tenant)]) {
      if (this.limitOf(key) !== undefined) meters.push(this.meterOf(key))
    }
    return meters
  }

  private meterOf(key: string): Meter {
    const known = this.meters.get(key)
    if (known === undefined) {
      const meter = this.newMeter(key)
      this.meters.set(key, meter)
      return meter
    }
    this.idle.remove(known)
    return known
  }

  private newMeter(key: string): Meter {
    const limit = this.limitOf(key)
    const starts = limit?.rate === undefined ? undefined : new Starts(limit.rate.starts)
    return { key, limit, live: 0, starts, shutUntil: 0, groups: new SmallSet(), apart: undefined }
  }

  /** Puts the meter into the lists in which it belongs. */
  private keep(meter: Meter): void {
    this.meters.set(meter.key, meter)
    if (meter.apart !== undefined) this.apart.add(meter)
    if (meter.shutUntil > 0) this.closed.add(meter)
    if (meter.groups.size === 0) this.idle.add(meter)
  }

  private drop(meter: Meter): void {
    this.unlist(meter)
    this.meters.delete(meter.key)
    this.apart.delete(meter)
  }

  private unlist(meter: Meter): void {
    this.closed.remove(meter)
    this.idle.remove(meter)
  }

  private takeOut(meter: Meter, group: Group): void {
    meter.groups.delete(group)
    if (meter.groups.size > 0) return
    if (meter.starts?.isEmpty === false) this.idle.add(meter)
    else this.drop(meter)
  }

  private shut(key: string, until: number): void {
    const meter = this.meters.get(key)
    if (meter === undefined) return
    const before = meter.shutUntil
    this.undoLog.note(() => this.shut(key, before))
    this.closed.remove(meter)
    meter.shutUntil = until
    if (until > 0) this.closed.add(meter)
    if ((before > 0) !== (until > 0)) this.turned(meter)
  }

  /** The meter may have been shut or opened. */
  private turned(meter: Meter): void {
    if (meter.apart === undefined) {
      const { groups } = meter
      const isToStandApart = groups.size >= this.apartMin && !isOfTenant(meter.key) && meter.limit !== undefined
      if (!isToStandApart) return this.limited.refresh(groups)
      this.limited.close(groups)
      standApart(meter)
      this.apart.add(meter)
      this.limited.refresh(groups)
    }
    this.wake(meter)
  }

  /** A lease moves its tenant in the list of each section. So the more sections there are, the more groups a limit must have. */
  private get apartMin(): number {
    return Math.max(manyGroups, groupsPerSection * this.apart.size)
  }

  private wake(meter: Meter): void {
    if (meter.apart !== undefined && !isShut(meter)) this.limited.wake(meter.apart.shapes)
  }

  /** The meters for which this limit holds, or will hold. A tenant may be called `*`: its meter has the key of the limit for all tenants. */
  private affected(key: string): Iterable<Meter> {
    if (!isDefault(key)) return [this.meters.get(key)].filter((meter) => meter !== undefined)
    return [...this.meters.values()].filter((meter) => meter.key === key || (defaultOf(meter.key) === key && !this.set.has(meter.key)))
  }

  private apply(key: string, limit: Limit | undefined): void {
    const changed = new Set<Group>()
    if (limit === undefined) this.set.delete(key)
    else this.set.set(key, limit)
    const affected = [...this.affected(key)]
    for (const meter of affected) {
      this.relimit(meter)
      for (const group of meter.groups) changed.add(group)
    }
    if (!isOfKey(key)) this.reassign(key, changed)
    this.limited.refresh(changed)
    for (const meter of affected) this.wake(meter)
  }

  private relimit(meter: Meter): void {
    this.unlist(meter)
    const { rate: before } = meter.limit ?? {}
    meter.limit = this.limitOf(meter.key)
    const { rate } = meter.limit ?? {}
    if (!isSameRate(before, rate)) {
      const counted = before === undefined ? none : (meter.starts?.list() ?? none).filter((time) => time + periodMs(before) > this.head.at)
      meter.starts = rate === undefined ? undefined : new Starts(rate.starts, counted.slice(-rate.starts))
      meter.shutUntil = rate === undefined ? 0 : (meter.starts?.shutUntil(this.head.at, periodMs(rate)) ?? 0)
    }
    if (meter.groups.size > 0 || meter.starts?.isEmpty === false) this.keep(meter)
    else this.drop(meter)
  }

  /** Groups get the meters of the types or tenants that are limited now, and lose those that are not. */
  private reassign(key: string, changed: Set<Group>): void {
    const known = new Set(this.meters.values())
    for (const group of this.limited.groups()) {
      if (!isNamedBy(group, key)) continue
      const before = group.meters
      this.limited.close([group])
      group.meters = this.metersOf(group)
      for (const meter of before) if (!group.meters.includes(meter)) this.takeOut(meter, group)
      for (const meter of group.meters) if (!before.includes(meter)) meter.groups.add(group)
      changed.add(group)
    }
    if (this.meters.size === 0) return
    for (const { group } of this.limited.held()) for (const meter of group.meters) if (!known.has(meter)) meter.live++
  }

  /** Restores a meter's fields. The limits must be restored before. */
  private putBack({ key, limit, starts, shutUntil }: Meter): void {
    const meter = this.meters.get(key) ?? this.newMeter(key)
    this.unlist(meter)
    Object.assign(meter, { limit, starts, shutUntil })
    this.keep(meter)
    this.turned(meter)
  }
}

/** The time when the last start no longer counts. */
function countsUntil({ starts, limit }: Meter): number {
  return starts === undefined || limit?.rate === undefined ? 0 : starts.last + periodMs(limit.rate)
}

const isNamedBy = ({ type, tenant }: Group, key: string): boolean =>
  key === typeLimit(type) || key === 'type:*' || (tenant !== undefined && (key === tenantLimit(tenant) || key === 'tenant:*'))
