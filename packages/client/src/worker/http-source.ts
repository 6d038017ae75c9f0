/** The source for a server over HTTP. */
import type { Claim, DaybookClient, Each, OutcomeAnswer } from '../index.js'
import type { ClaimedWork, HeartbeatAnswer, SettleAnswer, TaskSource } from './source.js'

/** The longest lease that a timer can watch. Longer leases are shortened to it. */
const leaseMsMax = 2_000_000_000
/** How long a heartbeat may take at most, however long the lease is, in milliseconds. */
const heartbeatMsMax = 30_000

/** The source of a worker that is in another process than the server. It does not retry: the worker does. */
export const httpSource = (client: DaybookClient): TaskSource => ({
  claim: async ({ waitMs, onNothing, ...request }, signal) => {
    const claims = await client.claim({ ...defined(request), wait: waitMs / 1_000 }, { signal, ...(onNothing === undefined ? {} : { onNothing }) })
    return claims.map(workOf)
  },
  settle: async (outcomes, attempt) => {
    // A completion may be repeated. A failure or a release ends the lease, so its repetition would be refused.
    const needsKey = outcomes.some(({ kind }) => kind !== 'complete')
    const options = needsKey ? { retryForMs: 0, idempotencyKey: attempt } : { retryForMs: 0 }
    return (await client.outcomes(outcomes, options)).map(settled)
  },
  heartbeat: async (heartbeats, timeoutMs = heartbeatMsMax) => {
    const options = { retryForMs: 0, timeoutMs: Math.min(heartbeatMsMax, timeoutMs) }
    return (await client.outcomes(heartbeats.map((each) => ({ kind: 'heartbeat' as const, ...each })), options)).map(extended)
  },
  register: async (registration) => void (await client.agents.register(defined(registration), { retryForMs: 0 })),
})

/** `expiresAt` is not used, because it is by the server's clock. */
const workOf = ({ task, lease, checkpoint, callback, memories, memoriesMissing }: Claim): ClaimedWork => ({
  task,
  token: lease.token,
  leaseMs: Math.min(leaseMsMax, lease.seconds * 1_000),
  waitedMs: lease.waitedSeconds * 1_000,
  checkpoint,
  callback,
  memories,
  memoriesMissing,
})

const refused = (answer: Extract<Each<OutcomeAnswer>, { ok: false }>): Extract<SettleAnswer, { ok: false }> => ({
  ok: false,
  code: answer.error.code,
  detail: answer.error.detail,
  retryAfterSeconds: answer.error.retryAfterSeconds,
})
const settled = (answer: Each<OutcomeAnswer>): SettleAnswer =>
  answer.ok ? { ok: true, status: answer.value.status ?? 'completed' } : refused(answer)
const extended = (answer: Each<OutcomeAnswer>): HeartbeatAnswer =>
  answer.ok ? { ok: true } : refused(answer)

/** The type without members that are `undefined`. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }
const defined = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<T>
