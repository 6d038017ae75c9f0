import type { Database } from 'better-sqlite3'
import type { Appended, AppendError, ChainHead, ExpectedRevision } from '../store/index.js'
import { LastSeals, unsealable } from '../seals/sealing.js'
import { appendFailure } from './errors.js'
import { eventInserter } from './insert-events.js'
import { sealedBatch } from './seal-batch.js'

/** The events of one append, by column: quicker to post between threads than an array of objects. */
export interface AppendBatch {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly ids: ReadonlyArray<string>
  readonly types: ReadonlyArray<string>
  readonly datas: ReadonlyArray<string>
  readonly metadatas: ReadonlyArray<string>
  /** The last event has a seal with this hash (`made`), or gets one that continues the chain. Missing for no seal. */
  readonly sealing?: { readonly made: string } | { readonly continues: { readonly head: ChainHead | undefined } | 'sent' } | undefined
}

export type AppendVerdict = Appended | { readonly error: AppendError }

export interface AppendOutcome {
  readonly verdicts: ReadonlyArray<AppendVerdict>
  /** Whether the connection must be given up. */
  readonly fatal: boolean
}

type Head = readonly [revision: number, position: number]

/**
 * Writes several appends with one commit, that is one fsync. Each still has its own verdict: the expected revision is checked before the append's
 * first write, so a conflict leaves no trace.
 */
export const appendTransaction = (db: Database, now: () => string) => {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const headOf = db.prepare<[string], Head>('SELECT revision, position FROM streams WHERE stream = ?').raw()
  const lastPosition = db.prepare<[], number | null>('SELECT max(position) FROM events').pluck()
  const insertEvents = eventInserter(db)
  const insertSegment = db.prepare('INSERT INTO segments VALUES (?, ?, ?)')
  const insertStream = db.prepare('INSERT INTO streams VALUES (?, ?, ?, ?)')
  const moveHead = db.prepare('UPDATE streams SET revision = ?, position = ? WHERE stream = ?')
  // Seals of appends that were rolled back stay here. Their revisions are not in the log, so nothing continues them.
  const seals = new LastSeals()

  const appendOne = (batch: AppendBatch, last: number, created: string): AppendVerdict => {
    const { stream, expected, ids } = batch
    const head = headOf.get(stream)
    const actual = head === undefined ? 'no_stream' : head[0]
    if (expected !== 'any' && expected !== actual) {
      return { error: { _tag: 'WrongExpectedRevision', actual } }
    }
    const revision = head === undefined ? 0 : head[0] + 1
    const position = last + 1
    const sealed = sealedBatch(batch, revision, seals)
    if (sealed === undefined) return { error: unsealable }
    if (head?.[1] !== last) insertSegment.run(stream, revision, position)
    insertEvents(sealed.batch, position, revision, created)
    const end = ids.length - 1
    if (head === undefined) insertStream.run(stream, revision + end, position + end, position)
    else moveHead.run(revision + end, position + end, stream)
    return { revision: revision + end, ...(sealed.seal === undefined ? {} : { seal: sealed.seal }) }
  }

  const rollback = (): void => {
    try {
      if (db.inTransaction) db.exec('ROLLBACK')
    } catch {
      // The earlier failure is the one to report, and a fatal one closes the connection.
    }
  }

  return (batches: ReadonlyArray<AppendBatch>): AppendOutcome => {
    let stage: 'before-commit' | 'commit' = 'before-commit'
    const verdicts: Array<AppendVerdict> = []
    try {
      begin.run()
      const created = now()
      let last = lastPosition.get() ?? 0
      for (const batch of batches) {
        const verdict = appendOne(batch, last, created)
        if ('revision' in verdict) last += batch.ids.length
        verdicts.push(verdict)
      }
      stage = 'commit'
      commit.run()
      return { verdicts, fatal: false }
    } catch (cause) {
      rollback()
      const { error, fatal } = appendFailure(cause, stage)
      return { verdicts: batches.map(() => ({ error })), fatal }
    }
  }
}
