/** The thread that writes the snapshot files of this process. It starts with the first request, and ends when there was none for a while. */
import type { Worker } from 'node:worker_threads'
import { backgroundThread } from '../../threads.js'
import type { FromSnapshots, SnapshotRequest, ToSnapshots } from './snapshot-thread.js'

/** How long the thread waits for the next request, in milliseconds. */
const idleMs = 1_000

interface Waiting {
  readonly resolve: (answer: ReadonlyArray<string>) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
  /** The files that are being written. */
  readonly paths: Set<string>
}

let thread: Thread | undefined
let last = 0
let idle: NodeJS.Timeout | undefined

/** Rejects if the request fails, with the `code` of a failed system call, or if the thread ends. Bytes are moved to the thread, and cannot be used any more. */
export const askSnapshots = (request: SnapshotRequest): Promise<ReadonlyArray<string>> => {
  clearTimeout(idle)
  const { worker, waiting, paths } = (thread ??= start())
  const id = ++last
  const message: ToSnapshots = { id, ...request }
  if (request.kind === 'create') paths.add(request.path)
  if (request.kind === 'commit' || request.kind === 'abort') paths.delete(request.path)
  // The process must not end before the answer.
  worker.ref()
  worker.postMessage(message, request.kind === 'append' ? [request.bytes.buffer] : [])
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
}

const start = (): Thread => {
  const worker = backgroundThread(new URL('./snapshot-thread.js', import.meta.url), undefined)
  const started: Thread = { worker, waiting: new Map(), paths: new Set() }
  const { waiting, paths } = started
  let problem = 'it was stopped'
  const forget = (): void => {
    if (thread === started) thread = undefined
  }
  const end = (): void => {
    forget()
    void worker.terminate()
  }
  worker.on('message', (message: FromSnapshots) => {
    const { resolve, reject } = waiting.get(message.id) as Waiting
    waiting.delete(message.id)
    if ('answer' in message) resolve(message.answer)
    else reject(Object.assign(new Error(message.problem), message.code === undefined ? {} : { code: message.code }))
    if (waiting.size > 0) return
    worker.unref()
    if (paths.size === 0) idle = setTimeout(end, idleMs).unref()
  })
  worker.on('error', (error) => (problem = error instanceof Error ? error.message : String(error)))
  worker.once('exit', () => {
    forget()
    for (const { reject } of waiting.values()) reject(new Error(`the thread that writes snapshots has ended: ${problem}`))
    waiting.clear()
  })
  return started
}
