/** Snapshots: what is in their pages, how they are taken while the state goes on, and their files. */
import type { Plant } from '../plant.js'

const core = (file: string): string => `packages/core/src/${file}`
const files = (file: string): string => `packages/adapters/src/files/${file}`
const folds = ['test/properties/fold.test.ts']
const teeth = ['test/properties/snapshot-teeth.test.ts']
const finished = ['test/properties/finished-tasks.test.ts']
const folder = ['test/stores/snapshots.test.ts']
const syncOrder = ['test/stores/sync-order.test.ts']
const engine = ['test/engine/snapshots.test.ts']

export const snapshotPlants: ReadonlyArray<Plant> = [
  { title: 'a snapshot of finished tasks is thought to cost as much as one of others', file: 'packages/adapters/src/engine/snapshot-policy.ts', find: 'writeFinishedUs * finished', replace: 'writeUs * finished', killedBy: ['test/engine/snapshot-policy.test.ts'] },
  { title: 'a start is thought to make a record of each finished task', file: 'packages/adapters/src/engine/snapshot-policy.ts', find: 'loadFinishedUs * finished', replace: 'loadUs * finished', killedBy: ['test/engine/snapshot-policy.test.ts'] },
  {
    title: "a snapshot leaves out a lease's epoch",
    file: core('snapshot-page.ts'),
    find: 'numbers[column.epoch * rows + row] = lease.epoch',
    replace: '',
    killedBy: teeth,
  },
  {
    title: 'a snapshot leaves out how a lease ended',
    file: core('snapshot-page.ts'),
    find: 'numbers[column.end * rows + row] = lease.end === null ? -1 : leaseEnds.indexOf(lease.end)',
    replace: 'numbers[column.end * rows + row] = -1',
    killedBy: teeth,
  },
  {
    title: 'a snapshot leaves out whether a lease is a test',
    file: core('snapshot-page.ts'),
    find: 'numbers[column.probe * rows + row] = lease.probe ? 1 : 0',
    replace: '',
    killedBy: teeth,
  },
  {
    title: 'a snapshot leaves out who may not have a task again',
    file: core('snapshot-page.ts'),
    find: 'extras.push([row, task.extras])',
    replace: 'extras.push([row, { ...task.extras, claimants: [] }])',
    killedBy: teeth,
  },
  {
    title: 'a snapshot has finished tasks that had left before it began',
    file: core('finished/finished-walk.ts'),
    find: 'row >= this.row && this.wasThere(row) ? ',
    replace: 'row >= this.row ? ',
    killedBy: finished,
  },
  {
    title: 'a snapshot takes a chunk as it is in which a row has left',
    file: core('finished/rows.ts'),
    find: '    if (this.gone.size > 0) for (let row = from; row < to; row++) if (this.gone.has(row)) return false\n',
    replace: '',
    killedBy: finished,
  },
  {
    title: 'a snapshot has a finished task as it was written again since',
    file: core('finished/finished-walk.ts'),
    find: 'this.before.set(row, this.bytesOf(row))',
    replace: 'undefined',
    killedBy: finished,
  },
  {
    title: 'a snapshot has the bytes that a task had before it was written again',
    file: core('finished/chunk.ts'),
    find: 'this.rewritten !== undefined ? undefined : ',
    replace: '',
    killedBy: finished,
  },
  {
    title: 'a name is forgotten, and its number given to another, while a snapshot is written that has it',
    file: core('finished/interned.ts'),
    find: 'if (this.readers === 0) this.clear(index)',
    replace: 'if (this.readers >= 0) this.clear(index)',
    killedBy: finished,
  },
  {
    title: 'a start counts a finished task without its ticket',
    file: core('tables.ts'),
    find: '      this.joinOthers(task)\n      if',
    replace: '      if',
    killedBy: folds,
    named: 'from a snapshot at any point',
  },
  {
    title: 'after a start a row that left before is the first one',
    file: core('finished/rows.ts'),
    find: 'if (this.front === from) this.passGone([])',
    replace: '',
    killedBy: finished,
  },
  {
    title: 'rows of a snapshot are thought to be as long as it says',
    file: core('finished/chunk.ts'),
    find: '!Number.isInteger(end) || end !== data.length',
    replace: 'false',
    killedBy: ['test/core/snapshot.test.ts'],
  },
  {
    title: 'a snapshot writes a task twice that changes while it is taken',
    file: core('task-walk.ts'),
    find: 'if (copied.delete(task)) continue',
    replace: '',
    killedBy: folds,
    named: 'taken in steps',
  },
  {
    title: "a snapshot shows a task as it is when it is reached, not as it was at the snapshot's start",
    file: core('task-walk.ts'),
    find: 'this.copies.push({ ...task })',
    replace: 'this.copies.push(task)',
    killedBy: folds,
    named: 'taken in steps',
  },
  {
    title: 'a snapshot holds tasks added after its start',
    file: core('task-walk.ts'),
    find: 'if (task === undefined || task.number > lastNumber) {',
    replace: 'if (task === undefined) {',
    killedBy: folds,
    named: 'taken in steps',
  },
  {
    title: 'a task that is evicted while a snapshot is taken is not in it',
    file: core('tables.ts'),
    find: '  evict(task: TaskRecord): void {\n    for (const walk of this.walks) walk.beforeLeaving(task)\n',
    replace: '  evict(task: TaskRecord): void {\n',
    killedBy: ['test/core/retention.test.ts'],
  },
  {
    title: 'a task read from a snapshot does not wait for what it depends on',
    file: core('snapshot-page.ts'),
    find: 'numbers[column.missing * rows + row] = task.missing',
    replace: '',
    killedBy: folds,
    named: 'from a snapshot at any point',
  },
  {
    title: 'a snapshot is not synced before its rename',
    file: files('snapshot-writer.ts'),
    find: '      await handle.sync()\n',
    replace: '',
    killedBy: syncOrder,
  },
  {
    title: "a snapshot's name is not synced",
    file: files('snapshot-writer.ts'),
    find: 'await syncFolder(dirname(finished))',
    replace: 'dirname(finished)',
    killedBy: syncOrder,
  },
  {
    title: "a snapshot's checksum is not compared",
    file: files('snapshot-pages.ts'),
    find: "|| hash.digest('hex') !== footer.sha256",
    replace: '',
    killedBy: folder,
  },
  {
    title: 'the snapshot just written is removed where older ones have higher revisions',
    file: files('snapshots.ts'),
    find: '.filter(({ name }) => name !== writtenName)',
    replace: '',
    killedBy: folder,
  },
  {
    title: 'a snapshot beyond the end of the log is used',
    file: files('snapshots.ts'),
    find: 'revision > revisionMax',
    replace: 'revision < 0',
    killedBy: folder,
  },
  {
    title: 'a start removes the snapshot that another process is writing',
    file: files('snapshots.ts'),
    find: 'ownUnfinished.has(path) || (pid !== process.pid && isAlive(pid))',
    replace: 'ownUnfinished.has(path)',
    killedBy: folder,
  },
  {
    title: 'a snapshot of another log is used',
    file: 'packages/adapters/src/engine/replay.ts',
    find: 'event !== undefined && event.id !== eventId',
    replace: 'false',
    killedBy: engine,
  },
  {
    title: 'a snapshot is taken with an append under way',
    file: 'packages/adapters/src/engine/engine.ts',
    find: 'if (this.inFlight.size > 0) break\n        void this.snapshotter',
    replace: 'void this.snapshotter',
    killedBy: engine,
  },
  {
    title: 'a snapshot that failed keeps all later ones from being taken',
    file: 'packages/adapters/src/engine/snapshotter.ts',
    find: '    } finally {\n      this.isUnderWay = false',
    replace: '    } finally {\n      this.isUnderWay = this.last < this.tried',
    killedBy: engine,
  },
]
