/** The tables behind the state: rollback and marks, indexes, what every event moves. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const finished = ['test/properties/finished-tasks.test.ts']
const folds = ['test/properties/fold.test.ts']
const retention = ['test/core/retention.test.ts']
const rollbacks = ['test/core/rollback.test.ts']
const sorted = ['test/properties/sorted-list.test.ts']

export const tablePlants: ReadonlyArray<Plant> = [
  {
    title: 'undoing an eviction gives the task a key that it did not have',
    file: `${core}finished/finished-tasks.ts`,
    find: 'this.enter(task.number, place.row, isKeyed)',
    replace: 'this.enter(task.number, place.row, true)',
    killedBy: ['test/core/rollback.test.ts'],
  },
  // Rollback and marks.
  {
    title: 'a task that is as before after a rollback has lost its key to one that is gone',
    file: `${core}tables.ts`,
    find: '    if (blocksDuplicates(task.status) && !isFinal(task.status)) this.keys.set(task.key, task.number)\n',
    replace: '',
    killedBy: ['test/core/finished.test.ts'],
  },
  {
    title: 'a rollback puts a dependent back elsewhere',
    file: `${core}tables.ts`,
    find: 'dependents.splice(index, 0, task)',
    replace: 'dependents.push(task)',
    killedBy: rollbacks,
  },
  {
    title: 'a rollback leaves a dependent that was taken back',
    file: `${core}tables.ts`,
    find: 'undo: () => dependents.pop()',
    replace: 'undo: () => undefined',
    killedBy: rollbacks,
  },
  {
    title: 'a rollback undoes the oldest change first',
    file: `${core}undo-log.ts`,
    find: 'for (let i = this.undos.length - 1; i >= from; i--) (this.undos[i] as Undo).undo()',
    replace: 'for (let i = from; i < this.undos.length; i++) (this.undos[i] as Undo).undo()',
    killedBy: folds,
    named: 'nested marks',
  },
  {
    title: "a rollback leaves a task's lease as it was changed",
    file: `${core}task-before.ts`,
    find: '    task.lease = this.lease\n',
    replace: '',
    killedBy: folds,
    named: 'nested marks',
  },
  {
    title: 'releasing a mark drops undo records that the next mark needs',
    file: `${core}undo-log.ts`,
    find: 'this.undos = this.undos.slice(next.start - this.dropped)',
    replace: 'this.undos = []',
    killedBy: folds,
    named: 'nested marks',
  },
  {
    title: 'a record is saved once for all marks',
    file: `${core}undo-log.ts`,
    find: 'if (record.savedFor === mark.id) return false',
    replace: 'if (record.savedFor > 0) return false',
    killedBy: folds,
    named: 'nested marks',
  },
  // Indexes.
  {
    title: 'a sorted list is not split right: the upper half has the wrong last key',
    file: `${core}sorted-list.ts`,
    find: 'keys[half - 1] as number, upper.keys[upper.keys.length - 1]',
    replace: 'keys[half - 1] as number, upper.keys[0]',
    killedBy: sorted,
  },
  {
    title: 'the text index leaves a hole in front of a text that stood behind another',
    file: `${core}text-index.ts`,
    find: 'if (((next - hash) & mask) < ((next - free) & mask)) continue',
    replace: 'continue',
    killedBy: ['test/properties/text-index.test.ts'],
  },
  {
    title: 'the text index removes a text with an equal hash for one that it does not have',
    file: `${core}text-index.ts`,
    find: 'if (numbers[at] !== number || hashes[at] !== hash) continue',
    replace: 'if (hashes[at] !== hash) continue',
    killedBy: ['test/properties/text-index.test.ts'],
  },
  {
    title: 'tasks of the straggler list are not found by their number',
    file: `${core}task-numbers.ts`,
    find: 'this.stragglers.add(task)\n      this.count--',
    replace: 'this.count--',
    killedBy: [...retention, 'test/properties/task-numbers.test.ts'],
  },
  // Finished tasks.
  {
    title: 'a finished task keeps its record',
    file: `${core}tables.ts`,
    find: 'else if (isFinal(task.status)) this.retire(task)',
    replace: '',
    killedBy: ['test/core/finished.test.ts'],
  },
  {
    title: 'an eviction takes the key of a later task with it',
    file: `${core}finished/row-index.ts`,
    find: 'while (at >= 0 && table.rowAt(at) !== row >>> 0) at = table.after(at, hash)\n',
    replace: '',
    killedBy: ['test/core/finished.test.ts'],
  },
  {
    title: 'a task that left in the middle is taken for the first when those before it have left',
    file: `${core}finished/rows.ts`,
    find: '      this.passGone(passed)\n',
    replace: '',
    killedBy: finished,
  },
  {
    title: 'a rollback does not bring back the bytes of the tasks that had left',
    file: `${core}finished/rows.ts`,
    find: '    this.chunks.unshift(...dropped)\n',
    replace: '',
    killedBy: finished,
  },
  {
    title: 'a rollback gives the name of an agent to the tasks of another',
    file: `${core}finished/interned.ts`,
    find: '    this.free.delete(index)\n',
    replace: '',
    killedBy: finished,
  },
  {
    title: 'an id in capital letters comes back in small ones',
    file: `${core}finished/bytes.ts`,
    find: 'String.fromCharCode(code))',
    replace: 'String.fromCharCode(code).toLowerCase())',
    killedBy: finished,
  },
  {
    title: 'how the last claim ended is forgotten with the record',
    file: `${core}finished/task-bytes.ts`,
    find: 'leaseEnds.indexOf(lease.end) + 1)',
    replace: 'leaseEnds.indexOf(lease.end))',
    killedBy: finished,
  },
  {
    title: 'the row index leaves a hole in front of a row that stood behind another',
    file: `${core}finished/hash-table.ts`,
    find: 'if (this.distance(this.homeOf(hash), next) < this.distance(free, next)) continue',
    replace: 'continue',
    killedBy: finished,
  },
  {
    title: 'a finished task is thought to have had one attempt if it was never sent back',
    file: `${core}finished/task-bytes.ts`,
    find: 'attempts === 1 && ',
    replace: '',
    killedBy: finished,
  },
  {
    title: "a finished task's lease is thought to be plain in any epoch of the breaker",
    file: `${core}finished/task-bytes.ts`,
    find: ' && lease.epoch === 0',
    replace: '',
    killedBy: finished,
  },
  {
    title: 'rows of more than 64 KiB in a chunk overwrite each other',
    file: `${core}finished/chunk.ts`,
    find: 'if (at > 0xffff && this',
    replace: 'if (at > 0xfffff && this',
    killedBy: finished,
  },
  {
    title: 'the row of a number is that of another one near it',
    file: `${core}finished/number-rows.ts`,
    find: 'this.rows.copyWithin(rank + 1, rank, this.count)',
    replace: 'this.rows.copyWithin(rank + 1, rank, this.count - 1)',
    killedBy: ['test/properties/finished-indexes.test.ts'],
  },
  {
    title: 'the first table of many that share hashes is filled from the second',
    file: `${core}finished/row-index.ts`,
    find: '/ places) * places',
    replace: '/ places)',
    killedBy: ['test/properties/finished-indexes.test.ts'],
  },
  {
    title: 'a start does not count the finished tasks that a snapshot says it has',
    file: `${core}snapshot.ts`,
    find: 'loaded.finished.size !== finishedCount',
    replace: 'false',
    killedBy: ['test/core/snapshot.test.ts'],
  },
  {
    title: 'keys with the same hash push each other out of the row index',
    file: `${core}finished/row-index.ts`,
    find: 'else this.crowded.set(this.textOf(row), row >>> 0)',
    replace: '',
    killedBy: finished,
  },
  {
    title: 'a finished task that is answered elsewhere keeps the answer after a rollback',
    file: `${core}tables.ts`,
    find: 'if (this.undoLog.isRecording) this.undoLog.note({ undo })',
    replace: '',
    killedBy: ['test/core/finished.test.ts'],
  },
  // The log as it is.
  {
    title: 'time runs backward with the clock',
    file: `${core}evolve.ts`,
    find: 'if (event.at > head.at) head.at = event.at',
    replace: 'head.at = event.at',
    killedBy: ['test/properties/fold.test.ts'],
    named: 'the fold is total',
  },
  {
    title: 'an unreadable event does not count as a revision',
    file: `${core}evolve.ts`,
    find: '  const head = tables.touchHead()\n  head.revision++\n  const key',
    replace: '  const head = tables.touchHead()\n  const key',
    killedBy: ['test/core/decode.test.ts'],
  },
]
