/** The options of a worker, each with its effect, default and range. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Json, Phase } from '@daybook/core'
import type { WithDefaults } from '../options.js'
import { inRange, wholeInRange } from '../range.js'
import type { OnWorkerEvent } from './events.js'
import type { Handler } from './handler.js'
import type { TaskSource } from './source.js'
import type { TypedHandler } from './typed-handler.js'

export interface WorkerOptions<P = Json> {
  /** The source of tasks: `httpSource(client)` or `engineSource(engine)`. */
  readonly source: TaskSource
  /** The function that works on each task. */
  readonly handler: Handler<P>
  /**
   * The name under which tasks are claimed. It may stay the same after a restart. A worker that stops is not barred from the tasks that it gives
   * back; only a release by the handler bars the agent from the task (GB-04). Default: host, process and random characters, different for each
   * worker.
   */
  readonly agentId?: string | undefined
  /** Task types to claim: exact, `eng-*` or `*`. Default: all. */
  readonly types?: ReadonlyArray<string> | undefined
  readonly phases?: ReadonlyArray<Phase> | undefined
  /** Skills of this worker; tasks that require others are not claimed. Default: none. */
  readonly skills?: ReadonlyArray<string> | undefined
  readonly tenant?: string | undefined
  /** The largest number of handlers that run at a time. Default 10; 1–100,000. */
  readonly concurrency?: number | undefined
  /**
   * The largest number of tasks that are claimed before a handler is free. Up to this, the worker claims what it will start within `prefetchMs` at
   * its present rate: nothing ahead of slow handlers, hundreds of tasks ahead of quick ones. Default 100 × `concurrency`, at most 1,000; 0–100,000. 0
   * claims only what can start at once.
   *
   * *Gotchas*: a task claimed ahead is leased. A more urgent task that is enqueued later is claimed after it, so priorities are not strict among the
   * tasks claimed ahead. If that matters, set 0.
   */
  readonly prefetchMax?: number | undefined
  /** The length of work for which tasks are claimed ahead at the present rate, in milliseconds. Default 50; 0–60,000. */
  readonly prefetchMs?: number | undefined
  /** How long one claim waits for tasks (long poll), in milliseconds. Default 20,000; 0–60,000. */
  readonly claimWaitMs?: number | undefined
  /**
   * Length of a lease, in seconds. The worker renews it while it holds the task, so this is the time after which the tasks of a killed worker go to
   * others. A task with a shorter `timeout` gets a lease of that length. Shorter leases need more heartbeats, each an event in the log, and tolerate
   * only shorter outages. Default 60; 0.1–86,400.
   */
  readonly leaseSeconds?: number | undefined
  /**
   * How long one handler may run, in seconds. Then its signal is aborted, and the attempt is reported as failed and retryable: as soon as the handler
   * ends, or after 6 seconds if it does not. Without a limit, a handler that hangs would keep its task for ever.
   *
   * A task's own `maxRunSeconds` counts from its claim, and takes precedence if it ends earlier. The handler then has to end a twentieth of that time
   * earlier, at most one second, so that the report is in time. Default 21,600 (6 hours); 0.001 or more; `Infinity` for no limit.
   */
  readonly maxRunSeconds?: number | undefined
  /** Share of a lease after which it is extended. Smaller is safer and costs more. Default 1/3; 0.05–0.9. */
  readonly leaseRenewRatio?: number | undefined
  /** Maximum number of outcomes in one call. Default 500; 1–1,000. */
  readonly settleMax?: number | undefined
  /** Maximum number of concurrent calls that send outcomes. Default 2; 1–16. */
  readonly settleInFlightMax?: number | undefined
  /** Once this many outcomes are not accepted yet, no more tasks are claimed. This bounds memory. Default 5,000; at least 1. */
  readonly unsettledMax?: number | undefined
  /** For how long an outcome is sent again while the queue cannot be reached, in milliseconds. Default 600,000; 0–86,400,000. */
  readonly settleForMs?: number | undefined
  /** The longest pause between retries while the queue cannot be reached, in milliseconds. Default 10,000; 1–3,600,000. */
  readonly backoffMsMax?: number | undefined
  /**
   * Whether the worker registers its agent, so that the queue knows what it can take. A task that another agent failed is then left to this one. An
   * idle registered worker costs an event every seven minutes. Default true.
   */
  readonly register?: boolean | undefined
  /** Called with each accepted outcome and with every error. Default: not called. */
  readonly onEvent?: OnWorkerEvent | undefined
}

/** Of a worker of declared types. It claims these types. */
export interface TypedWorkerOptions extends Omit<WorkerOptions, 'handler' | 'types'> {
  /** One for each type: see `handlerOf`. */
  readonly handlers: ReadonlyArray<TypedHandler>
}

export interface StopOptions {
  /**
   * How long running handlers may take to finish, in milliseconds. After that their signals are aborted, and their tasks are given back. Default
   * 10,000; 0 or more.
   */
  readonly graceMs?: number | undefined
}

type Optional = 'types' | 'phases' | 'skills' | 'tenant' | 'onEvent'
export type WorkerConfig = WithDefaults<Omit<WorkerOptions, Optional>> & Pick<WorkerOptions, Optional> & { readonly isNameMade: boolean }

/** @throws RangeError for an option out of its range. */
export const configureWorker = (options: WorkerOptions): WorkerConfig => {
  const concurrency = wholeInRange('concurrency', options.concurrency ?? 10, 1, 100_000)
  return {
    ...options,
    agentId: options.agentId ?? `${hostname().slice(0, 64)}-${process.pid}-${randomBytes(4).toString('hex')}`,
    isNameMade: options.agentId === undefined,
    register: options.register ?? true,
    concurrency,
    prefetchMax: wholeInRange('prefetchMax', options.prefetchMax ?? Math.min(1_000, 100 * concurrency), 0, 100_000),
    prefetchMs: inRange('prefetchMs', options.prefetchMs ?? 50, 0, 60_000),
    claimWaitMs: inRange('claimWaitMs', options.claimWaitMs ?? 20_000, 0, 60_000),
    leaseSeconds: inRange('leaseSeconds', options.leaseSeconds ?? 60, 0.1, 86_400),
    maxRunSeconds: inRange('maxRunSeconds', options.maxRunSeconds ?? 21_600, 0.001, Number.POSITIVE_INFINITY),
    leaseRenewRatio: inRange('leaseRenewRatio', options.leaseRenewRatio ?? 1 / 3, 0.05, 0.9),
    settleMax: wholeInRange('settleMax', options.settleMax ?? 500, 1, 1_000),
    settleInFlightMax: wholeInRange('settleInFlightMax', options.settleInFlightMax ?? 2, 1, 16),
    unsettledMax: wholeInRange('unsettledMax', options.unsettledMax ?? 5_000, 1, Number.MAX_SAFE_INTEGER),
    settleForMs: inRange('settleForMs', options.settleForMs ?? 600_000, 0, 86_400_000),
    backoffMsMax: inRange('backoffMsMax', options.backoffMsMax ?? 10_000, 1, 3_600_000),
  }
}
