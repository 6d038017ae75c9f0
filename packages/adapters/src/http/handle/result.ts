/** The result of a task, for a producer that waits for it. */
import { joined } from '@daybook/client/common'
import { isSettled, type TaskView, taskOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { noSuchTask, problemOf } from '../problem.js'
import type { ResultQuery } from '../query.js'
import type { Handled, ViewCall } from '../routes/route.js'
import { resultText } from '../json/task-text.js'
import { quote } from '../json/text.js'

export const result = async ({ queue, params, query, gone }: ViewCall<ResultQuery>): Promise<Handled> => {
  const { id = '' } = params
  const look = () => queue.read((state, at) => taskOf(state, id, at))
  const waitMs = Number(query.wait ?? 0) * 1_000
  let found = await look()
  if (waitMs > 0 && E.isRight(found) && found.right.value !== undefined && !isSettled(found.right.value.status)) {
    const wait = joined(gone())
    const gives = queue.nextSettled(found.right.value.id, waitMs, wait.signal)
    // The task may have been settled before the wait began.
    found = await look()
    const isOver = E.isRight(found) && (found.right.value === undefined || isSettled(found.right.value.status))
    if (isOver) wait.abort()
    await gives
    if (!isOver) found = await look()
  }
  if (E.isLeft(found)) return E.left(problemOf(found.left))
  const { value: task, revision } = found.right
  if (task === undefined) return E.left(noSuchTask(queue, id))
  return E.right({ status: 200, text: textOf(task, await resultText(queue, task)), revision })
}

const textOf = ({ status, lastError }: TaskView, given: string | undefined): string =>
  `{"status":"${status}"${given === undefined ? '' : `,"result":${given}`}` +
  `${lastError === undefined || status === 'completed' ? '' : `,"error":${quote(lastError)}`}}`
