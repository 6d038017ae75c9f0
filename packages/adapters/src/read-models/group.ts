/** Projections that are at the same revision of each queue, and are fed together. */
import type { Database } from 'better-sqlite3'
import { isUnreadable } from '@daybook/core'
import type { Feed, Table, TableProjection } from '@daybook/projections'
import { loggedEvent } from '../engine/index.js'
import type { RecordedEvent } from '../store/index.js'
import { type Prefix, reader, stateOf, wordsInsert } from './schema.js'
import { TableRows } from './table-rows.js'

/** How far a group has come in a queue. */
interface Place {
  /** The last written revision; -1 before the first event. */
  revision: number
  /** Id of that event, '' before the first. */
  eventId: string
  unreadable: number
  /** The last event of the current batch. */
  folded: RecordedEvent | undefined
  /** Number of events in that batch that could not be read. */
  skipped: number
  readonly feeds: ReadonlyArray<Feed>
}

/**
 * A double has 53 exact bits, so the keys of 8,192 queues may be this far apart. Those of the next 8,192 queues lie between them, {@link numbersMax}
 * after the first, and so on: up to two million queues in a file, with keys that never change.
 */
const queuesApart = 2 ** 40
const queuesInRound = 2 ** 13
/** The largest number of tasks of one queue in a file. */
const numbersMax = 2 ** 32

/** The key before that of the first task of a queue. `number`: the queue's. */
const keysFrom = (number: number): number => (number % queuesInRound) * queuesApart + Math.floor(number / queuesInRound) * numbersMax

export class Group {
  private readonly tables = new Map<Table, TableRows<Table>>()
  private readonly words = new Map<number, readonly [description: string, error: string]>()
  private readonly places = new Map<string, Place>()

  constructor(
    private readonly db: Database,
    readonly models: ReadonlyArray<TableProjection>,
    private readonly prefix: Prefix,
  ) {
    for (const { tables } of models) for (const table of tables) this.tables.set(table, new TableRows(db, table, prefix))
  }

  /** Revision and id of the last event of the queue that its tables include. */
  at(queue: string): { readonly revision: number; readonly eventId: string } {
    return this.place(queue)
  }

  /** Folds the next events of a queue, and writes rows and checkpoint. */
  take(queue: string, events: ReadonlyArray<RecordedEvent>): void {
    this.fold(queue, events)
    this.write(queue)
  }

  /** Folds the next events of a queue into rows in memory. Readers do not see them before {@link write}. */
  fold(queue: string, events: ReadonlyArray<RecordedEvent>): void {
    const place = this.place(queue)
    const last = events[events.length - 1]
    if (last === undefined) return
    const next = (place.folded?.revision ?? place.revision) + 1
    if (events[0]?.revision !== next || last.revision !== next + events.length - 1) {
      throw new Error(`the log of queue ${queue} goes on at revision ${events[0]?.revision ?? -1} where ${next} should be`)
    }
    // One transaction for all look-ups of a batch. A transaction for each would take more than half as long again.
    if (!this.db.inTransaction) this.db.exec('BEGIN')
    for (const recorded of events) {
      const logged = loggedEvent(recorded)
      if (isUnreadable(logged)) place.skipped++
      else for (const feed of place.feeds) feed.fold(logged)
    }
    place.folded = last
  }

  /**
   * Writes the rows of the batch and the checkpoint in one transaction. Afterwards, between `keptMax` and twice as many rows of each table stay in
   * memory, besides those of two batches.
   */
  write(queue: string, keptMax = 0): void {
    const place = this.place(queue)
    const { folded: last } = place
    if (last === undefined) return
    for (const feed of place.feeds) feed.settle()
    // The transaction has only read. It could not write if another process has written since.
    this.db.exec('COMMIT')
    this.db.transaction(() => {
      this.moveOn(queue, place, last)
      for (const rows of this.tables.values()) rows.write()
      this.writeWords()
    }).immediate()
    for (const rows of this.tables.values()) rows.settled(keptMax)
    this.words.clear()
    place.revision = last.revision
    place.eventId = last.id
    place.unreadable += place.skipped
    place.folded = undefined
    place.skipped = 0
  }

  private place(queue: string): Place {
    let place = this.places.get(queue)
    if (place === undefined) this.places.set(queue, (place = this.newPlace(queue)))
    return place
  }

  private newPlace(queue: string): Place {
    const base = keysFrom(this.numberOf(queue))
    const state = stateOf(this.prefix)
    const found = this.models.map(({ name }) =>
      this.db.prepare<[string, string, string], { revision: number; event_id: string; unreadable: number }>('SELECT revision, event_id, unreadable FROM projections WHERE name = ? AND state = ? AND queue = ?').get(name, state, queue),
    )
    const [first] = found
    if (found.some((each) => each?.revision !== first?.revision)) throw new Error(`the read models of queue ${queue} are not at the same revision: delete the file, it is built anew from the log`)
    const written = {
      queue,
      keyOf: (task: number) => base + task,
      rows: <T extends Table>(table: T) => this.tables.get(table) as TableRows<T>,
      words: { put: (key: number, description: string, error: string) => void this.words.set(key, [description, error]) },
    }
    return { revision: first?.revision ?? -1, eventId: first?.event_id ?? '', unreadable: first?.unreadable ?? 0, folded: undefined, skipped: 0, feeds: this.models.map((model) => model.feed(written)) }
  }

  private numberOf(queue: string): number {
    this.db.prepare('INSERT OR IGNORE INTO queues (queue) VALUES (?)').run(queue)
    return this.db.prepare<[string], number>('SELECT number FROM queues WHERE queue = ?').pluck().get(queue) as number
  }

  /** Each event is folded once: nothing is written if the checkpoint differs from the one that this process wrote last. */
  private moveOn(queue: string, { revision, unreadable, skipped }: Place, last: RecordedEvent): void {
    const state = stateOf(this.prefix)
    const insert = this.db.prepare('INSERT OR IGNORE INTO projections (name, state, queue, version, revision, event_id, unreadable, reader) VALUES (?, ?, ?, ?, -1, ?, 0, ?)')
    const move = this.db.prepare('UPDATE projections SET revision = ?, event_id = ?, unreadable = ?, reader = ? WHERE name = ? AND state = ? AND queue = ? AND version = ? AND revision = ?')
    for (const { name, version } of this.models) {
      insert.run(name, state, queue, version, '', reader)
      const { changes } = move.run(last.revision, last.id, unreadable + skipped, reader, name, state, queue, version, revision)
      if (changes === 0) throw new Error('another process writes to these read models: let one of them do it')
    }
  }

  private writeWords(): void {
    if (this.words.size === 0) return
    const insert = this.db.prepare(wordsInsert(this.prefix))
    for (const [key, [description, error]] of this.words) insert.run(key, description, error)
  }
}
