/** Read models in SQLite. */
import type { Plant } from '../plant.js'

const fold = 'packages/projections/src/read-models/'
const sqlite = 'packages/adapters/src/read-models/'
const histories = ['test/read-models/histories.test.ts']
const found = ['test/read-models/found-rows.test.ts']
const feed = ['test/read-models/feed.test.ts']
const rests = ['test/read-models/rest-after.test.ts']
const own = ['test/read-models/own-projection.test.ts']
const tasks = ['test/read-models/tasks.test.ts']
const feedWorker = ['test/read-models/feed-worker.test.ts']
const indexes = ['test/read-models/indexes.test.ts']
const causes = ['test/read-models/causes.test.ts']

export const readModelPlants: ReadonlyArray<Plant> = [
  { title: 'read models: a failure is no retry', file: `${fold}tasks.ts`, find: '    task.retries += retries\n', replace: '', killedBy: histories },
  { title: 'read models: a requeue keeps the attempts', file: `${fold}tasks.ts`, find: '      task.attempts = 0\n', replace: '', killedBy: histories },
  { title: 'read models: the next of a line stays blocked', file: `${fold}waiting.ts`, find: 'return before === undefined ? after : undefined', replace: 'return undefined', killedBy: tasks },
  { title: 'read models: a task leaves its line and its follower is first, whatever is before it', file: `${fold}waiting.ts`, find: 'return before === undefined ? after : undefined', replace: 'return after', killedBy: tasks },
  { title: 'read models: dependents stay blocked', file: `${fold}tasks.ts`, find: 'for (const dependent of this.waiting.dependentsOf(task)) this.unblock(dependent, at)', replace: '', killedBy: histories },
  { title: 'read models: a cancelled claim goes on', file: `${fold}tasks.ts`, find: "      this.noteAttempt(task, at, 'cancelled', data.reason)\n", replace: '', killedBy: histories },
  { title: 'read models: depth leaves out the band', file: `${fold}levels.ts`, find: 'if (before === now && band === task.band) return', replace: 'if (before === now) return', killedBy: histories },
  { title: 'read models: a minute is told as of the next one', file: `${fold}levels.ts`, find: '    this.writeMinute()\n    this.minute =', replace: '    this.minute =', killedBy: [...histories, ...tasks] },
  { title: 'read models: event counts begin anew with each batch', file: `${fold}event-counts.ts`, find: 'kept.get(queue, minute, type) ??', replace: 'undefined ??', killedBy: histories },
  { title: 'read models: a wait begins with the enqueueing', file: `${fold}tasks.ts`, find: 'if (!wasReady) task.ready_at = at', replace: '', killedBy: tasks },
  { title: 'read models: an amendment begins a new wait', file: `${fold}tasks.ts`, find: 'if (!wasReady) task.ready_at = at', replace: 'task.ready_at = at', killedBy: tasks },
  { title: 'read models: words stay as they were', file: `${fold}tasks.ts`, find: '    task.last_error = error\n    this.reworded.add(task)', replace: '    task.last_error = error', killedBy: tasks },
  { title: 'read models: a breaker span never ends', file: `${fold}breakers.ts`, find: 'last.ended_at = at', replace: 'void at', killedBy: histories },
  { title: 'read models: indexes are never made', file: `${sqlite}feed.ts`, find: '      this.views.completeIndexes()\n', replace: '', killedBy: feed },
  { title: 'read models: only the tables that answer get indexes', file: `${sqlite}views-file.ts`, find: '...(next?.models ?? []).map(', replace: '...[].map(', killedBy: feed },
  { title: 'read models: indexes are made again each time', file: `${sqlite}views-file.ts`, find: 'if (found.some((name) => name.startsWith(`${index.name}_`))) continue', replace: 'void found', killedBy: feed },
  { title: 'read models: the thread never rests', file: `${sqlite}feed.ts`, find: 'appended: (await log.head(stream)) - head', replace: 'appended: 0', killedBy: feed },
  { title: 'read models: far behind, a rest takes as long as the batch', file: `${sqlite}rest-after.ts`, find: 'isNextFull ? (ms * appended) / events : ms', replace: 'ms', killedBy: rests },
  { title: 'read models: near the end of the log, a rest is only as long as others have work', file: `${sqlite}rest-after.ts`, find: 'isNextFull ? (ms * appended) / events : ms', replace: '(ms * appended) / events', killedBy: rests },
  { title: 'read models: every batch is followed by a full one, as far as its rest knows', file: `${sqlite}feed.ts`, find: 'isNextFull: head - taken >= batchSizes.behind', replace: 'isNextFull: true', killedBy: feed },
  { title: 'read models: what comes later is read in batches as large as those of a build', file: `${sqlite}feed.ts`, find: '(this.firstHeads.get(group)?.get(queue) ?? -1) - from', replace: 'head - from', killedBy: feed },
  { title: 'read models: very far behind, batches stay small', file: `${sqlite}feed.ts`, find: 'isBuilding || left >= farMin', replace: 'isBuilding', killedBy: feed },
  { title: 'read models: the thread of a build stays', file: `${sqlite}feed-worker.ts`, find: "        post('stop')\n", replace: '', killedBy: feedWorker },
  { title: 'read models: a short log gets a thread for builds', file: `${sqlite}feed-worker.ts`, find: 'start(events >= buildEventsMin)', replace: 'start(true)', killedBy: feedWorker },
  { title: 'read models: a build whose thread has died goes on with a usual one', file: `${sqlite}feed-worker.ts`, find: 'undefined : start(isBuilding)', replace: 'undefined : start(false)', killedBy: feedWorker },
  { title: 'read models: a thread that was closed while it is replaced is followed by another', file: `${sqlite}feed-worker.ts`, find: '        if (isClosed) return\n', replace: '', killedBy: feedWorker },
  { title: 'read models: tables that cannot be written are taken for level', file: `${sqlite}feed-worker.ts`, find: '  if (problem !== undefined && queue === undefined) return false\n', replace: '', killedBy: feedWorker },
  { title: 'read models: a build that has begun is taken for level, because the old tables are', file: `${sqlite}feed-worker.ts`, find: 'building === undefined ? queues', replace: 'queues.length > 0 || building === undefined ? queues', killedBy: feedWorker },
  { title: 'read models: rows are sorted in memory', file: `${sqlite}views-file.ts`, find: "  db.pragma('temp_store = FILE')\n", replace: '', killedBy: indexes, named: 'little memory' },
  { title: 'read models: without a temporary file no index is made', file: `${sqlite}views-file.ts`, find: "    db.pragma('temp_store = MEMORY')\n    work()\n", replace: '    throw error\n', killedBy: indexes },
  { title: 'read models: two processes count the same events', file: `${sqlite}group.ts`, find: "if (changes === 0) throw new Error('another process writes to these read models: let one of them do it')", replace: 'void changes', killedBy: feed },
  { title: 'read models: another log is taken for the same', file: `${sqlite}feed.ts`, find: 'if (event?.id === id) return true', replace: 'if (event !== undefined) return true', killedBy: feed },
  { title: 'read models: a new version takes the place of the old one before it is built', file: `${sqlite}feed.ts`, find: 'if (isLevel && this.views.building !== undefined && ', replace: 'if (this.views.building !== undefined && ', killedBy: feed },
  { title: 'read models: another version of the tables is taken for this one', file: `${sqlite}views-file.ts`, find: 'isSame(found.get(prefix + part.name), part.sql(prefix))', replace: 'found.has(prefix + part.name)', killedBy: feed },
  { title: 'read models: what could not be read is missing for ever', file: `${sqlite}views-file.ts`, find: ' && isReadable(db, model, prefix)', replace: '', killedBy: feed },
  { title: 'read models: rows that were dropped from memory come back as they were', file: `${sqlite}table-rows.ts`, find: 'for (const row of this.inOrder(changed)) this.update(row)', replace: '', killedBy: histories },
  { title: 'read models: a row that was found is looked up again', file: `${sqlite}table-rows.ts`, find: '    this.kept.set(this.foundBy(row), row)\n', replace: '', killedBy: [...found, ...histories] },
  { title: 'read models: an attempt that ends in a later batch goes on for ever', file: `${fold}tasks.ts`, find: '    this.attempted.clear()\n', replace: '', killedBy: tasks },
  { title: 'read models: a batch of several pages shows the first alone', file: `${sqlite}group.ts`, find: '    place.folded = last\n', replace: '    place.folded ??= last\n', killedBy: histories },
  { title: 'read models: a row that was replaced is written after its replacement', file: `${sqlite}table-rows.ts`, find: 'if (known !== undefined && this.table.foundBy === undefined && this.puts.get(known) === true) this.puts.delete(known)', replace: '', killedBy: feed },
  { title: 'read models: of two tasks with the same id, the first is not written any more', file: `${sqlite}table-rows.ts`, find: 'known !== undefined && this.table.foundBy === undefined && ', replace: 'known !== undefined && ', killedBy: tasks },
  { title: 'read models: all kinds of tasks are one', file: `${fold}kinds.ts`, find: 'last.type === type && ', replace: '', killedBy: histories },
  { title: 'read models: a run goes on with another correlation id', file: `${fold}causes.ts`, find: ' && row.correlation === correlationOf(next)', replace: '', killedBy: causes },
  { title: 'read models: a run goes on over a gap', file: `${fold}causes.ts`, find: 'row.last_revision === revision - 1 && ', replace: '', killedBy: causes },
  { title: 'read models: the ids of commands are not looked for', file: `${sqlite}find-causes.ts`, find: "isCommandId(correlationId) ? '(correlation = ? OR correlation IS NULL)' :", replace: '', killedBy: causes },
  { title: 'read models: the run that has begun before is left out', file: `${sqlite}find-causes.ts`, find: 'revision <= ? ORDER BY revision DESC', replace: 'revision = ? ORDER BY revision DESC', killedBy: causes },
  { title: 'read models: runs with events that could not be read are believed', file: `${sqlite}find-causes.ts`, find: ' || shown.unreadable > 0', replace: '', killedBy: causes },
  { title: 'read models: what the tables do not show yet is not read', file: 'packages/adapters/src/engine/log/caused-events.ts', find: 'if (next <= until) yield [next, until]', replace: 'if (next === from) yield [next, until]', killedBy: causes },
  { title: 'read models: runs of another log are believed', file: 'packages/adapters/src/engine/log/caused-events.ts', find: ' || !(await isOfLog(log, name, found))', replace: '', killedBy: causes },
  { title: 'own projection: it is tried for ever after an error in the fold', file: `${sqlite}feed.ts`, find: 'if (once || error instanceof ProjectionFailed) throw error', replace: 'if (once) throw error', killedBy: own },
  { title: 'own projection: the state of before is forgotten at a restart', file: 'packages/projections/src/own-projection.ts', find: 'row === undefined ? initial() : stateOf(row, decode, name)', replace: 'row === undefined || row.queue !== \'\' ? initial() : stateOf(row, decode, name)', killedBy: own },
  { title: 'own projection: a new version goes on with the old table', file: 'packages/projections/src/own-projection.ts', find: '    version,\n    about:', replace: '    version: 1,\n    about:', killedBy: own },
  { title: 'own projection: the error does not name the event', file: 'packages/projections/src/own-projection.ts', find: 'at revision ${logged.revision} (', replace: 'at some revision (', killedBy: own },
  { title: 'own projection: any file will do', file: `${sqlite}own-module.ts`, find: 'if (others.length > 0) throw', replace: 'if (others.length < 0) throw', killedBy: own },
  { title: 'read models: rows with other nulls are written by the same statement', file: `${sqlite}table-rows.ts`, find: 'let write = writes.get(nulls)', replace: 'let write = writes.get(nulls) ?? writes.values().next().value', killedBy: ['test/read-models/nulls.test.ts'] },
  { title: 'read models: statements of more columns than a number has bits know only some of their nulls', file: `${sqlite}table-rows.ts`, find: 'if (columns.length > nullsMax) return writeAll', replace: '', killedBy: ['test/read-models/nulls.test.ts'] },
  { title: 'read models: rows beyond the number of statements are written without their nulls', file: `${sqlite}table-rows.ts`, find: 'if (writes.size === statementsMax) return writeAll(row)', replace: 'if (writes.size === statementsMax) return', killedBy: ['test/read-models/nulls.test.ts'] },
  { title: 'read models: who caused an event is read past a backslash', file: 'packages/adapters/src/engine/log/wire.ts', find: "if (correlationId.includes('\\\\') || causationId.includes('\\\\')) return undefined", replace: '', killedBy: ['test/projections/live.test.ts'] },
  { title: 'a log that is read ahead keeps its thread', file: 'packages/adapters/src/sqlite/reader.ts', find: '      endSoon()\n', replace: '', killedBy: ['test/contract/reading-ahead.test.ts'] },
  { title: 'a log that is read ahead gives its events backwards in the order of the log', file: 'packages/adapters/src/sqlite/open-log.ts', find: '      yield backwards ? events.reverse() : events\n    }\n  }\n\n  const read', replace: '      yield events\n    }\n  }\n\n  const read', killedBy: ['test/contract/reading-ahead.test.ts'] },
  { title: 'project --once: an interruption looks like the end of the log', file: 'packages/adapters/src/cli/commands/project.ts', find: 'options.once === true && stopping.signal.aborted ? exitCodes.interrupted : exitCodes.done', replace: 'exitCodes.done', killedBy: ['test/read-models/project.test.ts'] },
  { title: 'read models: somebody is told to delete a file that is none of them', file: 'packages/adapters/src/read-models/views-file.ts', find: '  SQLITE_NOTADB: \'it is damaged, or no file of read models: move it away', replace: '  SQLITE_NOTADB: \'delete the file', killedBy: ['test/read-models/project.test.ts'] },
  { title: 'read models: while the store is away, nobody knows how far the tables are', file: `${sqlite}feed.ts`, find: '        if (feeder !== undefined) known = queues\n', replace: '', killedBy: feed, named: 'while the log cannot be read' },
  { title: 'read models: a round that only looked counts as the end of a failure', file: `${sqlite}feed.ts`, find: "if (round !== 'looked') {", replace: 'if (round.length > 0) {', killedBy: feed, named: 'while nothing can be written' },
  { title: 'read models: when the store is back, the tables may rest for half a minute', file: `${sqlite}feed.ts`, find: 'mostMs: 5_000', replace: 'mostMs: 30_000', killedBy: feed, named: 'while the log cannot be read' },
  { title: 'nobody is told how far the tables are before their first batch', file: `${sqlite}feed.ts`, find: 'if (isFirst || group.at(queue).revision >= head) continue', replace: 'if (group.at(queue).revision >= head) continue', killedBy: ['test/read-models/feed.test.ts'] },
  { title: 'damage inside views.db is told in the words of SQLite alone', file: `${sqlite}feed.ts`, find: 'const why = unusable(error, file)', replace: 'void file\n        const why = error', killedBy: ['test/read-models/server.test.ts'] },
  { title: 'own projection: a promise counts as work that is done', file: 'packages/projections/src/own-projection.ts', find: 'if (isPromise(answer)) throw', replace: 'if (answer === null) throw', killedBy: own },
  { title: 'own projection: a table must have more than its key', file: 'packages/adapters/src/read-models/table-rows.ts', find: 'const isAllKey = changedColumns(table).length === table.key.length', replace: 'const isAllKey = false', killedBy: own },
  { title: 'own projection: a promise counts as a state', file: 'packages/projections/src/own-projection.ts', find: 'if (isPromise(next)) throw', replace: 'if (next === null) throw', killedBy: own },
  { title: 'own projection: the read models take its file', file: `${sqlite}own-module.ts`, find: 'found.length > 0 && ', replace: 'found.length < 0 && ', killedBy: own },
  { title: 'read models: from the 8,192nd queue on, tasks share their keys', file: `${sqlite}group.ts`, find: '(number % queuesInRound) * queuesApart + Math.floor(number / queuesInRound) * numbersMax', replace: 'number * queuesApart', killedBy: tasks },
]
