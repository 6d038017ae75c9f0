/** The simulator and its figures. */
import type { Plant } from '../plant.js'

const simulate = 'packages/projections/src/simulate/'
const charts = 'packages/projections/src/charts/'
const figures = ['test/simulate/simulation.test.ts']
const pictures = ['test/simulate/pictures.test.ts']
const engine = ['test/simulate/engine.test.ts']
const theory = ['test/simulate/queueing.test.ts']

export const simulationPlants: ReadonlyArray<Plant> = [
  { title: 'pictures: each of many tenants has rows of its own', file: 'packages/projections/src/simulate/pictures.ts', find: 'tenants.length <= tenantsMax ? tenants', replace: 'tenants.length >= 0 ? tenants', killedBy: ['test/simulate/pictures.test.ts'] },
  { title: 'a simulated agent takes one task more than it can', file: `${simulate}fleet.ts`, find: 'this.running >= this.agent.concurrency', replace: 'this.running > this.agent.concurrency', killedBy: theory, named: 'Erlang' },
  { title: 'simulated agents do not register, so failed tasks are not left to others', file: `${simulate}fleet.ts`, find: 'this.register(Math.max(0.001, (this.world.until - period.from) / 1_000))', replace: '', killedBy: engine },
  { title: 'a simulated agent asks for another task before its report', file: `${simulate}fleet.ts`, find: 'this.running--\n    observer.ended(queue.at, this.agent.pool)', replace: 'this.running--\n    this.ask()\n    observer.ended(queue.at, this.agent.pool)', killedBy: engine },
  { title: 'a simulated lease ends with the crash of its agent', file: `${simulate}fleet.ts`, find: '(lastBeatMs + leaseMs) / 1_000', replace: '(lastBeatMs + everyMs) / 1_000', killedBy: figures },
  { title: 'a simulated agent works on after its crash', file: `${simulate}fleet.ts`, find: 'this.process++', replace: '', killedBy: figures },
  { title: 'how a simulated attempt goes depends on when it begins', file: `${simulate}generate.ts`, find: 'this.index, drawn.task + attempt)', replace: 'this.index, drawn.task + startedAt)', killedBy: figures },
  { title: 'simulated streams share their random numbers', file: `${simulate}generate.ts`, find: 'const key = keyOf(nameOf(stream))', replace: 'const key = until', killedBy: figures },
  { title: 'exponential durations are half as long as said', file: `${simulate}random.ts`, find: '-mean * Math.log(1 - random())', replace: '-mean * Math.log(1 - random() / 2)', killedBy: theory, named: 'Erlang' },
  { title: 'the simulated FIFO knows priorities', file: `${simulate}policies.ts`, find: "policy === 'fifo' ? priorityDefault", replace: "policy !== 'fifo' ? priorityDefault", killedBy: theory, named: 'Cobham' },
  { title: 'tasks that never began do not count in waits', file: `${simulate}ledger.ts`, find: 'waits: waitsOf(waited.map', replace: 'waits: waitsOf(waited.filter((i) => !Number.isNaN(startedAt[i])).map', killedBy: figures },
  { title: 'open tasks whose deadline is past are not counted', file: `${simulate}ledger.ts`, find: 'deadlineAt >= until) continue', replace: 'deadlineAt >= 0) continue', killedBy: figures },
  { title: 'dead letters count as met deadlines', file: `${simulate}ledger.ts`, find: 'if (isCompleted && (endedAt[i] as number) <= deadlineAt) met++', replace: 'if ((endedAt[i] as number) <= deadlineAt) met++', killedBy: figures },
  { title: 'the time of a series is counted in the next piece', file: `${simulate}step-series.ts`, find: 'value * (to - this.last)', replace: 'this.value * (at - this.last)', killedBy: figures },
  { title: 'shares compare tenants that ran out of tasks', file: `${simulate}fairness.ts`, find: 'if (left === 0) this.wasOut[tenant] = 1', replace: '', killedBy: figures },
  { title: 'shares forget the weights', file: `${simulate}fairness.ts`, find: '(claims * weightOf(tenant)) / weights', replace: 'claims / compared.length', killedBy: figures },
  { title: 'bands of a chart lie over each other', file: `${charts}time-chart.ts`, find: '.y0(([low]) => y(low))', replace: '.y0(() => y(0))', killedBy: pictures },
  { title: 'texts in pictures are not escaped', file: `${charts}svg.ts`, find: ".replace(/[&<>\"']/g,", replace: ".replace(/[&]/g,", killedBy: pictures },
  { title: 'a picture shows the P50 of waits as their P95', file: `${simulate}pictures.ts`, find: 'says: lengthText(p95)', replace: 'says: lengthText(p50)', killedBy: pictures },
  { title: 'simulated days: an agent that the queue does not register ends the run', file: `${simulate}fleet.ts`, find: 'this.world.queue.attempt({', replace: 'this.world.queue.do({', killedBy: figures, named: 'as many agents are registered' },
  { title: 'simulated days: the busiest hour counts for all', file: `${simulate}read-scenario.ts`, find: 'perHour[hour % 24] ?? 0', replace: 'Math.max(...perHour)', killedBy: ['test/simulate/scenario.test.ts'], named: 'by the hours' },
  { title: 'simulated days: in pictures, long names of groups lie over those of rows', file: `${charts}row-chart.ts`, find: 'groups.some(needsLine) ? rowHeight : 0', replace: '0', killedBy: pictures, named: 'does not lie over' },
  { title: 'simulation: isolated tenants are refused tasks whose ids do not begin with their names', file: 'packages/projections/src/simulate/simulate.ts', find: 'patches.map(shared)', replace: 'patches', killedBy: ['test/simulate/simulation.test.ts'] },
]
