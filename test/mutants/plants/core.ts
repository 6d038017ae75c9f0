/** Decisions, the fold, and the tables behind them. */
import type { Plant } from '../plant.js'

const decide = 'packages/core/src/decide/'
const claims = 'test/core/claim.test.ts'
const leases = 'test/core/lease.test.ts'
const fence = 'test/core/fence.test.ts'

export const corePlants: ReadonlyArray<Plant> = [
  {
    title: 'a bulk retry brings back two tasks of one key',
    file: `${decide}dead-letters.ts`,
    find: 'rival === undefined && !keys.has(task.key)',
    replace: 'rival === undefined',
    killedBy: ['test/core/review.test.ts'],
  },
  {
    title: 'a report with an older token is accepted',
    file: `${decide}lookup.ts`,
    find: 'lease.token === claim.token && lease.agent',
    replace: 'lease.agent',
    killedBy: [fence],
  },
  {
    title: "a task's id is paired with another task's valid token",
    file: 'packages/core/src/tables.ts',
    find: 'task?.id === id ? (this.asked = task) : undefined',
    replace: '(this.asked = task)',
    killedBy: [fence],
  },
  {
    title: 'a task that its agent has released is given to it again',
    file: `${decide}claim.ts`,
    find: 'task.extras.claimants?.includes(request.agent) === true',
    replace: 'false',
    killedBy: [claims],
  },
  {
    title: 'a task has one attempt more than is said',
    file: 'packages/core/src/attempts.ts',
    find: 'Math.max(1, maxRetries)',
    replace: 'maxRetries + 1',
    killedBy: ['test/core/attempts.test.ts'],
  },
  {
    title: 'the last attempt is said without regard to maxAttempts',
    file: 'packages/core/src/attempts.ts',
    find: 'Math.min(maxAttempts, attempts + left)',
    replace: 'attempts + left',
    killedBy: ['test/core/attempts.test.ts'],
  },
  {
    title: 'to end an agent uses up attempts and retries',
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
    title: 'another id beside equal content is swallowed',
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
    title: 'two tasks that share no key have one',
    file: `${decide}duplicates.ts`,
    find: '}#${number}`',
    replace: '}#`',
    killedBy: ['test/core/duplicates.test.ts'],
  },
  {
    title: "a task's own key is another's by a producer's whim",
    file: `${decide}enqueue.ts`,
    find: 'tables.byKey.has(key) || earlier?.byKey.has(key) === true',
    replace: 'false',
    killedBy: ['test/core/duplicates.test.ts'],
  },
  {
    title: 'a duplicate is told the end of the task and not of its retention',
    file: 'packages/core/src/reply.ts',
    find: 'known.finishedAt + head.settings.retentionSeconds * 1_000',
    replace: 'known.finishedAt',
    killedBy: ['test/core/duplicates.test.ts'],
  },
  {
    title: "a heartbeat extends a short lease by the task's timeout",
    file: `${decide}settle.ts`,
    find: 'at + lease.durationMs',
    replace: 'at + Math.ceil(task.timeout * 1_000)',
    killedBy: [leases],
  },
  {
    title: "a claim is given a longer lease than the task's timeout",
    file: `${decide}claim.ts`,
    find: 'Math.min(timeout, leaseSeconds)',
    replace: 'leaseSeconds',
    killedBy: [leases],
  },
  {
    title: 'a snapshot forgets how long a lease lasts',
    file: 'packages/core/src/snapshot-page.ts',
    find: 'put(column.durationMs, lease.durationMs)',
    replace: '',
    killedBy: [leases],
  },
  {
    title: 'an agent that stops is barred from its task',
    file: `${decide}settle.ts`,
    find: "draft.emit({ type: 'ClaimReturned', at, data })",
    replace: "draft.emit({ type: 'Released', at, data })",
    killedBy: [claims],
  },
]
