/** The embedded memory: a separate file, searched by SQLite's full-text search on a separate thread. File and thread are created with the first memory. */
import { existsSync } from 'node:fs'
import { newThread } from '../threads.js'
import type { Memory, MemoryBank } from './memory-bank.js'
import type { Answered, Ask } from './sqlite-thread.js'

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}
interface Thread {
  readonly ask: (ask: Ask) => Promise<unknown>
  readonly ended: Promise<void>
}

/** `file`: `:memory:` for a memory that is lost at the end. */
export const openSqliteBank = (file: string): MemoryBank => {
  let thread: Thread | undefined
  let isClosed = false
  let isThere = file !== ':memory:' && existsSync(file)

  const ask = (asked: Ask): Promise<unknown> => {
    if (isClosed) return Promise.reject(new Error('the memory is closed'))
    thread ??= startThread(file, () => (thread = undefined))
    return thread.ask(asked)
  }

  return {
    name: file === ':memory:' ? 'SQLite, in memory' : file,
    identity: async () => (isThere ? ((await ask({ kind: 'identity' })) as string) : undefined),
    mayHaveMemories: () => isThere,
    remember: async (memories) => {
      await ask({ kind: 'remember', memories })
      isThere = true
    },
    recall: async (queue, requests) => (isThere ? ((await ask({ kind: 'recall', queue, requests })) as ReadonlyArray<ReadonlyArray<Memory>>) : requests.map(() => [])),
    // Nothing takes long here.
    interrupt: () => undefined,
    close: async () => {
      isClosed = true
      void thread?.ask({ kind: 'close' }).catch(() => undefined)
      await thread?.ended
    },
  }
}

const startThread = (file: string, onEnd: () => void): Thread => {
  const worker = newThread(new URL('./sqlite-thread.js', import.meta.url), { workerData: { file } })
  const waiting = new Map<number, Waiting>()
  let last = 0
  let problem = 'the thread of the memory has ended'
  worker.on('message', (answered: Answered) => {
    const { resolve, reject } = waiting.get(answered.id) as Waiting
    waiting.delete(answered.id)
    if ('problem' in answered) reject(new Error(answered.problem))
    else resolve(answered.value)
  })
  worker.on('error', (error) => (problem = `the memory ${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`))
  const ended = new Promise<void>((done) =>
    worker.once('exit', () => {
      onEnd()
      for (const { reject } of waiting.values()) reject(new Error(problem))
      waiting.clear()
      done()
    }),
  )
  return {
    ask: (asked) =>
      new Promise((resolve, reject) => {
        const id = ++last
        waiting.set(id, { resolve, reject })
        worker.postMessage({ id, ...asked })
      }),
    ended,
  }
}
