/** Reports and what they are made of. */
import type { Plant } from '../plant.js'

const fold = 'packages/projections/src/read-models/'
const reports = 'packages/projections/src/reports/'
const rollups = ['test/read-models/rollups.test.ts']
const report = ['test/reports/report.test.ts']
const sketch = ['test/reports/sketch.test.ts']
const calendar = ['test/reports/calendar.test.ts']
const csv = ['test/reports/csv.test.ts']

const firstBuilds = ['test/read-models/first-build.test.ts']
const viewsFile = 'packages/adapters/src/read-models/views-file.ts'
const feed = 'packages/adapters/src/read-models/feed.ts'

export const reportPlants: ReadonlyArray<Plant> = [
  { title: 'first builds: tables of which a part is there answer', file: 'packages/adapters/src/read-models/reports/read-report.ts', find: 'if (isBuiltFirst(db, queue))', replace: 'if (isBuiltFirst(db, everyQueue))', killedBy: firstBuilds, named: 'reports are refused' },
  { title: 'first builds: new tables answer before anybody has looked at the log', file: viewsFile, find: '${firstBuildsTable};`)\n      expectFirstBuilds(db)\n', replace: '${firstBuildsTable};`)\n', killedBy: firstBuilds, named: 'reports are refused' },
  { title: 'first builds: tables of another log answer at once', file: viewsFile, find: "create(db, model, '')\n      expectFirstBuilds(db)\n", replace: "create(db, model, '')\n", killedBy: firstBuilds, named: 'of another log' },
  { title: 'first builds: the feed expects no events before the tables', file: feed, find: 'this.views.beginFirstBuilds(behind)', replace: 'this.views.beginFirstBuilds([])', killedBy: firstBuilds, named: 'reports are refused' },
  { title: 'first builds: tables that are behind at a start count as new', file: viewsFile, find: '    if (!this.firstBuilds.has(everyQueue)) return\n', replace: '', killedBy: firstBuilds, named: 'also when the tables are behind' },
  { title: 'first builds: a busy log is never reached', file: feed, find: '(this.firstHeads.get(this.views.current)?.get(queue) ?? head)', replace: 'head', killedBy: firstBuilds, named: 'grows faster than its tables' },
  { title: 'first builds: the end of a build is not written', file: viewsFile, find: 'if (this.firstBuilds.delete(queue)) this.db', replace: 'if (queue === everyQueue) this.db', killedBy: firstBuilds, named: 'reports are refused' },
  { title: 'first builds: of a queue that cannot be read they end when the tables are replaced', file: viewsFile, find: 'if (!unread.has(queue)) db', replace: 'db', killedBy: firstBuilds, named: 'when the tables are replaced' },
  { title: 'first builds: a queue that could not be read a moment ago is passed over', file: feed, find: '        behind.push(queue)\n        continue\n', replace: '        continue\n', killedBy: firstBuilds, named: 'a moment ago' },
  { title: 'first builds: a file of an earlier version cannot be read', file: 'packages/adapters/src/read-models/reports/read-report.ts', find: "has(db, 'first_builds') && ", replace: '', killedBy: firstBuilds, named: 'earlier version' },
  { title: 'reports: the last 24 hours are those of a clock that has jumped ahead', file: 'packages/adapters/src/http/handle/reports.ts', find: 'daybook.now() + aheadMs', replace: 'Date.now() + aheadMs', killedBy: ['test/http/wrong-clock.test.ts'], named: 'the last 24 hours' },
  { title: 'reports: the last 24 hours are those of a clock that was set back', file: 'packages/adapters/src/http/handle/reports.ts', find: 'daybook.now() + aheadMs', replace: 'daybook.now()', killedBy: ['test/http/wrong-clock.test.ts'], named: 'the last 24 hours' },
  { title: 'reports: a period may end in the year 10000', file: 'packages/adapters/src/read-models/reports/request.ts', find: 'if (to > toMax) return', replace: 'if (to < 0) return', killedBy: report, named: 'is refused' },
  { title: 'reports: a second batch replaces the sketch of the first', file: `${fold}rollups.ts`, find: '  addSketchText(sketch, text)\n', replace: '', killedBy: rollups },
  { title: 'reports: a second batch counts from zero', file: `${fold}rollups.ts`, find: 'this.rollups.get(this.queue, dimension, quarter, value) ??', replace: 'undefined ??', killedBy: rollups },
  { title: 'reports: everything happens in the quarter of the first event', file: `${fold}rollups.ts`, find: 'if (this.last.begin === begin) return this.last', replace: 'if (this.last.begin >= 0) return this.last', killedBy: rollups },
  { title: 'reports: a deadline counts when the task arrives', file: `${fold}tasks.ts`, find: 'this.rollups.due(this.kinds.of(task), task.deadline_at, 1)\n  ', replace: 'this.rollups.due(this.kinds.of(task), at, 1)\n  ', killedBy: rollups },
  { title: 'reports: an amended deadline counts twice', file: `${fold}tasks.ts`, find: 'if (task.deadline_at !== null) this.rollups.due(this.kinds.of(task), task.deadline_at, -1)\n      if (deadlineAt', replace: 'if (deadlineAt', killedBy: rollups },
  { title: 'reports: a late completion meets its deadline', file: `${fold}tasks.ts`, find: 'if (task.deadline_at !== null && at <= task.deadline_at) this.rollups.met', replace: 'if (task.deadline_at !== null) this.rollups.met', killedBy: rollups },
  { title: 'reports: a callback that did not come is no failure', file: `${fold}tasks.ts`, find: "this.noteFailure(task, at, 1, 1, parkTimeoutMessage, event.data.signature)", replace: 'this.noteFailure(task, at, 1, 1, parkTimeoutMessage, undefined)', killedBy: rollups },
  { title: 'reports: a backlog begins anew with each task', file: `${fold}backlogs.ts`, find: 'if (backlog.since === null) backlog.since = at', replace: 'if (by > 0) backlog.since = at', killedBy: rollups },
  { title: 'reports: intervals grow by 3 %', file: 'packages/projections/src/read-models/sketch.ts', find: '(end * 102) / 100', replace: '(end * 103) / 100', killedBy: sketch },
  { title: 'reports: a time on the end of an interval is in the next', file: 'packages/projections/src/read-models/sketch.ts', find: 'if ((ends[middle] as number) < ms)', replace: 'if ((ends[middle] as number) <= ms)', killedBy: sketch },
  { title: 'reports: a percentile is that of the rank before', file: `${reports}distribution.ts`, find: 'Math.ceil(share * this.all)', replace: 'Math.ceil(share * this.all) - 1', killedBy: sketch },
  { title: 'reports: an interval is told by its end', file: `${reports}distribution.ts`, find: 'return (first + (ends[interval] as number)) / 2', replace: 'return (first + (ends[interval] as number) * 3) / 4', killedBy: sketch },
  { title: 'reports: an hour that comes twice is one', file: `${reports}calendar.ts`, find: '`${Math.floor(local / ms)} ${local - at}`', replace: '`${Math.floor(local / ms)}`', killedBy: calendar },
  { title: 'reports: weeks begin on Sunday', file: `${reports}calendar.ts`, find: '(local / dayMs + 3) / 7', replace: '(local / dayMs + 4) / 7', killedBy: calendar },
  { title: 'reports: clocks never change', file: `${reports}calendar.ts`, find: 'if (after < to) yield after', replace: '', killedBy: calendar },
  { title: 'reports: a bucket ends a quarter late', file: `${reports}report.ts`, find: 'while (row.quarter_hour >= (buckets[place] as Span).to)', replace: 'while (row.quarter_hour > (buckets[place] as Span).to)', killedBy: report },
  { title: 'reports: the other groups are left out', file: `${reports}report.ts`, find: "if (otherValues.size > 0) tell('', others, otherValues.size)", replace: '', killedBy: report },
  { title: 'reports: expired leases are no failures', file: `${reports}figures.ts`, find: "cell.sum('claimed'), cell.sum('completed'), cell.sum('failed', 'expired')", replace: "cell.sum('claimed'), cell.sum('completed'), cell.sum('failed')", killedBy: report },
  { title: 'reports: tenants that ran out of tasks are compared', file: `${reports}fairness.ts`, find: 'const tenants = compared.tenants()', replace: 'const tenants = [...claims.keys()]', killedBy: report },
  { title: 'reports: a report has any number of rows', file: `${reports}report.ts`, find: 'if (told.rows.length > rowsMax) return', replace: 'if (told.rows.length < 0) return', killedBy: ['test/reports/many.test.ts'] },
  { title: 'reports: weights of tomorrow hold today', file: `${reports}fairness.ts`, find: 'if (change.at > at) return', replace: '', killedBy: report },
  { title: 'reports: a quarter under way is compared', file: `${reports}fairness.ts`, find: 'source.backlogs(period), Math.min(now, period.to))', replace: 'source.backlogs(period), period.to)', killedBy: report },
  { title: 'reports: breakers are told beyond the period', file: `${reports}breakers.ts`, find: 'Math.max(began_at, period.from)', replace: 'began_at', killedBy: report },
  { title: 'reports: a formula behind a blank is a cell', file: `${reports}csv.ts`, find: '/^[\\s\\0]*[=+', replace: '/^[=+', killedBy: csv },
  { title: 'reports: quotes in cells end them', file: `${reports}csv.ts`, find: `text.replaceAll('"', '""')`, replace: 'text', killedBy: csv },
  { title: 'pictures: the groups that a report has summed count as one', file: 'packages/projections/src/reports/picture.ts', find: 'groups.length - sums.length + (sums[0] ?? 0)', replace: 'groups.length', killedBy: ['test/reports/pictures.test.ts'] },
  { title: 'reports: a breaker that is open now is so in a time that has not come', file: 'packages/projections/src/reports/breakers.ts', find: 'now <= period.from', replace: 'false', killedBy: ['test/reports/report.test.ts'] },
  { title: 'reports: imported tasks do not make a group large', file: 'packages/adapters/src/read-models/reports/read-report.ts', find: 'enqueued + imported + claimed', replace: 'enqueued + claimed', killedBy: ['test/reports/report.test.ts'] },
  { title: 'pictures: groups with the same name are one', file: 'packages/projections/src/reports/picture.ts', find: 'JSON.stringify([row[by] ?? null, row.signature ?? null])', replace: 'groupName(report, row)', killedBy: ['test/reports/pictures.test.ts'] },
  { title: 'reports: a deadline belongs to an agent', file: 'packages/projections/src/reports/report.ts', find: 'by === \'agent\' && name.startsWith(\'deadlines\') ? null : ', replace: '', killedBy: report },
  { title: 'reports: a breaker stays open when its queue is deleted', file: 'packages/projections/src/read-models/breakers.ts', find: 'lists.get(queue)?.first ?? null; type !== null;', replace: 'null as string | null; type !== null;', killedBy: report },
  { title: 'reports: the times of rows are cut on a narrow terminal', file: 'packages/adapters/src/cli/report/print.ts', find: ' ? {} : { leaveOut: i }) }', replace: ' ? {} : {}) }', killedBy: ['test/http/reports.test.ts'] },
  { title: 'reports: a breaker that closed stays in the list of those that did not', file: 'packages/projections/src/read-models/breakers.ts', find: '      neighbour(previous, (row) => (row.next_unclosed = next))\n', replace: '', killedBy: report },
  { title: 'reports: a report does not say why the tables are not there', file: 'packages/adapters/src/http/handle/reports.ts', find: 'if (obstacle !== undefined) return', replace: 'if (obstacle === name) return', killedBy: ['test/http/reports.test.ts'] },
  { title: 'reports: a report that cannot be read does not say what to do', file: 'packages/adapters/src/http/handle/reports.ts', find: 'views.problem()?.reason ?? errorText', replace: 'errorText', killedBy: ['test/http/reports.test.ts'] },
  { title: 'pictures: a wide letter needs no more room than others', file: 'packages/projections/src/charts/theme.ts', find: 'wide.test(letter) ? 2 : 1', replace: 'wide.test(letter) ? 1 : 1', killedBy: ['test/reports/pictures.test.ts'] },
  { title: 'pictures: names in the key above the plot are as long as they are', file: 'packages/projections/src/charts/time-chart.ts', find: 'const name = shortName(whole, letters)', replace: 'const name = whole', killedBy: ['test/reports/pictures.test.ts'] },
  { title: 'pictures: a summary of several buckets shows one of them', file: 'packages/projections/src/reports/picture.ts', find: "    case 'summary':\n    case 'latency':\n", replace: "    case 'summary':\n      return quantiles(report, heading(''))\n    case 'latency':\n", killedBy: ['test/reports/pictures.test.ts'] },
  { title: 'reports: a file answers for a queue that it does not have', file: 'packages/adapters/src/cli/commands/report.ts', find: 'answer.right.revision < 0', replace: 'answer.right.revision < -1', killedBy: ['test/http/reports.test.ts'] },
]
