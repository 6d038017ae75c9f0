/**
 * The log of dead letter decisions, `dlq-review-{date}.md`, beside the queue files (LK-11). For people to
 * read; the truth is in the queue's own events, and every line names the revision of its event.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { QueueEvent } from '@daybook/core'
import { appendLines } from './atomic-write.js'

export interface ReviewDecision {
  readonly revision: number
  readonly at: number
  readonly verdict: 'retried' | 'discarded'
  readonly task: string
  readonly reviewer: string
  readonly reason: string
}

export const decisionOf = (event: QueueEvent, revision: number): ReviewDecision | undefined => {
  if (event.type !== 'Requeued' && event.type !== 'Discarded') return undefined
  const { task, reviewer, reason } = event.data
  return { revision, at: event.at, verdict: event.type === 'Requeued' ? 'retried' : 'discarded', task, reviewer, reason }
}

/** What is known of the task beside. */
export interface ReviewedTask {
  readonly type: string
  readonly lastError?: string
}

// One decision is one line, whatever people type.
const oneLine = (text: string, max = 500): string => {
  const flat = text.replace(/\s+/g, ' ').trim()
  return flat.length > max ? `${flat.slice(0, max - 1)}…` : flat
}
const sentence = (text: string): string => oneLine(text).replace(/[.!?…]?$/, (end) => end || '.')

const lineOf = ({ revision, at, verdict, task, reviewer, reason }: ReviewDecision, known: ReviewedTask | undefined): string => {
  const time = new Date(at).toISOString()
  const type = known === undefined ? '' : ` (${known.type})`
  const error = known?.lastError === undefined ? '' : ` Last error: ${sentence(known.lastError)}`
  return `- ${time} **${verdict}** ${oneLine(task)}${type} by ${oneLine(reviewer)}: ${sentence(reason || 'no reason given')}${error} [revision ${revision}]`
}

const fileOf = (dir: string, date: string): string => join(dir, `dlq-review-${date}.md`)

/** Appends each decision to the file of its day (UTC), once: lines that are there already are passed over. */
export const appendReviews = async (
  dir: string,
  decisions: ReadonlyArray<ReviewDecision>,
  taskOf: (id: string) => ReviewedTask | undefined,
): Promise<void> => {
  const byDate = new Map<string, Array<ReviewDecision>>()
  for (const decision of decisions) {
    const date = new Date(decision.at).toISOString().slice(0, 10)
    const known = byDate.get(date)
    if (known === undefined) byDate.set(date, [decision])
    else known.push(decision)
  }
  for (const [date, ofDate] of byDate) {
    const file = fileOf(dir, date)
    await appendLines(file, `# Dead letter review, ${date}\n\n`, ofDate.map((decision) => lineOf(decision, taskOf(decision.task))))
  }
}

/** Revisions that the file of this day already has. */
export const loggedRevisions = async (dir: string, at: number): Promise<ReadonlySet<number>> => {
  try {
    const text = await readFile(fileOf(dir, new Date(at).toISOString().slice(0, 10)), 'utf8')
    return new Set([...text.matchAll(/\[revision (\d+)\]$/gm)].map((match) => Number(match[1])))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set()
    throw error
  }
}
