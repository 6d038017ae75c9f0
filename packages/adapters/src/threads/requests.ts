/** Requests to a thread, and its answers: both sides. Answers come in any order, and belong to a request by its number. */
import type { MessagePort, Transferable, Worker } from 'node:worker_threads'
import { errorText } from '../error-text.js'

interface Asked<Request> {
  readonly id: number
  readonly request: Request
}

/** `code`: that of a failed system call. */
type Answered = { readonly id: number } & ({ readonly answer: unknown } | { readonly problem: string; readonly code: string | undefined })

interface Waiting {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

export interface RequestsOptions {
  /** Called when the thread has ended, before the requests that wait are rejected. So nobody asks that thread again. */
  readonly onEnd: () => void
  /** Why a request has no answer. `problem`: the error that ended the thread, if one did. */
  readonly unanswered: (problem: string | undefined) => string
}

/** The asking side. */
export class ThreadRequests<Request> {
  private readonly waiting = new Map<number, Waiting>()
  private last = 0

  constructor(
    readonly worker: Worker,
    { onEnd, unanswered }: RequestsOptions,
  ) {
    let problem: string | undefined
    worker.on('message', (message: Answered) => {
      const { resolve, reject } = this.waiting.get(message.id) as Waiting
      this.waiting.delete(message.id)
      if ('answer' in message) resolve(message.answer)
      else reject(Object.assign(new Error(message.problem), message.code === undefined ? {} : { code: message.code }))
    })
    worker.on('error', (error) => (problem = errorText(error)))
    worker.once('exit', () => {
      onEnd()
      for (const { reject } of this.waiting.values()) reject(new Error(unanswered(problem)))
      this.waiting.clear()
    })
  }

  /** Number of requests without an answer. */
  get size(): number {
    return this.waiting.size
  }

  /** Rejects with the text and `code` of the thread's error, or when the thread ends. `moved`: buffers that cannot be used here any more. */
  ask<Answer>(request: Request, moved: ReadonlyArray<Transferable> = []): Promise<Answer> {
    const id = ++this.last
    return new Promise((resolve, reject) => {
      this.worker.postMessage({ id, request } satisfies Asked<Request>, moved)
      this.waiting.set(id, { resolve: (answer) => resolve(answer as Answer), reject })
    })
  }
}

/** The side of the thread. `answer` is called with each request at once, also while others are being answered. */
export const answerRequests = <Request>(port: MessagePort, answer: (request: Request) => unknown): void => {
  const send = (message: Answered): void => port.postMessage(message)
  port.on('message', ({ id, request }: Asked<Request>) => {
    const failed = (error: unknown): void => send({ id, problem: errorText(error), code: (error as { readonly code?: string }).code })
    void (async () => answer(request))().then((given) => send({ id, answer: given })).catch(failed)
  })
}

