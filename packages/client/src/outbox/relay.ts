/**
 * The relay of an outbox: moves its rows into the queues, batch by batch.
 *
 *   new → running → stopping → stopped
 *
 * It has one connection to the database, on which it also listens. If that fails, it connects again. A queue that cannot be reached, or refuses the token, rests for a
 * while; the rows of other queues are moved meanwhile.
 */
import type { DaybookClient } from '../methods/daybook-client.js'
import type { DaybookError } from '../errors.js'
import { inRange } from '../range.js'
import { backoffMs, pause } from '../transport/retry.js'
import { Gate } from '../worker/gate.js'
import type { Connection, Connections } from './database.js'
import { type Batch, moveBatch } from './move-batch.js'
import { RestingQueues } from './resting-queues.js'
import type { Table } from './table.js'

export interface RelayOptions {
  /** Where the table is: a `Pool` of `pg`, for example. The relay takes one connection, and keeps it. */
  readonly database: Connections
  /** Of the server, with a token that may enqueue in the queues of the rows. */
  readonly client: DaybookClient
  /** Most rows in one batch, which is one request for each queue. Default 500; 1–1,000. */
  readonly batchMax?: number | undefined
  /**
   * How often the table is looked at, in milliseconds, when no notification comes. Default 1,000; 10–3,600,000.
   */
  readonly pollMs?: number | undefined
  /** Whether to listen for notifications. False behind a pooler that shares connections between transactions. Default true. */
  readonly listen?: boolean | undefined
  /** The longest pause after failures, in milliseconds. Default 10,000; 10–3,600,000. */
  readonly backoffMsMax?: number | undefined
  /** Told of progress and of every error. Default: nobody. */
  readonly onEvent?: ((event: RelayEvent) => void) | undefined
}

export type RelayEvent =
  /** `count` rows are in their queue; it had `duplicates` of them before. */
  | { readonly type: 'moved'; readonly queue: string; readonly count: number; readonly duplicates: number }
  /** The queue does not take the row; it was set aside, with the problem. `id`: of the row. */
  | { readonly type: 'refused'; readonly queue: string; readonly id: string; readonly number: string; readonly error: DaybookError }
  /** Tried again after `retryInMs`. Without `queue`, it is the database that failed. */
  | { readonly type: 'failed'; readonly queue?: string; readonly error: unknown; readonly retryInMs: number }

export interface RelayStats {
  readonly state: 'new' | 'running' | 'stopping' | 'stopped'
  /** Whether this relay had the lock when it looked last. One has it at a time, for one batch, so several may say so. */
  readonly leads: boolean
  readonly moved: number
  readonly duplicates: number
  readonly refused: number
}

export interface Relay {
  /** Begins. A relay can be started once. */
  readonly start: () => void
  /**
   * Finishes the batch under way, and gives the connection back. After `graceMs` (default 10,000) it gives the batch up: its rows stay in the table, and are
   * sent again by the next relay. Never rejects.
   */
  readonly stop: (options?: { readonly graceMs?: number }) => Promise<void>
  readonly stats: () => RelayStats
}

export const createRelay = (table: Table, options: RelayOptions): Relay => {
  const { database, client, listen = true } = options
  const rowsMax = inRange('batchMax', options.batchMax ?? 500, 1, 1_000)
  const pollMs = inRange('pollMs', options.pollMs ?? 1_000, 10, 3_600_000)
  const backoffMsMax = inRange('backoffMsMax', options.backoffMsMax ?? 10_000, 10, 3_600_000)
  const counts = { leads: false, moved: 0, duplicates: 0, refused: 0 }
  const resting = new RestingQueues(backoffMsMax)
  const stopping = new AbortController()
  const givenUp = new AbortController()
  const wake = new Gate()
  /** Something was inserted since the table was looked at. */
  let isNews = false
  let state: RelayStats['state'] = 'new'
  let running: Promise<void> | undefined
  let stopped: Promise<void> | undefined

  const tell = (event: RelayEvent): void => {
    try {
      options.onEvent?.(event)
    } catch (error) {
      // An error in `onEvent` must not stop the rows, but must not be hidden either.
      queueMicrotask(() => {
        throw error
      })
    }
  }
  const news = (): void => {
    isNews = true
    wake.open()
  }

  const connect = async (): Promise<{ readonly connection: Connection; readonly isBroken: () => boolean }> => {
    const connection = await database.connect()
    let broken = false
    const end = (): void => {
      broken = true
      wake.open()
    }
    // Without a listener, an error of a connection would end the program.
    connection.on?.('error', end)
    connection.on?.('end', end)
    connection.on?.('notification', news)
    try {
      if (listen && connection.on !== undefined) await connection.query(`LISTEN "${table.channel}"`)
    } catch (error) {
      connection.release(true)
      throw error
    }
    return { connection, isBroken: () => broken }
  }

  /** Counts and tells what was committed. Returns whether rows were moved or set aside, so that it is worth looking again at once. */
  const account = ({ leads, sent }: Batch): boolean => {
    counts.leads = leads
    let isProgress = false
    for (const [queue, { done, duplicates, refused, failed }] of sent) {
      counts.moved += done.length
      counts.duplicates += duplicates
      counts.refused += refused.length
      if (done.length + refused.length > 0) isProgress = true
      if (done.length > 0) tell({ type: 'moved', queue, count: done.length, duplicates })
      for (const { row, error } of refused) tell({ type: 'refused', queue, id: row.id, number: row.number, error })
      if (failed === undefined) resting.recovered(queue)
      else if (!givenUp.signal.aborted) tell({ type: 'failed', queue, error: failed, retryInMs: resting.failed(queue, failed) })
    }
    return isProgress
  }

  const run = async (): Promise<void> => {
    let connected: Awaited<ReturnType<typeof connect>> | undefined
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        connected ??= await connect()
        isNews = false
        const batch = await moveBatch(connected.connection, { table, client, rowsMax, signal: givenUp.signal }, resting.names())
        failures = 0
        // Nobody opens the gate again for what happened during the batch.
        if (!account(batch) && !isNews && !connected.isBroken() && !stopping.signal.aborted) await wake.passWithin(Math.min(pollMs, resting.msLeft()))
        if (connected.isBroken()) throw new Error('the connection to the database has ended')
      } catch (error) {
        connected?.connection.release(true)
        connected = undefined
        if (stopping.signal.aborted) break
        const retryInMs = backoffMs(++failures, error, backoffMsMax)
        tell({ type: 'failed', error, retryInMs })
        await pause(retryInMs, stopping.signal)
      }
    }
    // It listens, so nobody else should get it.
    connected?.connection.release(true)
  }

  const shutDown = async (graceMs: number): Promise<void> => {
    state = 'stopping'
    stopping.abort()
    wake.open()
    const ended = new AbortController()
    const ending = (running ?? Promise.resolve()).finally(() => ended.abort())
    await pause(graceMs, ended.signal)
    givenUp.abort()
    // A database that does not answer must not keep the program from ending.
    await Promise.race([ending, pause(1_000)])
    counts.leads = false
    state = 'stopped'
  }

  return {
    start: () => {
      if (state !== 'new') throw new Error(`this relay is ${state}; create another one`)
      state = 'running'
      running = run()
    },
    stop: ({ graceMs = 10_000 } = {}) => (stopped ??= shutDown(graceMs)),
    stats: () => ({ state, ...counts }),
  }
}
