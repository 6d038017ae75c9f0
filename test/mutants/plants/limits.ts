/** Limits on how much runs at once and how often it starts, and ordering keys. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const limits = `${core}limits/limits.ts`
const killedBy = ['test/core/limits.test.ts']

export const limitPlants: ReadonlyArray<Plant> = [
  { title: 'leases that end make no room under a limit', file: limits, find: 'meter.live += by', replace: 'if (by > 0) meter.live++', killedBy },
  { title: 'one claim takes more than a limit leaves', file: `${core}limits/room.ts`, find: 'live + wanted > limit.concurrency', replace: 'live >= limit.concurrency', killedBy },
  { title: 'a rate admits as many again after half its period', file: `${core}limits/meter.ts`, find: '(times[next] as number) + period', replace: '(times[next] as number) + period / 2', killedBy },
  { title: 'a limit does not count what runs already', file: limits, find: 'if (!known.has(meter)) meter.live++', replace: 'void known', killedBy },
  { title: 'a rollback keeps the starts', file: limits, find: '      this.undoLog.note(() => starts.takeBack(replaced))\n', replace: '      void replaced\n', killedBy },
  { title: 'a snapshot forgets the starts', file: `${core}snapshot/head.ts`, find: '  tables.limits.restore(meters)\n', replace: '', killedBy },
  { title: 'a rate that is changed forgets the starts that count', file: limits, find: 'counted.slice(-rate.starts)', replace: '[]', killedBy },
  { title: 'a rate stays used up', file: `${core}decide/tick.ts`, find: "    draft.emit({ type: 'LimitOpened', at, data: { limit: key } })\n", replace: '    void key\n', killedBy },
  { title: 'nobody wakes when a rate admits starts again', file: `${core}decide/tick.ts`, find: '[...waits, limits.nextOpening, ', replace: '[...waits, ', killedBy },
  { title: 'a tenant called * keeps the limit that it had first', file: limits, find: 'meter.key === key || ', replace: '', killedBy },
  { title: 'starts of keys without tasks are kept for ever', file: limits, find: 'countsUntil(first) > this.head.at', replace: 'countsUntil(first) > 0', killedBy },
  { title: 'a limit of all goes before one of its own', file: limits, find: 'this.set.get(key) ?? this.set.get(defaultOf(key))', replace: 'this.set.get(defaultOf(key)) ?? this.set.get(key)', killedBy },
  { title: 'a limit that a task brings removes the rate of its key', file: `${core}decide/limit.ts`, find: '{ limit, concurrency, ...(rate === undefined ? {} : { rate }) }', replace: '{ limit, concurrency, ...(rate === undefined ? {} : {}) }', killedBy },
  { title: 'a limit that a task brings lifts the rate that all keys have', file: `${core}decide/limit.ts`, find: 'limits.limitOf(limit) ?? {}', replace: 'limits.set.get(limit) ?? {}', killedBy },
  { title: 'tasks of a line start side by side', file: `${core}fold/arrival.ts`, find: 'if (facts.orderingKey !== undefined && tables.lines.has(facts.orderingKey)) missing++', replace: '', killedBy },
  { title: 'a cancelled task makes no room in its line', file: `${core}fold/evolve.ts`, find: 'if (task !== undefined && task.lastRevision === tables.head.revision) makeRoom(tables, task, at)', replace: 'void task', killedBy },
  { title: 'a task whose turn has come in its line does not wait for its own time', file: `${core}fold/limit.ts`, find: 'waiting.extras.availableAt ?? 0', replace: '0', killedBy },
]
