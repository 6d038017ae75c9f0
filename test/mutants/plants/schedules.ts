/** Schedules: when they are due, and missed and overlapping runs. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const rules = ['test/core/schedules.test.ts']

export const schedulePlants: ReadonlyArray<Plant> = [
  {
    title: 'a schedule runs again at the instant at which it ran',
    file: `${core}fold/schedules.ts`,
    find: 'tables.schedules.put({ ...schedule, nextAt, runs:',
    replace: 'tables.schedules.put({ ...schedule, runs:',
    killedBy: rules,
  },
  {
    title: 'missed runs are skipped without a word',
    file: `${core}decide/schedules.ts`,
    find: "if (last > due && isRun) this.skip('missed', lastDueBy(rule, due, last - 1), last, due)",
    replace: 'if (last > due && isRun) this.nextAt = last',
    killedBy: rules,
  },
  {
    title: 'a late run is made up for although missed runs are to be skipped',
    file: `${core}decide/schedules.ts`,
    find: "missed !== 'skip' || at - last <= lateAfterMs",
    replace: "missed !== 'skip' || at - last <= 10 * lateAfterMs",
    killedBy: rules,
  },
  {
    title: 'each run that overlaps is skipped by itself',
    file: `${core}decide/schedules.ts`,
    find: 'const last = lastDueBy(rule, dueAt, this.draft.at)',
    replace: 'const last = dueAt',
    killedBy: rules,
  },
  {
    title: 'a run overlaps the one of the same tick',
    file: `${core}decide/schedules.ts`,
    find: '(this.hasBegun || (',
    replace: '((',
    killedBy: rules,
  },
  {
    title: 'a run takes a key that another run of the same tick, or a dead letter that is sent back, takes as well',
    file: `${core}decide/schedules.ts`,
    find: '    keys.add(key)\n',
    replace: '',
    killedBy: rules,
  },
  {
    title: 'a run that waits is not woken',
    file: `${core}fold/evolve.ts`,
    find: 'if (tables.schedules.isAnyWaiting) wakeSchedule(tables, event)',
    replace: '',
    killedBy: rules,
  },
  {
    title: 'a dead letter keeps the next run waiting',
    file: `${core}fold/schedules.ts`,
    find: "isFinal(task.status) || task.status === 'dead-letter'",
    replace: 'isFinal(task.status)',
    killedBy: rules,
  },
  {
    title: 'the hour that comes twice runs twice',
    file: `${core}state/recurrence.ts`,
    find: ", fixedTimeRule: 'no-wildcard'",
    replace: '',
    killedBy: rules,
  },
  {
    title: 'a resumed schedule makes up for its pause',
    file: `${core}decide/schedules.ts`,
    find: '!known.paused || wanted.paused || known.nextAt > at',
    replace: 'known.nextAt > 0',
    killedBy: rules,
  },
  {
    title: 'a change of the task begins the interval anew',
    file: `${core}decide/schedules.ts`,
    find: 'JSON.stringify(known.rule) !== JSON.stringify(wanted.rule)',
    replace: 'at >= 0',
    killedBy: rules,
  },
  {
    title: 'schedules are not in snapshots',
    file: `${core}snapshot/head.ts`,
    find: 'for (const schedule of schedules) tables.schedules.put(schedule)',
    replace: '',
    killedBy: rules,
  },
  {
    title: 'a schedule wakes nobody',
    file: `${core}decide/tick.ts`,
    find: 'schedules.nextDue(), isUnderWay',
    replace: 'isUnderWay',
    killedBy: ['test/engine/schedules.test.ts'],
  },
]
