/** What a worker can be told; every option with its consequence, default and range. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Json, Phase } from '@daybook/core'
import { inRange } from '../client/range.js'
import type { OnWorkerEvent } from './events.js'
import type { Handler } from './handler.js'
import type { TaskSource } from './source.js'

export interface WorkerOptions<P = Json> {
  /** Where the work comes from: `httpSource(client)` or `engineSource(engine)`. */
  readonly source: TaskSource
  /** What is done with a task. */
  readonly handler: Handler<P>
  /**
   * Under which name tasks are claimed. It may be the same over restarts: a worker that stops is not barred from
   * the tasks that it gives back, only an agent whose handler has refused a task is (GB-04). Default: host, process
   * and random characters, another name for each worker.
   */
  readonly agentId?: string
  /** Which types: exact, `eng-*` or `*`. Default: all. */
  readonly types?: ReadonlyArray<string>
  readonly phases?: ReadonlyArray<Phase>
  /** Which skills this worker has; tasks that require others are not claimed. Default: none. */
  readonly skills?: ReadonlyArray<string>
  readonly tenant?: string
  /** Handlers that run at a time. Default 10; 1–100,000. */
  readonly concurrency?: number
  /**
   * Most tasks claimed ahead of a free handler. Within it, the worker holds what it will have started within
   * `prefetchMs` at its present pace: nothing ahead of slow handlers, hundreds ahead of quick ones. Default
   * 100 × `concurrency`, at most 1,000; 0–100,000; 0 claims only what can start at once.
   *
   * *Gotchas*: a task claimed ahead is leased. A more urgent one that is enqueued later is claimed after it,
   * so priorities are strict only up to what is held ahead. Where that matters, set 0.
   */
  readonly prefetchMax?: number
  /** How far ahead of the present pace tasks are claimed, in milliseconds. Default 50; 0–60,000. */
  readonly prefetchMs?: number
  /** How long one claim waits for work, in milliseconds (long poll). Default 20,000; 0–60,000. */
  readonly claimWaitMs?: number
  /**
   * How long a lease lasts, in seconds. The worker renews it while it holds the task. So this is how soon the tasks of
   * a worker that was killed go to others. A task whose `timeout` is shorter has a lease of that length. Shorter leases
   * cost more heartbeats, each an event in the log, and bear shorter outages. Default 60; 0.1–86,400.
   */
  readonly leaseSeconds?: number
  /**
   * How long one handler may run, in seconds. Then its signal is aborted, and the attempt is reported as failed, to be
   * tried again: as soon as the handler ends, or after 10 seconds if it does not. Without a limit a handler that hangs
   * would keep its task for ever. Default 21,600 (6 hours); 0.001 or more; `Infinity` for no limit.
   */
  readonly maxRunSeconds?: number
  /** After which share of its lease a task's lease is extended. Smaller is safer and costs more. Default 1/3; 0.05–0.9. */
  readonly leaseRenewRatio?: number
  /** Most outcomes in one call. Default 500; 1–1,000. */
  readonly settleMax?: number
  /** Most calls that hand in outcomes at a time. Default 2; 1–16. */
  readonly settleInFlightMax?: number
  /** With so many outcomes not accepted yet, no more tasks are claimed: the bound on memory. Default 5,000; at least 1. */
  readonly unsettledMax?: number
  /** How long an outcome is sent again while the queue cannot be reached, in milliseconds. Default 600,000; 0–86,400,000. */
  readonly settleForMs?: number
  /** The longest pause between tries while the queue cannot be reached, in milliseconds. Default 10,000; 1–3,600,000. */
  readonly backoffMsMax?: number
  /** Told of each outcome that the queue has accepted, and of everything that goes wrong. Default: nobody. */
  readonly onEvent?: OnWorkerEvent
}

export interface StopOptions {
  /**
   * How long running handlers may take to finish, in milliseconds. After that their signals are aborted and
   * their tasks given back. Default 10,000; 0 or more.
   */
  readonly graceMs?: number
}

type Optional = 'types' | 'phases' | 'skills' | 'tenant' | 'onEvent'
export type WorkerConfig = Required<Omit<WorkerOptions, Optional>> & Pick<WorkerOptions, Optional>

/** @throws RangeError for an option out of its range. */
export const configureWorker = (options: WorkerOptions): WorkerConfig => {
  const concurrency = inRange('concurrency', options.concurrency ?? 10, 1, 100_000)
  return {
    ...options,
    agentId: options.agentId ?? `${hostname().slice(0, 64)}-${process.pid}-${randomBytes(4).toString('hex')}`,
    concurrency,
    prefetchMax: inRange('prefetchMax', options.prefetchMax ?? Math.min(1_000, 100 * concurrency), 0, 100_000),
    prefetchMs: inRange('prefetchMs', options.prefetchMs ?? 50, 0, 60_000),
    claimWaitMs: inRange('claimWaitMs', options.claimWaitMs ?? 20_000, 0, 60_000),
    leaseSeconds: inRange('leaseSeconds', options.leaseSeconds ?? 60, 0.1, 86_400),
    maxRunSeconds: inRange('maxRunSeconds', options.maxRunSeconds ?? 21_600, 0.001, Number.POSITIVE_INFINITY),
    leaseRenewRatio: inRange('leaseRenewRatio', options.leaseRenewRatio ?? 1 / 3, 0.05, 0.9),
    settleMax: inRange('settleMax', options.settleMax ?? 500, 1, 1_000),
    settleInFlightMax: inRange('settleInFlightMax', options.settleInFlightMax ?? 2, 1, 16),
    unsettledMax: inRange('unsettledMax', options.unsettledMax ?? 5_000, 1, Number.MAX_SAFE_INTEGER),
    settleForMs: inRange('settleForMs', options.settleForMs ?? 600_000, 0, 86_400_000),
    backoffMsMax: inRange('backoffMsMax', options.backoffMsMax ?? 10_000, 1, 3_600_000),
  }
}
