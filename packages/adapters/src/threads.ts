/** Threads of a server. Each has a heap of its own, and so its own limits. */
import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * A server is started with a large young generation (`--max-semi-space-size`), for the thread that decides: its heap is large, so each
 * collection takes long. V8 would give every thread as much, and take it over the limits in the options. Their heaps are small.
 *
 * The flag is the whole process's: in a program that embeds Daybook, its own threads have the young generation that they ask for in
 * `resourceLimits`, and V8's default otherwise. The heap of the thread that starts them is as it was.
 */
export const newThread = (script: URL, options: WorkerOptions): Worker => {
  setFlagsFromString('--max-semi-space-size=0')
  return new Worker(script, options)
}

/**
 * A thread for work that gives way to commands: read models, reports, checkpoints, verifications.
 *
 * In MiB. Without a limit V8 lets a heap grow to four times of what was alive at the last collection before it collects again;
 * with this one, to 1.6 times. The limit itself is not reached: each of these threads reads the log in bounded batches.
 */
const resourceLimits = { maxOldGenerationSizeMb: 1_024, maxYoungGenerationSizeMb: 24 } as const

export const backgroundThread = (script: URL, workerData: unknown): Worker => newThread(script, { workerData, resourceLimits })
