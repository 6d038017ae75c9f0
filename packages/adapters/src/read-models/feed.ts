/**
 * Feeds the file of read models from the log until it is stopped.
 *
 *     for each queue:  a batch into the tables that answer ──▶ a batch into those that are being built ──▶ …
 *                                                                      └── as far as the others ──▶ they replace them
 *     nothing to do ──▶ wait until the log has grown
 *
 * Each batch is bounded. While others append, it rests after a batch (`rest-after.ts`).
 */
import { rmSync, statSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { ProjectionFailed } from '@daybook/projections'
import { queueOf, streamOf, streamPrefix } from '../engine/index.js'
import { backoff } from '@daybook/client/common'
import { errorText } from '../error-text.js'
import { isLost } from '../log-follower/index.js'
import type { OpenedLog } from '../store/index.js'
import type { Group } from './group.js'
import { restAfter } from './rest-after.js'
import { unusable, ViewsFile, type ViewsOptions } from './views-file.js'

/**
 * The largest number of events that are folded and written together. It depends on how far the tables are behind. A task that lived shortly is
 * written once, so large batches cost less per event; small ones show events sooner and take less memory. The largest are for builds, that is for
 * events that were in the log when it was first examined, and for tables that are very far behind (ADR 64).
 */
const batchSizes = { far: 50_000, behind: 20_000, level: 4_000 } as const
/** With this many events left, tables are very far behind. */
const farMin = 100_000
/** Number of rows kept in memory from batch to batch. A server needs its memory for other things than a build does. */
const keptRows = { building: 50_000, following: 20_000 } as const
/** A batch ends when its events have this many characters, because their words are in memory. */
const batchTextMax = 32 * 2 ** 20
/** How long until a queue whose events cannot be read is tried again. */
const lostRetryMs = 5_000
/** Pauses after an error. They are short: a store that is away fails slowly by itself, and readers wait for the tables when it is back. */
const retryMs = { firstMs: 500, mostMs: 5_000 }

export interface FeedOptions extends ViewsOptions {
  readonly log: Pick<OpenedLog, 'read' | 'head' | 'streams'>
  /** Resolves when the log may have grown, or at the signal. */
  readonly grown: () => Promise<void>
  readonly signal: AbortSignal
  /** Rests after a batch for this many milliseconds; 0 is a turn of the event loop. */
  readonly rest?: (ms: number) => Promise<unknown>
  readonly report: (status: FeedStatus) => void
  /** Stops at the end of the log as it is at that time. */
  readonly once?: boolean
  readonly waitAfterError?: (ms: number) => Promise<void>
}

export interface QueuePlace {
  readonly queue: string
  /** Revision of the last event that the tables include; -1 for none. */
  readonly revision: number
  /** Revision of the last event in the log when that was last read. */
  readonly head: number
}

export interface Building {
  /** The projections that are being built anew. */
  readonly names: ReadonlyArray<string>
  /** Events folded so far, and events to fold. */
  readonly done: number
  readonly of: number
}

export interface FeedStatus {
  readonly queues: ReadonlyArray<QueuePlace>
  readonly building: Building | undefined
  /** Why the feed has stopped for now. It is tried again. */
  readonly problem: string | undefined
  /** Set if the problem concerns one queue, whose events cannot be read. The others go on. */
  readonly queue?: string
}

/**
 * Resolves at the signal, or with `once` at the end of the log. With `once`, rejects if something cannot be read or written.
 *
 * @throws ProjectionFailed
 */
export const feedViews = async (options: FeedOptions): Promise<void> => {
  const { file, signal, report, once = false, grown, waitAfterError = (ms) => delay(ms, undefined, { signal }).catch(() => undefined) } = options
  const delays = backoff({ ...retryMs, random: Math.random })
  let feeder: Feeder | undefined
  let problem: string | undefined
  /** How far the last feeder was. This is told while the file cannot be opened. */
  let known: Omit<FeedStatus, 'problem'> = { queues: [], building: undefined }
  try {
    while (!signal.aborted) {
      try {
        feeder ??= new Feeder(options, known.queues)
        const round = await feeder.round()
        // A round that only looked does not tell whether writing works again.
        if (round !== 'looked') {
          problem = undefined
          delays.reset()
        }
        report({ ...feeder.status(), problem, ...feeder.lost() })
        if (round !== 'level') continue
        if (once) break
        await grown()
      } catch (error) {
        if (error instanceof ProjectionFailed) throw error
        const why = unusable(error, file)
        if (once) throw why
        problem = errorText(why)
        known = feeder?.status() ?? known
        report({ ...known, problem })
        // Opened again, because memory and file may differ.
        feeder?.close()
        feeder = undefined
        await waitAfterError(delays.next())
      }
    }
  } finally {
    feeder?.close()
  }
}

/** What a round did: it took no events, it wrote some, or there was nothing to do. */
type Round = 'looked' | 'written' | 'level'

class Feeder {
  private readonly views: ViewsFile
  private readonly inode: number
  private readonly places = new Map<string, QueuePlace>()
  /** With new tables too, the first round only looks at all queues, so that their places are known before the first batch, which may take seconds. */
  private isFirst = true
  /** Whether the tables have all their indexes. */
  private isIndexed = false
  /** The end of each queue's log when it was first examined. */
  private readonly firstHeads = new WeakMap<Group, Map<string, number>>()
  /** Queues whose events cannot be read, and when they are tried again. */
  private readonly unreadable = new Map<string, { readonly reason: string; readonly again: number }>()

  /** `known`: the places of an earlier feeder. Until the log can be read, its heads are the last that were seen. The file says what the tables include. */
  constructor(
    private readonly options: FeedOptions,
    known: ReadonlyArray<QueuePlace>,
  ) {
    this.views = ViewsFile.open(options)
    try {
      this.inode = statSync(options.file).ino
      for (const { queue, head } of known) this.places.set(queue, { queue, revision: this.views.shownOf(queue), head })
    } catch (error) {
      this.views.close()
      throw error
    }
  }

  close(): void {
    this.views.close()
  }

  status(): Omit<FeedStatus, 'problem'> {
    const queues = [...this.places.values()]
    const { building } = this.views
    if (building === undefined) return { queues, building: undefined }
    const done = queues.reduce((sum, { queue }) => sum + building.at(queue).revision + 1, 0)
    const of = queues.reduce((sum, { head }) => sum + head + 1, 0)
    return { queues, building: { names: building.models.map(({ name }) => name), done, of } }
  }

  /** The problem of the first queue that cannot be read. */
  lost(): Pick<FeedStatus, 'problem' | 'queue'> | undefined {
    for (const [queue, { reason }] of this.unreadable) return { problem: reason, queue }
    return undefined
  }

  /** Takes one batch of each queue that has more. The first round only looks how far the tables are. */
  async round(): Promise<Round> {
    const { log, signal, once = false, rest = restFor } = this.options
    this.checkFile()
    const isFirst = this.isFirst
    let hasTaken = false
    /** Whether the tables have all events up to the heads that this round found. A busy log has grown again by then. */
    let isLevel = !isFirst
    /** The queues of which the tables lack events. */
    const behind: Array<string> = []
    const queues = (await log.streams(streamPrefix)).map(queueOf)
    if (isFirst && this.hasOthers(queues)) {
      this.startAnew()
      return 'looked'
    }
    for (const queue of queues) {
      if (signal.aborted) return 'looked'
      const stream = streamOf(queue)
      if ((this.unreadable.get(queue)?.again ?? 0) > performance.now()) {
        behind.push(queue)
        continue
      }
      try {
        const head = await log.head(stream)
        for (const group of this.groups()) {
          if (!(await this.isOfThisLog(group, queue, head))) return 'looked'
          if (isFirst || group.at(queue).revision >= head) continue
          const { revision } = group.at(queue)
          const begun = performance.now()
          await this.takeNext(group, queue, head)
          hasTaken = true
          const taken = group.at(queue).revision
          if (taken < head) isLevel = false
          await rest(restAfter({ ms: performance.now() - begun, events: taken - revision, appended: (await log.head(stream)) - head, isNextFull: head - taken >= batchSizes.behind }))
        }
        const revision = this.views.shownOf(queue)
        this.places.set(queue, { queue, revision, head })
        if (revision < head) behind.push(queue)
        // A busy log grows during each batch, so the tables need not reach its end.
        if (revision >= (this.firstHeads.get(this.views.current)?.get(queue) ?? head)) this.views.endFirstBuild(queue)
        this.unreadable.delete(queue)
      } catch (error) {
        if (once || !isLost(error)) throw error
        behind.push(queue)
        this.unreadable.set(queue, { reason: error.message, again: performance.now() + lostRetryMs })
      }
    }
    if (isFirst) this.views.beginFirstBuilds(behind)
    this.isFirst = false
    if (isLevel && !this.isIndexed) {
      this.views.completeIndexes()
      this.isIndexed = true
    }
    if (isLevel && this.views.building !== undefined && !this.wouldLose()) {
      this.views.switchOver(new Set(this.unreadable.keys()))
      for (const [queue, place] of this.places) this.places.set(queue, { ...place, revision: this.views.shownOf(queue) })
    }
    if (isFirst) return 'looked'
    return hasTaken ? 'written' : 'level'
  }

  /** Whether the answering tables include a queue that the tables being built cannot have now. */
  private wouldLose(): boolean {
    return [...this.unreadable.keys()].some((queue) => this.views.shownOf(queue) >= 0)
  }

  private groups(): ReadonlyArray<Group> {
    const { current, building } = this.views
    return [...(current.models.length === 0 ? [] : [current]), ...(building === undefined ? [] : [building])]
  }

  private async takeNext(group: Group, queue: string, head: number): Promise<void> {
    const from = group.at(queue).revision + 1
    const left = head - from
    const isBuilding = (this.firstHeads.get(group)?.get(queue) ?? -1) - from >= batchSizes.far
    const size = isBuilding || left >= farMin ? batchSizes.far : left >= batchSizes.behind ? batchSizes.behind : batchSizes.level
    // Not beyond the head: tables that are fed in turns must be at the same revision before one takes the place of another.
    const limit = Math.min(size, left + 1)
    let text = 0
    let failure: unknown
    try {
      for await (const page of this.options.log.read(streamOf(queue), { from, limit })) {
        group.fold(queue, page)
        for (const { data } of page) text += data.length
        if (text > batchTextMax || this.options.signal.aborted) break
        await nextTurn()
      }
    } catch (error) {
      if (!isLost(error) || text === 0) throw error
      // Events that were read before are in memory. They are written, so that memory and file stay the same.
      failure = error
    }
    group.write(queue, isBuilding ? keptRows.building : keptRows.following)
    if (failure !== undefined) throw failure
  }

  /**
   * Somebody may have deleted the file, or replaced it, or emptied it to have room on the disk. SQLite notices none of this. The file is not opened
   * here: when a process closes any descriptor of it, POSIX drops the locks that SQLite has on it.
   */
  private checkFile(): void {
    const { file } = this.options
    const found = statSync(file, { throwIfNoEntry: false })
    if (found?.ino === this.inode && found.size > 0) return
    // What is in the WAL belongs to what was in the file.
    if (found?.size === 0) for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
    throw new Error('the file of read models was deleted, emptied or exchanged: it is built anew from the log')
  }

  /** Whether the tables have a queue that the log does not have: then they are of another log, or it was restored from a backup. */
  private hasOthers(queues: ReadonlyArray<string>): boolean {
    const known = new Set(queues)
    return this.views.queues().some((queue) => !known.has(queue))
  }

  private startAnew(): void {
    this.views.startAnew()
    this.isFirst = true
    this.isIndexed = false
  }

  /** Whether the log has the last event of the tables. If not, it is another log, or was restored from a backup, and everything is built anew. */
  private async isOfThisLog(group: Group, queue: string, head: number): Promise<boolean> {
    const seen = this.firstHeads.get(group) ?? new Map<string, number>()
    this.firstHeads.set(group, seen)
    const { revision, eventId } = group.at(queue)
    if (seen.has(queue) && revision <= head) return true
    if (revision >= 0 && !(revision <= head && (await this.has(queue, revision, eventId)))) {
      this.startAnew()
      return false
    }
    seen.set(queue, head)
    return true
  }

  private async has(queue: string, revision: number, id: string | null): Promise<boolean> {
    for await (const [event] of this.options.log.read(streamOf(queue), { from: revision, limit: 1 })) if (event?.id === id) return true
    return false
  }
}

const restFor = (ms: number): Promise<unknown> => (ms > 0 ? delay(ms) : nextTurn())
