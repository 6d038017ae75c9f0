/**
 * The contents of tasks, which are in the log and not in the state. A claim joins them to its tasks: from the cache if a task was enqueued recently,
 * otherwise from the log.
 */
import { type ClaimedTask, contentRevisionOf, isUnreadable, type QueueEvent, type QueueState, type Replies, type Unreadable } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { errorText } from '../../error-text.js'
import { LostEvents, StoreError } from '../../store/index.js'
import { type KeyReader, revealedData, whyWithheld } from '../../task-keys/index.js'
import type { ClaimItem } from '../append/batch.js'
import { ContentCache } from './content-cache.js'
import type { Incomplete } from './groundwork.js'
import { taskOfEvent } from '../log/history.js'
import type { QueueLog } from '../log/queue-log.js'
import { unavailable } from '../refusals.js'
import type { Claim, Refusal } from '../types.js'
import { contentOf } from '../log/wire.js'

export interface ContentOwner {
  /** Called for a claimed task whose content is damaged in the log. */
  readonly giveUpOn: (claim: ClaimedTask, reason: string) => void
  /** Called for a claimed task whose content is in a segment of the archive that is missing or damaged, and may be brought back. */
  readonly putOff: (claim: ClaimedTask, reason: string) => void
  /** Called for claimed tasks whose contents cannot be read now. */
  readonly takeBack: (claims: ReadonlyArray<ClaimedTask>, reason: string) => void
}

export class Contents {
  private readonly cache: ContentCache
  /** Number of claims whose contents are being joined. */
  private joining = 0

  constructor(
    private readonly log: QueueLog,
    private readonly owner: ContentOwner,
    cacheMax: number,
    private readonly keys: KeyReader,
  ) {
    this.cache = new ContentCache(cacheMax)
  }

  /** Adds the content of the task enqueued at this revision. */
  put(revision: number, content: string): void {
    this.cache.put(revision, content)
  }

  /**
   * Called before an event is folded. The content of a task must leave the cache if the task was cancelled, claimed by another process or amended: it
   * will not be claimed from here, or it has another content.
   */
  forgetFor(event: QueueEvent | Unreadable, before: QueueState, isOwn: boolean): void {
    if (isUnreadable(event)) return
    if (event.type !== 'Cancelled' && event.type !== 'TaskAmended' && (isOwn || event.type !== 'Claimed')) return
    if (event.type === 'TaskAmended' && event.data.formerContentRevision === undefined) return
    const revision = contentRevisionOf(before, event.data.task)
    if (revision !== undefined) this.cache.drop(revision)
  }

  /** Size of the cache in characters. */
  get cached(): number {
    return this.cache.size
  }

  /** Removes the contents of events that were rolled back: `count` revisions from `from` on. */
  drop(from: number, count: number): void {
    for (let revision = from; revision < from + count; revision++) this.cache.drop(revision)
  }

  /** The data of the events at these revisions, from the log, decrypted. */
  async read(revisions: ReadonlyArray<number>): Promise<ReadonlyArray<string | undefined>> {
    const events = await this.log.pick(revisions)
    return events.map((event) => (event === undefined ? undefined : revealedData(event, this.keys)))
  }

  /**
   * The content of the task's last completion without a report, decrypted. `undefined` if it is not there: on a shared store, another process may have
   * appended an event about another task at the revision `last`.
   */
  async incompleteResult({ id, last }: Incomplete): Promise<string | undefined> {
    const event = await this.log.newestBehind(last, 'MarkedIncomplete')
    return event === undefined || taskOfEvent(event) !== id ? undefined : (contentOf(revealedData(event, this.keys)) ?? '{}')
  }

  /** Answers a claim with its tasks. */
  async handOut(item: ClaimItem, claimed: Replies['Claim'], revision: number): Promise<void> {
    this.joining++
    try {
      const joined = await this.join(claimed, revision)
      item.settle(E.isLeft(joined) ? joined : E.right({ value: joined.right, revision }))
    } catch (error) {
      const reason = `the log cannot be read: ${errorText(error)}`
      this.owner.takeBack(claimed, reason)
      item.settle(E.left(unavailable(reason)))
    } finally {
      this.joining--
    }
  }

