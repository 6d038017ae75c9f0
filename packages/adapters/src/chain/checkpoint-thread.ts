/** Entry point of the thread that signs checkpoints. It has its own connection to the log. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { queueOf, streamOf, streamPrefix } from '../engine/index.js'
import { errorText } from '../error-text.js'
import { isLost } from '../log-follower/index.js'
import { openLog } from '../open-log.js'
import { lowerPriority } from '../lower-priority.js'
import { wakeable } from '../wakeable.js'
import type { LogAddress } from '../store/index.js'
import { checkpointFolderOf, signedQueues } from './checkpoint-files.js'
import { Checkpointer } from './checkpointer.js'
import { openSigningKey, signerOf } from './signing-key.js'
import { witnessOf } from './witness.js'

export interface CheckpointThreadOptions {
  readonly log: LogAddress
  readonly dataDir: string
  readonly keyFile: string
  /** A file or a URL. */
  readonly witness?: string | undefined
  readonly everyMs: number
}

/** `finish`: one last round, then the end. `stop`: the end at once. */
export type ToCheckpoints = 'finish' | 'stop'
export type FromCheckpoints =
  | { readonly kind: 'warning'; readonly warning: string }
  | { readonly kind: 'queue'; readonly queue: string; readonly events: number; readonly problem: string | undefined }
  /** Why the checkpoints of all queues are late; `undefined` if they are not. */
  | { readonly kind: 'late'; readonly problem: string | undefined }

const serve = async (port: MessagePort, { log: address, dataDir, keyFile, witness, everyMs }: CheckpointThreadOptions): Promise<void> => {
  lowerPriority()
  const stopping = new AbortController()
  const waiting = wakeable()
  let isLast = false
  port.on('message', (message: ToCheckpoints) => {
    if (message === 'stop') stopping.abort()
    isLast = true
    waiting.wake()
  })
  const send = (message: FromCheckpoints): void => port.postMessage(message)
  const warn = (warning: string): void => send({ kind: 'warning', warning })
  const key = openSigningKey(keyFile)
  const folder = checkpointFolderOf(dataDir)
  const log = await openLog(address)
  const queues = new Map<string, Checkpointer>()
  /** The last message about each queue whose events cannot be read. */
  const late = new Map<string, string>()
  /** The last message about all queues, so that a store that is away for long is reported once. */
  let allLate: string | undefined
  try {
    while (!stopping.signal.aborted) {
      const ending = isLast
      try {
        // A queue that was signed and is no longer in the log was cut off.
        const signed = (await signedQueues(folder)).map(streamOf)
        for (const stream of new Set([...(await log.streams(streamPrefix)), ...signed])) {
          if (stopping.signal.aborted) break
          const queue = queueOf(stream)
          const made = { log, stream, queue, folder, key, signer: signerOf(key, queue), warn, ...(witness === undefined ? {} : { witness: witnessOf(witness) }) }
          const checkpointer = queues.get(stream) ?? new Checkpointer(made)
          queues.set(stream, checkpointer)
          let problem: string | undefined
          try {
            await checkpointer.round(stopping.signal)
          } catch (error) {
            if (!isLost(error)) throw error
            // Only this queue has a problem: the others are signed.
            problem = `checkpoints are late: ${error.message}`
            queues.delete(stream)
            if (problem !== late.get(stream)) warn(`queue ${queue}: ${problem}`)
          }
          if (problem === undefined) late.delete(stream)
          else late.set(stream, problem)
          send({ kind: 'queue', queue, ...checkpointer.status, ...(problem === undefined ? {} : { problem }) })
        }
        allLate = undefined
        send({ kind: 'late', problem: undefined })
      } catch (error) {
        const problem = `checkpoints are late: ${errorText(error)}`
        if (problem !== allLate) warn(problem)
        allLate = problem
        send({ kind: 'late', problem })
        // The state in memory may differ from that on disk.
        queues.clear()
      }
      if (ending) break
      if (!isLast) await waiting.wait(everyMs)
    }
  } finally {
    await log.close()
    port.close()
  }
}

if (parentPort !== null) await serve(parentPort, workerData as CheckpointThreadOptions)
