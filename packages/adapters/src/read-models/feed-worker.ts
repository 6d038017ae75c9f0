/**
 * The thread of `feed-thread.ts`. It is started again if it has ended by itself.
 *
 * A thread cannot change the size of its heap. So the read models are built by a thread with more room for young objects. When that has nearly
 * reached the end of the log, it ends, and one that needs less memory goes on at its checkpoint.
 */
import type { Worker } from 'node:worker_threads'
import { backgroundThread } from '../threads/new-thread.js'
import type { FeedStatus } from './feed.js'
import type { ThreadOptions, ToThread } from './feed-thread.js'

export interface FeedWorkerOptions extends ThreadOptions {
  /** Number of events in the log. The read models may have them already. */
  readonly events: number
  readonly hear: (status: FeedStatus) => void
  /** The thread has ended because of this. Another one is started. */
  readonly failed: (error: unknown) => void
  /** Told of each thread. Default: nobody. */
  readonly started?: (thread: Worker) => void
}

export interface FeedWorker {
  /** The logs have grown. */
  readonly grown: () => void
  /** Ends after the current batch. */
  readonly close: () => Promise<void>
}

/** How long the current batch may take at the end, in milliseconds. */
const closeMsMax = 3_000
/** The pause after the thread has ended by itself, in milliseconds. */
const restartMs = 5_000
/**
 * MiB for young objects during a build. The rows of a batch live until it is written. With the usual size, V8 copies them, moves them to the old
 * generation, and collects the whole heap more often (ADR 51).
 */
const buildingYoungMib = 96
/** A build of fewer events is over before the start of a second thread pays. */
export const buildEventsMin = 200_000
/** With this few events left, a usual thread takes over. */
const leftEventsMax = 20_000

export const startFeedWorker = ({ file, log, events, hear, failed, started: tell }: FeedWorkerOptions): FeedWorker => {
  let worker: Worker | undefined
  let ended: Promise<void> = Promise.resolve()
  let isClosed = false
  const post = (message: ToThread): void => worker?.postMessage(message)

  const start = (isBuilding: boolean): void => {
    const started = backgroundThread(new URL('./feed-thread.js', import.meta.url), { file, log } satisfies ThreadOptions, isBuilding ? buildingYoungMib : undefined)
    worker = started
    tell?.(started)
    let isBuilt = false
    started.on('message', (status: FeedStatus) => {
      if (isBuilding && !isBuilt && isNearlyLevel(status)) {
        isBuilt = true
        post('stop')
      }
      hear(status)
    })
    started.on('error', failed)
    ended = new Promise((resolve) =>
      started.once('exit', () => {
        worker = undefined
        resolve()
        if (isClosed) return
        if (isBuilt) start(false)
        else setTimeout(() => (isClosed ? undefined : start(isBuilding)), restartMs).unref()
      }),
    )
  }
  start(events >= buildEventsMin)

  return {
    grown: () => post('grown'),
    close: async () => {
      isClosed = true
      post('stop')
      // A store that cannot be reached may block the thread. Rows that it has not written can be built from the log.
      const cutting = setTimeout(() => void worker?.terminate(), closeMsMax)
      await ended
      clearTimeout(cutting)
    },
  }
}

/** Not known if nothing can be read or written for now. A queue that cannot be read is left out. */
export const isNearlyLevel = ({ queues, building, problem, queue }: FeedStatus): boolean => {
  if (problem !== undefined && queue === undefined) return false
  const left = building === undefined ? queues.reduce((sum, { head, revision }) => sum + head - revision, 0) : building.of - building.done
  return left < leftEventsMax
}
