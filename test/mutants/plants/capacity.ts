/** Capacity, and tasks that are bumped. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const capacity = ['test/core/capacity.test.ts']
const waiting = ['test/engine/capacity.test.ts']

export const capacityPlants: ReadonlyArray<Plant> = [
  {
    title: 'a bump is offered that would be refused',
    file: 'packages/core/src/gates/gate-words.ts',
    find: 'bumpAndStart && active < maxConcurrentAgents + overcapLimit',
    replace: 'bumpAndStart',
    killedBy: ['test/core/capacity.test.ts'],
    named: 'a bump is offered only',
  },
  {
    title: 'a task that is bumped while it is queued keeps its place',
    file: 'packages/core/src/queries/capacity-view.ts',
    find: 'const queued = [...inOrder(tables.ready.policy, tables.ready.bumped, at)]',
    replace: 'const queued = [...inOrder(tables.ready.policy, [...tables.ready.bumped].slice(9), at)]',
    killedBy: ['test/http/capacity.test.ts'],
  },
  {
    title: 'one agent more than may work starts',
    file: `${core}state/capacity.ts`,
    find: 'if (active < maxConcurrentAgents) return false',
    replace: 'if (active <= maxConcurrentAgents) return false',
    killedBy: capacity,
  },
  {
    title: 'at capacity those that work take nothing more',
    file: `${core}state/capacity.ts`,
    find: 'return !isActive || active > maxConcurrentAgents',
    replace: 'return true',
    killedBy: capacity,
  },
  {
    title: 'over capacity those that work go on taking tasks',
    file: `${core}state/capacity.ts`,
    find: 'return !isActive || active > maxConcurrentAgents',
    replace: 'return !isActive',
    killedBy: capacity,
  },
  {
    title: 'bumped tasks start beyond every limit',
    file: `${core}state/capacity.ts`,
    find: 'return !isActive && active >= maxConcurrentAgents + overcapLimit',
    replace: 'return false',
    killedBy: capacity,
  },
  {
    title: 'a bumped task waits for its turn',
    file: `${core}decide/claim.ts`,
    find: 'if (ready.bumped.size > 0 && !isAskerShut(tables, agent, at, true))',
    replace: 'if (false as boolean)',
    killedBy: capacity,
  },
  {
    title: 'a bump is charged to the tenant',
    file: `${core}fold/claim.ts`,
    find: 'if (!isBumped(task)) tables.shares.charge',
    replace: 'tables.shares.charge',
    killedBy: capacity,
  },
  {
    title: 'a bump lasts for ever',
    file: `${core}fold/claim.ts`,
    find: '...(attempts === 1 || bumpedAt === undefined ? {} : { bumpedAt })',
    replace: '...(bumpedAt === undefined ? {} : { bumpedAt })',
    killedBy: capacity,
  },
  {
    title: 'a bump is used up by a claim that never arrived',
    file: `${core}fold/claim.ts`,
    find: '...(attempts === 1 || bumpedAt === undefined ? {} : { bumpedAt })',
    replace: '...{}',
    killedBy: capacity,
  },
  {
    title: 'a bump without room is accepted',
    file: `${core}decide/bump.ts`,
    find: 'if (active >= maxConcurrentAgents + overcapLimit) {',
    replace: 'if (active < 0) {',
    killedBy: capacity,
  },
  {
    title: 'tasks are bumped although the setting forbids it',
    file: `${core}decide/bump.ts`,
    find: "if (!bumpAndStart) return",
    replace: "if (bumpAndStart && !bumpAndStart) return",
    killedBy: capacity,
  },
  {
    title: 'queued tasks are counted as pending',
    file: `${core}queries/query.ts`,
    find: 'if (isAtCapacity(tables)) [byStatus.pending, byStatus.queued] = [0, byStatus.pending]',
    replace: '',
    killedBy: capacity,
  },
  {
    title: 'a page after a queued task begins anew when the queue has capacity again',
    file: `${core}search/matching-tasks.ts`,
    find: "statuses.indexOf(status === 'queued' ? 'pending' : status)",
    replace: 'statuses.indexOf(status)',
    killedBy: capacity,
  },
  {
    title: 'the end of an agent wakes nobody',
    file: `${core}state/tables.ts`,
    find: 'if (this.leases.size < active && active >= this.head.settings.capacity.maxConcurrentAgents) this.ready.wakeAll()',
    replace: '',
    killedBy: waiting,
  },
  {
    title: 'at capacity the waiting claims of those that work are not asked',
    file: 'packages/core/src/ready/waiting-claims.ts',
    find: "if (asked === 'active' && !hasActive) {",
    replace: "if (asked === 'active' && hasActive) {",
    killedBy: waiting,
  },
  {
    title: 'at capacity a claim that was served is offered again',
    file: 'packages/core/src/ready/waiting-claims.ts',
    find: '(a.place === b.place && a.line !== undefined && b.line === undefined)',
    replace: '(a.place === b.place && a.line === undefined && b.line !== undefined)',
    killedBy: ['test/core/waiting-claims.test.ts'],
  },
  {
    title: 'a line of waiting claims that was offered a task keeps its place before others',
    file: 'packages/core/src/ready/waiting-claims.ts',
    find: '      walks.sinkFirst()\n',
    replace: '',
    killedBy: ['test/core/waiting-claims.test.ts'],
  },
]
