/** Archived events in segments. */
import type { Plant } from '../plant.js'

const move = 'packages/adapters/src/archive/archive-stream.ts'
const joined = 'packages/adapters/src/segments/joined-log.ts'
const joinedStore = 'packages/adapters/src/segments/joined-store.ts'
const segment = 'packages/adapters/src/segments/segment.ts'
const writer = 'packages/adapters/src/segments/segment-writer.ts'
const trim = 'packages/adapters/src/sqlite/trim.ts'
const reads = ['test/archive/joined.test.ts']
const crashes = ['test/archive/crash.test.ts']
const files = ['test/archive/segment.test.ts']
const commands = ['test/archive/command.test.ts']

export const archivePlants: ReadonlyArray<Plant> = [
  { title: 'a segment that was renamed is to come from a backup', file: 'packages/adapters/src/segments/segment.ts', find: 'give it back its name,', replace: 'bring back', killedBy: ['test/archive/command.test.ts'] },
  { title: 'a segment that was read back is not compared with the store', file: move, find: '|| !isSame(event, own)', replace: '', killedBy: crashes, named: 'not what the store has' },
  { title: 'an interrupted run is not ended', file: move, find: 'files.filter(({ to }) => to >= first)', replace: 'files.filter(({ to }) => to < 0 && to >= first)', killedBy: crashes },
  { title: 'what a crash left unfinished stays', file: move, find: 'await removeUnfinished(folder)', replace: '', killedBy: crashes },
  { title: 'a segment ends in the middle of an append', file: move, find: '? await lastSealed(log, stream, archived, target - 1, sealed) : target - 1', replace: '? target - 1 : target - 1', killedBy: reads, named: 'segments lie one behind the other' },
  { title: 'a gap between segments is not noticed before more is moved', file: move, find: 'if (from > archived) throw', replace: 'if (from < 0) throw', killedBy: reads, named: 'what is missing is named, and nothing is made up for it' },
  { title: 'a segment has the name of the seal before as its own', file: writer, find: 'after: this.seal }', replace: 'after: sealBefore }', killedBy: reads },
  { title: 'a log that is not whole is moved', file: 'packages/adapters/src/archive/archive-log.ts', find: 'if (broken !== null) throw', replace: 'if (broken === undefined) throw', killedBy: crashes, named: 'is not whole' },
  { title: 'the bytes of a block are not compared with their hash', file: segment, find: "if (sha256Of(packed).toString('base64url') !== sha256) throw", replace: "if (sha256Of(packed).toString('base64url') === '') throw", killedBy: files },
  { title: 'a damaged index is read', file: segment, find: 'if (!sha256Of(packed).equals(hash)) throw', replace: 'if (hash.length === 0) throw', killedBy: files },
  { title: 'a segment that the disk cannot read is an error without its name', file: segment, find: '    throw unreadable(error)\n', replace: '    throw error\n', killedBy: files },
  { title: 'a segment that is away is told as damaged', file: segment, find: 'failedRead(file, error, missing(file, named), broken)', replace: 'broken(cannotBeRead(error), error)', killedBy: files, named: 'away' },
  { title: 'a segment for which there is no descriptor is told as damaged', file: segment, find: 'isShortage(error) ? unreadableNow(file, error) : ', replace: '', killedBy: files, named: 'without a descriptor' },
  { title: 'a segment that was read before is told as damaged when it is away', file: segment, find: 'failedRead(file, error, away, broken)', replace: 'broken(cannotBeRead(error), error)', killedBy: reads, named: 'what is missing is named' },
  { title: 'the segments of a stream are not listed again when one is away', file: 'packages/adapters/src/segments/segment-folder.ts', find: '      this.files.delete(stream)\n', replace: '', killedBy: reads, named: 'what is missing is named' },
  { title: 'one event too many is removed', file: trim, find: 'const rest = Math.min(before, ', replace: 'const rest = Math.min(before + 1, ', killedBy: reads },
  { title: 'the run that goes on after a removal is not noted', file: trim, find: 'beginSegment.run(stream, rest, next.lowPosition)', replace: '', killedBy: reads },
  { title: 'a reader does not notice that events are moved under it', file: joined, find: 'if (mayBeMoved(error)) first = await ask(stream)', replace: 'if (mayBeMoved(error)) first = before', killedBy: reads },
  { title: 'a read backwards ends at the store', file: joined, find: 'if (!backwards || bottom === low) return', replace: 'return', killedBy: reads },
  { title: 'a subscription begins at what the store has', file: joinedStore, find: 'next >= first ? own : concat(', replace: 'next >= 0 ? own : concat(', killedBy: reads },
  { title: 'a subscription does not notice that events are moved', file: joinedStore, find: '(now > first ? follow(now) : ', replace: '(now < first ? follow(now) : ', killedBy: ['test/archive/eventstoredb.test.ts'] },
  { title: 'verify does not read the segments', file: 'packages/adapters/src/chain/verify-log.ts', find: 'if (first > 0) yield*', replace: 'if (first < 0) yield*', killedBy: commands },
  { title: 'a damaged segment is no fault of the log', file: 'packages/adapters/src/chain/verify-log.ts', find: '{ ...found, broken: brokenBy(lost) }', replace: 'found', killedBy: commands },
  { title: 'no snapshot is taken before events are moved', file: 'packages/adapters/src/archive/archive-log.ts', find: 'if (snapshots === undefined) return undefined', replace: 'return undefined', killedBy: commands },
  { title: 'the file keeps its size', file: 'packages/adapters/src/archive/open-trimmable.ts', find: '? undefined : trimmer.compact()', replace: '? undefined : undefined', killedBy: crashes },
  { title: 'what an administrator has set for a stream is lost', file: 'packages/adapters/src/eventstoredb/truncate.ts', find: '{ ...metadata, $tb: target }', replace: '{ $tb: target }', killedBy: ['test/archive/eventstoredb.test.ts'] },
  { title: 'a queue that cannot be read stops the read models of the others', file: 'packages/adapters/src/read-models/feed.ts', find: 'if (once || !isLost(error)) throw error', replace: 'throw error', killedBy: ['test/archive/eventstoredb.test.ts'], named: 'lacks the segments' },
  { title: 'a queue that cannot be read stops the checkpoints of the others', file: 'packages/adapters/src/chain/checkpoint-thread.ts', find: 'if (!isLost(error)) throw error', replace: 'throw error', killedBy: ['test/archive/eventstoredb.test.ts'], named: 'lacks the segments' },
  { title: 'archived events alone are looked for in the store', file: 'packages/adapters/src/segments/joined-log.ts', find: 'wanted.length === 0 ? [] : await', replace: 'await', killedBy: ['test/archive/eventstoredb.test.ts'] },
  { title: 'archive: a damaged segment stops the start of every queue', file: 'packages/adapters/src/store/lost-events.ts', find: 'error instanceof LostEvents || (', replace: '(', killedBy: ['test/archive/command.test.ts'] },
  { title: 'lines of a segment that are not JSON are no damage', file: segment, find: "if (values === undefined) throw broken('its lines are not JSON')", replace: "if (values === undefined) throw new SyntaxError('its lines are not JSON')", killedBy: ['test/archive/segment.test.ts'] },
]
