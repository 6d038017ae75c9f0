/**
 * Erases the content of finished tasks (EV-07). A crash at any point leaves nothing half done for longer than until the next start:
 *
 *     record the intention beside the keys ──▶ append TaskErased ──▶ delete the keys together with the intention
 *
 * At the start of a queue, each intention is looked up in the log. If its event is there, the keys are deleted; otherwise the intention is.
 */
import { isFinal, reject, taskOf, type TaskView } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { errorText } from '../../error-text.js'
import { encryptedIn, type HeldKey, type Intention, type KeyStore } from '../../task-keys/index.js'
import { StoreError } from '../../store/index.js'
import type { QueueLog } from '../log/queue-log.js'
import { unavailable } from '../refusals.js'
import type { Caller, Erased, Outcome, QueueEngine, Refusal } from '../types.js'
import { parseObject } from '../log/wire.js'

export interface EraserParts {
  readonly queue: string
  readonly keys: KeyStore | undefined
  readonly log: QueueLog
  /** Whether other processes may append. */
  readonly isShared: boolean
  readonly engine: Pick<QueueEngine, 'read' | 'submit'>
  readonly warn: (message: string) => void
}

export class Eraser {
  constructor(private readonly parts: EraserParts) {}

  async erase(task: string, reason: string, caller: Caller): Promise<Outcome<Erased>> {
    const { queue, keys, engine } = this.parts
    if (keys === undefined) return E.left(reject('disabled', 'this program was given no place for the keys of tasks, so it cannot throw any away: give createDaybook `keys`'))
    const read = await engine.read((state, at) => taskOf(state, task, at))
    if (E.isLeft(read)) return read
    const { value: view, revision } = read.right
    const id = view?.id ?? task
    try {
      const held = keys.allOf(queue, id)
      const obstacle = await this.obstacleTo(id, view, held)
      if (obstacle !== undefined) return E.left(obstacle)
      if (isOver(view) && held.every(({ isErased }) => isErased)) return await this.endEarlier(keys, id, revision)
      keys.intend({ queue, task: id, revision })
    } catch (error) {
      const what = error instanceof StoreError ? 'the log cannot be read' : 'the keys of erasable tasks cannot be used'
      return E.left(unavailable(`${what}: ${errorText(error)}`))
    }
    const outcome = await engine.submit({ type: 'Erase', task: id, reason, ...(view === undefined ? { outlived: true as const } : {}) }, caller)
    if (E.isLeft(outcome)) {
      // The next start finds out whether it happened.
      if (outcome.left.code !== 'outcome-unknown') this.withdraw({ queue, task: id, revision })
      return outcome
    }
    return this.throwAway({ queue, task: id, revision }, outcome.right.revision)
  }

  /** The task is erased, unless its key could not be taken out of the file of the keys at the last try. */
  private async endEarlier(keys: KeyStore, id: string, revision: number): Promise<Outcome<Erased>> {
    const begun = keys.intended(this.parts.queue).find(({ task }) => task === id)
    const recorded = begun === undefined ? undefined : await this.revisionOfErasure(begun)
    return begun === undefined || recorded === undefined ? E.right({ value: { id, erased: true }, revision }) : this.throwAway(begun, recorded)
  }

  /** Completes what a crash interrupted. Called at the start of the queue, before anything is decided here. */
  async resume(): Promise<void> {
    const { queue, keys, isShared, warn } = this.parts
    try {
      for (const intention of keys?.intended(queue) ?? []) {
        const revision = await this.revisionOfErasure(intention)
        if (revision !== undefined) keys?.throwAway(intention, revision)
        // Another server may be about to append the event.
        else if (!isShared) keys?.withdraw(intention)
      }
    } catch (error) {
      // The queue must start all the same. The intention stays for the next start, or for the next attempt by a person.
      warn(`a task that was to be erased may still have its key: ${errorText(error)}. Erase it again`)
    }
  }

  /** Why this task cannot be erased; `undefined` if it can. `decide` checks further reasons. */
  private async obstacleTo(id: string, view: TaskView | undefined, held: ReadonlyArray<HeldKey>): Promise<Refusal | undefined> {
    if (view !== undefined && !isFinal(view.status)) return undefined
    const first = await this.parts.log.pick(held.map(({ revision }) => revision))
    // The first event of a task has the revision for which the key was made.
    const whole = held.filter(({ id: key }, index) => isFirstEvent(first[index]?.type) && encryptedIn(first[index]?.data ?? '')?.keyId === key)
    if (view === undefined ? whole.length > 0 : whole.some(({ revision }) => revision === view.enqueuedRevision)) return undefined
    if (view === undefined && held.length === 0) return reject('not-found', `no task ${id} with a key in queue ${this.parts.queue}: it was never enqueued here while the queue was erasable, or its keys are elsewhere`)
    return reject('wrong-state', `${id} was enqueued while the queue was not erasable: what it contains is in the log in the clear, and nothing can be taken out of the log. After \`daybook settings set erasable=true\`, tasks that are enqueued can be erased`)
  }

  private throwAway(intention: Intention, revision: number): Outcome<Erased> {
    try {
      this.parts.keys?.throwAway(intention, revision)
      return E.right({ value: { id: intention.task, erased: true }, revision })
    } catch (error) {
      return E.left(unavailable(`revision ${revision} says that ${intention.task} is erased, but its key could not be thrown away: ${errorText(error)}. Erase it again; the next start of the server tries it as well`))
    }
  }

  private withdraw(intention: Intention): void {
    try {
      this.parts.keys?.withdraw(intention)
    } catch (error) {
      // The next start withdraws it.
      this.parts.warn(errorText(error))
    }
  }

  /** The revision of the event that an intention led to; `undefined` if there is none. */
  private async revisionOfErasure({ task, revision }: Intention): Promise<number | undefined> {
    for await (const page of this.parts.log.read(revision + 1)) {
      const found = page.find(({ type, data }) => type === 'TaskErased' && parseObject(data)?.task === task)
      if (found !== undefined) return found.revision
    }
    return undefined
  }
}

const isOver = (view: TaskView | undefined): boolean => view === undefined || isFinal(view.status)
const isFirstEvent = (type: string | undefined): boolean => type === 'TaskEnqueued' || type === 'TaskImported'
