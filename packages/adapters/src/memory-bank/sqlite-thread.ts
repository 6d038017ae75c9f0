/** Entry point of the thread that searches and writes memories, so that no request waits for either. */
import { randomUUID } from 'node:crypto'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { isDamage } from '../sqlite/errors.js'
import { answerRequests } from '../threads/requests.js'
import type { Memory, RecallRequest } from './memory-bank.js'
import { wordSearch } from './word-search.js'
import { wordsOf } from './words.js'

export type BankRequest =
  | { readonly kind: 'identity' }
  | { readonly kind: 'remember'; readonly memories: ReadonlyArray<Memory> }
  | { readonly kind: 'recall'; readonly queue: string; readonly requests: ReadonlyArray<RecallRequest> }
  | { readonly kind: 'close' }

const version = 1

/** An error of SQLite is thrown as a plain one, because it would reach the other thread without its message. */
const open = (file: string): Database.Database => {
  try {
    return opened(file)
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error
    throw new Error(isDamage(error) ? `it is damaged (${error.message}): move it away, and everything is remembered again from the log` : error.message, { cause: error })
  }
}

const opened = (file: string): Database.Database => {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  const found = db.pragma('user_version', { simple: true })
  if (found === version) return db
  if (found !== 0) throw new Error(`${file} is of another version of Daybook (${String(found)}): move it away, and everything is remembered again from the log`)
  db.exec(`
    BEGIN;
    CREATE TABLE identity (id TEXT NOT NULL);
    INSERT INTO identity VALUES ('${randomUUID()}');
    CREATE TABLE memories (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, queue TEXT NOT NULL, ticket TEXT, at TEXT NOT NULL, memory TEXT NOT NULL);
    CREATE INDEX by_ticket ON memories (queue, ticket, at);
    CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61');
    PRAGMA user_version = ${version};
    COMMIT;
  `)
  return db
}

const serve = (port: MessagePort, file: string): void => {
  const db = open(file)
  const insert = db.prepare('INSERT OR IGNORE INTO memories (id, queue, ticket, at, memory) VALUES (?, ?, ?, ?, ?)')
  const index = db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)')
  const ofTicket = db.prepare('SELECT memory FROM memories WHERE queue = ? AND ticket = ? ORDER BY at DESC, number DESC LIMIT ?').pluck()
  const ofWords = wordSearch(db)
  const newest = db.prepare('SELECT memory FROM memories WHERE queue = ? ORDER BY number DESC LIMIT ?').pluck()

  const remember = db.transaction((memories: ReadonlyArray<Memory>) => {
    for (const memory of memories) {
      const { id, queue, ticketId, at, type, goal = '', summary = '', files = [], discoveries = [], errors = [] } = memory
      const { changes, lastInsertRowid } = insert.run(id, queue, ticketId ?? null, at, JSON.stringify(memory))
      if (changes === 0) continue
      index.run(lastInsertRowid, [type, goal, summary, ...files, ...discoveries.map((each) => JSON.stringify(each)), ...errors].join('\n'))
    }
  })

  const recall = (queue: string, { ticketId, description, type, limit }: RecallRequest): ReadonlyArray<Memory> => {
    const texts = [
      ...(ticketId === undefined ? [] : ofTicket.all(queue, ticketId, limit)),
      ...(description === undefined ? [] : ofWords(wordsOf(`${description} ${type ?? ''}`), queue, limit)),
      ...(ticketId === undefined && description === undefined ? newest.all(queue, limit) : []),
    ] as ReadonlyArray<string>
    return [...new Set(texts)].slice(0, limit).map((text) => JSON.parse(text) as Memory)
  }

  answerRequests<BankRequest>(port, (request) => {
    switch (request.kind) {
      case 'identity':
        return db.prepare('SELECT id FROM identity').pluck().get()
      case 'remember':
        return remember(request.memories)
      case 'recall':
        return request.requests.map((each) => recall(request.queue, each))
      case 'close':
        return db.close()
    }
  })
}

if (parentPort !== null) serve(parentPort, (workerData as { readonly file: string }).file)
