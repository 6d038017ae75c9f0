/** Queues in the same process. */
import type { Plant } from '../plant.js'

const at = (file: string): string => `packages/adapters/src/embedded/${file}`
const embedded = ['test/embedded/embedded.test.ts']

export const embeddedPlants: ReadonlyArray<Plant> = [
  { title: 'embedded: settings that do not exist are accepted', file: at('open-embedded.ts'), find: 'checkPatch(settings,', replace: 'checkPatch({},', killedBy: embedded },
  { title: 'embedded: a claim whose caller has given up keeps its task', file: at('in-process.ts'), find: 'if (gone.signal.aborted) answered.undelivered?.()', replace: '', killedBy: embedded },
  { title: 'embedded: keys that a server refuses are accepted', file: at('in-process.ts'), find: 'if (!isPrototype) return value', replace: 'if (!isPrototype || isPrototype) return value', killedBy: embedded },
  { title: 'embedded: names in paths are not decoded', file: at('find-route.ts'), find: 'decodeURIComponent(value)', replace: 'value', killedBy: embedded },
  { title: 'embedded: waiting claims outlast the client', file: at('in-process.ts'), find: '[signal, isEndedByClose ? closing.signal : undefined]', replace: '[signal]', killedBy: embedded },
  { title: 'embedded: what is enqueued names nobody', file: at('open-embedded.ts'), find: 'lastingGrant(name,', replace: "lastingGrant('embedded',", killedBy: embedded },
  { title: 'embedded: the archive of the folder is not read', file: at('open-embedded.ts'), find: 'archiveBeside(file))', replace: 'archiveBeside(dataDir))', killedBy: embedded },
  { title: 'embedded: a file of keys that is gone is no warning', file: at('open-embedded.ts'), find: 'existsSync(keysFile) ? undefined : keysFile', replace: 'undefined', killedBy: embedded },
  { title: 'embedded: a closed client begins to watch', file: at('watch-queue.ts'), find: 'if (closing.aborted) throw closedError()', replace: '', killedBy: embedded, named: 'later calls are refused' },
  { title: 'test kit: a refused result leaves its task leased', file: 'packages/testing/src/drain.ts', find: 'isLost(answer.code) ? undefined : failureInstead(outcome, answer)', replace: 'isLost(answer.code) || failureInstead(outcome, answer) === undefined ? undefined : undefined', killedBy: ['test/testing/test-queue.test.ts'], named: 'a result that the queue refuses' },
  { title: 'test kit: a parking counts as failed', file: 'packages/testing/src/drain.ts', find: "answer.ok && kind === 'fail'", replace: "answer.ok && kind !== 'complete'", killedBy: ['test/testing/test-queue.test.ts'], named: 'counts as failed' },
]
