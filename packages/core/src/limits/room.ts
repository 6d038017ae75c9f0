/** The room that limits leave for the picks of one claim. */
import type { Group } from '../records/group.js'
import { type Meter, periodMs } from './meter.js'

export class Room {
  private readonly taken = new Map<Meter, number>()

  constructor(private readonly at: number) {}

  /** Whether another task of this group may start in addition to those that were taken. */
  hasRoom({ meters }: Group): boolean {
    for (const meter of meters) if (!this.hasRoomFor(meter)) return false
    return true
  }

  /** The limit of this group that the picks so far have used up; `undefined` if there is none. */
  usedUp({ meters }: Group): Meter | undefined {
    return meters.find((meter) => !this.hasRoomFor(meter))
  }

  take({ meters }: Group): void {
    for (const meter of meters) this.taken.set(meter, (this.taken.get(meter) ?? 0) + 1)
  }

  /** Whether another task that this meter counts may start. */
  hasRoomFor(meter: Meter): boolean {
    const { limit, live, starts } = meter
    if (limit === undefined) return true
    const wanted = (this.taken.get(meter) ?? 0) + 1
    if (limit.concurrency !== undefined && live + wanted > limit.concurrency) return false
    return limit.rate === undefined || starts === undefined || starts.free(this.at, periodMs(limit.rate), wanted) >= wanted
  }
}
