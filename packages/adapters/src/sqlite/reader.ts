import { Worker } from 'node:worker_threads'
import { closedError, fromProblem } from './errors.js'
import type { PackedPage } from './packed-page.js'
import type { Span } from './queries.js'
import type { FromReader, ReaderOptions, ToReader } from './reader-protocol.js'

/** Pages fetched before they are asked for. */
const pagesAhead = 2

type Arrival = Extract<FromReader, { readonly kind: 'page' }> | Error

/** What has arrived for one read, and who waits for more. */
interface Inbox {
  readonly arrived: Array<Arrival>
  wake: () => void
}

export interface Reader {
  /** Leaving the loop early ends the read. The thread is started by the first read. */
  readonly pages: (span: Span, backwards: boolean) => AsyncGenerator<PackedPage, void, undefined>
  readonly close: () => Promise<void>
}

export const lazyReader = (options: ReaderOptions): Reader => {
  const inboxes = new Map<number, Inbox>()
  let nextRead = 0
  let closed = false
  let thread: { readonly send: (message: ToReader) => void; readonly ended: Promise<void> } | undefined

  const deliver = (inbox: Inbox, arrival: Arrival): void => {
    inbox.arrived.push(arrival)
    inbox.wake()
  }

  const failAll = (error: Error): void => inboxes.forEach((inbox) => deliver(inbox, error))

  const startThread = () => {
    const worker = new Worker(new URL('./reader-thread.js', import.meta.url), { workerData: options })
    worker.on('message', (message: FromReader) => {
      const inbox = inboxes.get(message.read)
      if (inbox !== undefined) deliver(inbox, message.kind === 'page' ? message : fromProblem(message.problem))
    })
    worker.on('error', (error) => {
      thread = undefined
      failAll(fromProblem({ code: 'unavailable', message: `The reading thread failed: ${String(error)}.` }))
    })
    const ended = new Promise<void>((done) => worker.once('exit', () => done()))
    return { send: (message: ToReader) => worker.postMessage(message), ended }
  }

  const pages = async function* (span: Span, backwards: boolean): AsyncGenerator<PackedPage, void, undefined> {
    if (closed) throw closedError()
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
    }
  }

  return {
    pages,
    close: async () => {
      closed = true
      failAll(closedError())
      thread?.send({ kind: 'close' })
      await thread?.ended
    },
  }
}
