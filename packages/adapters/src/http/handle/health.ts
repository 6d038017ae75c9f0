/** Liveness and readiness. */
import * as E from 'fp-ts/lib/Either.js'
import type { Tokens } from '../../auth/index.js'
import type { MemoryStatus } from '../../memory-bank/index.js'
import { problem } from '../problem.js'
import type { Call, Handled } from '../routes/route.js'
import type { ServerParts } from '../server-parts.js'
import { isoOf } from '../../iso-time.js'

export const alive = (): Promise<Handled> => Promise.resolve(E.right({ status: 200, text: '{"status":"ok"}' }))

export interface Readiness extends ServerParts {
  readonly isReplayed: () => boolean
  readonly isDraining: () => boolean
  readonly memory: () => ReadonlyArray<MemoryStatus>
  readonly tokens: Tokens | 'off'
}

/** Queues that could not be opened, if any. The server is still ready, because the other queues work. */
const refusedIn = (daybook: Call['daybook']): object => {
  const refused = daybook.refused()
  return refused.length === 0 ? {} : { refused }
}

/** Parts that fail without stopping any command. A degraded server is ready. */
const degradedIn = (readiness: Readiness): object => {
  const parts = [...readiness.queueFiles().map((status) => ({ part: 'queue files', ...status })), ...readiness.memory().map((status) => ({ part: 'memory', ...status }))]
  const degraded = [
    ...parts.flatMap(({ part, queue, problem }) => (problem === undefined ? [] : [{ part, queue, reason: problem.reason, since: isoOf(problem.since) }])),
    ...readiness.webhooks().flatMap(({ name, problem, unread }) =>
      [...(problem === undefined ? [] : [problem]), ...unread].map(({ since, ...why }) => ({ part: `webhook ${name}`, ...why, since: isoOf(since) })),
    ),
    ...[readiness.readModels()?.problem() ?? []].flat().map(({ reason, since }) => ({ part: 'read models', reason, since: isoOf(since) })),
    ...(readiness.tokens === 'off' ? [] : [readiness.tokens.problem() ?? []].flat()).map(({ reason, since }) => ({ part: 'tokens', reason, since: isoOf(since) })),
    ...(readiness.checkpoints()?.problems() ?? []).map(({ since, ...why }) => ({ part: 'checkpoints', ...why, since: isoOf(since) })),
  ]
  return degraded.length === 0 ? {} : { degraded }
}

/** Read-only queues, if any. The server is still ready: these queues can be read, and the others work. */
const readOnlyIn = (daybook: Call['daybook']): object => {
  const readOnly = daybook.queues().flatMap((queue) => {
    const { readOnly: reason } = queue.status()
    return reason === undefined ? [] : [{ queue: queue.name, reason }]
  })
  return readOnly.length === 0 ? {} : { readOnly }
}

/** A queue is listed if its time is ahead of this server's clock by more than this, in milliseconds. */
const aheadMsMax = 1_000

/** Queues whose time is ahead, if any. They work nevertheless. */
const aheadIn = (daybook: Call['daybook']): object => {
  const ahead = daybook.queues().flatMap((queue) => {
    const { aheadMs } = queue.status()
    return aheadMs > aheadMsMax ? [{ queue: queue.name, seconds: aheadMs / 1_000 }] : []
  })
  return ahead.length === 0 ? {} : { ahead }
}

export const readiness =
  (parts: Readiness) =>
  ({ daybook }: Call): Promise<Handled> => {
    const { isReplayed, isDraining } = parts
    const loading = daybook.loading()
    const unavailable = daybook.queues().flatMap((queue) => {
      const { unavailable, clockRefusal } = queue.status()
      const reason = clockRefusal ?? unavailable
      return reason === undefined ? [] : [{ queue: queue.name, reason }]
    })
    const why = isDraining()
      ? 'the server is stopping'
      : !isReplayed()
        ? `the log is being read: ${loading.map(({ queue, events, of }) => `${queue} ${events} of ${of} events`).join(', ') || 'just begun'}`
        : [daybook.problem() ?? [], unavailable.map(({ queue, reason }) => `${queue}: ${reason}`)].flat(2).join('; ')
    return Promise.resolve(
      why === ''
        ? E.right({ status: 200, text: JSON.stringify({ status: 'ready', queues: daybook.queues().length, ...refusedIn(daybook), ...readOnlyIn(daybook), ...aheadIn(daybook), ...degradedIn(parts) }) })
        : E.left(problem('unavailable', why, { retryAfterSeconds: 1, more: { loading, queues: unavailable } })),
    )
  }
