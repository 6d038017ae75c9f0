/** The serving side of the thread that answers queries about past moments. */
import { Readable } from 'node:stream'
import type { Worker } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import { errorText } from '../../error-text.js'
import { StoreError, type StoreErrorCode } from '../../store/index.js'
import { newThread } from '../../threads/new-thread.js'
import type { Handled } from '../routes/route.js'
import type { PastQuestion } from './answer-past.js'
import type { FromPast, PastThreadOptions, ToPast } from './past-protocol.js'

interface Waiting {
  readonly resolve: (message: FromPast) => void
  readonly reject: (error: Error) => void
}

export class PastThread {
  private readonly worker: Worker
  private readonly waiting = new Map<number, Waiting>()
  private last = 0
  /** Number of queries whose answers are not complete. */
  private asked = 0
  /** Why no more messages come. */
  private end: StoreError | undefined

  /** `ended`: called when the thread has ended, for whatever reason. */
  constructor(options: PastThreadOptions, ended: () => void) {
    this.worker = newThread(new URL('./past-thread.js', import.meta.url), { workerData: options })
    let problem = 'it was stopped'
    this.worker.on('message', (message: FromPast) => this.waiting.get(message.id)?.resolve(message))
    this.worker.on('error', (error) => (problem = errorText(error)))
    this.worker.once('exit', () => {
      ended()
      this.end = new StoreError('unavailable', `The thread that answers for the past has ended: ${problem}.`)
      for (const { reject } of this.waiting.values()) reject(this.end)
      this.waiting.clear()
    })
  }

  get isAsked(): boolean {
    return this.asked > 0
  }

  async ask(question: PastQuestion, signal: AbortSignal): Promise<Handled> {
    const id = ++this.last
    this.asked++
    const leave = (): void => this.send({ kind: 'gone', id })
    signal.addEventListener('abort', leave, { once: true })
    try {
      const answered = this.next(id)
      this.send({ kind: 'ask', id, question })
      const message = await answered
      if (message.kind !== 'answer') throw new Error(`the thread of the past answers a question with ${message.kind}`)
      if (E.isLeft(message.handled)) return message.handled
      const { text, ...reply } = message.handled.right
      if (text !== undefined) return E.right({ ...reply, text })
      const lines = Readable.from(this.parts(id), { objectMode: false })
      this.asked++
      // Also if nobody ever begins to read it.
      lines.once('close', () => {
        this.asked--
        this.send({ kind: 'gone', id })
      })
      return E.right({ ...reply, text: lines })
    } finally {
      this.asked--
      signal.removeEventListener('abort', leave)
    }
  }

  async close(): Promise<void> {
    await this.worker.terminate()
  }

  /** The next message about a query. */
  private next(id: number): Promise<FromPast> {
    if (this.end !== undefined) return Promise.reject(this.end)
    const answered = new Promise<FromPast>((resolve, reject) => this.waiting.set(id, { resolve, reject }))
    return answered
      .finally(() => this.waiting.delete(id))
      .then((message) => {
        if (message.kind !== 'failed') return message
        throw message.code === undefined ? new Error(message.message) : new StoreError(message.code as StoreErrorCode, message.message)
      })
  }

  /** One part is requested ahead. So a slow client does not fill the memory, and a fast one does not wait for the log. */
  private async *parts(id: number): AsyncGenerator<Uint8Array> {
    const more = (): Promise<FromPast> => {
      const part = this.next(id)
      // The part may never be taken.
      part.catch(() => undefined)
      this.send({ kind: 'more', id })
      return part
    }
    for (let part = more(); ; ) {
      const message = await part
      if (message.kind !== 'part' || message.bytes === undefined) return
      part = more()
      yield message.bytes
    }
  }

  private send(message: ToPast): void {
    this.worker.postMessage(message)
  }
}
