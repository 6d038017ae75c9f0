/** Amended tasks, and how long an attempt may take. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const engine = 'packages/adapters/src/engine/'
const amends = ['test/core/amend.test.ts']
const runTime = ['test/core/run-time.test.ts']
const contents = ['test/engine/contents.test.ts']
const overHttp = ['test/http/amend.test.ts']

export const amendPlants: ReadonlyArray<Plant> = [
  {
    title: 'a lease may be longer than its attempt',
    file: `${core}decide/claim.ts`,
    find: 'maxRunSeconds === undefined ? ms : Math.min(ms, runMs(maxRunSeconds))',
    replace: 'runMs(maxRunSeconds ?? 0) < 0 ? 0 : ms',
    killedBy: runTime,
  },
  {
    title: 'heartbeats extend a lease beyond maxRunSeconds of its task',
    file: `${core}decide/settle.ts`,
    find: 'Math.min(runEndsAt(task, lease), toInstant(at + lease.durationMs))',
    replace: 'Math.min(runEndsAt(task, lease) * 2, toInstant(at + lease.durationMs))',
    killedBy: runTime,
  },
  {
    title: 'an attempt that took too long is taken for one without heartbeats',
    file: `${core}decide/tick.ts`,
    find: "? 'ran-too-long' : 'lease-expired'",
    replace: "? 'lease-expired' : 'lease-expired'",
    killedBy: runTime,
  },
  {
    title: 'worker: a handler is ended at the limit of its task, when it is too late to report it',
    file: 'packages/client/src/worker/run.ts',
    find: ' - Math.min(reportMsMax, maxRunSeconds * 50)',
    replace: '',
    killedBy: ['test/worker/run-time.test.ts'],
  },
  {
    title: 'worker: a lease is believed to go on after maxRunSeconds of its task',
    file: 'packages/client/src/worker/leases.ts',
    find: 'Math.min(sentAt + run.leaseMs, run.leaseEndsMax)',
    replace: 'sentAt + run.leaseMs',
    killedBy: ['test/worker/run-time.test.ts'],
  },
  {
    title: 'worker: a task has no limit of its own',
    file: 'packages/client/src/worker/run-limit.ts',
    find: 'if (run.endBy >= Math.min(',
    replace: 'if (run.endBy > 0 || run.endBy >= Math.min(',
    killedBy: ['test/worker/run-time.test.ts'],
  },
  {
    title: 'a memory has the goal of the former payload',
    file: 'packages/adapters/src/memory-bank/memory-of.ts',
    find: '(amended ?? enqueued)?.data',
    replace: '(enqueued ?? amended)?.data',
    killedBy: ['test/memory-bank/memory.test.ts'],
  },
  {
    title: 'what is spawned of an amended task gets its former payload',
    file: `${core}queries/query.ts`,
    find: 'return task === undefined ? undefined : revisionOfContent(task)',
    replace: 'return task?.enqueuedRevision',
    killedBy: ['test/http/loops.test.ts'],
  },
  {
    title: 'an amended priority is told and not kept',
    file: `${core}fold/amend.ts`,
    find: '      task.priority = priority\n',
    replace: '',
    killedBy: amends,
  },
  {
    title: 'an amended task keeps its content',
    file: `${core}records/records.ts`,
    find: 'extras.contentRevision ?? enqueuedRevision',
    replace: 'enqueuedRevision',
    killedBy: [...amends, ...overHttp],
  },
  {
    title: 'a task becomes CRITICAL, and the time since then is not counted',
    file: `${core}state/tables.ts`,
    find: '    const wasCritical = isCritical(task)\n',
    replace: "    const wasCritical = task.status === 'pending'\n",
    killedBy: amends,
  },
  {
    title: 'a rollback leaves the amended priority',
    file: `${core}state/task-before.ts`,
    find: '    task.priority = this.priority\n',
    replace: '',
    killedBy: amends,
  },
  {
    title: 'the last of two who amend a payload wins, unseen',
    file: `${core}decide/amend.ts`,
    find: 'obstacleTo(task, command) ?? staleContent(task, command)',
    replace: 'obstacleTo(task, command)',
    killedBy: [...amends, ...overHttp],
  },
  {
    title: 'a task is amended while an agent works on it',
    file: `${core}decide/amend.ts`,
    find: '  if (isHeld(task)) {',
    replace: '  if (isHeld(task) && priority === undefined) {',
    killedBy: amends,
  },
  {
    title: 'an amendment that changes nothing is an event',
    file: `${core}decide/amend.ts`,
    find: 'command.content === undefined && Object.keys(changes).length === 0',
    replace: 'false',
    killedBy: amends,
  },
  {
    title: 'all dead letters that match get the payload that was meant for one',
    file: `${core}decide/dead-letters.ts`,
    find: '  task === undefined && (content !== undefined || contentRevision !== undefined)\n',
    replace: '  task === undefined && contentRevision !== undefined\n',
    killedBy: amends,
  },
  {
    title: 'the former content of an amended task stays in the cache',
    file: `${engine}decider.ts`,
    find: " || event.type === 'TaskAmended') contents.forgetFor",
    replace: ') contents.forgetFor',
    killedBy: contents,
  },
  {
    title: 'a new payload takes the description away',
    file: `${engine}contents/amend.ts`,
    find: "}${others.join('')}}`",
    replace: '}}`',
    killedBy: overHttp,
  },
  {
    title: 'a payload that is the same is an amendment',
    file: `${engine}contents/amend.ts`,
    find: 'if (wanted.right === canonicalJson(former)) return',
    replace: 'if (others.length > 99) return',
    killedBy: overHttp,
  },
  {
    title: 'an amended payload may be of any size',
    file: `${engine}contents/amend.ts`,
    find: 'Buffer.byteLength(content) > bytesMax || !',
    replace: '!',
    killedBy: overHttp,
  },
]
