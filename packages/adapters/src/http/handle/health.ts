/** Is it alive, and is it ready for work? */
import * as E from 'fp-ts/lib/Either.js'
import type { QueueFilesStatus } from '../../files/index.js'
import { problem } from '../problem.js'
import type { Call, Handled } from '../route.js'
import { isoOf } from '../time.js'

export const alive = (): Promise<Handled> => Promise.resolve(E.right({ status: 200, text: '{"status":"ok"}' }))

export interface Readiness {
  readonly isReplayed: () => boolean
  readonly isDraining: () => boolean
  readonly queueFiles: () => ReadonlyArray<QueueFilesStatus>
}

/** Named where there are any. They do not make a server unready: the other queues are worked on. */
const refusedIn = (daybook: Call['daybook']): object => {
  const refused = daybook.refused()
  return refused.length === 0 ? {} : { refused }
}

/** What does not work, but keeps no command from being taken: a server that is degraded is ready. */
const degradedIn = (queueFiles: ReadonlyArray<QueueFilesStatus>): object => {
  const degraded = queueFiles.flatMap(({ queue, problem }) =>
    problem === undefined ? [] : [{ part: 'queue files', queue, reason: problem.reason, since: isoOf(problem.since) }],
  )
  return degraded.length === 0 ? {} : { degraded }
}

/** Named where there are any. Reads go on, and the other queues are worked on. */
const readOnlyIn = (daybook: Call['daybook']): object => {
  const readOnly = daybook.queues().flatMap((queue) => {
    const { readOnly: reason } = queue.status()
    return reason === undefined ? [] : [{ queue: queue.name, reason }]
  })
  return readOnly.length === 0 ? {} : { readOnly }
}

export const readiness =
  ({ isReplayed, isDraining, queueFiles }: Readiness) =>
  ({ daybook }: Call): Promise<Handled> => {
    const loading = daybook.loading()
    const unavailable = daybook.queues().flatMap((queue) => {
      const { unavailable: reason } = queue.status()
      return reason === undefined ? [] : [{ queue: queue.name, reason }]
    })
    const why = isDraining()
      ? 'the server is stopping'
      : !isReplayed()
        ? `the log is being read: ${loading.map(({ queue, events, of }) => `${queue} ${events} of ${of} events`).join(', ') || 'just begun'}`
        : [daybook.problem() ?? [], unavailable.map(({ queue, reason }) => `${queue}: ${reason}`)].flat(2).join('; ')
    return Promise.resolve(
      why === ''
        ? E.right({ status: 200, text: JSON.stringify({ status: 'ready', queues: daybook.queues().length, ...refusedIn(daybook), ...readOnlyIn(daybook), ...degradedIn(queueFiles()) }) })
        : E.left(problem('unavailable', why, { retryAfterSeconds: 1, more: { loading, queues: unavailable } })),
    )
  }
