/**
 * The contents of tasks, which are in the log and not in the state: joined to a task when it is handed out,
 * from memory where it was enqueued not long ago, else from the log.
 */
import type { Replies } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { ClaimItem } from './batch.js'
import { ContentCache } from './content-cache.js'
import type { QueueLog } from './queue-log.js'
import { describe, unavailable } from './refusals.js'
import type { Claim } from './types.js'
import { contentOf } from './wire.js'

export class Contents {
  private readonly cache: ContentCache

  constructor(
    private readonly log: QueueLog,
    private readonly queue: string,
    cacheMax: number,
  ) {
    this.cache = new ContentCache(cacheMax)
  }

  /** Of the task enqueued at this revision. */
  put(revision: number, content: string): void {
    this.cache.put(revision, content)
  }

  /** The events from this revision on did not come to be. */
  drop(from: number, count: number): void {
    for (let revision = from; revision < from + count; revision++) this.cache.drop(revision)
  }

  /** The data of the events at these revisions, from the log. */
  async read(revisions: ReadonlyArray<number>): Promise<ReadonlyArray<string | undefined>> {
    const events = await this.log.pick(revisions)
    return events.map((event) => event?.data)
  }

  /** Answers a claim with the tasks that it got. */
  async handOut(item: ClaimItem, claimed: Replies['Claim'], revision: number): Promise<void> {
    try {
      item.settle(E.right({ value: await this.join(claimed), revision }))
    } catch (error) {
      // The tasks are claimed, their contents cannot be read: the leases will run out, and say so.
      item.settle(E.left(unavailable(`the log cannot be read: ${describe(error)}`)))
    }
  }

  private async join(claimed: Replies['Claim']): Promise<ReadonlyArray<Claim>> {
    // What the cache has is taken out before anything is awaited: it may be gone after that.
    const cached = claimed.map(({ enqueuedRevision }) => this.cache.take(enqueuedRevision))
    const missing: Array<number> = []
    claimed.forEach(({ enqueuedRevision, checkpointRevision }, index) => {
      if (cached[index] === undefined) missing.push(enqueuedRevision)
      if (checkpointRevision !== undefined) missing.push(checkpointRevision)
    })
    const read = new Map<number, string>()
    if (missing.length > 0) {
      const texts = await this.read(missing)
      missing.forEach((revision, index) => {
        const text = texts[index]
        if (text === undefined) throw new Error(`revision ${revision} of queue ${this.queue} is not there`)
        read.set(revision, text)
      })
    }
    claimed.forEach((claim, index) => {
      const { enqueuedRevision, checkpointRevision } = claim
      claim.content = cached[index] ?? contentOf(read.get(enqueuedRevision) ?? '') ?? '{}'
      if (checkpointRevision !== undefined) claim.checkpoint = checkpointOf(read.get(checkpointRevision))
    })
    return claimed
  }
}

const checkpointOf = (data: string | undefined): string | undefined => {
  if (data === undefined) return undefined
  const parsed = JSON.parse(data) as { readonly checkpoint?: unknown }
  return parsed.checkpoint === undefined ? undefined : JSON.stringify(parsed.checkpoint)
}
