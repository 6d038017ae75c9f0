/** Entry point of the thread that maintains the read models. It has its own connection to the log. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { readModels } from '@daybook/projections'
import { feedViews, type FeedStatus } from './feed.js'
import { lowerPriority } from '../lower-priority.js'
import { openLog } from '../open-log.js'
import type { LogAddress } from '../store/index.js'
import { wakeable } from '../wakeable.js'

export interface ThreadOptions {
  readonly file: string
  readonly log: LogAddress
}

export type ToThread = 'grown' | 'stop'

/** How often the log is checked, in case it has grown without a notice. In milliseconds. */
const lookMs = 1_000

const serve = async (port: MessagePort, { file, log: address }: ThreadOptions): Promise<void> => {
  lowerPriority()
  const stopping = new AbortController()
  const waiting = wakeable()
  port.on('message', (message: ToThread) => {
    if (message === 'stop') stopping.abort()
    waiting.wake()
  })
  const log = await openLog(address, true)
  try {
    await feedViews({ file, models: readModels, log, signal: stopping.signal, grown: () => waiting.wait(lookMs), report: (status: FeedStatus) => port.postMessage(status) })
  } finally {
    await log.close()
    port.close()
  }
}

if (parentPort !== null) await serve(parentPort, workerData as ThreadOptions)
