/**
 * The log of decisions on dead letters, `dlq-review-{date}.md`, next to the queue files (LK-11). It is for people. The queue's events are
 * authoritative, and every line has the revision of its event.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isUnreadable, type QueueEvent, taskOf, type Unreadable } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { QueueEngine } from '../../engine/index.js'
import { appendLines } from '../../disk/atomic-write.js'

/** The decisions, by their events. */
const verdicts = { Requeued: 'retried', Discarded: 'discarded', Snoozed: 'snoozed', Escalated: 'escalated' } as const

interface ReviewDecision {
  readonly revision: number
  readonly at: number
  readonly verdict: (typeof verdicts)[keyof typeof verdicts]
  /** Only of a snooze: until when. */
  readonly until?: number
  readonly task: string
  readonly reviewer: string
  readonly reason: string
}

/** The parts of a task that a line shows. */
interface ReviewedTask {
  readonly type: string
  readonly lastError?: string
}

/** Number of tasks read with one query. */
const askMax = 500

export class ReviewLog {
  /** Decisions that are not written yet, by revision: at the start, a decision may be read from the log and also arrive as a commit. */
  private readonly waiting = new Map<number, ReviewDecision>()

  constructor(
    private readonly engine: QueueEngine,
    private readonly dir: string,
  ) {}

  /** Records a decision, if the event is one. */
  note(event: QueueEvent | Unreadable, revision: number): void {
    const decision = isUnreadable(event) ? undefined : decisionOf(event, revision)
    if (decision !== undefined) this.waiting.set(revision, decision)
  }

  /** Appends the decisions up to this revision. Each goes to the file of its day (UTC), exactly once, even after failures. */
  async write(revisionMax: number): Promise<void> {
    const byDate = new Map<string, Array<ReviewDecision>>()
    for (const decision of this.waiting.values()) {
      if (decision.revision > revisionMax) continue
      const date = new Date(decision.at).toISOString().slice(0, 10)
      const known = byDate.get(date)
      if (known === undefined) byDate.set(date, [decision])
      else known.push(decision)
    }
    for (const [date, decisions] of byDate) {
      await this.append(date, decisions)
      for (const { revision } of decisions) this.waiting.delete(revision)
    }
  }

  private async append(date: string, decisions: ReadonlyArray<ReviewDecision>): Promise<void> {
    const file = join(this.dir, `dlq-review-${date}.md`)
    const logged = await loggedRevisions(file)
    const missing = decisions.filter(({ revision }) => !logged.has(revision)).sort((a, b) => a.revision - b.revision)
    for (let from = 0; from < missing.length; from += askMax) {
      const part = missing.slice(from, from + askMax)
      const known = await this.reviewed(part.map(({ task }) => task))
      await appendLines(file, `# Dead letter review, ${date}\n\n`, part.map((decision) => lineOf(decision, known.get(decision.task))))
    }
  }

  private async reviewed(ids: ReadonlyArray<string>): Promise<ReadonlyMap<string, ReviewedTask | undefined>> {
    const answer = await this.engine.read((state) => new Map(ids.map((id) => [id, taskOf(state, id)])))
    if (E.isLeft(answer)) throw new Error(answer.left.detail)
    return answer.right.value
  }
}

const decisionOf = (event: QueueEvent, revision: number): ReviewDecision | undefined => {
  if (event.type !== 'Requeued' && event.type !== 'Discarded' && event.type !== 'Snoozed' && event.type !== 'Escalated') return undefined
  const { task, reviewer, reason } = event.data
  return { revision, at: event.at, verdict: verdicts[event.type], task, reviewer, reason, ...(event.type === 'Snoozed' ? { until: event.data.until } : {}) }
}

// One decision is one line, even if its text has line breaks.
const oneLine = (text: string, max = 500): string => {
  const flat = text.replace(/\s+/g, ' ').trim()
  return flat.length > max ? `${flat.slice(0, max - 1)}…` : flat
}
const sentence = (text: string): string => oneLine(text).replace(/[.!?…]?$/, (end) => end || '.')

const lineOf = ({ revision, at, verdict, until, task, reviewer, reason }: ReviewDecision, known: ReviewedTask | undefined): string => {
  const time = new Date(at).toISOString()
  const type = known === undefined ? '' : ` (${known.type})`
  const error = known?.lastError === undefined ? '' : ` Last error: ${sentence(known.lastError)}`
  const end = until === undefined ? '' : ` until ${new Date(until).toISOString()}`
  return `- ${time} **${verdict}**${end} ${oneLine(task)}${type} by ${oneLine(reviewer)}: ${sentence(reason || 'no reason given')}${error} [revision ${revision}]`
}

/** The revisions of the decisions in the file. */
const loggedRevisions = async (file: string): Promise<ReadonlySet<number>> => {
  try {
    const text = await readFile(file, 'utf8')
    return new Set([...text.matchAll(/\[revision (\d+)\]$/gm)].map((match) => Number(match[1])))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set()
    throw error
  }
}
