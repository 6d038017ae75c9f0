/** The keys of tasks in erasable queues (EV-07): the port, and the names of its parts. */

export const keyBytes = 32

/** A key of a task. Another task that gets the same id later has another one. */
export interface TaskKey {
  /** It is written beside everything that is encrypted with the key. */
  readonly id: string
  readonly key: Buffer
}

export interface NewKey extends TaskKey {
  readonly queue: string
  readonly task: string
  /** The revision of the first event that is encrypted with it, if its append succeeds at once. */
  readonly revision: number
}

/** `erased`: it was there, and was thrown away. `undefined`: it was never here. */
export type FoundKey = Buffer | 'erased' | undefined

/** What it takes to read. */
export interface KeyReader {
  /** @throws Error if the keys cannot be read now. */
  readonly find: (id: string) => FoundKey
}

/** A key of a task, or what is left of it. */
export interface HeldKey {
  readonly id: string
  readonly revision: number
  readonly isErased: boolean
}

/** A task is to be erased. `revision`: the last one before the event that says so, or an earlier one. */
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
  /** They are on disk when it returns. @throws Error if they cannot be written. */
  readonly add: (keys: ReadonlyArray<NewKey>) => void
  /** All keys of tasks that ever had this id, in the order of their revisions. */
  readonly allOf: (queue: string, task: string) => ReadonlyArray<HeldKey>
  /** It is on disk when it returns. */
  readonly intend: (intention: Intention) => void
  readonly withdraw: (intention: Intention) => void
  readonly intended: (queue: string) => ReadonlyArray<Intention>
  /** Throws away the task's keys that were made before this revision, and the intention. No byte of them is in the file when it returns. @throws Error if one may be. */
  readonly throwAway: (intention: Intention, before: number) => void
  readonly close: () => void
}

/** Where there are no keys: everything encrypted stays so. */
export const noKeys: KeyReader = { find: () => undefined }
