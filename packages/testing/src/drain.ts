/**
 * Runs handlers on a queue's tasks, one after the other, until nothing is ready: a worker without timers of its own. The worker's own code makes
 * outcomes of results and errors.
 */
import type { DaybookClient, DaybookError, Json, Status } from '@daybook/client'
import { failureInstead, isLost, outcomeOf, Run } from '@daybook/client/internal'
import { type ClaimedWork, type Handler, httpSource, LeaseLost, type SettleAnswer, type SettleOutcome, type TaskSource, type TypedHandler } from '@daybook/client/worker'
import { matchesType } from '@daybook/core'
import type { FakeClock } from './fake-clock.js'

/** One handler for every type, one for each type or pattern (`eng-*`), or those of declared types (`handlerOf`). Tasks of other types are left alone. */
// A handler's payload is its own assumption, so one of any payload is accepted.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Handlers = Handler<any> | Readonly<Record<string, Handler<any>>> | ReadonlyArray<TypedHandler>

export interface DrainOptions {
  /**
   * How far the clock may move, in milliseconds, for tasks that wait for a retry, for their time, or for a breaker. It moves no further than
   * necessary. Default 0; `Infinity` for no limit.
   */
  readonly advanceMs?: number | undefined
  /** After this many runs the drain fails, because a handler probably enqueues without end. Default 10,000. */
  readonly runsMax?: number | undefined
}

export interface DrainedRun {
  readonly id: string
  readonly type: string
  readonly attempt: number
  /** Status of the task after this run. `lost`: its lease had ended, and the outcome was refused. A result that is refused for what it is, is a failure. */
  readonly status: Status | 'lost'
  /** What the handler threw. */
  readonly error?: unknown
}

export interface Drained {
  readonly runs: ReadonlyArray<DrainedRun>
  readonly completed: number
  /** Runs that were failures: the handler threw, or returned `success: false`, or its result was refused. A parking and a release are none. */
  readonly failed: number
}

export interface DrainHost {
  readonly client: DaybookClient
  readonly clock: FakeClock
  readonly settle: () => Promise<void>
}

const agentId = 'test-worker'

/** @throws the error of an assertion that failed in a handler, after the attempt was reported as failed. */
export const drain = async (host: DrainHost, given: Handlers, { advanceMs = 0, runsMax = 10_000 }: DrainOptions = {}): Promise<Drained> => {
  const { client, clock, settle } = host
  const source = httpSource(client)
  const until = clock.now() + advanceMs
  const handlers = isList(given) ? Object.fromEntries(given.map((handler) => [handler.taskType, handler])) : given
  const types = typeof handlers === 'function' ? undefined : Object.keys(handlers)
  const runs: Array<DrainedRun> = []
  let failed = 0
  for (;;) {
    const [work] = await source.claim({ agentId, types, max: 1, waitMs: 0, leaseSeconds: 60 }, new AbortController().signal)
    if (work !== undefined) {
      if (runs.length >= runsMax) throw new Error(`${runsMax} runs did not drain the queue: does a handler enqueue without end? The last was of type ${work.task.type} (see runsMax)`)
      const { run, hasFailed } = await runOne(host, source, work, handlerFor(handlers, work.task.type))
      runs.push(run)
      if (hasFailed) failed++
      if (isAssertion(run.error)) throw run.error
    } else {
      if (clock.nextAt > until || clock.nextAt === Number.POSITIVE_INFINITY || !(await isAnyWaiting(client, types))) break
      await clock.moveTo(clock.nextAt, settle)
    }
  }
  return { runs, completed: runs.filter(({ status }) => status === 'completed').length, failed }
}

/** Whether a task waits that one of the handlers may get. */
const isAnyWaiting = async (client: DaybookClient, types: ReadonlyArray<string> | undefined): Promise<boolean> => {
  for (const type of types ?? [undefined]) {
    const { tasks } = await client.tasks({ status: ['scheduled', 'pending', 'queued'], limit: 1, ...(type === undefined ? {} : { type }) })
    if (tasks.length > 0) return true
  }
  return false
}

const isList = (handlers: Handlers): handlers is ReadonlyArray<TypedHandler> => Array.isArray(handlers)

