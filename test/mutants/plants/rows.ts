/** Rows of old finished tasks outside of memory: when they are moved there, and their files. */
import type { Plant } from '../plant.js'

const chunk = 'packages/core/src/finished/chunk.ts'
const rows = 'packages/core/src/finished/rows.ts'
const walk = 'packages/core/src/finished/finished-walk.ts'
const store = 'packages/core/src/rows/row-store.ts'
const files = 'packages/adapters/src/files/snapshots/row-files.ts'
const finished = ['test/properties/finished-tasks.test.ts']
const rowFiles = ['test/stores/row-files.test.ts']
const layout = ['test/stores/row-file-layout.test.ts']
const syncOrder = ['test/stores/sync-order.test.ts']

export const rowPlants: ReadonlyArray<Plant> = [
  { title: 'rows of old finished tasks stay in memory as well as in the store', file: chunk, find: '    this.memory = undefined\n    return true', replace: '    return true', killedBy: ['test/core/finished.test.ts'], named: 'INV-22' },
  { title: 'a chunk that the store does not take is lost', file: chunk, find: 'if (this.kept === undefined) return false', replace: 'if (this.kept === undefined) this.kept = { read: () => new Uint8Array(0), columns: () => new Float64Array(0), place: () => undefined }', killedBy: finished, named: 'old ones in a store that is full now and then' },
  { title: 'a chunk that was taken back is given to the store no more', file: rows, find: 'if (this.firstChunk + index < this.givenTo) this.givenTo = this.firstChunk + index', replace: '', killedBy: finished, named: 'written anew' },
  { title: 'a chunk is given to the store before it is full', file: rows, find: '- Math.max(1, store.newest)', replace: '', killedBy: finished },
  { title: 'a store that was full once is not asked again', file: rows, find: 'this.seed)) return\n', replace: 'this.seed)) {\n        this.givenTo++\n        return\n      }\n', killedBy: finished, named: 'given to it later' },
  { title: 'after a pause all chunks are given to the store at once', file: rows, find: 'given < givenMax', replace: 'given >= 0', killedBy: finished, named: 'given to it later' },
  { title: 'a chunk is read for each text with the hash of an id or key', file: 'packages/core/src/finished/row-index.ts', find: '!this.isOther(row, text) && ', replace: '', killedBy: finished, named: 'few chunks are read' },
  { title: 'a start does not take the checks of rows from their file', file: chunk, find: '    chunk.checks = Uint8Array.from(columns.checks)\n', replace: '', killedBy: finished, named: 'few chunks are read' },
  { title: 'keys are told apart by the checks of ids', file: 'packages/core/src/rows/task-bytes.ts', find: 'checks >>> checkBits', replace: 'checks % 2 ** checkBits', killedBy: finished },
  { title: 'each look at a row reads its chunk again', file: store, find: '    this.chunks.set(kept, read)\n', replace: '', killedBy: finished, named: 'a read of one chunk' },
  { title: 'a snapshot pushes out the chunks that were read last', file: chunk, find: 'this.memory ?? readRows(this.kept as KeptRows)', replace: 'this.rows()', killedBy: finished, named: 'a read of one chunk' },
  { title: 'rows are read from disk as they are there', file: files, find: 'crc32(bytes) !== checksum', replace: 'false', killedBy: rowFiles, named: 'an error and never others' },
  { title: 'rows of a file that is cut off are filled with zeros', file: files, find: "if (read === 0) throw this.damaged(`the file ends at ${from + at}`)", replace: 'if (read === 0) return bytes', killedBy: rowFiles, named: 'an error and never others' },
  { title: 'a chunk that was written in part counts', file: files, find: '    const { end, columnsEnd } = this\n', replace: '    const { end, columnsEnd } = this\n    this.end += rows.byteLength\n', killedBy: rowFiles, named: 'written in part' },
  { title: 'columns of a chunk come after its rows, so that a start reads all parts of a file', file: files, find: 'this.write(columns, columnsEnd)', replace: 'this.write(columns, (this.columnsEnd = end + rows.byteLength))', killedBy: layout, named: 'follow each other' },
  { title: 'rows begin between two bytes', file: files, find: 'Math.ceil(columnsShare * rowsMax)', replace: 'columnsShare * rowsMax', killedBy: layout, named: 'part for columns is full' },
  { title: 'columns that could not be written count', file: files, find: '    this.write(columns, columnsEnd)\n', replace: '    this.columnsEnd += columns.byteLength\n    this.end += rows.byteLength\n    this.write(columns, columnsEnd)\n', killedBy: layout, named: 'columns cannot be written' },
  { title: 'columns of earlier versions may lie past the end of the file', file: files, find: 'Math.max(from + rowsBytes, columnsFrom + columnsBytes)', replace: 'from + rowsBytes', killedBy: layout, named: 'earlier versions' },
  { title: 'columns are written over rows', file: files, find: ' && this.columnsEnd + columns.byteLength <= this.rowsFrom', replace: '', killedBy: layout, named: 'part for columns is full' },
  { title: 'a file has rows until its part for columns is full', file: files, find: 'this.end - this.rowsFrom < rowsMax && ', replace: '', killedBy: layout, named: 'part for columns is full' },
  { title: 'columns in files of earlier versions are looked for at their beginning', file: files, find: 'columnsFrom = from + rowsBytes]', replace: 'columnsFrom = 0]', killedBy: layout, named: 'earlier versions' },
  { title: 'files of rows stay open until the server ends', file: files, find: '    unused.register(rows, file)\n', replace: '', killedBy: rowFiles, named: 'nobody has its rows' },
  { title: 'a closed file of rows is read by its number', file: files, find: '    file.fd = undefined\n', replace: '', killedBy: rowFiles, named: 'also when another file' },
  { title: 'each chunk that cannot be written is warned of', file: files, find: 'if (!hasFailed) warn(', replace: 'warn(', killedBy: rowFiles, named: 'one warning' },
  { title: 'a start removes rows that another process is about to use', file: files, find: ' || !isAlive(pid)', replace: ' || true', killedBy: rowFiles, named: 'no snapshot names' },
  { title: 'a server keeps all rows of finished tasks in memory', file: 'packages/adapters/src/serve/serve.ts', find: 'clockJumpMs, snapshots }', replace: 'clockJumpMs, snapshots: snapshots && { create: snapshots.create, list: snapshots.list } }', killedBy: rowFiles, named: 'a server keeps rows' },
  { title: 'after a start from a snapshot all rows are in memory', file: 'packages/adapters/src/engine/state/replay.ts', find: 'snapshotReader(snapshots.rowStoreOf?.(stream), ', replace: 'snapshotReader(undefined, ', killedBy: rowFiles, named: 'after kill -9' },
  { title: 'a start reads the rows of all tasks with a deadline', file: 'packages/core/src/rows/task-bytes.ts', find: '  if (isFinal(status)) return false\n', replace: '  if (isFinal(status)) return extras !== noExtras\n', killedBy: finished, named: 'CRITICAL' },
  { title: 'a start does not find the callback key of a finished task in a file', file: 'packages/core/src/rows/task-bytes.ts', find: ' || extras.parking !== undefined) return true', replace: ') return true', killedBy: finished, named: 'a callback key' },
  { title: 'columns of one chunk are mixed with those of the one before', file: 'packages/adapters/src/files/snapshots/packed-numbers.ts', find: 'if (width === 0) numbers.fill(least, at * rows, (at + 1) * rows)', replace: 'if (width === 0) numbers.fill(least, at * rows, at * rows + 1)', killedBy: rowFiles, named: 'after kill -9' },
  { title: 'a snapshot copies rows that a store has', file: walk, find: 'if (place === undefined) return undefined', replace: 'if (place !== undefined) return undefined', killedBy: finished, named: 'names chunks' },
  { title: 'a named chunk has rows that had left', file: walk, find: 'if (row < this.row || !this.wasThere(row)) absent', replace: 'if (row < this.row) absent', killedBy: finished, named: 'old ones in a store, are found' },
  { title: 'a named chunk has rows before the first one', file: walk, find: 'if (row < this.row || !this.wasThere(row)) absent', replace: 'if (!this.wasThere(row) && row > begin) absent', killedBy: finished },
  { title: 'a named chunk has a row as it was written again since', file: walk, find: 'this.before.get(begin + row) ?? chunk.bytesOf(row)', replace: 'chunk.bytesOf(row)', killedBy: finished },
  { title: 'a named chunk has rows as they were at first', file: rows, find: 'for (const [row, bytes] of rewritten) chunk.rewrite(row, bytes)', replace: '', killedBy: finished },
  { title: 'a start from a named chunk finds tasks that had left', file: rows, find: 'for (const row of absent) this.gone.add(from + row)', replace: '', killedBy: finished },
  { title: 'a start reads a row that had left, behind the last byte of its chunk', file: 'packages/core/src/rows/columns.ts', find: 'if (length === 0) continue', replace: '', killedBy: finished, named: 'last rows had left' },
  { title: 'a start finds keys of named chunks by the hashes of ids', file: 'packages/core/src/rows/task-bytes.ts', find: 'keyHash: hashOfBytes(bytes, key, end, seed)', replace: 'keyHash: hashOfBytes(bytes, at, key, seed)', killedBy: finished },
  { title: 'the newest names of agents are not counted for named chunks', file: 'packages/core/src/rows/columns.ts', find: 'columns.agents[row] = agent', replace: 'columns.agents[row] = -1', killedBy: finished, named: 'counts the names' },
  { title: 'rows that are gathered are not entered before one of them leaves', file: 'packages/core/src/finished/row-index.ts', find: '  remove(hash: number, row: number): boolean {\n    this.enterAll()\n', replace: '  remove(hash: number, row: number): boolean {\n', killedBy: ['test/properties/finished-indexes.test.ts'], named: 'gathers' },
  { title: 'rows that are gathered get the row of another', file: 'packages/core/src/finished/hash-table.ts', find: 'enter(taken[at] as number, taken[at + 1] as number)', replace: 'enter(taken[at] as number, taken[1] as number)', killedBy: ['test/properties/finished-indexes.test.ts'], named: 'gathers' },
  { title: 'rows are gathered over others that are in their slots', file: 'packages/core/src/finished/hash-table.ts', find: 'this.count > 0 || gathered', replace: 'gathered', killedBy: ['test/properties/finished-indexes.test.ts'], named: 'gathers' },
  { title: 'a start looks for hashes of named rows with a seed of its own', file: 'packages/core/src/snapshot/head.ts', find: 'new Tables(text.queue, text.seed, store)', replace: 'new Tables(text.queue, text.seed + 1, store)', killedBy: rowFiles, named: 'after kill -9' },
  { title: 'a snapshot is used although its file of rows is cut short', file: files, find: 'end > this.end', replace: 'false', killedBy: rowFiles, named: 'is cut short' },
  { title: 'a file of rows that is damaged is used again', file: files, find: '    rmSync(this.file.path, { force: true })\n', replace: '', killedBy: rowFiles, named: 'never others' },
  { title: 'a file of rows is deleted while its process refers to it', file: files, find: '!inUse.has(join(dir, name)) && isOurs', replace: 'isOurs', killedBy: rowFiles, named: 'nobody has its rows' },
  { title: 'a file of rows is deleted although a snapshot names it', file: 'packages/adapters/src/files/snapshots/prune.ts', find: 'rowFiles.filter((name) => !named.has(name))', replace: 'rowFiles', killedBy: rowFiles, named: 'after kill -9' },
  { title: 'files of rows stay for ever', file: 'packages/adapters/src/files/snapshots/prune.ts', find: 'return named === undefined ?', replace: 'return named !== null ?', killedBy: rowFiles, named: 'retention is over' },
  { title: 'a snapshot names rows whose file is gone', file: files, find: 'if (!existsSync(path)) {', replace: 'if (path === dir) {', killedBy: rowFiles, named: 'somebody has deleted' },
  { title: 'each snapshot names rows whose file is gone, and fails', file: files, find: 'gone.has(this.file.path) ? undefined : place', replace: 'place', killedBy: rowFiles, named: 'somebody has deleted' },
  { title: 'rows that a snapshot names are not synced', file: files, find: 'if (!unsynced.delete(path)) continue', replace: 'if (unsynced.has(path)) continue', killedBy: syncOrder },
  { title: "the name of a file of rows that a snapshot names is not synced", file: files, find: 'if (isNew) await syncPath(dir)', replace: '', killedBy: syncOrder },
  { title: 'rows of older snapshots are thought to take no space', file: 'packages/adapters/src/files/snapshots/snapshot-ladder.ts', find: 'sum += rowBytes.get(file) ?? 0', replace: 'sum += 0', killedBy: ['test/stores/snapshot-ladder.test.ts'] },
  { title: 'rows that several older snapshots name take space in each', file: 'packages/adapters/src/files/snapshots/snapshot-ladder.ts', find: 'of new Set(rungs.flatMap(({ rows = [] }) => [...rows]))', replace: 'of rungs.flatMap(({ rows = [] }) => [...rows])', killedBy: ['test/stores/snapshot-ladder.test.ts'] },
  { title: 'rows in files are thought to be loaded as others', file: 'packages/adapters/src/engine/state/snapshot-policy.ts', find: 'writeFinishedUs * (finished - stored)', replace: 'writeFinishedUs * finished', killedBy: ['test/engine/snapshot-policy.test.ts'] },
]
