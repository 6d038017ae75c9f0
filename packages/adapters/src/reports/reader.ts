/** Reads reports on a separate thread, which the first report starts. */
import type { Worker } from 'node:worker_threads'
import type * as E from 'fp-ts/lib/Either.js'
import type { ReportAnswer, ReportRefusal } from './read-report.js'
import type { CauseQuestion, Caused } from '../engine/index.js'
import { backgroundThread } from '../threads.js'
import type { ReportRequest } from './request.js'

export interface ReaderOptions {
  readonly file: string
}
export type ReadRequest = { readonly kind: 'report'; readonly request: ReportRequest } | { readonly kind: 'causes'; readonly question: CauseQuestion }
export type ToReader = { readonly id: number } & ReadRequest
export type FromReader = { readonly id: number } & ({ readonly answer: unknown } | { readonly problem: string })

interface Waiting {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

/** The largest number of waiting reports. They are read one after the other. */
const waitingMax = 32

export class ReportReader {
  private worker: Worker | undefined
  private isClosed = false
  private readonly waiting = new Map<number, Waiting>()
  private last = 0

  constructor(private readonly file: string) {}

  /** Rejects if the file cannot be read, or if too many reports wait. */
  read(request: ReportRequest): Promise<E.Either<ReportRefusal, ReportAnswer>> {
    return this.ask({ kind: 'report', request })
  }

  /** Finds the events of an actor or a correlation id. Rejects like {@link read}. */
  causes(question: CauseQuestion): Promise<Caused | undefined> {
    return this.ask({ kind: 'causes', question })
  }

  private ask<A>(request: ReadRequest): Promise<A> {
    if (this.isClosed) return Promise.reject(new Error('the server is stopping'))
    if (this.waiting.size >= waitingMax) return Promise.reject(new Error(`${waitingMax} reports wait already`))
    const id = ++this.last
    const message: ToReader = { id, ...request }
    this.worker ??= this.start()
    this.worker.postMessage(message)
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve: (answer) => resolve(answer as A), reject }))
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.worker?.terminate()
  }

  private start(): Worker {
    const options: ReaderOptions = { file: this.file }
    const worker = backgroundThread(new URL('./report-thread.js', import.meta.url), options)
    let problem = 'it was stopped'
    worker.unref()
    worker.on('message', (message: FromReader) => {
      const waiting = this.waiting.get(message.id)
      this.waiting.delete(message.id)
      if ('answer' in message) waiting?.resolve(message.answer)
      else waiting?.reject(new Error(message.problem))
    })
    worker.on('error', (error) => (problem = error instanceof Error ? error.message : String(error)))
    worker.once('exit', () => {
      this.worker = undefined
      for (const { reject } of this.waiting.values()) reject(new Error(`the thread of reports has ended: ${problem}`))
      this.waiting.clear()
    })
    return worker
  }
}
