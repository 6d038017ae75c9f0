import type { EventStore } from './event-store.js'

/** The reading part of a store. A log that is opened only for reading has no other methods. */
export type LogReader = Pick<EventStore, 'read' | 'pick' | 'head'>

/** Where another thread or process can open the same log. */
export type LogAddress =
  | { readonly kind: 'sqlite'; readonly file: string }
  /** `archive`: the folder of its archived events. `keys`: the file with the keys of erasable tasks, if there are any. An SQLite file has both beside it. */
  | { readonly kind: 'eventstoredb'; readonly url: string; readonly archive?: string; readonly keys?: string }

export interface OpenedLog extends LogReader {
  /** Names of the streams that start with `prefix`. */
  readonly streams: EventStore['streams']
  readonly first: EventStore['first']
  readonly close: () => Promise<void>
}
