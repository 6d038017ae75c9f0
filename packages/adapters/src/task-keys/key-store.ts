/** The keys of tasks in erasable queues (EV-07): the port, and the types of its parts. */

export const keyBytes = 32

/** A key of a task. If another task later gets the same id, it gets another key. */
export interface TaskKey {
  /** Written beside everything that is encrypted with the key. */
  readonly id: string
  readonly key: Buffer
}

export interface NewKey extends TaskKey {
  readonly queue: string
  readonly task: string
  /** The revision of the first event that is encrypted with it, if its append succeeds at once. */
  readonly revision: number
}

/** `erased`: the key existed and was deleted. `undefined`: it was never here. */
export type FoundKey = Buffer | 'erased' | undefined

/** The part of the store that reading needs. */
export interface KeyReader {
  /** @throws Error if the keys cannot be read now. */
  readonly find: (id: string) => FoundKey
}

/** A key of a task, or the record of a deleted one. */
export interface HeldKey {
  readonly id: string
  readonly revision: number
  readonly isErased: boolean
}

/** The intention to erase a task. `revision`: the last one before the event of the erasure, or an earlier one. */
export interface Intention {
  readonly queue: string
  readonly task: string
  readonly revision: number
}

export interface KeyStore extends KeyReader {
  /** Whether a task of this queue ever had a key. */
  readonly hasAny: (queue: string) => boolean
  /** The newest key of the task with this id. */
  readonly newestOf: (queue: string, task: string) => TaskKey | 'erased' | undefined
  /** The keys are on disk when it returns. @throws Error if they cannot be written. */
  readonly add: (keys: ReadonlyArray<NewKey>) => void
  /** All keys of tasks that ever had this id, in the order of their revisions. */
  readonly allOf: (queue: string, task: string) => ReadonlyArray<HeldKey>
  /** The intention is on disk when it returns. */
  readonly intend: (intention: Intention) => void
  readonly withdraw: (intention: Intention) => void
  readonly intended: (queue: string) => ReadonlyArray<Intention>
  /**
   * Deletes the task's keys that were made before this revision, and the intention. No byte of the keys is in the file when it returns. @throws Error
   * if one may be.
   */
  readonly throwAway: (intention: Intention, before: number) => void
  readonly close: () => void
}

/** No keys: everything encrypted stays encrypted. */
export const noKeys: KeyReader = { find: () => undefined }
