/** The thread that writes the snapshot files of this process. It starts with the first request, and ends when there was none for a while. */
import { backgroundThread } from '../../threads/new-thread.js'
import { ThreadRequests } from '../../threads/requests.js'
import type { SnapshotRequest } from './snapshot-thread.js'

/** How long the thread waits for the next request, in milliseconds. */
const idleMs = 1_000

interface Thread {
  readonly requests: ThreadRequests<SnapshotRequest>
  /** The files that are being written. */
  readonly paths: Set<string>
}

let thread: Thread | undefined
let idle: NodeJS.Timeout | undefined

/** Rejects if the request fails, with the `code` of a failed system call, or if the thread ends. Bytes are moved to the thread, and cannot be used any more. */
export const askSnapshots = async (request: SnapshotRequest): Promise<ReadonlyArray<string>> => {
  clearTimeout(idle)
  const asked = (thread ??= start())
  const { requests, paths } = asked
  if (request.kind === 'create') paths.add(request.path)
  if (request.kind === 'commit' || request.kind === 'abort') paths.delete(request.path)
  // The process must not end before the answer.
  requests.worker.ref()
  try {
    return await requests.ask(request, request.kind === 'append' ? [request.bytes.buffer] : [])
  } finally {
    rest(asked)
  }
}

const start = (): Thread => {
  const worker = backgroundThread(new URL('./snapshot-thread.js', import.meta.url), undefined)
  const requests = new ThreadRequests<SnapshotRequest>(worker, {
    onEnd: () => forget(started),
    unanswered: (problem = 'it was stopped') => `the thread that writes snapshots has ended: ${problem}`,
  })
  const started: Thread = { requests, paths: new Set() }
  return started
}

const forget = (ended: Thread): void => {
  if (thread === ended) thread = undefined
}

/** Called after each answer. The thread ends if nothing more is asked of it. */
const rest = (answered: Thread): void => {
  const { requests, paths } = answered
  if (thread !== answered || requests.size > 0) return
  requests.worker.unref()
  if (paths.size > 0) return
  clearTimeout(idle)
  idle = setTimeout(() => {
    forget(answered)
    void requests.worker.terminate()
  }, idleMs).unref()
}
