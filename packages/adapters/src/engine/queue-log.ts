/** The stream of one queue: reading, appending and subscribing. */
import type { Either } from 'fp-ts/lib/Either.js'
import type { Observable } from 'rxjs'
import type { AppendError, Appended, Delivered, EventStore, EventToAppend, RecordedEvent, StoreLimits } from '../store/index.js'
import { streamOf } from './replay.js'

export class QueueLog {
  private readonly stream: string

  constructor(
    private readonly store: EventStore,
    queue: string,
  ) {
    this.stream = streamOf(queue)
  }

  get limits(): StoreLimits {
    return this.store.limits
  }

  /** Appends after the event at revision `expected`, -1 for an empty log. */
  append(texts: ReadonlyArray<EventToAppend>, expected: number): Promise<Either<AppendError, Appended>> {
    return this.store.append(this.stream, texts, expected < 0 ? 'no_stream' : expected)()
  }

  pick(revisions: ReadonlyArray<number>): Promise<ReadonlyArray<RecordedEvent | undefined>> {
    return this.store.pick(this.stream, revisions)
  }

  /** The events of this queue from a revision, whoever appends them. */
  subscribe(from: number): Observable<Delivered> {
    return this.store.subscribe(this.stream, from)
  }

  read(from: number): AsyncIterable<ReadonlyArray<RecordedEvent>> {
    return this.store.read(this.stream, { from })
  }
}
