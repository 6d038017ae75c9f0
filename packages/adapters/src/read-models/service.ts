/** The read models of a server: the thread that maintains them, and how far it is. */
import type { Either } from 'fp-ts/lib/Either.js'
import type { Daybook, FindCauses, QueueEngine } from '../engine/index.js'
import { errorText } from '../error-text.js'
import { forEachQueue, type Problem } from '../log-follower/index.js'
import { type ReportAnswer, ReportReader, type ReportRefusal, type ReportRequest } from './reports/index.js'
import type { LogAddress } from '../store/index.js'
import type { Building, FeedStatus } from './feed.js'
import { startFeedWorker } from './feed-worker.js'

export interface ReadModelsOptions {
  readonly daybook: Daybook
  /** The file, usually `views.db` in the data folder. */
  readonly file: string
  readonly log: LogAddress
  /** Messages for people: what is being built, and what has stopped. */
  readonly say?: (message: string) => void
}

export interface ReadModelStatus {
  readonly queue: string
  /** Revision of the last event that the tables include; -1 for none. */
  readonly revision: number
  /** Number of events that they do not include yet. */
  readonly behind: number
}

export interface ReadModels {
  readonly file: string
  readonly status: () => ReadonlyArray<ReadModelStatus>
  readonly statusOf: (queue: QueueEngine) => ReadModelStatus
  readonly building: () => Building | undefined
  /** Why the feed has stopped for now; `undefined` if it has not. */
  readonly problem: () => Problem | undefined
  /** Waits until the tables include this revision of the queue, at most `waitMs`. False if they do not by then. */
  readonly reached: (queue: string, revision: number, waitMs: number) => Promise<boolean>
  /** A report, read on a separate thread. Rejects if the file cannot be read, or if too many reports wait. */
  readonly report: (request: ReportRequest) => Promise<Either<ReportRefusal, ReportAnswer>>
  /** Finds the events of an actor or a correlation id, on the same thread. */
  readonly causes: FindCauses
  readonly close: () => Promise<void>
}

/** How often the thread is told that the logs have grown, in milliseconds. */
const tellMs = 50
/** Progress of a build is reported each time it has grown by this share. */
const tellShare = 0.1

export const startReadModels = ({ daybook, file, log, say = () => undefined }: ReadModelsOptions): ReadModels => {
  let last: FeedStatus = { queues: [], building: undefined, problem: undefined }
  /** By queue: the last revision that the tables include. */
  let revisions: ReadonlyMap<string, number> = new Map()
  let hasGrown = false
  const watchers = new Set<() => void>()
  const reports = new ReportReader(file)
  let saidShare = -1
  let failing: Problem | undefined

  const hear = (status: FeedStatus): void => {
    const { building, problem } = last
    last = status
    revisions = new Map(status.queues.map(({ queue, revision }) => [queue, revision]))
    failing = status.problem === undefined ? undefined : { reason: status.problem, since: failing?.since ?? Date.now() }
    if (status.problem !== undefined && status.problem !== problem) say(`read models: ${status.queue === undefined ? 'nothing goes on' : `queue ${status.queue} does not go on`} for now: ${status.problem}`)
    sayProgress(building, status.building)
    for (const check of watchers) check()
  }

  const sayProgress = (before: Building | undefined, now: Building | undefined): void => {
    if (now === undefined) {
      if (before !== undefined) say(`read models: ${before.names.join(', ')} have been built anew, and answer from now on`)
      saidShare = -1
      return
    }
    const share = now.of === 0 ? 1 : now.done / now.of
    if (share < saidShare + tellShare) return
    saidShare = share
    say(`read models: ${now.names.join(', ')} are being built anew, the old ones still answer: ${now.done} of ${now.of} events`)
  }

  const events = daybook.queues().reduce((sum, engine) => sum + engine.status().revision + 1, 0)
  const worker = startFeedWorker({ file, log, events, hear, failed: (error) => hear({ ...last, problem: errorText(error) }) })

  // A queue that is new here may have earlier events.
  const stopWatching = forEachQueue(daybook, (engine) => {
    hasGrown = true
    const subscription = engine.committed.subscribe(() => (hasGrown = true))
    return async () => subscription.unsubscribe()
  })
  const tell = (): void => {
    if (!hasGrown) return
    hasGrown = false
    worker.grown()
  }
  const telling = setInterval(tell, tellMs)
  telling.unref()

  const revisionOf = (queue: string): number => revisions.get(queue) ?? -1

  const statusOf = (engine: QueueEngine): ReadModelStatus => {
    const revision = revisionOf(engine.name)
    return { queue: engine.name, revision, behind: Math.max(0, engine.status().revision - revision) }
  }

  return {
    file,
    status: () => daybook.queues().map(statusOf),
    statusOf,
    building: () => last.building,
    problem: () => failing,
    reached: (queue, revision, waitMs) =>
      new Promise((resolve) => {
        const end = (isReached: boolean): void => {
          clearTimeout(timer)
          watchers.delete(check)
          resolve(isReached)
        }
        const check = (): void => (revisionOf(queue) >= revision ? end(true) : undefined)
        const timer = setTimeout(() => end(false), waitMs)
        watchers.add(check)
        tell()
        check()
      }),
    report: (request) => reports.read(request),
    causes: (question) => reports.causes(question).catch(() => undefined),
    close: async () => {
      await reports.close()
      clearInterval(telling)
      await stopWatching()
      await worker.close()
    },
  }
}
