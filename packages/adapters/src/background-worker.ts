/** A thread for work that gives way to commands: read models, reports, checkpoints, verifications. */
import { Worker } from 'node:worker_threads'

/**
 * In MiB. Without a limit V8 lets a heap grow to four times of what was alive at the last collection before it collects again;
 * with this one, to 1.6 times. The limit itself is not reached: each of these threads reads the log in bounded batches.
 */
const resourceLimits = { maxOldGenerationSizeMb: 1_024, maxYoungGenerationSizeMb: 48 } as const

export const backgroundWorker = (script: URL, workerData: unknown): Worker => new Worker(script, { workerData, resourceLimits })
