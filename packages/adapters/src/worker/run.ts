/**
 * One claimed task in the hands of this worker, and the context that its handler sees.
 *
 * buffered → running → settling → gone
 *    │          ├──────→ stopped → settling | gone   the grace period was over: given back once its handler ends
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

/** What a handler has said and no heartbeat has carried yet. */
export interface Note {
  readonly progress: Json | undefined
  readonly checkpoint: Json | undefined
  readonly waiters: ReadonlyArray<Waiter>
}

export class Run implements HandlerContext {
  state: 'buffered' | 'running' | 'settling' | 'stopped' | 'lost' | 'gone' = 'buffered'
  readonly task: WorkTask
  readonly token: number
  readonly lastCheckpoint: Json | undefined
  /** How long the lease lasts without a heartbeat, in milliseconds. */
  readonly leaseMs: number
  /** Both by `performance.now()`. */
  leaseEndsAt: number
  beatAt: number
  startedAt = 0
  /** A heartbeat is under way. */
  beating = false
  private controller: AbortController | undefined
  private reason: Error | undefined
  private _progress: Json | undefined
  private _checkpoint: Json | undefined
  private _waiters: Array<Waiter> | undefined

  constructor(
    private readonly owner: RunOwner,
    { task, token, leaseMs, checkpoint }: ClaimedWork,
    now: number,
    renewRatio: number,
  ) {
    this.task = task
    this.token = token
    this.leaseMs = leaseMs
    this.lastCheckpoint = checkpoint
    this.leaseEndsAt = now + leaseMs
    this.beatAt = now + leaseMs * renewRatio
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.reason !== undefined) this.controller.abort(this.reason)
    return this.controller.signal
  }

  get lease(): { readonly token: number; readonly expiresAt: Date } {
    return { token: this.token, expiresAt: new Date(Date.now() + this.leaseEndsAt - performance.now()) }
  }

  get progress(): (value: Json) => void {
    return (value) => {
      if (this.state !== 'running') return
      this._progress = value
      this.owner.beatSoon(this)
    }
  }

  get checkpoint(): (value: Json) => Promise<void> {
    return (value) => {
      const durable = new Promise<void>((resolve, reject) => {
        if (this.state !== 'running') return reject(this.reason ?? new LeaseLost('the task is no longer held'))
        this._checkpoint = value
        this._waiters ??= []
        this._waiters.push({ resolve, reject })
        this.owner.beatSoon(this)
      })
      // Not awaiting it must not end the process when the lease is lost.
      durable.catch(() => undefined)
      return durable
    }
  }

  get release(): (reason: string) => never {
    return (reason) => {
      throw new Release(reason)
    }
  }

  /** The handler is told to end; nothing of it is reported any more. */
  abort(reason: Error): void {
    this.reason = reason
    this.controller?.abort(reason)
    const waiters = this._waiters
    this._waiters = undefined
    if (waiters !== undefined) for (const { reject } of waiters) reject(reason)
  }

  hasNote(): boolean {
    return this._progress !== undefined || this._checkpoint !== undefined
  }

  takeNote(): Note {
    const note = { progress: this._progress, checkpoint: this._checkpoint, waiters: this._waiters ?? [] }
    this._progress = undefined
    this._checkpoint = undefined
    this._waiters = undefined
    return note
  }

  /** The heartbeat that carried the note got no answer. What has been said since then is newer. */
  putBack(note: Note): void {
    this._progress ??= note.progress
    this._checkpoint ??= note.checkpoint
    if (note.waiters.length === 0) return
    if (this.reason !== undefined) for (const { reject } of note.waiters) reject(this.reason)
    else this._waiters = [...note.waiters, ...(this._waiters ?? [])]
  }
}
