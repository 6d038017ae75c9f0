/** Reads reports on a separate thread, which the first report starts. */
import type * as E from 'fp-ts/lib/Either.js'
import type { ReportAnswer, ReportRefusal } from './read-report.js'
import type { CauseQuestion, Caused } from '../../engine/index.js'
import { backgroundThread } from '../../threads/new-thread.js'
import { ThreadRequests } from '../../threads/requests.js'
import type { ReportRequest } from './request.js'

export interface ReaderOptions {
  readonly file: string
}
export type ReadRequest = { readonly kind: 'report'; readonly request: ReportRequest } | { readonly kind: 'causes'; readonly question: CauseQuestion }

/** The largest number of waiting reports. They are read one after the other. */
const waitingMax = 32

export class ReportReader {
  private thread: ThreadRequests<ReadRequest> | undefined
  private isClosed = false

  constructor(private readonly file: string) {}

  /** Rejects if the file cannot be read, or if too many reports wait. */
  read(request: ReportRequest): Promise<E.Either<ReportRefusal, ReportAnswer>> {
    return this.ask({ kind: 'report', request })
  }

  /** Finds the events of an actor or a correlation id. Rejects like {@link read}. */
  causes(question: CauseQuestion): Promise<Caused | undefined> {
    return this.ask({ kind: 'causes', question })
  }

  private ask<Answer>(request: ReadRequest): Promise<Answer> {
    if (this.isClosed) return Promise.reject(new Error('the server is stopping'))
    this.thread ??= this.start()
    if (this.thread.size >= waitingMax) return Promise.reject(new Error(`${waitingMax} reports wait already`))
    return this.thread.ask(request)
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.thread?.worker.terminate()
  }

  private start(): ThreadRequests<ReadRequest> {
    const options: ReaderOptions = { file: this.file }
    const worker = backgroundThread(new URL('./report-thread.js', import.meta.url), options)
    worker.unref()
    return new ThreadRequests(worker, {
      onEnd: () => (this.thread = undefined),
      unanswered: (problem = 'it was stopped') => `the thread of reports has ended: ${problem}`,
    })
  }
}