  /** Whether a claim that is durable is not answered yet, because contents of its tasks are still being read. */
  get isHandingOut(): boolean {
    return this.joining > 0
  }

  /**
   * The claims whose contents can be read. The others are reported one by one. A refusal if there are no claims, and contents may be brought back.
   * `claimedAt`: the revision of the last claim.
   */
  private async join(claimed: Replies['Claim'], claimedAt: number): Promise<E.Either<Refusal, ReadonlyArray<Claim>>> {
    // Taken from the cache before the first await, because they may be evicted later.
    const cached = claimed.map(({ contentRevision }) => this.cache.take(contentRevision))
    const missing: Array<number> = []
    claimed.forEach(({ contentRevision, checkpointRevision, callbackReceived }, index) => {
      if (cached[index] === undefined) missing.push(contentRevision)
      if (checkpointRevision !== undefined) missing.push(checkpointRevision)
      if (callbackReceived !== undefined) missing.push(callbackReceived.revision)
    })
    const read = missing.length === 0 ? nothingRead : await this.readEach(missing, claimedAt)
    const textAt = (revision: number): string => {
      const text = read.get(revision)
      if (typeof text === 'string') return text
      if (text instanceof LostEvents) throw text
      throw new Error(`revision ${revision} of the log cannot be read${text === undefined ? '' : `: ${errorText(text)}`}`)
    }
    let lost: LostEvents | undefined
    const joined = claimed.filter((claim, index) => {
      const { contentRevision, checkpointRevision, callbackReceived } = claim
      try {
        claim.content = cached[index] ?? shown(contentOf(textAt(contentRevision)) ?? '{}')
        if (checkpointRevision !== undefined) claim.checkpoint = checkpointOf(textAt(checkpointRevision))
        if (callbackReceived !== undefined) claim.callback = contentOf(textAt(callbackReceived.revision)) ?? '{}'
        return true
      } catch (error) {
        // What is damaged or missing must not block the other tasks.
        if (error instanceof LostEvents) this.owner.putOff(claim, (lost = error).message)
        else this.owner.giveUpOn(claim, errorText(error))
        return false
      }
    })
    return joined.length === 0 && lost !== undefined ? E.left(unavailable(`the log cannot be read: ${lost.message} The task is delayed for five minutes: claim again for another one.`)) : E.right(joined)
  }

  /**
   * For each revision, the text or the reason why it cannot be read. Rejects if one cannot be read for a temporary reason, or if not even the claim
   * itself can be read, which was written just now: then the store has failed, and no task is at fault.
   */
  private async readEach(revisions: ReadonlyArray<number>, claimedAt: number): Promise<ReadonlyMap<number, unknown>> {
    try {
      const texts = await this.read(revisions)
      return new Map(revisions.map((revision, index) => [revision, texts[index]]))
    } catch {
      const read = new Map<number, unknown>()
      for (const revision of revisions) {
        read.set(revision, await this.read([revision]).then(([text]) => text, unlessTemporary))
      }
      if (![...read.values()].some((text) => typeof text === 'string')) await this.read([claimedAt])
      return read
    }
  }
}

/** Returns the reason if it is damage, or a segment of the archive that is missing or damaged. Rethrows any other. */
const unlessTemporary = (reason: unknown): unknown => {
  if (reason instanceof LostEvents || (reason instanceof StoreError && reason.code === 'damaged')) return reason
  throw reason
}

/** @throws Error if the content is withheld: an agent must not work on a task without it. */
const shown = (content: string): string => {
  const why = whyWithheld(content)
  if (why === undefined) return content
  throw new Error(why === 'key-missing' ? 'it is encrypted, and its key is not here' : `it is ${why}`)
}

const nothingRead: ReadonlyMap<number, unknown> = new Map()

const checkpointOf = (data: string): string | undefined => {
  const parsed = JSON.parse(data) as { readonly checkpoint?: unknown }
  return parsed.checkpoint === undefined ? undefined : JSON.stringify(parsed.checkpoint)
}
