/** Rows of old finished tasks that are not in memory: when they are given away, and the files that have them. */
import type { Plant } from '../plant.js'

const chunk = 'packages/core/src/finished/chunk.ts'
const rows = 'packages/core/src/finished/rows.ts'
const store = 'packages/core/src/finished/row-store.ts'
const files = 'packages/adapters/src/files/row-files.ts'
const finished = ['test/properties/finished-tasks.test.ts']
const rowFiles = ['test/stores/row-files.test.ts']

export const rowPlants: ReadonlyArray<Plant> = [
  { title: 'rows of old finished tasks stay in memory as well as in the store', file: chunk, find: '    this.data = undefined\n    return true', replace: '    return true', killedBy: ['test/core/finished.test.ts'], named: 'INV-22' },
  { title: 'a chunk that the store does not take is lost', file: chunk, find: 'if (this.kept === undefined) return false', replace: 'if (this.kept === undefined) this.kept = { read: () => new Uint8Array(0) }', killedBy: finished },
  { title: 'a chunk that was taken back is given to the store no more', file: rows, find: 'if (this.firstChunk + index < this.givenTo) this.givenTo = this.firstChunk + index', replace: '', killedBy: finished, named: 'written anew' },
  { title: 'a chunk is given to the store before it is full', file: rows, find: '- Math.max(1, store.newest)', replace: '', killedBy: finished },
  { title: 'a store that was full once is not asked again', file: rows, find: 'chunkRows)) return\n', replace: 'chunkRows)) {\n        this.givenTo++\n        return\n      }\n', killedBy: finished, named: 'given to it later' },
  { title: 'after a pause all chunks are given to the store at once', file: rows, find: 'given < givenMax', replace: 'given >= 0', killedBy: finished, named: 'given to it later' },
  { title: 'each look at a row reads its chunk again', file: store, find: '    this.chunks.set(kept, bytes)\n', replace: '', killedBy: finished, named: 'a read of one chunk' },
  { title: 'a snapshot pushes out the chunks that were read last', file: chunk, find: '(this.kept as KeptBytes).read().subarray(0, end)', replace: 'this.bytes().slice(0, end)', killedBy: finished, named: 'a read of one chunk' },
  { title: 'rows are read from disk as they are there', file: files, find: 'crc32(bytes) !== checksum', replace: 'false', killedBy: rowFiles, named: 'an error and never others' },
  { title: 'rows of a file that is cut off are filled with zeros', file: files, find: "if (read === 0) throw new Error(`the file ends at ${from + at}`)", replace: 'if (read === 0) return bytes', killedBy: rowFiles, named: 'an error and never others' },
  { title: 'a chunk that was written in part counts', file: files, find: '    const from = this.bytes\n', replace: '    const from = this.bytes\n    this.bytes += bytes.byteLength\n', killedBy: rowFiles, named: 'written in part' },
  { title: 'the file of rows keeps its name', file: files, find: '    rmSync(path)\n', replace: '', killedBy: rowFiles, named: 'the folder shows none' },
  { title: 'files of rows stay open until the server ends', file: files, find: '    unused.register(rows, file)\n', replace: '', killedBy: rowFiles, named: 'nobody has its rows' },
  { title: 'a closed file of rows is read by its number', file: files, find: '    file.fd = undefined\n', replace: '', killedBy: rowFiles, named: 'also when another file' },
  { title: 'each chunk that cannot be written is warned of', file: files, find: 'if (!hasFailed) warn(', replace: 'warn(', killedBy: rowFiles, named: 'one warning' },
  { title: 'a start removes rows that another process is about to use', file: files, find: ' || !isAlive(Number(pid))', replace: ' || true', killedBy: rowFiles, named: 'could not delete' },
  { title: 'a server keeps all rows of finished tasks in memory', file: 'packages/adapters/src/serve/serve.ts', find: '      ...(rows === undefined ? {} : { rowStoreOf: rows.storeOf }),\n', replace: '', killedBy: rowFiles, named: 'a server keeps rows' },
  { title: 'after a start from a snapshot all rows are in memory', file: 'packages/adapters/src/engine/replay.ts', find: 'snapshotReader(indexSeed, newRowStore?.())', replace: 'snapshotReader(indexSeed)', killedBy: rowFiles, named: 'after kill -9' },
]
