/** Signed checkpoints of a server: a thread that signs at intervals, and once more at the end. */
import type { Worker } from 'node:worker_threads'
import { longTimer } from '@daybook/client/common'
import { backgroundThread } from '../threads/new-thread.js'
import type { CheckpointThreadOptions, FromCheckpoints, ToCheckpoints } from './checkpoint-thread.js'
import { openSigningKey } from './signing-key.js'

export interface CheckpointsOptions extends CheckpointThreadOptions {
  readonly warn: (message: string) => void
}

export interface CheckpointStatus {
  readonly queue: string
  /** Number of events that the last checkpoint covers. */
  readonly events: number
}

export interface CheckpointProblem {
  /** Missing if the problem concerns all queues. */
  readonly queue?: string
  readonly reason: string
  /** Milliseconds since 1970. */
  readonly since: number
}

export interface Checkpoints {
  readonly status: () => ReadonlyArray<CheckpointStatus>
  readonly problems: () => ReadonlyArray<CheckpointProblem>
  readonly close: () => Promise<void>
}

/** The thread starts this many milliseconds after the server, which has other things to do at first. */
const firstMs = 5_000
/** How long the last checkpoint may take, in milliseconds. */
const closeMs = 3_000
/** How long the thread may take to end after that. On a busy machine it may not run at all, because its priority is low. */
const cutMs = 1_000

/** @throws Error if the key cannot be read or made. */
export const startCheckpoints = ({ warn, ...options }: CheckpointsOptions): Checkpoints => {
  openSigningKey(options.keyFile)
  let worker: Worker | undefined
  let ended: Promise<unknown> = Promise.resolve()
  const events = new Map<string, number>()
  /** By queue; '' for all queues. */
  const problems = new Map<string, CheckpointProblem>()
  const note = (queue: string, reason: string | undefined): void => {
    if (reason === undefined) problems.delete(queue)
    else if (problems.get(queue)?.reason !== reason) problems.set(queue, { ...(queue === '' ? {} : { queue }), reason, since: Date.now() })
  }
  const heard = (message: FromCheckpoints): void => {
    switch (message.kind) {
      case 'warning':
        return warn(message.warning)
      case 'queue':
        events.set(message.queue, message.events)
        return note(message.queue, message.problem)
      case 'late':
        return note('', message.problem)
    }
  }
  const stopWaiting = longTimer(Math.min(firstMs, options.everyMs), () => {
    const thread = backgroundThread(new URL('./checkpoint-thread.js', import.meta.url), options)
    worker = thread
    ended = new Promise((resolve) => thread.once('exit', resolve))
    thread.on('message', heard)
    thread.on('error', (error) => {
      const reason = `no more checkpoints are signed until the next start: ${String(error)}`
      warn(reason)
      note('', reason)
    })
  })
  const send = (message: ToCheckpoints): void => worker?.postMessage(message)
  return {
    status: () => [...events].map(([queue, size]) => ({ queue, events: size })),
    problems: () => [...problems.values()],
    close: async () => {
      stopWaiting()
      send('finish')
      const stopLate = longTimer(closeMs, () => send('stop'))
      const cut = longTimer(closeMs + cutMs, () => void worker?.terminate())
      await ended
      stopLate()
      cut()
    },
  }
}
