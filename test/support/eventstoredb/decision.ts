/**
 * The decision of the server's single writer about a write: the table of IndexWriter.CheckCommit of
 * EventStoreDB 23.10, as a pure function.
 */
export type Expected = number | 'no_stream' | 'any' | 'stream_exists'

export interface StreamFacts {
  /** Revision of the last written event, -1 for none. */
  readonly head: number
  /** The head that readers see: less than `head` while a write is not on disk yet. */
  readonly visible: number
  readonly tombstoned: boolean
  readonly softDeleted: boolean
  readonly hasMetadata: boolean
  /** Id of the event at that revision; deleted and truncated events keep theirs until scavenged. */
  readonly idAt: (revision: number) => string | undefined
  /** Revision of a recently written event of this stream, by id. */
  readonly recent: (id: string) => number | undefined
}

export type Decision =
  | { readonly kind: 'append'; readonly undelete: boolean }
  | { readonly kind: 'idempotent'; readonly first: number; readonly last: number }
  | { readonly kind: 'wrong_revision' }
  | { readonly kind: 'deleted' }
  /** The server drops the request: the caller gets no answer at all. */
  | { readonly kind: 'silent' }

const append = (undelete: boolean): Decision => ({ kind: 'append', undelete })
const wrongRevision: Decision = { kind: 'wrong_revision' }
const deleted: Decision = { kind: 'deleted' }
const silent: Decision = { kind: 'silent' }

const seenBefore = (facts: StreamFacts, first: number, last: number): Decision => {
  // Not visible to readers yet. The server logs "dropping idempotent write"; the client is expected to try again.
  if (facts.visible < last) return silent
  // The reply cannot be built (its constructor throws), so none is sent.
  return last < first - 1 ? silent : { kind: 'idempotent', first, last }
}

/** For `any` and `stream_exists`, the server looks only at the cache of recent ids. */
const decideByRecentIds = (facts: StreamFacts, ids: ReadonlyArray<string>): Decision => {
  let first = -1
  let last = -1
  for (const [index, id] of ids.entries()) {
    const revision = facts.recent(id)
    if (revision === undefined) return index === 0 ? append(facts.softDeleted) : wrongRevision
    if (index === 0) first = revision
    last = revision
  }
  return ids.length === 0 ? append(facts.softDeleted) : seenBefore(facts, first, last)
}

/** For a revision before the head, the append is idempotent if the same events are at the same revisions, else refused. */
const decideBehindHead = (facts: StreamFacts, expected: number, ids: ReadonlyArray<string>): Decision => {
  for (const [index, id] of ids.entries()) {
    const revision = expected + 1 + index
    if (facts.recent(id) === revision || facts.idAt(revision) === id) continue
    return index === 0 && expected === -1 && facts.softDeleted ? append(true) : wrongRevision
  }
  return ids.length === 0 ? wrongRevision : seenBefore(facts, expected + 1, expected + ids.length)
}

export const decide = (facts: StreamFacts, expected: Expected, ids: ReadonlyArray<string>): Decision => {
  if (facts.tombstoned) return deleted
  if (expected === 'stream_exists') {
    if (facts.softDeleted) return deleted
    if (facts.head < 0 && !facts.hasMetadata) return wrongRevision
  }
  if (expected === 'any' || expected === 'stream_exists') return decideByRecentIds(facts, ids)
  const revision = expected === 'no_stream' ? -1 : expected
  if (revision < facts.head) return decideBehindHead(facts, revision, ids)
  // At the head the server does not look at ids.
  return revision > facts.head ? wrongRevision : append(facts.softDeleted)
}
