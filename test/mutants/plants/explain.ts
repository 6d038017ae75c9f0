/** Gates, and what `explain` says about them. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const explains = ['test/core/explain.test.ts']

export const explainPlants: ReadonlyArray<Plant> = [
  {
    title: 'explain says that a task can be claimed while the server refuses every claim',
    file: 'packages/adapters/src/http/handle/explain.ts',
    find: 'if (refusal === undefined || ',
    replace: 'if (refusal !== undefined || ',
    killedBy: ['test/http/server.test.ts'],
    named: 'a server whose clock is refused',
  },
  {
    title: 'a task is explained to everyone alike, whoever asks',
    file: 'packages/adapters/src/http/handle/explain.ts',
    find: 'explainOf(state, id, at, asked.right)',
    replace: 'explainOf(state, id, at)',
    killedBy: ['test/http/explain.test.ts'],
  },
  {
    title: 'each question why a task is not running looks at all groups',
    file: `${core}ready/ready-index.ts`,
    find: 'return this.byTenant ?? this.make(asked, false)',
    replace: 'return this.make(asked, false)',
    killedBy: explains,
    named: 'only the first question',
  },
  {
    title: 'only the first reason is told',
    file: `${core}queries/reasons.ts`,
    find: 'shut: shut.map(',
    replace: 'shut: shut.slice(0, 1).map(',
    killedBy: explains,
  },
  {
    title: 'a position counts from 0',
    file: `${core}queries/explain.ts`,
    find: 'position: served.length }',
    replace: 'position: served.length - 1 }',
    killedBy: explains,
  },
  {
    title: 'all tenants are said to be before the task',
    file: `${core}queries/explain.ts`,
    find: 'walk.item !== undefined && walk.item.share !== task.group.share',
    replace: 'walk.item !== undefined',
    killedBy: explains,
  },
  {
    title: 'a task that is not the test of its half-open breaker is said to be runnable',
    file: `${core}queries/explain.ts`,
    find: 'if (held !== undefined) return',
    replace: 'if (false) return',
    killedBy: explains,
  },
  {
    title: 'a position beyond those that are counted is said to be exact',
    file: `${core}queries/explain.ts`,
    find: ': { runnable: true, reasons, position: null, positionAtLeast',
    replace: ': { runnable: true, reasons, position: positionMax, positionAtLeast',
    killedBy: explains,
  },
  {
    title: 'the score that is shown has no floor',
    file: `${core}queries/explain.ts`,
    find: 'hasFloor ? score.floored(task, at) : score.of(task, at)',
    replace: 'score.of(task, at)',
    killedBy: explains,
  },
  {
    title: 'the score that is shown has a floor with policy priority, too',
    file: `${core}queries/explain.ts`,
    find: "isStarved && policy === 'score'",
    replace: 'isStarved',
    killedBy: explains,
  },
  {
    title: 'reasons of agents are not judged for the agent that asks',
    file: `${core}gates/gates.ts`,
    find: 'asker?.agent !== undefined && gate.isShut(task, asker.agent)',
    replace: 'false',
    killedBy: explains,
  },
  {
    title: 'a claim gets tasks of phases for which it does not ask',
    file: `${core}gates/gates.ts`,
    find: 'phases !== undefined && phase !== undefined && !phases.includes(phase)',
    replace: 'false',
    killedBy: explains,
  },
  {
    title: 'a task that is blocked and delayed is said to be blocked only',
    file: `${core}gates/gates.ts`,
    find: " || (status === 'blocked' && availableAt > at)",
    replace: '',
    killedBy: explains,
  },
  {
    title: 'the position is that of a claim which has no skills',
    file: `${core}ready/claim-shape.ts`,
    find: 'this.asked === undefined || !isGroupShut(this.asked, group)',
    replace: '!isGroupShut(this.asked ?? {}, group)',
    killedBy: explains,
  },
  { title: 'a claim that finds nothing because of a breaker or a limit says nothing', file: 'packages/core/src/queries/waiting-claim.ts', find: 'return held === undefined ? undefined :', replace: 'return held !== undefined ? undefined :', killedBy: ['test/core/reasons.test.ts'], named: 'why a claim finds nothing' },
  { title: 'of several reasons of a claim the last one to end is told', file: 'packages/core/src/queries/waiting-claim.ts', find: 'endOf(reason) < endOf(first)', replace: 'endOf(reason) > endOf(first)', killedBy: ['test/core/reasons.test.ts'], named: 'why a claim finds nothing' },
  { title: 'for the reason of a claim any number of groups is looked at', file: 'packages/core/src/queries/waiting-claim.ts', find: '++looks > looksMax', replace: '++looks > Number.POSITIVE_INFINITY', killedBy: ['test/core/reasons.test.ts'], named: 'of very many groups' },
  { title: 'for the reason of a claim for a tenant the first groups are looked at', file: 'packages/core/src/ready/ready-index.ts', find: 'if (tenant === undefined) for (const type of types)', replace: 'if (tenant !== this) for (const type of types)', killedBy: ['test/core/reasons.test.ts'], named: 'of very many groups' },
]
