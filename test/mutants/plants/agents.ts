/** Who may take a task: registrations, and agents that come last after a failure. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const agents = ['test/core/agents.test.ts']
const waiting = ['test/engine/waiting-agents.test.ts']

export const agentPlants: ReadonlyArray<Plant> = [
  {
    title: 'a claim that finds only what its agent gave back is told nothing',
    file: `${core}decide/claim.ts`,
    find: 'if (isBarred) this.hasBarred = true',
    replace: '',
    killedBy: agents,
    named: 'only what its agent gave back',
  },
  {
    title: 'a claim does not take over the skills of the registration',
    file: `${core}gates/assignment.ts`,
    find: 'if (taken.skills === undefined && known.skills !== undefined) taken.skills = known.skills',
    replace: '',
    killedBy: agents,
  },
  {
    title: 'a registration outweighs what the claim says',
    file: `${core}gates/assignment.ts`,
    find: 'if (taken.types === undefined && known.types !== undefined)',
    replace: 'if (known.types !== undefined)',
    killedBy: agents,
  },
  {
    title: 'a registration that has ended still counts',
    file: `${core}state/agent-register.ts`,
    find: 'return known !== undefined && known.endsAt > at ? known : undefined',
    replace: 'return known',
    killedBy: agents,
  },
  {
    title: 'an agent that works is forgotten like one that is gone',
    file: `${core}fold/evolve.ts`,
    find: 'if (tables.agents.size > 0 && head.misfits === misfits) heard(tables, event)',
    replace: '',
    killedBy: agents,
  },
  {
    title: 'registrations without end',
    file: `${core}state/agent-register.ts`,
    find: 'return this.size < agentsMax ||',
    replace: 'return true ||',
    killedBy: agents,
  },
  {
    title: 'an agent gets more tasks than it registered for in one claim',
    file: `${core}decide/claim.ts`,
    find: 'Math.min(max, roomOf(tables, agent, at))',
    replace: 'max',
    killedBy: agents,
  },
  {
    title: 'a failure is forgotten at once',
    file: `${core}gates/assignment.ts`,
    find: '.filter(({ until }) => until > at)',
    replace: '.filter(() => false)',
    killedBy: agents,
  },
  {
    title: 'an agent that failed a task never gets it',
    file: `${core}gates/gates.ts`,
    find: 'isShut: (task, others) => others.for(task) !== undefined',
    replace: 'isShut: () => true',
    killedBy: agents,
  },
  {
    title: 'two agents that failed a task leave it to each other',
    file: `${core}gates/other-agents.ts`,
    find: '!isBarred(task, agent) && lastUntil(tables, task, agent, at) === 0',
    replace: '!isBarred(task, agent)',
    killedBy: agents,
  },
  {
    title: 'a task is left to an agent that has no room for it',
    file: `${core}gates/other-agents.ts`,
    find: ' || isAskerShut(tables, agent, at, isBumped(task))',
    replace: '',
    killedBy: agents,
  },
  {
    title: 'a reviewer does not forgive',
    file: `${core}fold/evolve.ts`,
    find: ', failers: ___, rateLimits',
    replace: ', rateLimits',
    killedBy: agents,
  },
  {
    title: 'a snapshot forgets who is registered',
    file: `${core}snapshot/head.ts`,
    find: 'tables.agents.restore(agents)',
    replace: '',
    killedBy: agents,
  },
  {
    title: 'a rollback keeps registrations',
    file: `${core}state/agent-register.ts`,
    find: 'this.undoLog.note({ undo: () => this.put(agent, before) })',
    replace: 'this.undoLog.note({ undo: () => undefined })',
    killedBy: agents,
  },
  {
    title: 'a claim that leaves a task to another agent is not woken by what that agent does',
    file: `${core}ready/ready-index.ts`,
    find: 'for (const shape of this.heldBack) this.wake(shape)',
    replace: '',
    killedBy: waiting,
  },
  {
    title: 'a claim that leaves a task to another agent is not woken by time',
    file: 'packages/adapters/src/engine/decider.ts',
    find: 'if (until !== undefined) waiting.lookAgain(shape, until)',
    replace: '',
    killedBy: waiting,
  },
  {
    title: 'a worker does not end its registration',
    file: 'packages/client/src/worker/registration.ts',
    find: 'if (!this.isRegistered) return\n',
    replace: 'return\n',
    killedBy: ['test/worker/end-to-end.test.ts'],
  },
]
