/**
 * The port to the log. One contract suite (`test/contract`) checks every adapter against these comments.
 *
 * Events are texts. The engine serialises an event once, and stores keep its bytes unchanged.
 */
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Observable } from 'rxjs'
import type { ChainEnd } from './chain-end.js'

/** An event to be appended. `data` and `metadata` are JSON texts. */
export interface EventToAppend {
  /** A UUID, unique within the stream. If the same append is sent again, it has the same ids. */
  readonly id: string
  readonly type: string
  readonly data: string
  readonly metadata: string
}

/** An event as a store returns it. */
export interface RecordedEvent extends EventToAppend {
  readonly stream: string
  /** 0 for a stream's first event, then without gaps. */
  readonly revision: number
  /** The order of events across all streams of the store. It grows, and may have gaps. */
  readonly position: number
  /** The store's own time when it wrote the event, ISO 8601. No decision depends on it. */
  readonly created: string
}

/** The revision of the stream's last event; `no_stream` for none; `any` to skip the check. */
export type ExpectedRevision = number | 'no_stream' | 'any'

/** What the seal of an append continues (EV-07): this end of the chain; or, with `sent`, the previous append to this stream, which has no answer yet. */
export type Continues = ChainEnd | 'sent'

export interface Appended {
  /** Revision of the last event of this append. */
  readonly revision: number
  /** The hash of its seal, if it was sealed. */
  readonly seal?: string
}

/** Why an append did not succeed. Only after `OutcomeUnknown` may it be in the log all the same. After every other error nothing was written. */
export type AppendError =
  | { readonly _tag: 'WrongExpectedRevision'; readonly actual: number | 'no_stream' }
  | { readonly _tag: 'OutcomeUnknown'; readonly reason: string }
  /** Not now (disk full, locked, not connected): the same append may be tried again later. */
  | { readonly _tag: 'Unavailable'; readonly reason: string }
  /** Over the store's limit for one append, which is `bytesMax`. */
  | { readonly _tag: 'AppendTooLarge'; readonly bytes: number; readonly bytesMax: number }

export interface ReadOptions {
  /** First revision to return. Default: `start` forwards, `end` backwards. */
  readonly from?: number | 'start' | 'end'
  readonly direction?: 'forwards' | 'backwards'
  /** The largest number of events to return. Default: no limit. */
  readonly limit?: number
}

/** Sent once by a subscription, when it has delivered all events that existed when it began. */
export interface CaughtUp {
  readonly _tag: 'CaughtUp'
  /** The stream's last revision, -1 for an empty one. */
  readonly revision: number
}

export type Delivered = ReadonlyArray<RecordedEvent> | CaughtUp

/** A reading of the store's own clock. */
export interface StoreTime {
  /** Milliseconds since 1970. A store may round down to the second. */
  readonly time: number
  /** When it was received, by `performance.now()`. */
  readonly heardAt: number
}

export interface StoreLimits {
  /** The largest size of one append in bytes: ids, types, data and metadata together. */
  readonly appendBytesMax: number
  readonly appendEventsMax: number
}

export interface EventStore {
  readonly name: string
  readonly limits: StoreLimits
  /** Whether other processes may append to the same streams. */
  readonly isShared: boolean

  /**
   * Appends all events or none. They are durable when it resolves to `Right`. An empty append throws. With `continues`, the last event gets a seal in
   * its metadata, which must be JSON objects; `expected` must not be `any` then. If the same append is sent again, it gets the same seal.
   */
  readonly append: (
    stream: string,
    events: ReadonlyArray<EventToAppend>,
    expected: ExpectedRevision,
    continues?: Continues,
  ) => TaskEither<AppendError, Appended>

  /** Pages of events, in order. A missing stream is empty. Leaving the loop early releases everything. Rejects with {@link StoreError}. */
  readonly read: (stream: string, options?: ReadOptions) => AsyncIterable<ReadonlyArray<RecordedEvent>>

  /**
   * The events at these revisions, in the order of the request; `undefined` where there is none. Meant for joining payloads: up to some thousands of
   * revisions anywhere in the stream.
   */
  readonly pick: (
    stream: string,
    revisions: ReadonlyArray<number>,
  ) => Promise<ReadonlyArray<RecordedEvent | undefined>>

  /** Revision of the last event, -1 for a missing stream. */
  readonly head: (stream: string) => Promise<number>

  /** The first revision that can be read; earlier events were archived. 0 for a stream that is whole, or missing. It only grows. */
  readonly first: (stream: string) => Promise<number>

  /** Names of the streams that start with `prefix`, in order of their first event. */
  readonly streams: (prefix: string) => Promise<ReadonlyArray<string>>

  /**
   * A catch-up subscription. It delivers every event from `from` (inclusive) on, in order, without gaps or repetitions, in batches; then a {@link
   * CaughtUp}; then live events, including those of other processes. Errors with {@link StoreError} if the store is closed or broken. Unsubscribing
   * releases everything.
   */
  readonly subscribe: (stream: string, from: number) => Observable<Delivered>

  /** The last reading of the store's own clock; `undefined` before the first. Stores without their own clock leave this out. */
  readonly time?: () => StoreTime | undefined

  /** Waits for appends in flight, then releases files and connections. Further calls fail. */
  readonly close: () => Promise<void>
}

export type StoreErrorCode =
  | 'locked'
  | 'read-only'
  | 'not-a-database'
  | 'damaged'
  | 'wrong-schema'
  /** An administrator has removed events of the stream, or the whole stream. */
  | 'truncated'
  | 'deleted'
  | 'unavailable'
  | 'closed'

/** A store cannot be opened or read. `code` is stable; the message says what to do next. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  constructor(
    readonly code: StoreErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The store is on another machine, and does not answer: the same may work later. */
export class StoreUnreachable extends StoreError {
  constructor(message: string, options?: ErrorOptions) {
    super('unavailable', message, options)
  }
}