const handlerFor = (handlers: Exclude<Handlers, ReadonlyArray<TypedHandler>>, type: string): Handler => {
  if (typeof handlers === 'function') return handlers
  // An exact name takes precedence over a pattern.
  const pattern = Object.hasOwn(handlers, type) ? type : Object.keys(handlers).find((each) => matchesType(each, type))
  return handlers[pattern as string] as Handler
}

/** Whether it is an assertion error of node:assert, vitest or jest. */
const isAssertion = (error: unknown): boolean =>
  error instanceof Error && ((error as { code?: unknown }).code === 'ERR_ASSERTION' || error.name === 'AssertionError' || 'matcherResult' in error)

const runOne = async ({ client, clock, settle }: DrainHost, source: TaskSource, work: ClaimedWork, handler: Handler): Promise<{ readonly run: DrainedRun; readonly hasFailed: boolean }> => {
  const { id, type, attempt } = work.task
  const beat = async (run: Run): Promise<void> => {
    const note = run.takeNote()
    const said = Object.fromEntries(Object.entries({ progress: note.progress, checkpoint: note.checkpoint }).filter(([, value]) => value !== undefined)) as { readonly progress?: Json; readonly checkpoint?: Json }
    const [answer] = await source.heartbeat([{ taskId: id, agentId, token: work.token, ...said }]).catch((error: DaybookError) => [{ ok: false as const, code: error.code, detail: error.detail }])
    if (answer?.ok === true) {
      for (const { resolve } of note.waiters) resolve()
      return
    }
    const { code, detail } = answer ?? { code: 'lease-lost', detail: 'no answer to a heartbeat' }
    const isOver = isLost(code)
    // Of a report that is refused, only its caller is told, as by a worker.
    const reason = isOver ? new LeaseLost(detail) : new Error(`${code}: ${detail}`)
    for (const { reject } of note.waiters) reject(reason)
    if (!isOver) return
    run.state = 'lost'
    run.abort(reason)
  }
  const run = new Run({ beatSoon: (each) => void beat(each) }, work, performance.now(), 1 / 3)
  run.state = 'running'
  // The lease is renewed when the handler moves the clock, as a worker would do.
  let stopRenewing = (): void => undefined
  const renewLater = (): void => {
    stopRenewing = clock.timers(work.leaseMs / 3, () => {
      void beat(run)
      renewLater()
    })
  }
  renewLater()
  let thrown: { readonly error: unknown } | undefined
  const watched: Handler = async (task, context) => {
    try {
      return await handler(task, context)
    } catch (error) {
      thrown = { error }
      throw error
    }
  }
  const outcome = await new Promise<SettleOutcome>((resolve) => {
    const now = outcomeOf(run, { handler: watched, agentId, isStopping: () => false }, (_, later) => resolve(later))
    if (now !== undefined) resolve(now)
  })
  stopRenewing()
  const { kind, answer } = await handIn(source, outcome, `${id}.${work.token}`)
  await settle()
  // The answer of `settle` tells whether the outcome was accepted. The status after it may be that of a retry or a dead letter.
  const status = answer.ok ? (await client.task(id)).status : 'lost'
  return { run: { id, type, attempt, status, ...thrown }, hasFailed: answer.ok && kind === 'fail' }
}

/** Hands the outcome in. If the queue refuses it for what it is, hands in the failure that says so, as a worker does. */
const handIn = async (source: TaskSource, outcome: SettleOutcome, attempt: string): Promise<{ readonly kind: SettleOutcome['kind']; readonly answer: SettleAnswer }> => {
  const nothing: SettleAnswer = { ok: false, code: 'lease-lost', detail: 'no answer to an outcome' }
  const [answer = nothing] = await source.settle([outcome], attempt).catch((error: DaybookError): ReadonlyArray<SettleAnswer> => [{ ok: false, code: error.code, detail: error.detail }])
  const instead = answer.ok || isLost(answer.code) ? undefined : failureInstead(outcome, answer)
  return instead === undefined ? { kind: outcome.kind, answer } : handIn(source, instead, `${attempt}.${instead.kind}`)
}
