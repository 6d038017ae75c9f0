/** Sends appends in the order of the calls, over one BatchAppend call at a time. */
import * as E from 'fp-ts/lib/Either.js'
import type { AppendError, Appended, EventToAppend } from '../store/index.js'
import { type AppendCall, openAppendCall } from './append-call.js'
import { appendRequest } from './append-request.js'
import type { Connection } from './connection.js'
import { failedAppend, refusedAppend } from './errors.js'

export interface AppendJob {
  readonly stream: string
  readonly events: ReadonlyArray<EventToAppend>
  readonly expected: number | 'no_stream' | 'any'
  readonly bytes: number
}

export interface Appender {
  readonly append: (job: AppendJob) => Promise<E.Either<AppendError, Appended>>
  readonly cancel: () => void
}

interface Waiting {
  readonly job: AppendJob
  readonly answer: (outcome: E.Either<AppendError, Appended> | PromiseLike<E.Either<AppendError, Appended>>) => void
}

export const createAppender = (connection: Connection, limits: { readonly appendMs: number; readonly bytesMax: number }): Appender => {
  const waiting: Array<Waiting> = []
  let call: AppendCall | undefined
  let connecting = false

  const send = async (on: AppendCall, { stream, events, expected, bytes }: AppendJob): Promise<E.Either<AppendError, Appended>> => {
    try {
      const response = await on.send((correlationId) => appendRequest(correlationId, stream, events, expected))
      const success = response.getSuccess()
      return success === undefined
        ? E.left(refusedAppend(response, bytes, limits.bytesMax))
        : E.right({ revision: Number(success.getCurrentRevision()) })
    } catch (error) {
      return E.left(failedAppend(error))
    }
  }

  /** Waits for a connection if there is none. Appends that come meanwhile are queued after it. */
  const sendWaiting = async (): Promise<void> => {
    connecting = true
    try {
      const link = await connection.link()
      call = openAppendCall(connection, link, limits.appendMs)
      for (const { job, answer } of waiting.splice(0)) answer(send(call, job))
    } catch (error) {
      for (const { answer } of waiting.splice(0)) answer(E.left(failedAppend(error)))
    } finally {
      connecting = false
    }
  }

  return {
    append: (job) => {
      if (!connecting && call?.isOpen() === true) return send(call, job)
      return new Promise((answer) => {
        waiting.push({ job, answer })
        if (!connecting) void sendWaiting()
      })
    },
    cancel: () => call?.cancel(),
  }
}
