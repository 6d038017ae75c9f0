/** The stream of one queue: reading, appending and subscribing. */
import * as E from 'fp-ts/lib/Either.js'
import type { Observable } from 'rxjs'
import type { EventType } from '@daybook/core'
import type { Appended, AppendError, ChainHead, Continues, Delivered, EventStore, EventToAppend, RecordedEvent } from '../../store/index.js'
import { streamOf } from '../state/replay.js'
import { newestBehind } from './history.js'

export class QueueLog {
  private readonly stream: string

  constructor(
    private readonly store: EventStore,
    queue: string,
  ) {
    this.stream = streamOf(queue)
  }

  /** Appends after the event at revision `expected`; -1 for an empty log. Resolves to the seal of the append. */
  async append(texts: ReadonlyArray<EventToAppend>, expected: number, continues: Continues): Promise<E.Either<AppendError, ChainHead>> {
    const result = await this.store.append(this.stream, texts, expected < 0 ? 'no_stream' : expected, continues)()
    return E.isLeft(result) ? result : E.right({ revision: expected + texts.length, hash: sealIn(result.right) })
  }

  pick(revisions: ReadonlyArray<number>): Promise<ReadonlyArray<RecordedEvent | undefined>> {
    return this.store.pick(this.stream, revisions)
  }

  /** The newest event of a type among those of the task whose last event is at the revision `last`. */
  newestBehind(last: number, type: EventType): Promise<RecordedEvent | undefined> {
    return newestBehind(this.store, this.stream, last, type)
  }

  /** The events of this queue from a revision on, whoever appends them. */
  subscribe(from: number): Observable<Delivered> {
    return this.store.subscribe(this.stream, from)
  }

  read(from: number): AsyncIterable<ReadonlyArray<RecordedEvent>> {
    return this.store.read(this.stream, { from })
  }
}

const sealIn = ({ seal }: Appended): string => {
  if (seal === undefined) throw new Error('the store does not seal what it appends')
  return seal
}
