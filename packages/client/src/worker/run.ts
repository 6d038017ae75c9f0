/**
 * One task claimed by this worker, and the context of its handler.
 *
 * buffered → running → settling → gone
 *    │          ├──────→ stopped → settling | gone   the grace period of a stop is over: given back once the handler ends
 *    │          ├──────→ overdue → settling          `maxRunSeconds` are over: failed once the handler ends, or soon after
 *    └──────────┴──────→ lost                        the lease is lost: nothing is reported
 *
 * Most tasks take microseconds and do not use their context, so its parts are made on demand.
 */
import type { Memory } from '../methods/memory.js'
import type { Json, ParkRequest } from '@daybook/core'
import { type HandlerContext, LeaseLost, Park, Release } from './handler.js'
import type { ClaimedWork, ReceivedCallback, WorkTask } from './source.js'

/** What a run needs from the worker. */
export interface RunOwner {
  /** Sends a heartbeat for this run as soon as possible. */
  readonly beatSoon: (run: Run) => void
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Reports of the handler that were not sent with a heartbeat yet. */
export interface Note {
  readonly progress: Json | undefined
  readonly checkpoint: Json | undefined
  /** Callers that wait until the checkpoint is durable. */
  readonly waiters: ReadonlyArray<Waiter>
}

/** The time reserved for the report of a handler that uses its whole limit: a twentieth of it, and at most this, in milliseconds. */
const reportMsMax = 1_000

export class Run implements HandlerContext {
  state: 'buffered' | 'running' | 'settling' | 'stopped' | 'overdue' | 'lost' | 'gone' = 'buffered'
  readonly task: WorkTask
  readonly token: number
  readonly lastCheckpoint: Json | undefined
  readonly callback: ReceivedCallback | undefined
  readonly memories: ReadonlyArray<Partial<Memory>>
  readonly memoriesMissing: string | undefined
  /** Length of the lease without a heartbeat, in milliseconds. */
  readonly leaseMs: number
  // These times are by `performance.now()`.
  leaseEndsAt: number
  /** When the next heartbeat is due. */
  beatAt: number
  /** The end of the task's `maxRunSeconds`. No heartbeat extends the lease beyond it. */
  readonly leaseEndsMax: number
  /** When the handler has to end, so that its report is in time: shortly before that. */
  readonly endBy: number
  startedAt = 0
  /** Whether a heartbeat is in flight. */
  beating = false
  private controller: AbortController | undefined
  private abortReason: Error | undefined
  private unsentProgress: Json | undefined
  private unsentCheckpoint: Json | undefined
  private checkpointWaiters: Array<Waiter> | undefined

  /** `leasedAt` is the latest possible start of the lease, by `performance.now()`. */
  constructor(
    private readonly owner: RunOwner,
    { task, token, leaseMs, checkpoint, callback, memories = [], memoriesMissing }: ClaimedWork,
    leasedAt: number,
    renewRatio: number,
  ) {
    this.task = task
    this.token = token
    this.leaseMs = leaseMs
    this.lastCheckpoint = checkpoint
    this.callback = callback
    this.memories = memories
    this.memoriesMissing = memoriesMissing
    const { maxRunSeconds = Number.POSITIVE_INFINITY } = task
    this.leaseEndsMax = leasedAt + maxRunSeconds * 1_000
    this.endBy = this.leaseEndsMax - Math.min(reportMsMax, maxRunSeconds * 50)
    this.leaseEndsAt = Math.min(leasedAt + leaseMs, this.leaseEndsMax)
    this.beatAt = leasedAt + leaseMs * renewRatio
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.abortReason !== undefined) this.controller.abort(this.abortReason)
    return this.controller.signal
  }

  get lease(): { readonly token: number; readonly expiresAt: Date } {
    return { token: this.token, expiresAt: new Date(Date.now() + this.leaseEndsAt - performance.now()) }
  }

  get progress(): (value: Json) => void {
    return (value) => {
      if (!this.isHeld) return
      this.unsentProgress = value
      this.owner.beatSoon(this)
    }
  }

  get checkpoint(): (value: Json) => Promise<void> {
    return (value) => {
      const durable = new Promise<void>((resolve, reject) => {
        if (!this.isHeld) return reject(this.abortReason ?? notHeld())
        this.unsentCheckpoint = value
        this.checkpointWaiters ??= []
        this.checkpointWaiters.push({ resolve, reject })
        this.owner.beatSoon(this)
      })
      // If the handler does not await it, the rejection at the loss of the lease must not end the process.
      durable.catch(() => undefined)
      return durable
    }
  }

  get release(): (reason: string) => never {
    return (reason) => {
      throw new Release(reason)
    }
  }

  get park(): (request: ParkRequest) => never {
    return (request) => {
      throw new Park(request)
    }
  }

  /** Whether the handler still runs and its task is leased. That may be so after its signal was aborted, because the worker stops or the handler ran too long. */
  private get isHeld(): boolean {
    return this.state === 'running' || this.state === 'stopped' || this.state === 'overdue'
  }

  private get isOver(): boolean {
    return this.state === 'lost' || this.state === 'gone'
  }

  /** Aborts the handler's signal. */
  abort(reason: Error): void {
    this.abortReason = reason
    this.controller?.abort(reason)
    if (this.isOver) this.over(reason)
  }

  /** Called when no more heartbeats are sent: nobody waits for a checkpoint any longer. */
  over(reason: Error = this.abortReason ?? notHeld()): void {
    const waiters = this.checkpointWaiters
    this.checkpointWaiters = undefined
    if (waiters !== undefined) for (const { reject } of waiters) reject(reason)
  }

  hasNote(): boolean {
    return this.unsentProgress !== undefined || this.unsentCheckpoint !== undefined
  }

  takeNote(): Note {
    const note = { progress: this.unsentProgress, checkpoint: this.unsentCheckpoint, waiters: this.checkpointWaiters ?? [] }
    this.unsentProgress = undefined
    this.unsentCheckpoint = undefined
    this.checkpointWaiters = undefined
    return note
  }

  /** Restores a note whose heartbeat got no answer. Newer reports replace its values. */
  putBack(note: Note): void {
    if (this.unsentProgress === undefined) this.unsentProgress = note.progress
    if (this.unsentCheckpoint === undefined) this.unsentCheckpoint = note.checkpoint
    if (note.waiters.length === 0) return
    if (this.isOver) for (const { reject } of note.waiters) reject(this.abortReason ?? notHeld())
    else this.checkpointWaiters = [...note.waiters, ...(this.checkpointWaiters ?? [])]
  }
}

const notHeld = (): LeaseLost => new LeaseLost('the task is no longer held')
