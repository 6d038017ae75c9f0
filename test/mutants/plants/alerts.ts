/** Alerts: when they are raised and cleared. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const rules = ['test/core/alerts.test.ts']

export const alertPlants: ReadonlyArray<Plant> = [
  {
    title: 'an alert of CRITICAL tasks counts from the enqueueing and not from readiness',
    file: `${core}decide/alerts.ts`,
    find: 'overAfter(critical.extras.readySince ?? 0,',
    replace: 'overAfter(critical.enqueuedAt,',
    killedBy: rules,
  },
  {
    title: 'the alert of the dead letters of a type is cleared with the first of them',
    file: `${core}state/alerts.ts`,
    find: 'if (count === 0) this.holding.delete(key)',
    replace: 'if (by < 0) this.holding.delete(key)',
    killedBy: rules,
  },
  {
    title: 'the test of a breaker clears its alert',
    file: `${core}state/alerts.ts`,
    find: "if (state !== 'closed') this.count",
    replace: "if (state === 'open') this.count",
    killedBy: rules,
  },
  {
    title: 'an alert of starvation is cleared while the starved wait',
    file: `${core}decide/alerts.ts`,
    find: 'oldest.enqueuedAt > starvation.raisedAt',
    replace: 'oldest.enqueuedAt > 0',
    killedBy: rules,
  },
  {
    title: 'an alert of failures is never cleared',
    file: `${core}decide/alerts.ts`,
    find: '(spike + 2) * spikeStepMs : 0',
    replace: 'Number.POSITIVE_INFINITY : 0',
    killedBy: rules,
  },
  {
    title: 'what is usual includes what is unusual',
    file: `${core}fold/alerts.ts`,
    find: 'counts.slice(1).reduce',
    replace: 'counts.reduce',
    killedBy: rules,
  },
  {
    title: 'failed attempts are not counted by kind of discovery',
    file: `${core}fold/alerts.ts`,
    find: 'if (discovery !== undefined) count(',
    replace: 'if (discovery === undefined) void (',
    killedBy: rules,
  },
  {
    title: 'a park that times out is not counted among the failed attempts',
    file: `${core}fold/park.ts`,
    find: 'countFailedAttempt(tables, task)',
    replace: '',
    killedBy: rules,
  },
  {
    title: 'counts of kinds of discovery stay for ever',
    file: `${core}fold/alerts.ts`,
    find: 'now - step > spikeSteps &&',
    replace: 'false &&',
    killedBy: rules,
  },
  {
    title: 'what was raised is not in snapshots',
    file: `${core}snapshot/head.ts`,
    find: 'for (const alert of alerts) tables.alerts.raise(alert)',
    replace: '',
    killedBy: rules,
  },
  {
    title: 'an alert that is due when the server starts is not in its log',
    file: 'packages/adapters/src/engine/daybook.ts',
    find: 'this.options.opened?.(engine)',
    replace: 'setTimeout(() => this.options.opened?.(engine), 1_000)',
    killedBy: ['test/http/alert-log.test.ts'],
  },
  {
    title: 'failed attempts are shown as they were counted last',
    file: `${core}queries/query.ts`,
    find: 'Math.max(counts.step, Math.floor(at / spikeStepMs))',
    replace: 'counts.step',
    killedBy: rules,
  },
  {
    title: 'nobody is woken for an alert',
    file: 'packages/adapters/src/engine/decider.ts',
    find: 'alerts ? Math.min(other, nextAlertDue(live.current) ?? Number.POSITIVE_INFINITY) : other',
    replace: 'other',
    killedBy: ['test/engine/alerts.test.ts'],
  },
]
