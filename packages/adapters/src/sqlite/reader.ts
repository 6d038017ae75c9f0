import { newThread } from '../threads/new-thread.js'
import { closedError, fromProblem } from './errors.js'
import type { PackedPage } from './packed-page.js'
import type { Span } from './queries.js'
import type { FromReader, ReaderOptions, ToReader } from './reader-protocol.js'

/** Number of pages that are fetched before they are requested. */
const pagesAhead = 2

type Arrival = Extract<FromReader, { readonly kind: 'page' }> | Error

/** The received pages of one read, and the waiting reader. */
interface Inbox {
  readonly arrived: Array<Arrival>
  wake: () => void
}

export interface Reader {
  /** Leaving the loop early ends the read. The first read starts the thread. */
  readonly pages: (span: Span, backwards: boolean) => AsyncGenerator<PackedPage, void, undefined>
  readonly close: () => Promise<void>
}

/** `idleMs`: the thread is ended after this time without reads, and started again by the next read. Default: it stays. */
export const lazyReader = (options: ReaderOptions, idleMs?: number): Reader => {
  const inboxes = new Map<number, Inbox>()
  let nextRead = 0
  let closed = false
  let thread: { readonly send: (message: ToReader) => void; readonly ended: Promise<void> } | undefined
  /** Resolves when all former threads have ended. */
  let ended: Promise<unknown> = Promise.resolve()
  let idle: NodeJS.Timeout | undefined

  const deliver = (inbox: Inbox, arrival: Arrival): void => {
    inbox.arrived.push(arrival)
    inbox.wake()
  }

  const failAll = (error: Error): void => inboxes.forEach((inbox) => deliver(inbox, error))

  const startThread = () => {
    const worker = newThread(new URL('./reader-thread.js', import.meta.url), { workerData: options })
    worker.on('message', (message: FromReader) => {
      const inbox = inboxes.get(message.read)
      if (inbox !== undefined) deliver(inbox, message.kind === 'page' ? message : fromProblem(message.problem))
    })
    worker.on('error', (error) => {
      if (thread?.ended === gone) thread = undefined
      failAll(fromProblem({ code: 'unavailable', message: `The reading thread failed: ${String(error)}.` }))
    })
    const gone = new Promise<void>((done) => worker.once('exit', () => done()))
    ended = Promise.all([ended, gone])
    return { send: (message: ToReader) => worker.postMessage(message), ended: gone }
  }

  const endSoon = (): void => {
    if (idleMs === undefined || inboxes.size > 0) return
    idle = setTimeout(() => {
      thread?.send({ kind: 'close' })
      thread = undefined
    }, idleMs)
    idle.unref()
  }

  const pages = async function* (span: Span, backwards: boolean): AsyncGenerator<PackedPage, void, undefined> {
    if (closed) throw closedError()
    clearTimeout(idle)
    thread ??= startThread()
    const { send } = thread
    const read = nextRead++
    const inbox: Inbox = { arrived: [], wake: () => undefined }
    inboxes.set(read, inbox)
    send({ kind: 'start', read, span, backwards })
    for (let i = 0; i < pagesAhead; i++) send({ kind: 'more', read })
    try {
      for (;;) {
        while (inbox.arrived.length === 0) await new Promise<void>((wake) => (inbox.wake = wake))
        const arrival = inbox.arrived.shift()!
        if (arrival instanceof Error) throw arrival
        if (!arrival.last) send({ kind: 'more', read })
        yield arrival.page
        if (arrival.last) return
      }
    } finally {
      inboxes.delete(read)
      send({ kind: 'stop', read })
      endSoon()
    }
  }

  return {
    pages,
    close: async () => {
      closed = true
      failAll(closedError())
      clearTimeout(idle)
      thread?.send({ kind: 'close' })
      await ended
    },
  }
}
