/** The other registered agents that could take a task instead of an agent that failed it (TQM-ASSIGN-005). */
import type { RegisteredAgent } from '../state/agent-register.js'
import { isBarred, lastUntil, roomOf } from './assignment.js'
import { isGroupShut } from './gates.js'
import type { TaskRecord } from '../state/state.js'
import type { Tables } from '../state/tables.js'

/** The largest number of registrations that one claim looks at, for all its tasks together. */
const looksMax = 10_000

/** Made for one question. */
export class OtherAgents {
  private looks = 0

  constructor(
    private readonly tables: Tables,
    private readonly asker: string,
    private readonly at: number,
  ) {}

  /**
   * An agent that could take the task. Its registration has not ended and matches, it has room, and it neither gave the task back nor failed it
   * lately. Once {@link looksMax} registrations were looked at, the answer is `undefined`.
   */
  for(task: TaskRecord): RegisteredAgent | undefined {
    const { tables, asker, at } = this
    for (const other of tables.agents.live(at)) {
      if (++this.looks > looksMax) return undefined
      const { agent } = other
      if (agent === asker || isGroupShut(other, task.group) || roomOf(tables, agent, at) === 0) continue
      if (!isBarred(task, agent) && lastUntil(tables, task, agent, at) === 0) return other
    }
    return undefined
  }
}
