/** The loop of a queue: batches, group commit, recovery, claims that wait, other processes. */
import type { Plant } from '../plant.js'

const at = (file: string): string => `packages/adapters/src/engine/${file}`
const closing = ['test/engine/closing.test.ts']
const conflicts = ['test/engine/conflicts.test.ts']
const durability = ['test/engine/durability.test.ts']
const groups = ['test/engine/group-commit.test.ts']
const others = ['test/engine/others.test.ts']
const spoilt = ['test/engine/spoilt.test.ts']
const timers = ['test/engine/timers.test.ts']
const unavailable = ['test/engine/unavailable.test.ts']
const unknown = ['test/engine/unknown-outcome.test.ts']
const waiting = ['test/engine/waiting-claims.test.ts']

export const enginePlants: ReadonlyArray<Plant> = [
  // Group commit.
  {
    title: 'callers are answered before their append is durable',
    file: at('engine.ts'),
    find: '      batch.whenDone = this.append(batch, continues)\n',
    replace: '      batch.whenDone = this.append(batch, continues)\n      answer(batch.decided)\n',
    killedBy: durability,
  },
  {
    title: 'a read is answered before the state that it saw is durable',
    file: at('engine.ts'),
    find: 'if (last === undefined) {',
    replace: 'if (last === undefined || batch.decided.every(({ item }) => item.kind === \'read\')) {',
    killedBy: durability,
  },
  {
    title: "batches settle in the order of the store's answers",
    file: at('engine.ts'),
    find: 'if (batch?.result === undefined) break',
    replace: 'if (batch === undefined || this.inFlight.all.every(({ result }) => result === undefined)) break\n      batch.result ??= { _tag: \'Appended\' }',
    killedBy: durability,
  },
  {
    title: 'three appends are under way at once',
    file: at('engine.ts'),
    find: 'store.isShared ? 1 : 2',
    replace: 'store.isShared ? 1 : 3',
    killedBy: groups,
  },
  {
    title: 'two appends are under way where others append, too',
    file: at('engine.ts'),
    find: 'store.isShared ? 1 : 2',
    replace: '2',
    killedBy: groups,
  },
  {
    title: 'a command beyond the limit of an append is accepted in part',
    file: at('decider.ts'),
    find: "return batch.texts.length > 0 ? 'full' : 'too-large'",
    replace: "if (batch.texts.length > 0) return 'full'\n      texts.length = 1",
    killedBy: groups,
  },
  {
    title: 'the mailbox accepts more than its limit',
    file: at('append/mailbox.ts'),
    find: 'return this.items.length >= this.sizeMax',
    replace: 'return this.items.length > this.sizeMax',
    killedBy: groups,
  },
  {
    title: 'commands that did not fit into a batch are lost',
    file: at('decider.ts'),
    find: 'mailbox.remove(taken)',
    replace: 'mailbox.remove(mailbox.size)',
    killedBy: groups,
  },
  // Recovery.
  {
    title: 'a failed append is not rolled back',
    file: at('append/recovery.ts'),
    find: '    live.rollback(first.mark)\n    for',
    replace: '    for',
    killedBy: unavailable,
  },
  {
    title: 'the append behind a failed one is lost',
    file: at('append/recovery.ts'),
    find: 'this.takeBack(isStray ? [first] : failed, error)',
    replace: 'this.takeBack([first], error)',
    killedBy: [...conflicts, ...unavailable],
  },
  {
    title: 'an append behind a failed one is given up before its own result is known',
    file: at('append/recovery.ts'),
    find: 'await inFlight.allDone()',
    replace: 'await Promise.resolve()',
    killedBy: conflicts,
  },
  {
    title: 'an append of unknown outcome is taken for written',
    file: at('append/unknown-append.ts'),
    find: "if (there !== 'no') return there === 'yes'",
    replace: 'return true',
    killedBy: unknown,
  },
  {
    title: 'an append of unknown outcome is taken for "not written" when it is not there yet',
    file: at('append/unknown-append.ts'),
    find: "if (there !== 'no') return there === 'yes'",
    replace: "return there === 'yes'",
    killedBy: unknown,
  },
  {
    title: "another's append in the place of an unknown one is taken for it",
    file: at('append/unknown-append.ts'),
    find: "return found.id === batch.texts[0]?.id ? 'yes' : 'another'",
    replace: "return 'yes'",
    killedBy: unknown,
  },
  {
    title: 'a conflict is refused instead of decided again',
    file: at('append/recovery.ts'),
    find: 'else if (isConflict || item.kind === \'read\') again.push(item)',
    replace: 'else if (item.kind === \'read\') again.push(item)',
    killedBy: conflicts,
  },
  {
    title: "folding other writers' events starts one event too late",
    file: at('append/recovery.ts'),
    find: 'log.read(durable.revision + 1)',
    replace: 'log.read(durable.revision + 2)',
    killedBy: conflicts,
  },
  {
    title: 'commands of a failed batch are put behind later ones',
    file: at('append/mailbox.ts'),
    find: 'this.items = [...items, ...this.items]',
    replace: 'this.items = [...this.items, ...items]',
    killedBy: conflicts,
  },
  {
    title: 'a stray append is decided again, and written twice',
    file: at('append/recovery.ts'),
    find: 'this.takeBack(isStray ? [first] : failed, error)',
    replace: 'this.takeBack(failed, error)',
    killedBy: conflicts,
  },
  {
    title: 'the engine continues a log that has lost its end',
    file: at('append/recovery.ts'),
    find: "if (actual === 'no_stream' || actual <= before) {",
    replace: "if (actual === 'no_stream') {",
    killedBy: conflicts,
    named: 'a log that is shorter',
  },
  {
    title: 'the last snapshot holds events that may not be in the log',
    file: at('append/recovery.ts'),
    find: 'if (first !== undefined) live.rollback(first.mark)',
    replace: '',
    killedBy: closing,
  },
  // Claims that wait.
  {
    title: "a newcomer's claim overtakes those that wait",
    file: at('decider.ts'),
    find: "    this.serveWaiting(batch)\n    if (waiting.isOfferDue) return false\n    const shape",
    replace: '    const shape',
    killedBy: waiting,
  },
  {
    title: 'after a conflict, the commands that waited longest are put last',
    file: 'packages/core/src/ready/waiting-claims.ts',
    find: '    this.firstPlace -= items.length\n',
    replace: '    this.firstPlace += 1_000_000\n',
    killedBy: [...waiting, ...conflicts],
  },
  {
    title: 'claims behind the first are served although the first did not fit',
    file: 'packages/core/src/ready/waiting-claims.ts',
    find: "if (verdict === 'full') return\n",
    replace: "if (verdict === 'full') { first.advance(); continue }\n",
    killedBy: waiting,
  },
  {
    title: 'a claim that has given up keeps its place in the queue of claims',
    file: 'packages/core/src/ready/waiting-claims.ts',
    find: '    if (line === undefined) return\n    this.lineOf.delete(item)',
    replace: '    if (line === undefined || item.isOver()) return\n    this.lineOf.delete(item)',
    killedBy: waiting,
  },
  {
    title: 'a claim that gave up during its append is answered empty, and keeps the tasks',
    file: at('append/claim-item.ts'),
    find: 'if (this.over || this.grantedAt !== undefined) return',
    replace: 'if (this.over) return',
    killedBy: waiting,
  },
  {
    title: 'tasks that another process added are not offered to waiting claims',
    file: at('engine.ts'),
    find: '    this.waiting.wake(takeWokenShapes(this.live.current))\n    this.durable.wake()',
    replace: '    this.durable.wake()',
    killedBy: others,
    named: 'hears of a task',
  },
  // Contents.
  {
    title: 'one task whose content is damaged keeps its neighbours from being handed out',
    file: at('contents/contents.ts'),
    find: 'this.owner.giveUpOn(claim, describe(error))\n        return false',
    replace: 'throw error',
    killedBy: spoilt,
  },
  {
    title: 'a store that cannot be read for a moment makes dead letters',
    file: at('contents/contents.ts'),
    find: "if (reason instanceof StoreError && reason.code === 'damaged') return reason",
    replace: 'if (reason instanceof Error) return reason',
    killedBy: spoilt,
  },
  {
    title: 'tasks whose contents cannot be read stay claimed by an agent that never got them',
    file: at('contents/contents.ts'),
    find: 'this.owner.takeBack(claimed, reason)',
    replace: '',
    killedBy: spoilt,
  },
  {
    title: 'contents of a failed batch are handed out with other tasks',
    file: at('append/recovery.ts'),
    find: 'for (const { expected, texts } of failed) contents.drop(expected + 1, texts.length)',
    replace: '',
    killedBy: conflicts,
  },
  // Other processes.
  {
    title: 'an event that is delivered twice is folded twice',
    file: at('state/follower.ts'),
    find: 'this.held.filter((event) => event.revision <= revision).length',
    replace: '0',
    killedBy: others,
    named: 'does not listen to itself',
  },
  {
    title: 'a failed subscription is not renewed',
    file: at('state/follower.ts'),
    find: 'this.rest(this.retryMs)',
    replace: '',
    killedBy: others,
    named: 'taken up again',
  },
  {
    title: 'folding continues over a hole in the log',
    file: at('state/replay.ts'),
    find: 'if (first !== undefined && first.revision !== next) throw',
    replace: 'if (first !== undefined && first.revision < next) throw',
    killedBy: others,
    named: 'the middle is missing',
  },
  // Timers and closing.
  {
    title: 'a timer that is set earlier does not ring earlier',
    file: at('time/alarm.ts'),
    find: 'if (at === this.at && this.cancel !== undefined) return',
    replace: 'if (this.cancel !== undefined) return',
    killedBy: timers,
  },
  {
    title: 'a closing engine answers before the appends under way are settled',
    file: at('engine.ts'),
    find: 'while (this.mailbox.size > 0 || this.inFlight.size > 0 || this.recovering) {',
    replace: 'while (this.mailbox.size > 0) {',
    killedBy: closing,
  },
  {
    title: 'commands are accepted while the engine is closing',
    file: at('engine.ts'),
    find: 'if (this.closed !== undefined) refuse(item',
    replace: 'if (this.closed !== undefined && item.kind === \'read\') refuse(item',
    killedBy: closing,
  },
  {
    title: 'engine: the waiting time of a claim includes its append',
    file: 'packages/adapters/src/engine/append/claim-item.ts',
    find: 'claim.waitedMs = this.grantedAt - this.askedAt',
    replace: 'claim.waitedMs = performance.now() - this.askedAt',
    killedBy: waiting,
  },
  {
    title: 'engine: following other processes starts one event too late',
    file: 'packages/adapters/src/engine/state/follower.ts',
    find: 'subscribe(revision() + 1)',
    replace: 'subscribe(revision() + 2)',
    killedBy: ['test/engine/others.test.ts'],
  },
  {
    title: 'tasks of one request get one id',
    file: 'packages/adapters/src/engine/log/ids.ts',
    find: "stem + place.toString(16).padStart(4, '0')",
    replace: "stem + '0000'",
    killedBy: ['test/http/tasks.test.ts'],
    named: 'Daybook-Request-Id',
  },
  {
    title: 'who waits for the result of a task is not told of a dead letter',
    file: at('append/settled-waits.ts'),
    find: "      case 'DeadLettered':\n",
    replace: '',
    killedBy: ['test/http/result.test.ts'],
  },
  {
    title: 'waits for a result that are over are kept',
    file: at('append/settled-waits.ts'),
    find: 'if (waits?.size === 0) this.waits.delete(task)',
    replace: '',
    killedBy: ['test/http/result.test.ts'],
  },
  { title: 'the phase of a task keeps the page that it was read from', file: 'packages/adapters/src/engine/log/read-facts.ts', find: 'phaseNamed.get(phase) as Phase', replace: 'phase as Phase', killedBy: ['test/engine/wire.test.ts'], named: 'INV-22' },
  { title: 'contents that were rolled back stay in the cache', file: at('contents/content-cache.ts'), find: '    this.cutFrom(revision)\n    if (text', replace: '    if (text', killedBy: ['test/engine/content-cache.test.ts'] },
  { title: 'characters beyond ASCII are cut when contents are packed', file: at('contents/content-cache.ts'), find: "=== text.length ? 1 : 2", replace: "=== text.length ? 1 : 1", killedBy: ['test/engine/content-cache.test.ts'] },
  { title: 'a content is given twice', file: at('contents/content-cache.ts'), find: '    this.lengths[at] = 0\n', replace: '', killedBy: ['test/engine/content-cache.test.ts'] },
  { title: 'a full cache gives up what was put first', file: at('contents/content-cache.ts'), find: 'share <= this.chunks[least]!.share', replace: 'share < this.chunks[least]!.share', killedBy: ['test/engine/content-cache.test.ts'] },
  { title: 'a full cache does not give up anything', file: at('contents/content-cache.ts'), find: '    while (this.bytes + text.length > this.bytesMax) this.giveUp(this.leastLeft())\n', replace: '', killedBy: ['test/engine/content-cache.test.ts'] },
  { title: 'queues that requests name stay open without end', file: 'packages/adapters/src/engine/daybook.ts', find: '    if (isNew) this.closeVisited()\n', replace: '', killedBy: ['test/engine/closing.test.ts'] },
  { title: 'a queue that cannot be opened looks unused', file: 'packages/adapters/src/http/serve-route.ts', find: 'if (refused !== undefined) return E.left', replace: 'if (refused === null) return E.left', killedBy: ['test/archive/command.test.ts'] },
]
