/**
 * The registered agents (TQM-ASSIGN-001): what each agent can take, and how many tasks at once. A registration ends when the agent has been silent
 * for the time that it asked for. Whether a registration has ended is judged at the instant of the question (INV-25).
 */
import type { ShapeOf } from '../ready/claim-shape.js'
import { SortedList } from '../structures/sorted-list.js'
import type { UndoLog } from '../structures/undo-log.js'
import { UndoMap } from '../structures/undo-map.js'

/** The largest number of registrations in a queue. */
export const agentsMax = 10_000

/** Immutable: a change replaces the object. Times are milliseconds since 1970. */
export interface RegisteredAgent extends ShapeOf {
  readonly agent: string
  /** The largest number of leases that the agent holds at the same time. */
  readonly maxTasks?: number | undefined
  readonly ttlMs: number
  /** When the agent was last heard of, and when its registration ends unless it is heard of again. */
  readonly seenAt: number
  readonly endsAt: number
}

const byAgent = (a: RegisteredAgent, b: RegisteredAgent): number => (a.agent < b.agent ? -1 : a.agent > b.agent ? 1 : 0)

export class AgentRegister {
  readonly byName: UndoMap<RegisteredAgent>
  private readonly byEnd = new SortedList<RegisteredAgent>(({ endsAt }) => endsAt, byAgent)

  constructor(undoLog: UndoLog) {
    this.byName = new UndoMap(undoLog, (from, to) => {
      if (from !== undefined) this.byEnd.remove(from)
      if (to !== undefined) this.byEnd.add(to)
    })
  }

  /** Number of registrations. Those that have ended count until another agent registers. */
  get size(): number {
    return this.byName.size
  }

  /** The registration of this agent, if it has not ended at `at`. */
  at(agent: string, at: number): RegisteredAgent | undefined {
    const known = this.byName.get(agent)
    return known !== undefined && known.endsAt > at ? known : undefined
  }

  /** Whether there is room for one more at `at`. */
  hasRoom(at: number): boolean {
    return this.size < agentsMax || (this.byEnd.first()?.endsAt ?? at) <= at
  }

  /** The registrations that have not ended at `at`, the one that ends first before the others. */
  *live(at: number): Generator<RegisteredAgent, void> {
    for (const cursor = this.byEnd.seek(at + 1); cursor.item !== undefined; cursor.advance()) yield cursor.item
  }

  /** When the first of the live registrations ends, as of `at`; `undefined` if there is none. */
  nextEnd(at: number): number | undefined {
    return this.byEnd.seek(at + 1).item?.endsAt
  }

  register(agent: RegisteredAgent): void {
    for (let first = this.byEnd.first(); first !== undefined && first.endsAt <= agent.seenAt; first = this.byEnd.first()) this.byName.delete(first.agent)
    this.byName.set(agent.agent, agent)
  }

  /** Notes that the agent was heard of, at most 64 times in the length of a registration: the reports of a busy agent must cost nothing here. */
  saw(agent: string, at: number): void {
    const known = this.at(agent, at)
    if (known !== undefined && (at - known.seenAt) * 64 >= known.ttlMs) this.byName.set(agent, { ...known, seenAt: at, endsAt: at + known.ttlMs })
  }

  /** All registrations, sorted by name, for snapshots and views. */
  entries(): ReadonlyArray<RegisteredAgent> {
    return [...this.byName.values()].sort(byAgent)
  }
}
