/** Dependencies between tasks, their keys, and how long they are known. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const decide = `${core}decide/`
const fold = `${core}fold/`
const claims = ['test/core/claim.test.ts']
const enqueues = ['test/core/enqueue.test.ts']
const leases = ['test/core/lease.test.ts']
const retention = ['test/core/retention.test.ts']
const review = ['test/core/review.test.ts']

export const keyPlants: ReadonlyArray<Plant> = [
  // Dependencies.
  {
    title: 'a task becomes ready when the first of its dependencies is completed',
    file: `${fold}claim.ts`,
    find: 'waiting.missing--',
    replace: 'waiting.missing = 0',
    killedBy: enqueues,
  },
  {
    title: 'a blocked task with a delay becomes ready at once',
    file: `${fold}claim.ts`,
    find: 'rest(waiting, waiting.extras.availableAt ?? 0, event.at)',
    replace: 'rest(waiting, 0, event.at)',
    killedBy: enqueues,
  },
  {
    title: 'a cancel reaches direct dependents only',
    file: `${decide}cancel.ts`,
    find: 'queue.push(task)',
    replace: '',
    killedBy: review,
  },
  {
    title: 'a task that depends on the cancelled one by two paths is cancelled twice',
    file: `${decide}cancel.ts`,
    find: 'if (seen.has(task) || isFinal(task.status)) continue',
    replace: 'if (isFinal(task.status)) continue',
    killedBy: review,
  },
  {
    title: 'a task may wait for one that was cancelled',
    file: `${decide}enqueue.ts`,
    find: "if (dependency.status !== 'cancelled' && dependency.status !== 'discarded') return undefined",
    replace: 'return undefined',
    killedBy: enqueues,
  },
  {
    title: 'a cycle of dependencies is accepted',
    file: `${decide}enqueue.ts`,
    find: 'else if (path.has(dependency)) {',
    replace: 'else if (path.has(dependency)) {\n        continue',
    killedBy: enqueues,
  },
  // Keys and retention.
  {
    title: 'a bulk retry requeues two tasks of one key',
    file: `${decide}dead-letters.ts`,
    find: 'rival === undefined && !keys.has(task.key)',
    replace: 'rival === undefined',
    killedBy: review,
  },
  {
    title: 'two tasks of one key in one request are both accepted',
    file: `${decide}enqueue.ts`,
    find: 'if (blocksDuplicates(statusOf(task))) earlier?.byKey.set(task.idempotencyKey, fresh.length)',
    replace: '',
    killedBy: enqueues,
  },
  {
    title: 'a dead letter counts as a duplicate of a new task',
    file: `${core}state/tables.ts`,
    find: '    else this.keys.delete(task.key, task.number)\n',
    replace: '',
    killedBy: enqueues,
  },
  {
    title: 'a task that is discarded takes its key from the task that has it now',
    file: `${core}state/tables.ts`,
    find: 'const isKeyed = this.keys.delete(key, number)',
    replace: 'const isKeyed = this.keys.delete(key, number)\n    this.keys.delete(key, this.keys.get(key)?.number ?? 0)',
    killedBy: enqueues,
  },
  {
    title: 'a cancelled task remains a dependent of its dependencies',
    file: `${core}state/tables.ts`,
    find: "if (task.status !== 'completed') leaveDependencies(this, task)",
    replace: '',
    killedBy: retention,
  },
  {
    title: 'empty groups are not removed',
    file: `${core}state/tables.ts`,
    find: '      this.shares.part(task.group)\n',
    replace: '',
    killedBy: retention,
  },
  {
    title: 'a task shows one attempt too many',
    file: 'packages/core/src/model/attempts.ts',
    find: 'Math.max(1, maxRetries)',
    replace: 'maxRetries + 1',
    killedBy: ['test/core/attempts.test.ts'],
  },
  {
    title: 'the last attempt is computed without maxAttempts',
    file: 'packages/core/src/model/attempts.ts',
    find: 'Math.min(maxAttempts, attempts + left)',
    replace: 'attempts + left',
    killedBy: ['test/core/attempts.test.ts'],
  },
  {
    title: 'ending an agent uses up attempts and retries',
    file: 'packages/core/src/fold/claim.ts',
    find: "'agent-terminated', 0, 0",
    replace: "'agent-terminated', 1, 1",
    killedBy: ['test/core/lease.test.ts'],
  },
  {
    title: 'a new attempt shows the progress of the one before',
    file: 'packages/core/src/fold/claim.ts',
    find: 'record.extras.progressRevision !== undefined',
    replace: 'false',
    killedBy: ['test/http/work.test.ts'],
    named: 'progress and checkpoint',
  },
  {
    title: 'deduplicate: key is taken for content',
    file: `${decide}duplicates.ts`,
    find: "(mode === 'key' && isContentKey !== true)",
    replace: "mode === 'key'",
    killedBy: ['test/core/duplicates.test.ts'],
  },
  {
    title: 'a task with equal content but another id is dropped',
    file: `${decide}duplicates.ts`,
    find: 'task.isContentKey !== true || task.isMadeId === true',
    replace: 'true',
    killedBy: ['test/core/duplicates.test.ts'],
  },
  {
    title: 'an import refuses equal content',
    file: `${decide}duplicates.ts`,
    find: 'return isImport ? ownKey :',
    replace: 'return',
    killedBy: ['test/core/duplicates.test.ts'],
  },
  {
    title: 'two tasks without a shared key get the same key',
    file: `${decide}duplicates.ts`,
    find: '}#${number}`',
    replace: '}#`',
    killedBy: ['test/core/duplicates.test.ts'],
  },
  {
    title: "a task's own key is another's by a producer's whim",
    file: `${decide}enqueue.ts`,
    find: 'known.byKey(key) !== undefined || earlier?.byKey.has(key) === true',
    replace: 'false',
    killedBy: ['test/core/duplicates.test.ts'],
  },
  {
    title: 'a duplicate gets the time of completion instead of the end of retention',
    file: 'packages/core/src/queries/reply.ts',
    find: 'known.finishedAt + head.settings.retentionSeconds * 1_000',
    replace: 'known.finishedAt',
    killedBy: ['test/core/duplicates.test.ts'],
  },
  {
    title: "a heartbeat extends a short lease by the task's timeout",
    file: `${decide}settle.ts`,
    find: 'at + lease.durationMs',
    replace: 'at + Math.ceil(task.timeout * 1_000)',
    killedBy: leases,
  },
  {
    title: "a claim is given a longer lease than the task's timeout",
    file: `${decide}claim.ts`,
    find: 'Math.min(timeout, leaseSeconds)',
    replace: 'leaseSeconds',
    killedBy: leases,
  },
  {
    title: 'a snapshot forgets how long a lease lasts',
    file: 'packages/core/src/rows/task-bytes.ts',
    find: 'to.number(lease.durationMs)',
    replace: 'to.number(0)',
    killedBy: leases,
  },
  {
    title: 'an agent that stops is barred from its task',
    file: `${decide}settle.ts`,
    find: "draft.emit({ type: 'ClaimReturned', at, data })",
    replace: "draft.emit({ type: 'Released', at, data })",
    killedBy: claims,
  },
]
