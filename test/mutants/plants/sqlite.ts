/** The store in one SQLite file: its writing thread, transactions, syncs, locks, reads. */
import type { Plant } from '../plant.js'

const at = (file: string): string => `packages/adapters/src/sqlite/${file}`
const contract = ['test/contract/sqlite.test.ts']
const disk = ['test/stores/sqlite-failing-disk.test.ts']
const syncOrder = ['test/stores/sync-order.test.ts']
const writer = ['test/stores/sqlite-writer.test.ts']
const locks = ['test/stores/sqlite-lock.test.ts']
const crash = ['test/stores/sqlite-crash.test.ts']

export const sqlitePlants: ReadonlyArray<Plant> = [
  {
    title: 'SQLite: the writing thread dies, and its unfinished appends are taken for "not written"',
    file: at('writer.ts'),
    find: "error: { _tag: 'OutcomeUnknown', reason }",
    replace: "error: { _tag: 'Unavailable', reason }",
    killedBy: writer,
  },
  {
    title: 'SQLite: the writing thread dies, and its callers get no answer',
    file: at('writer.ts'),
    find: 'lose(problem.message)',
    replace: '',
    killedBy: writer,
  },
  {
    title: 'SQLite: a dead writing thread is not replaced',
    file: at('writer.ts'),
    find: "        state = 'stopped'\n        lose",
    replace: '        lose',
    killedBy: writer,
  },
  {
    title: 'SQLite: a failed transaction is not rolled back',
    file: at('append-transaction.ts'),
    find: "if (db.inTransaction) db.exec('ROLLBACK')",
    replace: '',
    killedBy: writer,
  },
  {
    title: 'SQLite: a commit that failed on the disk is taken for "not written"',
    file: at('errors.ts'),
    find: "return stage === 'commit'",
    replace: "return stage === 'before-commit'",
    killedBy: disk,
  },
  {
    title: 'SQLite: a full disk makes the outcome unknown',
    file: at('errors.ts'),
    find: "if (code === 'SQLITE_FULL') {",
    replace: "if (code === 'SQLITE_NONE') {",
    killedBy: disk,
    named: 'a full disk',
  },
  {
    title: 'SQLite: a writer goes on after an I/O error',
    file: at('writer-thread.ts'),
    find: 'if (fatal) refusal =',
    replace: 'if (written < 0) refusal =',
    killedBy: disk,
    named: 'writes nothing more',
  },
  {
    title: 'SQLite: the store goes on with a writer that met an I/O error',
    file: at('writer.ts'),
    find: "if (message.fatal) state = 'stopped'",
    replace: '',
    killedBy: disk,
  },
  {
    title: 'SQLite: a new writer does not settle what the failed one left in the WAL',
    file: at('writer-thread.ts'),
    find: 'if (settle) db.pragma(`user_version = ${schemaVersion}`)',
    replace: '',
    killedBy: disk,
  },
  {
    title: 'SQLite: reads during the replacement of a failed writer see the old state',
    file: at('sqlite-store.ts'),
    find: 'if (closing === undefined && !writer.healthy()) await writer.ready()',
    replace: '',
    killedBy: disk,
  },
  {
    title: 'SQLite: commits are not synced',
    file: at('writer-thread.ts'),
    find: "db.pragma('synchronous = FULL')",
    replace: "db.pragma('synchronous = NORMAL')",
    killedBy: syncOrder,
  },
  {
    title: "SQLite: a new file's folder is not synced",
    file: at('create-file.ts'),
    find: 'await syncFolder(dirname(file))',
    replace: 'dirname(file)',
    killedBy: syncOrder,
  },
  {
    title: 'SQLite: an append is acknowledged before it is committed',
    file: at('append-transaction.ts'),
    find: '      commit.run()\n      return { verdicts, fatal: false }',
    replace: '      setImmediate(() => commit.run())\n      return { verdicts, fatal: false }',
    killedBy: contract,
  },
  {
    title: 'SQLite: the expected revision is not checked',
    file: at('append-transaction.ts'),
    find: "if (expected !== 'any' && expected !== actual) {",
    replace: "if (expected === 'no_stream' && expected !== actual) {",
    killedBy: contract,
  },
  {
    title: 'SQLite: all appends of one commit start at the same revision',
    file: at('append-transaction.ts'),
    find: "if ('revision' in verdict) last += batch.ids.length",
    replace: "if ('revision' in verdict) last += 0",
    killedBy: contract,
  },
  {
    title: "SQLite: a stream's events are looked for as if no other stream lay between",
    file: at('append-transaction.ts'),
    find: 'if (head?.[1] !== last) insertSegment.run',
    replace: 'if (head === undefined) insertSegment.run',
    killedBy: contract,
  },
  {
    title: 'SQLite: the appends of one commit get their results in reverse order',
    file: at('writer.ts'),
    find: 'resolve(verdicts[i]!)',
    replace: 'resolve(verdicts[verdicts.length - 1 - i]!)',
    killedBy: ['test/stores/sqlite-writer.test.ts'],
  },
  {
    title: 'SQLite: closing drops waiting appends',
    file: at('writer-thread.ts'),
    find: 'if (last) close()',
    replace: '',
    killedBy: contract,
    named: 'closing waits',
  },
  {
    title: 'SQLite: the WAL is never copied into the file',
    file: at('writer-thread.ts'),
    find: "db.pragma('wal_checkpoint(PASSIVE)')",
    replace: '',
    killedBy: crash,
    named: 'the WAL stays bounded',
  },
  {
    title: 'SQLite: two servers can have one file',
    file: at('server-lock.ts'),
    find: "db.exec('BEGIN EXCLUSIVE')",
    replace: "db.exec('BEGIN')",
    killedBy: locks,
  },
  {
    title: "SQLite: another process's appends are not heard of",
    file: at('foreign-appends.ts'),
    find: 'if (now !== seen) signal.notifyAll()',
    replace: '',
    killedBy: locks,
    named: 'a subscription hears',
  },
  {
    title: 'SQLite: picking skips an event that is missing at its revision',
    file: at('queries.ts'),
    find: 'if (picked[i] === undefined) throw damaged(',
    replace: 'if (revision < 0) throw damaged(',
    killedBy: ['test/stores/sqlite-check.test.ts'],
  },
  {
    title: 'SQLite: long pages are read back to front',
    file: at('sqlite-store.ts'),
    find: '(await reading(() => query.events(page.span)))\n      yield backwards ? events.reverse() : events',
    replace: '(await reading(() => query.events(page.span)))\n      yield events',
    killedBy: contract,
    named: 'a long stream comes',
  },
  { title: 'a server collects garbage before it is ready, however much is in use', file: 'packages/adapters/src/return-memory.ts', find: ' || heapUsed > usedMax', replace: '', killedBy: ['test/smoke/return-memory.test.ts'] },
  { title: 'a server with a small heap collects garbage before it is ready', file: 'packages/adapters/src/return-memory.ts', find: 'heapTotal < heapMin || ', replace: '', killedBy: ['test/smoke/return-memory.test.ts'] },
  { title: 'a server that is ready keeps the garbage of its start', file: 'packages/adapters/src/return-memory.ts', find: "await session.post('HeapProfiler.collectGarbage')", replace: 'void session', killedBy: ['test/smoke/return-memory.test.ts'] },
  { title: 'SQLite: a damaged lock file looks like a damaged log', file: at('server-lock.ts'), find: 'if (isDamage(error)) throw', replace: 'if (error === null) throw', killedBy: locks },
]
