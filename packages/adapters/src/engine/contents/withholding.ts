/**
 * Decides which events of a queue are written encrypted, and under which key (EV-07). While the queue is `erasable`, these are all events with
 * contents of tasks. Afterwards, they are those of tasks that have a key. Withheld texts never reach the state, so they are not in snapshots either.
 */
import { type Command, headOf, holderOfContent, type QueueEvent, type QueueState, reject, revisionOf, withhold } from '@daybook/core'
import { type KeyStore, newKey, type NewKey, type TaskKey } from '../../task-keys/index.js'
import type { Refusal } from '../types.js'

/** The encrypted part of an event, beside its facts. */
export interface Secret {
  readonly key: TaskKey
  /** JSON text of the members that were withheld from the facts; empty if there are none. */
  readonly members: string
}

export interface WithSecrets {
  /** The events as they are folded. */
  readonly events: ReadonlyArray<QueueEvent>
  /** One for each event; `undefined` if the event is written unchanged. */
  readonly secrets: ReadonlyArray<Secret | undefined>
}

export class Withholding {
  /** Whether tasks of the queue have keys; `undefined` until it is known. */
  private hasKeys: boolean | undefined
  /** Why the keys cannot be read: nothing that was decided since can be written. */
  private problem: Error | undefined
  /** Keys that are not stored yet, and the same keys by task. */
  private made: Array<NewKey> = []
  private readonly madeFor = new Map<string, TaskKey>()

  constructor(
    private readonly queue: string,
    private readonly keys: KeyStore | undefined,
    /** Other processes may make keys. */
    private readonly isShared: boolean,
  ) {}

  /** Without a key store, an erasable queue can be read, but nothing can be written to it. */
  refusalIn(state: QueueState): Refusal | undefined {
    return this.keys === undefined && headOf(state).settings.erasable ? noPlaceForKeys : undefined
  }

  /**
   * The events without the withheld parts, and the secrets; `undefined` if all events are written unchanged. `state`: before these events. If the keys
   * cannot be read, the next {@link save} throws, so the events are not written.
   */
  of(state: QueueState, events: ReadonlyArray<QueueEvent>): WithSecrets | undefined {
    const { erasable } = headOf(state).settings
    if (!erasable && !this.mayHaveKeys()) return undefined
    const secrets: Array<Secret | undefined> = []
    const kept = events.map((event, index) => {
      const key = this.keyFor(event, erasable, revisionOf(state) + 1 + index)
      if (key === undefined) {
        secrets.push(undefined)
        return event
      }
      const { event: bare, members } = withhold(event)
      secrets.push({ key, members })
      return bare
    })
    return { events: kept, secrets }
  }

  /** Stores the new keys. Called before the append of events that are encrypted with them. @throws Error if keys cannot be stored, or could not be read. */
  save(): void {
    const { made, problem } = this
    this.problem = undefined
    this.made = []
    this.madeFor.clear()
    if (problem !== undefined) throw problem
    if (made.length === 0) return
    this.keys?.add(made)
    this.hasKeys = true
  }

  private mayHaveKeys(): boolean {
    if (this.hasKeys === undefined || (!this.hasKeys && this.isShared)) this.hasKeys = this.keys === undefined ? false : this.ask((keys) => keys.hasAny(this.queue))
    return this.hasKeys === true || this.made.length > 0
  }

  private keyFor(event: QueueEvent, erasable: boolean, revision: number): TaskKey | undefined {
    const task = holderOfContent(event)
    if (task === undefined) return undefined
    const isNew = event.type === 'TaskEnqueued' || event.type === 'TaskImported'
    if (isNew) return erasable ? this.make(task, revision) : undefined
    const known = this.madeFor.get(task) ?? this.ask((keys) => keys.newestOf(this.queue, task))
    // Later events about an erased task must not be readable either.
    if (known === 'erased') return this.make(task, revision)
    return known ?? (erasable ? this.make(task, revision) : undefined)
  }

  /** What the key store answers. An error is kept for {@link save}, because a decision cannot fail halfway. */
  private ask<A>(question: (keys: KeyStore) => A): A | undefined {
    if (this.keys === undefined) return undefined
    try {
      return question(this.keys)
    } catch (error) {
      this.problem = error instanceof Error ? error : new Error(String(error))
      return undefined
    }
  }

  private make(task: string, revision: number): TaskKey {
    const key = newKey()
    this.made.push({ ...key, queue: this.queue, task, revision })
    this.madeFor.set(task, key)
    return key
  }
}

/** The refusal of a command that would make a queue erasable in a program without a key store. */
export const refusalOfErasable = (command: Command): Refusal | undefined =>
  command.type === 'Configure' && command.patch.erasable === true ? reject('disabled', 'erasable queues need a place for the keys of their tasks, and this program was given none: give createDaybook `keys`') : undefined

const noPlaceForKeys: Refusal = {
  code: 'read-only',
  detail: 'read-only: the queue is erasable, and this program was given no place for the keys of its tasks: give createDaybook `keys`',
  retryAfterSeconds: 5,
}
