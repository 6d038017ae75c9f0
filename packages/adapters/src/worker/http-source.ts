/** Work taken from a server over HTTP. */
import type { Claim, DaybookClient, Each, OutcomeAnswer } from '../client/index.js'
import type { ClaimedWork, HeartbeatAnswer, SettleAnswer, TaskSource } from './source.js'

/** A lease without a heartbeat for this long is taken for endless: a timer cannot wait longer. */
const leaseMsMax = 2_000_000_000

/** Source of a worker in a process of its own. The worker repeats what fails, so here nothing is repeated. */
export const httpSource = (client: DaybookClient): TaskSource => ({
  claim: async ({ waitMs, ...request }, signal) => {
    const claims = await client.claim({ ...defined(request), wait: waitMs / 1_000 }, { signal })
    return claims.map(workOf)
  },
  settle: async (outcomes, attempt) => {
    const keyed = outcomes.some(({ kind }) => kind !== 'complete')
    const options = keyed ? { retryForMs: 0, idempotencyKey: attempt } : { retryForMs: 0 }
    return (await client.outcomes(outcomes, options)).map(settled)
  },
  heartbeat: async (heartbeats) =>
    (await client.outcomes(heartbeats.map((each) => ({ kind: 'heartbeat' as const, ...each })), { retryForMs: 0 })).map(extended),
})

/** A lease just granted lasts as long as the task's `timeout`. Not `expiresAt`: the two clocks need not agree. */
const workOf = ({ task, lease, checkpoint }: Claim): ClaimedWork => ({
  task,
  token: lease.token,
  leaseMs: Math.min(leaseMsMax, task.timeout * 1_000),
  checkpoint,
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

/** Without the members that are `undefined`. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }
const defined = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<T>
