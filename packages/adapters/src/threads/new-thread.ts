/** Threads of a server. Each has its own heap, with its own limits. */
import { existsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * A server is started with a large young generation (`--max-semi-space-size`) for the deciding thread: its heap is large, so each collection takes
 * long. V8 would give every thread the same, and give it precedence over the limits in the options. The heaps of other threads are small.
 *
 * The flag is that of the whole process. In a program that embeds Daybook, the program's own threads have the young generation of their
 * `resourceLimits`, and V8's default otherwise. The heap of the thread that starts them is unchanged.
 */
export const newThread = (script: URL, options: WorkerOptions): Worker => {
  setFlagsFromString('--max-semi-space-size=0')
  return new Worker(bundledThread(script) ?? script, options)
}

/**
 * The same thread in the bundled program, for a program that imports this package. It loads a few files instead of hundreds, so the threads that load
 * much start in about half the time ([ADR 73](../../../../docs/adr/0073-the-program-is-bundled.md)). `undefined` if this module is in a bundle itself,
 * or if there is none.
 */
const bundledThread = (script: URL): URL | undefined => {
  const name = /[^/]+-thread\.js$/.exec(script.pathname)?.[0]
  if (name === undefined || !import.meta.url.endsWith('/dist/threads/new-thread.js')) return undefined
  const bundled = new URL(`../program/${name}`, import.meta.url)
  return existsSync(bundled) ? bundled : undefined
}

/**
 * The limits of a thread for work that yields to commands: read models, reports, checkpoints, verifications, snapshot files.
 *
 * In MiB. Without a limit, V8 lets a heap grow to four times the size that was alive at the last collection before it collects again; with this
 * limit, to 1.6 times. The limit itself is not reached, because each of these threads reads the log or files in bounded batches.
 */
const resourceLimits = { maxOldGenerationSizeMb: 1_024, maxYoungGenerationSizeMb: 24 } as const

/** `youngMib`: room for young objects, in MiB. */
export const backgroundThread = (script: URL, workerData: unknown, youngMib: number = resourceLimits.maxYoungGenerationSizeMb): Worker =>
  newThread(script, { workerData, resourceLimits: { ...resourceLimits, maxYoungGenerationSizeMb: youngMib } })
