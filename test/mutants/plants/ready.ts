/** The ready index: lanes, shapes of claims, turns of tenants, and the score. */
import type { Plant } from '../plant.js'

const ready = 'packages/core/src/ready/'
const decide = 'packages/core/src/decide/'
const claims = ['test/core/claim.test.ts']
const shares = ['test/core/fair-share.test.ts']
const scores = ['test/core/score.test.ts']
const shapes = ['test/core/claim-shape.test.ts']
const groups = ['test/core/many-groups.test.ts']

export const readyPlants: ReadonlyArray<Plant> = [
  {
    title: 'a snapshot names only the groups of its first tasks',
    file: 'packages/core/src/snapshot-page.ts',
    find: 'if (groups.size > before) newGroups.push(textOf(group))',
    replace: 'if (groups.size > before && before < 500) newGroups.push(textOf(group))',
    killedBy: ['test/core/snapshot.test.ts'],
  },
  {
    title: 'a snapshot begins with all tenants, with a turn or without',
    file: `${ready}fair-share.ts`,
    find: '[...this.byTenant.values()].filter(({ turn }) => turn > 0)',
    replace: '[...this.byTenant.values()]',
    killedBy: ['test/core/snapshot.test.ts'],
  },
  // Shapes.
  {
    title: 'a type may be taken for a list of types',
    file: `${ready}claim-shape.ts`,
    find: " && !type.startsWith('[')",
    replace: '',
    killedBy: shapes,
  },
  // Turns.
  {
    title: 'a lease costs every tenant the same, whatever its weight',
    file: `${ready}fair-share.ts`,
    find: 'Math.max(1, Math.round(turnUnit / weight))',
    replace: 'turnUnit',
    killedBy: shares,
  },
  {
    title: 'a tenant that comes back has saved credit',
    file: `${ready}fair-share.ts`,
    find: 'if (!this.isAhead(share)) this.setTurn(share, this.head.turn, share.lastToken)',
    replace: '',
    killedBy: shares,
  },
  {
    title: 'a tenant that left forgets its debt',
    file: `${ready}fair-share.ts`,
    find: 'if (!this.isAhead(share)) this.setTurn',
    replace: 'this.setTurn',
    killedBy: shares,
  },
  {
    title: 'debts of tenants that never come back are kept for ever',
    file: `${ready}fair-share.ts`,
    find: 'first !== undefined && !this.isRecent(first)',
    replace: 'first === undefined',
    killedBy: ['test/core/retention.test.ts'],
  },
  {
    title: 'turns are not counted anew, and lose their precision',
    file: `${ready}fair-share.ts`,
    find: 'if (head.turn > turnMax) this.countAnew(head)',
    replace: '',
    killedBy: shares,
  },
  {
    title: 'the picks of one claim all go to one tenant',
    file: `${decide}claim.ts`,
    find: 'tenant.turn += cost',
    replace: '',
    killedBy: shares,
  },
  {
    title: 'a snapshot forgets whose turn it is',
    file: 'packages/core/src/snapshot.ts',
    find: 'loaded.shares.restore(turns)',
    replace: '',
    killedBy: shares,
  },
  // Shapes.
  {
    title: 'a kept shape does not notice a group that opens',
    file: `${ready}ready-index.ts`,
    find: 'shape.open(group)\n        this.wake(shape)',
    replace: 'this.wake(shape)',
    killedBy: shapes,
  },
  {
    title: 'a kept shape does not notice that another group has closed',
    file: `${ready}shape-turn.ts`,
    find: 'this.groups.delete(group)',
    replace: '',
    killedBy: shapes,
  },
  {
    title: 'a breaker that closes does not open the groups of its type',
    file: `${ready}ready-index.ts`,
    find: 'this.refreshAll(this.groups.get(type) ?? none)',
    replace: "this.refreshAll(this.groups.get('') ?? none)",
    killedBy: ['test/core/breaker.test.ts'],
  },
  {
    title: 'claims that wait are not woken by a second task',
    file: `${ready}ready-index.ts`,
    find: '} else if (group.isOpen) {',
    replace: '} else if (false) {',
    killedBy: shapes,
  },
  {
    title: 'the end of a pause wakes nobody',
    file: 'packages/core/src/evolve.ts',
    find: 'tables.head.paused = null\n      tables.ready.wakeAll()',
    replace: 'tables.head.paused = null',
    killedBy: shapes,
  },
  // Lanes and the score.
  {
    title: 'a task is not moved to the lane of urgent ones in time',
    file: `${ready}runs.ts`,
    find: 'this.misplaced = misplaced.length === 0 ? undefined : new Set(misplaced)',
    replace: 'this.misplaced = undefined',
    killedBy: scores,
  },
  {
    title: 'a rollback forgets which tasks an earlier mark would place anew',
    file: `${ready}placements.ts`,
    find: 'this.recent = recent.filter((placement) => !isUntimely(placement))',
    replace: 'this.recent = []',
    killedBy: scores,
  },
  {
    title: 'placements of finished tasks are kept while there are marks',
    file: `${ready}placements.ts`,
    find: '2 * this.byTask.size + 64',
    replace: '1e9',
    killedBy: scores,
  },
  {
    title: 'the age goes on counting beyond its ceiling',
    file: `${ready}score.ts`,
    find: 'Math.min(Math.max(0, at - enqueuedAt), this.ageMs)',
    replace: 'Math.max(0, at - enqueuedAt)',
    killedBy: scores,
  },
  {
    title: 'a late task loses its boost',
    file: `${ready}score.ts`,
    find: 'at >= deadlineAt - this.windowMs\n',
    replace: 'at >= deadlineAt - this.windowMs && at < deadlineAt\n',
    killedBy: scores,
  },
  {
    title: 'starved tasks have no floor',
    file: `${ready}score.ts`,
    find: 'score < this.floor && this.isStarved(task, at) ? this.floor : score',
    replace: 'score',
    killedBy: scores,
  },
  {
    title: 'policy priority does not serve starved tasks first',
    file: `${ready}policy.ts`,
    find: 'task.priority + (score.isStarved(task, at) ? starvedRank : 0)',
    replace: 'task.priority',
    killedBy: scores,
  },
  {
    title: 'cancelled tasks still count as blocked',
    file: 'packages/core/src/tables.ts',
    find: 'this.update(dependency, (record) => record.blocking--)',
    replace: '',
    killedBy: scores,
  },
  {
    title: 'the first task of a lane changes, and the order of a tenant\'s lanes does not',
    file: `${ready}group-tasks.ts`,
    find: 'replaceHead(watcher, task, lane.first())',
    replace: 'watcher.removeHead(task)',
    killedBy: groups,
  },
  {
    title: 'a task that comes before the first of its lane is not seen among many groups',
    file: `${ready}group-tasks.ts`,
    find: 'if (lane.first() === task) for (const watcher of watchers) replaceHead(watcher, before, task)',
    replace: '',
    killedBy: groups,
  },
  {
    title: 'a group that closes leaves its first tasks among those of many groups',
    file: `${ready}shape-turn.ts`,
    find: 'if (this.heads !== undefined) for (const task of headsOf(group)) this.removeHead(task)',
    replace: '',
    killedBy: groups,
  },
  {
    title: 'a task of a small group is not seen among many groups',
    file: `${ready}group-tasks.ts`,
    find: '      for (const watcher of watchers) watcher.addHead(task)\n',
    replace: '',
    killedBy: groups,
  },
  {
    title: 'a task that leaves a small group stays among those of many groups',
    file: `${ready}group-tasks.ts`,
    find: '    for (const watcher of watchers) watcher.removeHead(task)\n    return',
    replace: '    return',
    killedBy: groups,
  },
  {
    title: 'a group that grows loses its first tasks among those of many groups',
    file: `${ready}group-tasks.ts`,
    find: '  for (const watcher of watchers) for (const task of headsOf(group)) watcher.addHead(task)\n',
    replace: '',
    killedBy: groups,
  },
  {
    title: 'a misplaced task of a small group is offered twice',
    file: `${ready}runs.ts`,
    find: 'if (!isLooked && turn.has(task.group))',
    replace: 'if (turn.has(task.group))',
    killedBy: scores,
  },
  {
    title: 'misplaced tasks are claimed in the order of their old lanes, where groups are many',
    file: `${ready}runs.ts`,
    find: 'misplaced?.has(untouched.item) === true',
    replace: 'misplaced === null',
    killedBy: groups,
  },
  {
    title: 'a claim of many tasks gets only the first of each lane, where groups are many',
    file: `${ready}runs.ts`,
    find: 'if (lane === undefined || lane.size === 1) return',
    replace: 'if (lane !== undefined) return',
    killedBy: groups,
  },
  {
    title: 'a change of the score leaves ready tasks where they were',
    file: 'packages/core/src/tables.ts',
    find: '    this.ready.reorder(policyOf(settings))\n',
    replace: '',
    killedBy: scores,
  },
  {
    title: 'an agent is passed over before it has seen its next task',
    file: `${decide}claim.ts`,
    find: 'this.passedOver > this.tables.head',
    replace: 'this.passedOver >= this.tables.head',
    killedBy: claims,
  },
]
