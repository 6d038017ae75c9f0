/** Entry point of the thread that answers queries about past moments, so that no other request waits for a replay. */
import { parentPort, type MessagePort, workerData } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
// Not from the index of `files`, which would load the queue files, rxjs and more into this thread.
import { errorText } from '../../error-text.js'
import { readSnapshotFolder } from '../../files/snapshots/snapshots.js'
import { openLog } from '../../open-log.js'
import { causesIn } from '../../read-models/find-causes.js'
import { StoreError } from '../../store/index.js'
import { readKeys, revealingLog } from '../../task-keys/index.js'
import type { Handled } from '../routes/route.js'
import { type AnswerPast, answerPastFrom, type PastQuestion } from './answer-past.js'
import type { FromPast, PastThreadOptions, ToPast } from './past-protocol.js'

interface Asked {
  readonly controller: AbortController
  /** The rest of a streamed answer. */
  parts?: AsyncIterator<Buffer>
}

const serve = (port: MessagePort, { log, keys, snapshots, views, limits, states }: PastThreadOptions): void => {
  const asked = new Map<number, Asked>()
  const send = (message: FromPast, moved: ReadonlyArray<ArrayBuffer> = []): void => port.postMessage(message, moved)
  let opened: Promise<AnswerPast> | undefined

  const open = async (): Promise<AnswerPast> => {
    const stored = await openLog(log, true)
    return answerPastFrom({ log: revealingLog(stored, readKeys(keys)), stored, snapshots: readSnapshotFolder(snapshots), limits, causes: views === undefined ? undefined : causesIn(views), states })
  }

  const fail = (id: number, error: unknown): void => {
    asked.delete(id)
    const message = errorText(error)
    send({ kind: 'failed', id, ...(error instanceof StoreError ? { code: error.code } : {}), message })
  }

  const sendAnswer = (id: number, handled: Handled): void => {
    if (E.isLeft(handled)) {
      asked.delete(id)
      return send({ kind: 'answer', id, handled })
    }
    const { undelivered: _, text, ...reply } = handled.right
    if (typeof text === 'string') asked.delete(id)
    else (asked.get(id) as Asked).parts = text[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    send({ kind: 'answer', id, handled: E.right({ ...reply, text: typeof text === 'string' ? text : undefined }) })
  }

  const answer = async (id: number, question: PastQuestion): Promise<void> => {
    const controller = new AbortController()
    asked.set(id, { controller })
    opened ??= open()
    // If the store cannot be opened now, the next query tries again.
    opened.catch(() => (opened = undefined))
    sendAnswer(id, await (await opened)(question, controller.signal))
  }

  const sendPart = async (id: number): Promise<void> => {
    const next = await asked.get(id)?.parts?.next()
    if (next === undefined) return
    if (next.done === true) {
      asked.delete(id)
      return send({ kind: 'part', id, bytes: undefined })
    }
    const { value } = next
    // A small buffer shares its memory with others, and is copied.
    send({ kind: 'part', id, bytes: value }, value.buffer.byteLength === value.byteLength ? [value.buffer as ArrayBuffer] : [])
  }

  port.on('message', (message: ToPast) => {
    const { id } = message
    switch (message.kind) {
      case 'ask':
        answer(id, message.question).catch((error: unknown) => fail(id, error))
        break
      case 'more':
        sendPart(id).catch((error: unknown) => fail(id, error))
        break
      case 'gone':
        asked.get(id)?.controller.abort()
        void asked.get(id)?.parts?.return?.()
        asked.delete(id)
        break
    }
  })
}

if (parentPort !== null) serve(parentPort, workerData as PastThreadOptions)
