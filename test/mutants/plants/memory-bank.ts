/** The memory of earlier tasks. */
import type { Plant } from '../plant.js'

const bank = 'packages/adapters/src/memory-bank/'
const followLog = 'packages/adapters/src/log-follower/follow-log.ts'
const killedBy = ['test/memory-bank/memory.test.ts']

export const memoryBankPlants: ReadonlyArray<Plant> = [
  {
    title: 'worker: a source in the process of the queue gives no memories',
    file: 'packages/adapters/src/worker/engine-source.ts',
    find: 'workOf(claim, recalled?.memories[index], recalled?.missing)',
    replace: 'workOf(claim, recalled?.memories[index + 1], undefined)',
    killedBy: ['test/memory-bank/memory.test.ts'],
  },
  { title: 'remembering: secrets are kept', file: `${bank}memory-of.ts`, find: '  return withoutSecrets(memory)', replace: '  return memory', killedBy },
  { title: 'remembering: what fails is left out', file: `${bank}follower.ts`, find: 'tools.untilDone(() => bank.remember(memories))', replace: 'bank.remember(memories).catch(() => undefined)', killedBy },
  { title: 'remembering: one that is refused takes the others with it', file: `${bank}follower.ts`, find: 'if (memories.length > 1) for (const memory of memories) await remember([memory], tools)', replace: 'if (memories.length > 1) return', killedBy },
  { title: 'remembering: the checkpoint of another memory counts', file: followLog, find: 'if (known !== null && known !== taker) return', replace: '', killedBy },
  { title: 'remembering: while the store is away, a follower rests longer and longer', file: followLog, find: 'error instanceof StoreError ? Math.min(ms, storeRetryMsMax) : ms', replace: 'ms', killedBy: ['test/memory-bank/store-away.test.ts'] },
  { title: 'remembering: each start begins with the first event', file: followLog, find: 'done = saved = checkpoint.revision', replace: 'saved = checkpoint.revision', killedBy },
  { title: 'recalling: a word that no memory has is taken for a rare one', file: `${bank}word-search.ts`, find: 'occurrences > 0', replace: 'occurrences >= 0', killedBy: ['test/memory-bank/common-words.test.ts'] },
  { title: 'recalling: of common words, one is as good as all', file: `${bank}word-search.ts`, find: 'hitsOfB - hitsOfA || b - a', replace: 'b - a', killedBy: ['test/memory-bank/common-words.test.ts'] },
  { title: 'recalling: a search for common words reads all that have them', file: `${bank}word-search.ts`, find: 'if (rare.length === 0) return amongNewest', replace: 'if (rare.length < 0) return amongNewest', killedBy: ['test/memory-bank/common-words.test.ts'] },
  { title: 'recalling: an answer waits for the memory', file: `${bank}service.ts`, find: 'await Promise.race([asked, over])', replace: 'await asked', killedBy },
  { title: 'recalling: a memory that hangs is asked with each claim', file: `${bank}service.ts`, find: "if (performance.now() < restsUntil) return missing('the memory did not answer lately')", replace: '', killedBy },
  { title: 'recalling: only what has all words is found', file: `${bank}word-search.ts`, find: "join(' OR ')", replace: "join(' AND ')", killedBy: ['test/memory-bank/common-words.test.ts'] },
  { title: 'recalling: what nobody waits for is searched all the same', file: `${bank}sqlite-bank.ts`, find: 'signal.throwIfAborted()', replace: '', killedBy },
  { title: 'a memory behind HTTP may answer without end', file: `${bank}http-bank.ts`, find: 'bytes > answerBytesMax', replace: 'bytes < 0', killedBy },
  { title: 'recalling: memories of other queues come too', file: `${bank}sqlite-thread.ts`, find: 'WHERE queue = ? AND ticket = ? ORDER BY at DESC', replace: 'WHERE length(?) > 0 AND ticket = ? ORDER BY at DESC', killedBy },
  { title: 'recalling: the memories are given to another task', file: `${bank}service.ts`, find: 'memories[index] = found[i] ?? []', replace: 'memories[index + 1] = found[i] ?? []', killedBy },
  { title: 'remembering: at a stop, events that were too many to be known count as taken', file: followLog, find: 'if (waiting.length === 0 && !isBehind) done', replace: 'if (waiting.length === 0) done', killedBy: ['test/memory-bank/follower.test.ts'] },
  { title: 'remembering: what the store does not show is passed over', file: followLog, find: 'if (there.length === revisions.length) return there', replace: 'if (there.length <= revisions.length) return there', killedBy: ['test/memory-bank/store-away.test.ts'] },
]
