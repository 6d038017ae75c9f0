/**
 * The registered agents (TQM-ASSIGN-001): what each can take, and how much at once. A registration ends when nothing has been
 * heard of the agent for as long as it asked for. Whether it has ended is judged at the instant of the question (INV-25).
 */
import type { ShapeOf } from './ready/claim-shape.js'
import { SortedList } from './sorted-list.js'
import type { UndoLog } from './undo-log.js'

/** Registrations that a queue keeps at most. */
export const agentsMax = 10_000

/** Never changed: another object takes its place. Times are milliseconds since 1970. */
export interface RegisteredAgent extends ShapeOf {
  readonly agent: string
  /** Leases that it takes at most at the same time. */
  readonly maxTasks?: number | undefined
  readonly ttlMs: number
  /** When it was last heard of, and when the registration ends unless it is heard of again. */
  readonly seenAt: number
  readonly endsAt: number
}

const byAgent = (a: RegisteredAgent, b: RegisteredAgent): number => (a.agent < b.agent ? -1 : a.agent > b.agent ? 1 : 0)

export class AgentRegister {
  readonly byName = new Map<string, RegisteredAgent>()
  private readonly byEnd = new SortedList<RegisteredAgent>(({ endsAt }) => endsAt, byAgent)

  constructor(private readonly undoLog: UndoLog) {}

  /** Registrations that have ended included, until another agent registers. */
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

  /** Those that have not ended at `at`, the one that ends first before the others. */
  *live(at: number): Generator<RegisteredAgent, void> {
    for (const cursor = this.byEnd.seek(at + 1); cursor.item !== undefined; cursor.advance()) yield cursor.item
  }

  /** When the first of those that have not ended at `at` ends; `undefined` if there is none. */
  nextEnd(at: number): number | undefined {
    return this.byEnd.seek(at + 1).item?.endsAt
  }

  register(agent: RegisteredAgent): void {
    for (let first = this.byEnd.first(); first !== undefined && first.endsAt <= agent.seenAt; first = this.byEnd.first()) this.put(first.agent, undefined)
    this.put(agent.agent, agent)
  }

  /** The agent was heard of. So that a busy agent costs nothing, it is noted 64 times in the length of a registration at most. */
  saw(agent: string, at: number): void {
    const known = this.at(agent, at)
    if (known !== undefined && (at - known.seenAt) * 64 >= known.ttlMs) this.put(agent, { ...known, seenAt: at, endsAt: at + known.ttlMs })
  }

  remove(agent: string): void {
    this.put(agent, undefined)
  }

  clear(): void {
    for (const agent of [...this.byName.keys()]) this.put(agent, undefined)
  }

  /** Sorted by name, for snapshots and views. */
  entries(): ReadonlyArray<RegisteredAgent> {
    return [...this.byName.values()].sort(byAgent)
  }

  /** Puts those of a snapshot in place. */
  restore(agents: ReadonlyArray<RegisteredAgent>): void {
    for (const agent of agents) this.put(agent.agent, agent)
  }

  private put(agent: string, to: RegisteredAgent | undefined): void {
    const before = this.byName.get(agent)
    if (before === to) return
    if (before !== undefined) this.byEnd.remove(before)
    if (to === undefined) this.byName.delete(agent)
    else {
      this.byName.set(agent, to)
      this.byEnd.add(to)
    }
    if (this.undoLog.isRecording && !this.undoLog.isUndoing) this.undoLog.note({ undo: () => this.put(agent, before) })
  }
}
