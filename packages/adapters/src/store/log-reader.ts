import type { EventStore } from './event-store.js'

/** The part of a store that reads. A log that is opened for reading alone has no more than this. */
export type LogReader = Pick<EventStore, 'read' | 'pick' | 'head'>

/** Where another thread or process opens the same log. */
export type LogAddress =
  | { readonly kind: 'sqlite'; readonly file: string }
  /** `archive`: the folder of what was moved out of it, `keys`: the file with the keys of erasable tasks, if there are any. An SQLite file has both beside it. */
  | { readonly kind: 'eventstoredb'; readonly url: string; readonly archive?: string; readonly keys?: string }

export interface OpenedLog extends LogReader {
  /** Names of the streams that start with `prefix`. */
  readonly streams: EventStore['streams']
  readonly first: EventStore['first']
  readonly close: () => Promise<void>
}
