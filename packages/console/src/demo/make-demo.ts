/**
 * Fills a queue with demo data, only through the public API: tasks that wait, run, are done, blocked and scheduled, retries, dead letters of two
 * kinds, and a breaker that opens. No browser needed.
 */
import { demoAgents, demoTasks } from './demo-tasks.js'

/** Sends one request to the server and returns its answer. Rejects if it is refused. */
export type Send = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) => Promise<unknown>

export interface DemoOptions {
  readonly send: Send
  /** Default `demo`. */
  readonly queue?: string
  /** Different in each run. Default: from the clock. */
  readonly run?: string
  /** Milliseconds since 1970. */
  readonly now: number
  readonly progress?: (text: string) => void
}

interface Claim {
  readonly task: { readonly id: string; readonly type: string }
  readonly lease: { readonly token: number }
}

/** The token needs the roles `producer`, `worker` and `operator`. */
export const makeDemo = async ({ send, queue = 'demo', now, run = (now % 2_176_782_336).toString(36), progress = () => undefined }: DemoOptions): Promise<void> => {
  const at = (path: string): string => `/api/queues/${encodeURIComponent(queue)}${path}`
  progress('making the queue …')
  await send('PATCH', at('/settings'), { decisionReport: 'optional', assignment: { tenants: { acme: 2 } } })
  progress('enqueueing tasks …')
  await send('POST', at('/tasks'), { tasks: demoTasks(run, now) })
  for (const agent of demoAgents) await send('POST', at('/agents'), { ...agent, ttlSeconds: 3_600 })

  const claim = async (agentId: string, max: number): Promise<ReadonlyArray<Claim>> => ((await send('POST', at('/claims'), { agentId, max })) as { readonly claims: ReadonlyArray<Claim> }).claims
  const about = ({ task, lease }: Claim, agentId: string, verb: string, more: object): Promise<unknown> => send('POST', at(`/tasks/${encodeURIComponent(task.id)}/${verb}`), { agentId, token: lease.token, ...more })

  progress('agents work …')
  await workOff(claim, about)
  progress('mail does not get out …')
  await failMails(claim, about)
  progress('agents begin with more …')
  // These tasks stay in progress.
  for (const [agentId, max] of [['ada', 2], ['grace', 3], ['linus', 2]] as const) {
    for (const [i, each] of (await claim(agentId, max)).entries()) await about(each, agentId, 'heartbeat', { progress: { percent: 20 + 25 * i, step: ['reading', 'writing', 'checking'][i] }, ...(i === 0 ? { checkpoint: { done: ['plan'] } } : {}) })
  }
}

type ClaimSome = (agentId: string, max: number) => Promise<ReadonlyArray<Claim>>
type Report = (claim: Claim, agentId: string, verb: string, more: object) => Promise<unknown>

/** Most tasks are completed, one fails and is tried again later, one is given up, one waits for a person. */
const workOff = async (claim: ClaimSome, about: Report): Promise<void> => {
  const first = await claim('ada', 3)
  const second = await claim('grace', 3)
  for (const [i, each] of [...first, ...second].entries()) {
    const agentId = i < first.length ? 'ada' : 'grace'
    await about(each, agentId, 'heartbeat', { progress: { percent: 50 } })
    if (i === 3) await about(each, agentId, 'fail', { error: { message: 'TypeError: cannot read properties of undefined (reading "total")', code: 'TYPE' }, checkpoint: { commit: 'a1b2c3d' } })
    else if (i === 4) await about(each, agentId, 'fail', { error: { message: 'no such branch on the remote', code: 'GIT' }, retryable: false })
    else await about(each, agentId, 'complete', { result: { output: { commit: `c0ffee${i}`, files: 3 + i, passed: true }, decisionReport: { decision: 'kept the public interface', reason: 'others depend on it' } } })
  }
  for (const each of await claim('grace', 3)) await about(each, 'grace', 'complete', { result: { output: { passed: true, tests: 42 } } })
  const [parked] = await claim('linus', 1)
  if (parked !== undefined) await about(parked, 'linus', 'park', { callbackKey: `review-${parked.task.id}`, timeoutSeconds: 86_400, onTimeout: 'requeue' })
}

/** Five dead letters in a row open the breaker: the next claim gets no task. */
const failMails = async (claim: ClaimSome, about: Report): Promise<void> => {
  const [sent] = await claim('postman', 1)
  if (sent !== undefined) await about(sent, 'postman', 'complete', { result: { output: { accepted: true } } })
  for (;;) {
    const [next] = await claim('postman', 1)
    if (next === undefined) return
    await about(next, 'postman', 'fail', { error: { message: 'SMTP 535: authentication failed', code: 'EAUTH' }, retryable: false })
  }
}
