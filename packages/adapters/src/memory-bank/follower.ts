/**
 * Remembers the completions of one queue, from its log. If the memory does not accept one now, it is tried again until it does. So nothing is lost
 * while a memory cannot be reached.
 */
import type { CheckpointStore } from '@daybook/projections'
import { contentOf, type Daybook, eventsBehind, type QueueEngine, streamOf } from '../engine/index.js'
import { followLog, isLost, type LogFollower, type RetryMs, type Tools } from '../log-follower/index.js'
import type { RecordedEvent } from '../store/index.js'
import { type Memory, type MemoryBank, MemoryRefused } from './memory-bank.js'
import { mayMatter, memoryOf } from './memory-of.js'

export interface FollowerOptions {
  readonly engine: QueueEngine
  readonly log: Daybook['log']
  readonly bank: MemoryBank
  readonly checkpoints: CheckpointStore
  readonly warn: (message: string) => void
  /** Default: one second, doubled up to a minute. While the store is away, at most five seconds. */
  readonly retryMs?: RetryMs
}

const completions: ReadonlySet<string> = new Set(['Completed'])

/** The first event of the task that this event completed, and the last that gave it another content. Those in between may be large. */
const originOf = async (log: FollowerOptions['log'], queue: string, completed: number): Promise<{ readonly enqueued: RecordedEvent | undefined; readonly amended: RecordedEvent | undefined }> => {
  let enqueued: RecordedEvent | undefined
  let amended: RecordedEvent | undefined
  for await (const event of eventsBehind(log, streamOf(queue), completed)) {
    enqueued = event
    if (amended === undefined && event.type === 'TaskAmended' && contentOf(event.data) !== undefined) amended = event
  }
  return { enqueued, amended }
}

export const followQueue = ({ engine, log, bank, checkpoints, warn, retryMs }: FollowerOptions): LogFollower => {
  const queue = engine.name

  /** The memory of a completion. Events that are damaged in the log cannot be remembered. */
  const memoryAt = async (completed: RecordedEvent, { untilDone }: Tools): Promise<ReadonlyArray<Memory>> => {
    if (!mayMatter(completed.data)) return []
    try {
      const { enqueued, amended } = await untilDone(() => originOf(log, queue, completed.revision))
      return [memoryOf(queue, completed, enqueued, amended) ?? []].flat()
    } catch (error) {
      if (!isLost(error)) throw error
      warn(`queue ${queue}: the completion at revision ${completed.revision} cannot be remembered: ${error.message}`)
      return []
    }
  }

  const remember = async (memories: ReadonlyArray<Memory>, tools: Tools): Promise<void> => {
    try {
      await tools.untilDone(() => bank.remember(memories))
    } catch (error) {
      if (!(error instanceof MemoryRefused)) throw error
      // Perhaps only one of them is refused. The others must not be lost with it.
      if (memories.length > 1) for (const memory of memories) await remember([memory], tools)
      else warn(`queue ${queue}: ${memories[0]?.id ?? ''} is not remembered: ${error.message}`)
    }
  }

  return followLog({
    engine,
    log,
    checkpoints,
    name: 'memory',
    types: completions,
    matters: ({ content = '' }) => mayMatter(content),
    take: async (completed, tools) => {
      const memories: Array<Memory> = []
      for (const event of completed) memories.push(...(await memoryAt(event, tools)))
      if (memories.length > 0) await remember(memories, tools)
    },
    batchMax: 50,
    checkpointEvery: 10_000,
    identity: () => bank.identity(),
    isFinal: (error) => error instanceof MemoryRefused,
    warn,
    words: { forNow: 'nothing is remembered for now, and all of it later', untilStart: 'nothing is remembered until the next start' },
    retryMs,
  })
}
