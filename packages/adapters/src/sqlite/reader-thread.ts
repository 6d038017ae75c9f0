/** Entry point of the thread that reads, so that fetching a page overlaps with using the previous one. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { toProblem } from './errors.js'
import { pagePacker } from './packed-page.js'
import { queries, type Span } from './queries.js'
import type { FromReader, ReaderOptions, ToReader } from './reader-protocol.js'

interface Read {
  readonly span: Span
  readonly backwards: boolean
}

const serve = (port: MessagePort, { file }: ReaderOptions): void => {
  const send = (message: FromReader): void => port.postMessage(message)
  const reads = new Map<number, Read>()
  let opened: { db: Database.Database; pack: ReturnType<typeof pagePacker> } | undefined

  const open = () => {
    const db = new Database(file, { readonly: true, fileMustExist: true })
    return { db, pack: pagePacker(db, queries(db)) }
  }

  const sendPage = (read: number): void => {
    const rest = reads.get(read)
    if (rest === undefined) return
    const { span, backwards } = rest
    try {
      opened ??= open()
      const page = opened.pack(span, backwards)
      const left = backwards ? { ...span, high: page.span.low - 1 } : { ...span, low: page.span.high + 1 }
      const last = left.low > left.high
      if (last) reads.delete(read)
      else reads.set(read, { span: left, backwards })
      send({ kind: 'page', read, page, last })
    } catch (error) {
      reads.delete(read)
      send({ kind: 'failed', read, problem: toProblem(error, file) })
    }
  }

  port.on('message', (message: ToReader) => {
    switch (message.kind) {
      case 'start':
        reads.set(message.read, message)
        break
      case 'more':
        sendPage(message.read)
        break
      case 'stop':
        reads.delete(message.read)
        break
      case 'close':
        opened?.db.close()
        port.close()
    }
  })
}

if (parentPort !== null) serve(parentPort, workerData as ReaderOptions)
