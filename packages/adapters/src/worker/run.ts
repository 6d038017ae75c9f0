/**
 * One claimed task in the hands of this worker, and the context that its handler sees.
 *
 * buffered → running → settling → gone
 *    │          ├──────→ stopped → settling | gone   the grace period of a stop is over: given back once the handler ends
 *    │          ├──────→ overdue → settling          `maxRunSeconds` are over: failed once the handler ends, or soon after
 *    └──────────┴──────→ lost                        the lease is lost: nothing is reported
 *
 * Most tasks are done within microseconds and read nothing of their context, so all of it is made on demand.
 */
import type { Json } from '@daybook/core'
import { type HandlerContext, LeaseLost, Release } from './handler.js'
import type { ClaimedWork, WorkTask } from './source.js'

/** What a run needs of the worker. */
export interface RunOwner {
  /** Sends a heartbeat for this run as soon as possible. */
  readonly beatSoon: (run: Run) => void
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** What a handler has reported and no heartbeat has carried yet. */
export interface Note {
  readonly progress: Json | undefined
  readonly checkpoint: Json | undefined
  /** Who wait for the checkpoint to be durable. */
  readonly waiters: ReadonlyArray<Waiter>
}

export class Run implements HandlerContext {
  state: 'buffered' | 'running' | 'settling' | 'stopped' | 'overdue' | 'lost' | 'gone' = 'buffered'
  readonly task: WorkTask
  readonly token: number
  readonly lastCheckpoint: Json | undefined
  /** How long the lease lasts without a heartbeat, in milliseconds. */
  readonly leaseMs: number
  // These three are by `performance.now()`.
  leaseEndsAt: number
  /** When the next heartbeat is due. */
  beatAt: number
  startedAt = 0
  /** A heartbeat is under way. */
  beating = false
  private controller: AbortController | undefined
  private abortReason: Error | undefined
  private unsentProgress: Json | undefined
  private unsentCheckpoint: Json | undefined
  private checkpointWaiters: Array<Waiter> | undefined

  /** `leasedAt` is when the lease began at the latest, by `performance.now()`. */
  constructor(
    private readonly owner: RunOwner,
    { task, token, leaseMs, checkpoint }: ClaimedWork,
    leasedAt: number,
    renewRatio: number,
  ) {
    this.task = task
    this.token = token
    this.leaseMs = leaseMs
    this.lastCheckpoint = checkpoint
    this.leaseEndsAt = leasedAt + leaseMs
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
      if (this.state !== 'running') return
      this.unsentProgress = value
      this.owner.beatSoon(this)
    }
  }

  get checkpoint(): (value: Json) => Promise<void> {
    return (value) => {
      const durable = new Promise<void>((resolve, reject) => {
        if (this.state !== 'running') return reject(this.abortReason ?? new LeaseLost('the task is no longer held'))
        this.unsentCheckpoint = value
        this.checkpointWaiters ??= []
        this.checkpointWaiters.push({ resolve, reject })
        this.owner.beatSoon(this)
      })
      // A handler that does not await it must not end the process when the lease is lost.
      durable.catch(() => undefined)
      return durable
    }
  }

  get release(): (reason: string) => never {
    return (reason) => {
      throw new Release(reason)
    }
  }

  /** Tells the handler to end. */
  abort(reason: Error): void {
    this.abortReason = reason
    this.controller?.abort(reason)
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

  /** The heartbeat that carried the note got no answer. What was reported since then is newer, and wins. */
  putBack(note: Note): void {
    this.unsentProgress ??= note.progress
    this.unsentCheckpoint ??= note.checkpoint
    if (note.waiters.length === 0) return
    if (this.abortReason !== undefined) for (const { reject } of note.waiters) reject(this.abortReason)
    else this.checkpointWaiters = [...note.waiters, ...(this.checkpointWaiters ?? [])]
  }
}
