/** Claims, leases, and what ends them; cancelling and deleting. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const decide = `${core}decide/`
const fold = `${core}fold/`
const cancels = ['test/core/cancel-all.test.ts']
const claims = ['test/core/claim.test.ts']
const fence = ['test/core/fence.test.ts']
const leases = ['test/core/lease.test.ts']
const review = ['test/core/review.test.ts']

export const corePlants: ReadonlyArray<Plant> = [
  {
    title: 'cancelling a chain reads each finished task for its dependents',
    file: 'packages/core/src/state/dependents.ts',
    find: 'const dependents = tables.unfinishedById(id)?.dependents',
    replace: 'const dependents = tables.byId.get(id)?.dependents',
    killedBy: ['test/core/cancel-cost.test.ts'],
  },
  {
    title: 'cancelling a chain reads each finished task that blocked the next one',
    file: 'packages/core/src/state/dependents.ts',
    find: 'const dependency = tables.unfinishedById(id)',
    replace: 'const dependency = tables.byId.get(id)',
    killedBy: ['test/core/cancel-cost.test.ts'],
  },
  {
    title: 'a cancelled task is read again for its line',
    file: 'packages/core/src/fold/evolve.ts',
    find: 'if (task !== undefined && task.lastRevision === tables.head.revision) makeRoom',
    replace: 'if (task !== undefined && tables.byId.get(id) !== undefined && task.lastRevision === tables.head.revision) makeRoom',
    killedBy: ['test/core/cancel-cost.test.ts'],
  },
  // Fences.
  {
    title: 'a report with an older token is accepted',
    file: `${decide}lookup.ts`,
    find: 'lease.token === claim.token && lease.agent',
    replace: 'lease.agent',
    killedBy: fence,
  },
  {
    title: "a report by another agent, with the holder's token, is accepted",
    file: `${decide}lookup.ts`,
    find: '&& lease.agent === claim.agent && isHeld(task)',
    replace: '&& isHeld(task)',
    killedBy: fence,
  },
  {
    title: 'a report for a task that is no longer held is accepted',
    file: `${decide}lookup.ts`,
    find: '&& lease.agent === claim.agent && isHeld(task)',
    replace: '&& lease.agent === claim.agent',
    killedBy: fence,
  },
  {
    title: "a task's id is paired with another task's valid token",
    file: `${core}state/tables.ts`,
    find: 'task?.id === id ? task : undefined',
    replace: 'task',
    killedBy: fence,
  },
  {
    title: 'the fold lets an older token end a claim',
    file: `${fold}change.ts`,
    find: 'isHeld(task) && task.lease?.token === token',
    replace: 'isHeld(task)',
    killedBy: fence,
  },
  {
    title: 'two claims get the same token',
    file: `${decide}claim.ts`,
    find: 'token: ++token',
    replace: 'token: token + 1',
    killedBy: claims,
  },
  {
    title: 'tokens begin anew after a claim',
    file: `${fold}claim.ts`,
    find: 'head.lastToken = Math.max(head.lastToken, token)',
    replace: '',
    killedBy: claims,
  },
  // Claims.
  {
    title: 'a task that its agent has released is given to it again',
    file: `${decide}claim.ts`,
    find: 'const isBarred = agent !== undefined && isAgentShut(next.task, agent)',
    replace: 'const isBarred = false',
    killedBy: claims,
  },
  {
    title: 'a claim takes from a paused queue',
    file: `${decide}claim.ts`,
    find: 'tables.counts.pending === 0 || isQueueShut(tables)',
    replace: 'tables.counts.pending === 0',
    killedBy: claims,
  },
  {
    title: 'a task is given to an agent that lacks one of its skills',
    file: `${core}gates/gates.ts`,
    find: 'group.skills.every(',
    replace: 'group.skills.some(',
    killedBy: claims,
  },
  {
    title: "a claim for one tenant gets another's task",
    file: `${core}gates/gates.ts`,
    find: 'tenant !== undefined && group.tenant !== tenant',
    replace: 'false',
    killedBy: claims,
  },
  {
    title: 'the lower priority goes first',
    file: `${core}ready/policy.ts`,
    find: 'b.rank - a.rank',
    replace: 'a.rank - b.rank',
    killedBy: claims,
  },
  {
    title: 'lists begin with the lower priority',
    file: `${core}records/records.ts`,
    find: '(10 - priority)',
    replace: '(priority)',
    killedBy: ['test/core/views.test.ts'],
  },
  // Leases, attempts, retries.
  {
    title: 'a heartbeat extends a lease by less than it was given for',
    file: `${decide}settle.ts`,
    find: 'at + lease.durationMs',
    replace: 'at + lease.durationMs - 1',
    killedBy: leases,
  },
  {
    title: 'a tick ends leases without a bound',
    file: `${decide}tick.ts`,
    find: 'task.lease.expiresAt > endedBy || settled >= tickMax',
    replace: 'task.lease.expiresAt > endedBy',
    killedBy: leases,
  },
  {
    title: 'a tick ends delays without a bound',
    file: `${decide}tick.ts`,
    find: 'task.delayedUntil > at || settled >= tickMax',
    replace: 'task.delayedUntil > at',
    killedBy: leases,
  },
  {
    title: 'a tick has one bound for delays and another for leases',
    file: `${decide}tick.ts`,
    find: 'const endedBy =',
    replace: 'settled = 0\n  const endedBy =',
    killedBy: leases,
  },
  {
    title: 'a missing report ends a claim as if no heartbeat had come',
    file: `${decide}tick.ts`,
    find: "task.status === 'incomplete' ? 'report-missing' : ",
    replace: '',
    killedBy: leases,
  },
  {
    title: 'one retry more than allowed',
    file: `${core}model/attempts.ts`,
    find: 'retries + 1 >= failuresMax(maxRetries)',
    replace: 'retries >= failuresMax(maxRetries)',
    killedBy: leases,
  },
  {
    title: 'a release with the last attempt brings the task back once more',
    file: `${decide}settle.ts`,
    find: 'task.attempts + 1 >= tables.head.settings.maxAttempts',
    replace: 'task.attempts >= tables.head.settings.maxAttempts',
    killedBy: claims,
  },
  {
    title: 'the reviewed task keeps its retries',
    file: `${core}fold/evolve.ts`,
    find: '    task.retries = 0\n    task.attempts = 0',
    replace: '    task.attempts = 0',
    killedBy: review,
  },
  {
    title: 'a completion reported twice is refused',
    file: `${decide}settle.ts`,
    find: 'return isKnown ? E.right([]) : holding',
    replace: 'return holding',
    killedBy: claims,
  },
  // Cancelling by a filter, and deleting a queue.
  {
    title: 'a bulk cancel leaves those that depend on what it cancels',
    file: `${decide}cancel.ts`,
    find: "events.push(cancelledEvent(task, at, reason), ...cancelDependents(task, at, 'cancelled', seen))",
    replace: 'events.push(cancelledEvent(task, at, reason))',
    killedBy: ['test/engine/cancel-all.test.ts'],
  },
  {
    title: 'a bulk cancel has no limit',
    file: `${decide}cancel.ts`,
    find: 'if (events.length >= max) break',
    replace: '',
    killedBy: cancels,
  },
  {
    title: 'a bulk cancel skips the first of the tasks that it left over',
    file: `${core}search/matching-tasks.ts`,
    find: 'rankOf(task) - 1)',
    replace: 'rankOf(task))',
    killedBy: cancels,
  },
  {
    title: 'a queue with dead letters can be deleted',
    file: `${decide}delete-queue.ts`,
    find: '!isFinal(status) && counts[status] > 0',
    replace: "!isFinal(status) && status !== 'dead-letter' && counts[status] > 0",
    killedBy: cancels,
  },
  {
    title: 'a deleted queue keeps its breakers',
    file: `${core}state/breakers.ts`,
    find: '    this.byType.clear()\n',
    replace: '    for (const breaker of this.byType.values()) this.unlink(breaker)\n',
    killedBy: cancels,
  },
  {
    title: 'a deleted queue stays deleted after later events',
    file: `${core}fold/evolve.ts`,
    find: "if (event.type !== 'QueueDeleted' && head.misfits === misfits) head.deleted = null",
    replace: '',
    killedBy: cancels,
  },
  {
    title: 'a task counts as ready though the queue is paused',
    file: `${core}gates/gates.ts`,
    find: 'head.paused !== null',
    replace: "head.paused === ''",
    killedBy: ['test/core/reasons.test.ts'],
  },
  { title: 'all of a long list is checked', file: `${core}model/list.ts`, find: '++invalid === errorsMax', replace: '++invalid === items.length', killedBy: ['test/core/list.test.ts'] },
  { title: 'a task may have any number of skills', file: `${core}model/task-fields.ts`, find: '(names) => names.length <= skillsMax', replace: '() => true', killedBy: ['test/core/validate.test.ts'] },
  { title: 'a claim may name any number of types', file: `${core}model/check-command.ts`, find: ' && types.length <= abilitiesMax', replace: '', killedBy: ['test/core/validate.test.ts'] },
  { title: 'the known fields are listed anew for each unknown one', file: `${core}model/validate.ts`, find: 'unknownCache.get(fields) ?? ', replace: '', killedBy: ['test/core/list.test.ts'] },
  { title: 'a restart does not wait for the further tasks that it names', file: 'packages/core/src/decide/restart.ts', find: '[...new Set([...kept, ...further])]', replace: 'further.length < 0 ? further : kept', killedBy: ['test/core/restart.test.ts'], named: 'further tasks as well' },
  { title: 'a restart may wait for a task that was cancelled', file: 'packages/core/src/decide/restart.ts', find: 'if (refused !== undefined) return refused', replace: "if (refused?.code === 'conflict') return refused", killedBy: ['test/core/restart.test.ts'], named: 'further tasks as well' },
]
