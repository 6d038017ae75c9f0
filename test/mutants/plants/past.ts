/** Answers for past moments. */
import type { Plant } from '../plant.js'

const states = 'packages/adapters/src/past/past-states.ts'
const histories = ['test/properties/past.test.ts']
const served = ['test/http/past.test.ts']

export const pastPlants: ReadonlyArray<Plant> = [
  {
    title: 'a past state begins with a snapshot of its future',
    file: states,
    find: 'loadSnapshot(log, snapshots, stream, revision, {',
    replace: 'loadSnapshot(log, snapshots, stream, Number.MAX_SAFE_INTEGER, {',
    killedBy: histories,
  },
  {
    title: 'a past state lacks its last event',
    file: states,
    find: 'const of = revision - from',
    replace: 'const of = revision - from - 1',
    killedBy: histories,
  },
  {
    title: 'a kept past state is given for another revision',
    file: states,
    find: 'revisionOf(kept.state) === revision)',
    replace: 'revisionOf(kept.state) >= revision)',
    killedBy: histories,
  },
  {
    title: 'a kept past state is given for another queue',
    file: states,
    find: 'this.kept.find((kept) => kept.queue === queue && ',
    replace: 'this.kept.find((kept) => ',
    killedBy: served,
  },
  {
    title: 'the past is asked by the clock of the present',
    file: 'packages/adapters/src/http/past/answer-past.ts',
    find: 'const view = pastView(queue, state, at ?? timeOf(state), log)',
    replace: 'const view = pastView(queue, state, Date.now(), log)',
    killedBy: histories,
  },
  {
    title: 'a time means the last event before it',
    file: 'packages/adapters/src/past/revision-at.ts',
    find: 'Date.parse(event.created)) <= at)',
    replace: 'Date.parse(event.created)) < at)',
    killedBy: [...histories, ...served],
  },
  {
    title: 'a stream of past lines goes on to the end of the log',
    file: 'packages/adapters/src/past/past-view.ts',
    find: 'revision: () => revision,',
    replace: 'revision: () => revision + 1,',
    killedBy: [...histories, ...served],
  },
  {
    title: 'a revision that is none is answered',
    file: 'packages/adapters/src/http/serve-route.ts',
    find: 'return Number(revision) <= last ?',
    replace: 'return Number(revision) <= last + 1 ?',
    killedBy: served,
  },
  {
    title: 'the oldest snapshots go first',
    file: 'packages/adapters/src/files/snapshot-ladder.ts',
    find: 'if (gap < least) [weakest',
    replace: 'if (index === 0) [weakest',
    killedBy: ['test/stores/snapshot-ladder.test.ts'],
  },
  {
    title: 'older snapshots may take any number of bytes',
    file: 'packages/adapters/src/files/snapshot-ladder.ts',
    find: 'left.length > count || sum > bytes',
    replace: 'left.length > count',
    killedBy: ['test/stores/snapshot-ladder.test.ts'],
  },
  {
    title: 'a damaged snapshot takes the place of one that is of use',
    file: 'packages/adapters/src/files/snapshots.ts',
    find: "if (typeof file === 'string' || file.header.stream !== stream || file.header.foldVersion !== foldVersion) return undefined",
    replace: "if (typeof file === 'string') return { name, revision: 1, bytes: 1 }",
    killedBy: ['test/stores/snapshots.test.ts'],
  },
  {
    title: 'a difference leaves out what an event about another task did',
    file: 'packages/adapters/src/http/handle/diff.ts',
    find: 'if (taskOf(after, before.id)?.status !== before.status)',
    replace: 'if (false)',
    killedBy: ['test/http/diff.test.ts'],
  },
  {
    title: 'a difference leaves out the breakers that an event about the queue changed',
    file: 'packages/adapters/src/http/handle/diff.ts',
    find: 'task === undefined ? breakersOf(before) : {}',
    replace: '{}',
    killedBy: histories,
  },
  {
    title: 'a difference shows tasks that are as they were',
    file: 'packages/adapters/src/http/handle/diff.ts',
    find: 'return differ.length === 0 ? undefined :',
    replace: 'return differ.length < 0 ? undefined :',
    killedBy: ['test/http/diff.test.ts'],
  },
  {
    title: 'a client of a past moment asks for the present',
    file: 'packages/adapters/src/client/audit.ts',
    find: 'json: (request, policy, options) => json(then(request), policy, options),',
    replace: 'json,',
    killedBy: ['test/client/past.test.ts'],
  },
  {
    title: 'a log is searched for an actor, and all actors are shown',
    file: 'packages/adapters/src/http/handle/log.ts',
    find: ' && by(event) && within(event)',
    replace: ' && within(event)',
    killedBy: ['test/cli/audit.test.ts'],
  },
  {
    title: 'a log that begins at a time lacks the event of that time',
    file: 'packages/adapters/src/http/handle/log.ts',
    find: 'millisecondsOf(at) - 1)) + 1',
    replace: 'millisecondsOf(at))) + 1',
    killedBy: ['test/cli/audit.test.ts'],
  },
  {
    title: 'an audit without a server ignores the revision',
    file: 'packages/adapters/src/cli/audit/log-source.ts',
    find: 'return { revision: moment.revision }',
    replace: 'return { revision: head }',
    killedBy: ['test/cli/audit.test.ts'],
  },
]
