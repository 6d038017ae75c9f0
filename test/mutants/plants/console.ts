/** What the console computes without a browser. */
import type { Plant } from '../plant.js'

const source = 'packages/console/src/'
const frame = ['test/console/time-frame.test.ts']
const figures = ['test/console/figures.test.ts']
const audit = ['test/console/audit.test.ts']

export const consolePlants: ReadonlyArray<Plant> = [
  { title: 'console: the slider jumps with each move', file: `${source}time/frame.ts`, find: '  if (isHeld) return held\n', replace: '', killedBy: frame },
  { title: 'console: the last place of the slider is not its end', file: `${source}time/frame.ts`, find: 'frame.to - Math.ceil((frame.to - frame.from) / step) * step', replace: 'frame.from', killedBy: frame },
  { title: 'console: of two moments only the earlier one lies in the frame', file: `${source}time/frame.ts`, find: 'latest - earliest, shortestMs)', replace: 'shortestMs)', killedBy: frame },
  { title: 'console: the slider begins before the log', file: `${source}time/frame.ts`, find: 'return { from: Math.max(begin, present - length), to: present }', replace: 'return { from: present - length, to: present }', killedBy: frame },
  { title: 'console: what the queue does by itself is a command', file: `${source}pages/audit/commands.ts`, find: '!isQueueItself(event.actor) && (withWork', replace: '(withWork', killedBy: audit },
  { title: 'console: a breaker that failures opened was opened by a person', file: `${source}pages/audit/commands.ts`, find: "type.startsWith('Breaker') && data['cause'] === 'manual'", replace: "type.startsWith('Breaker')", killedBy: audit },
  { title: 'console: commands are torn apart at the end of a page', file: `${source}pages/audit/commands.ts`, find: 'if (events.length >= enough && (', replace: 'if (events.length >= enough || (', killedBy: audit },
  { title: 'console: commands of two people are one', file: `${source}pages/audit/commands.ts`, find: 'command.actor === actor && command', replace: 'command', killedBy: audit },
  { title: 'console: a task that is new was not there before either', file: `${source}pages/changes/ways.ts`, find: "from ?? 'new'", replace: "from ?? to", killedBy: audit },
  { title: 'console: tasks without a tenant are never ready', file: `${source}pages/tenants/figures.ts`, find: 'byStatus.pending + byStatus.queued - ofTenants', replace: '0', killedBy: figures },
  { title: 'console: tenants that a report adds up are taken for the tasks without one', file: `${source}pages/tenants/figures.ts`, find: ' && others === undefined', replace: '', killedBy: figures, named: 'adds up' },
  { title: 'console: a tenant named policy can only have the weights that policies are', file: `${source}pages/settings/meanings.ts`, find: "typeof value === 'string' ? ownOf", replace: "typeof value !== 'object' ? ownOf", killedBy: figures, named: 'few values' },
  { title: 'console: ready tasks that no agent works on wait only for their turn', file: `${source}pages/queue/blocked-by.ts`, find: 'agentsAtWork === 0', replace: 'agentsAtWork < 0', killedBy: figures },
]
