/** The embedded memory: a separate file, searched by SQLite's full-text search on a separate thread. File and thread are created with the first memory. */
import { existsSync } from 'node:fs'
import { newThread } from '../threads/new-thread.js'
import { ThreadRequests } from '../threads/requests.js'
import type { Memory, MemoryBank, RecallRequest } from './memory-bank.js'
import type { BankRequest } from './sqlite-thread.js'

/** `file`: `:memory:` for a memory that is lost at the end. */
export const openSqliteBank = (file: string): MemoryBank => {
  let thread: ThreadRequests<BankRequest> | undefined
  let isClosed = false
  let isThere = file !== ':memory:' && existsSync(file)

  const ask = <Answer>(request: BankRequest): Promise<Answer> => {
    if (isClosed) return Promise.reject(new Error('the memory is closed'))
    thread ??= new ThreadRequests<BankRequest>(newThread(new URL('./sqlite-thread.js', import.meta.url), { workerData: { file } }), {
      onEnd: () => (thread = undefined),
      unanswered: (problem) => (problem === undefined ? 'the thread of the memory has ended' : `the memory ${file} cannot be used: ${problem}`),
    })
    return thread.ask(request)
  }

  // The thread has one search at a time, so that nothing else waits for more than one: in a large memory each takes seconds.
  let turn: Promise<unknown> = Promise.resolve()
  const search = (queue: string, request: RecallRequest, signal: AbortSignal): Promise<ReadonlyArray<ReadonlyArray<Memory>>> => {
    const found = turn.then(() => {
      // Whoever gave up needs no answer.
      signal.throwIfAborted()
      return ask<ReadonlyArray<ReadonlyArray<Memory>>>({ kind: 'recall', queue, requests: [request] })
    })
    turn = found.catch(() => undefined)
    return found
  }

  return {
    name: file === ':memory:' ? 'SQLite, in memory' : file,
    identity: async () => (isThere ? ask<string>({ kind: 'identity' }) : undefined),
    mayHaveMemories: () => isThere,
    remember: async (memories) => {
      await ask({ kind: 'remember', memories })
      isThere = true
    },
    recall: async (queue, requests, signal) => {
      if (!isThere) return requests.map(() => [])
      const found: Array<ReadonlyArray<Memory>> = []
      for (const request of requests) found.push(...(await search(queue, request, signal)))
      return found
    },
    // No more than one search is under way.
    interrupt: () => undefined,
    close: async () => {
      isClosed = true
      const open = thread
      // Rejected if the thread ends first, which is as good.
      await open?.ask({ kind: 'close' }).catch(() => undefined)
      await open?.worker.terminate()
    },
  }
}
