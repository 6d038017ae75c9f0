/** The other registered agents that could take a task instead of an agent that failed it (TQM-ASSIGN-005). */
import type { RegisteredAgent } from '../state/agent-register.js'
import { isBarred, lastUntil, leftUntil } from './assignment.js'
import { isAskerShut, isGroupShut } from './gates.js'
import { isBumped, type TaskRecord } from '../records/records.js'
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
   * An agent that could take the task now. Its registration has not ended and matches, it has room, capacity lets it start, it does not sleep after
   * a rate limit, and it neither gave the task back nor failed it lately. Once {@link looksMax} registrations were looked at, or the task was left to
   * others for long enough, the answer is `undefined`.
   */
  for(task: TaskRecord): RegisteredAgent | undefined {
    const { tables, asker, at } = this
    if (at >= leftUntil(tables, task)) return undefined
    for (const other of tables.agents.live(at)) {
      if (++this.looks > looksMax) return undefined
      const { agent } = other
      if (agent === asker || isGroupShut(other, task.group) || isAskerShut(tables, agent, at, isBumped(task))) continue
      if (!isBarred(task, agent) && lastUntil(tables, task, agent, at) === 0) return other
    }
    return undefined
  }
}
