/** The tables behind the state: rollback and marks, indexes, what every event moves. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const folds = ['test/properties/fold.test.ts']
const retention = ['test/core/retention.test.ts']
const rollbacks = ['test/core/rollback.test.ts']
const sorted = ['test/properties/sorted-list.test.ts']

export const tablePlants: ReadonlyArray<Plant> = [
  {
    title: 'undoing an eviction gives a key to the task that had it then, whatever has become of that task',
    file: 'packages/core/src/tables.ts',
    find: '  private noteEviction(task: TaskRecord): void {\n    this.undoLog.note({\n      undo: () => {\n',
    replace: '  private noteEviction(task: TaskRecord): void {\n    const then = this.byKey.get(task.key)\n    this.undoLog.note({\n      undo: () => {\n        if (then !== undefined) this.byKey.set(task.key, then.number)\n',
    killedBy: ['test/core/rollback.test.ts'],
  },
  // Rollback and marks.
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
    title: 'tasks of the straggler list are not found by their number',
    file: `${core}task-numbers.ts`,
    find: 'this.stragglers.add(task)\n      this.count--',
    replace: 'this.count--',
    killedBy: [...retention, 'test/properties/task-numbers.test.ts'],
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
