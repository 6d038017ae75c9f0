/** Erasable queues: what is encrypted, and who can read it (EV-07). */
import type { Plant } from '../plant.js'

const withhold = 'packages/core/src/model/withhold.ts'
const encrypted = 'packages/adapters/src/task-keys/encrypted.ts'
const withholding = 'packages/adapters/src/engine/contents/withholding.ts'
const engine = ['test/erasable/engine.test.ts']
const server = ['test/erasable/encrypted.test.ts']
const facts = ['test/core/withhold.test.ts']
const erasing = ['test/erasable/erase.test.ts']
const erasingServer = ['test/erasable/server.test.ts']
const killed = ['test/erasable/killed.test.ts']
const eraser = 'packages/adapters/src/engine/contents/eraser.ts'
const keyFile = 'packages/adapters/src/task-keys/key-file.ts'

export const erasablePlants: ReadonlyArray<Plant> = [
  { title: 'the error of a failed attempt stays in the facts', file: withhold, find: '  Failed: { error: { message: withheldText }, checkpoint: null }', replace: '  Failed: { checkpoint: null }', killedBy: facts },
  { title: 'the stack of an error stays in the facts', file: withhold, find: 'data: { ...event.data, ...some }', replace: "data: { ...event.data, ...some, ...('error' in some && typeof some.error === 'object' && 'error' in event.data ? { error: { ...(event.data.error as object), ...some.error } } : {}) }", killedBy: facts },
  { title: 'contents of proposals belong to nobody', file: withhold, find: ": 'parent' in data ? data.parent : undefined", replace: ': undefined', killedBy: engine },
  { title: 'the facts beside a ciphertext are not authenticated', file: encrypted, find: '[stream, id, type, facts].join', replace: '[stream, id, type].join', killedBy: engine },
  { title: 'a ciphertext can be moved to another stream', file: encrypted, find: '[stream, id, type, facts].join', replace: '[id, type, facts].join', killedBy: engine },
  { title: 'all events of a task have the same nonce', file: encrypted, find: 'const nonce = randomBytes(nonceBytes)', replace: 'const nonce = Buffer.alloc(nonceBytes, key)', killedBy: engine },
  { title: 'withheld members are not put back', file: encrypted, find: "members === '' ? facts : withMembers(facts, members)", replace: 'facts', killedBy: engine },
  { title: 'content that ends like a ciphertext is taken for one', file: encrypted, find: '([\\w-]+)"\\}$/', replace: '([\\w-]+)"\\}/', killedBy: engine },
  { title: 'the state has what is withheld', file: 'packages/adapters/src/engine/decider.ts', find: 'const events = withheld?.events ?? decided', replace: 'const events = decided', killedBy: engine },
  { title: 'a new task under an old id has the old key', file: withholding, find: 'if (isNew) return erasable ? this.make(task, revision) : undefined', replace: 'if (isNew && !erasable) return undefined', killedBy: engine },
  { title: 'tasks with a key go on in the clear when the setting is taken back', file: withholding, find: 'if (!erasable && !this.mayHaveKeys()) return undefined', replace: 'if (!erasable) return undefined', killedBy: server },
  { title: 'an append does not wait for its keys', file: 'packages/adapters/src/engine/engine.ts', find: 'const unsaved = this.saveKeys()', replace: 'const unsaved = void this.saveKeys()', killedBy: engine },
  { title: 'a program without a place for keys makes a queue erasable', file: withholding, find: 'command.patch.erasable === true ? reject', replace: 'command.patch.erasable === undefined ? reject', killedBy: engine },
  { title: 'a program without a place for keys writes in the clear', file: withholding, find: 'this.keys === undefined && headOf(state).settings.erasable ? noPlaceForKeys', replace: 'this.keys === undefined && headOf(state).settings.erasable ? undefined', killedBy: engine },
  { title: 'an agent gets a task without its content', file: 'packages/adapters/src/engine/contents/contents.ts', find: "cached[index] ?? shown(contentOf(textAt(contentRevision)) ?? '{}')", replace: "cached[index] ?? contentOf(textAt(contentRevision)) ?? '{}'", killedBy: engine },
  { title: 'queue files have the content', file: 'packages/adapters/src/files/queue-files/queue-files.ts', find: 'new ContentMemory(contentsFrom(options.log, engine.name))', replace: 'new ContentMemory((revisions) => engine.contents(revisions))', killedBy: server },
  { title: 'past moments show no content', file: 'packages/adapters/src/http/past/past-thread.ts', find: 'log: revealingLog(stored, readKeys(keys)), stored', replace: 'log: stored, stored', killedBy: server },
  { title: 'events are shown as they are stored', file: 'packages/adapters/src/http/serve-route.ts', find: 'viewOf(queue.right, daybook.contentLog, ', replace: 'viewOf(queue.right, daybook.log, ', killedBy: server },
  { title: 'a task that is not finished is erased', file: 'packages/core/src/decide/erase.ts', find: '!isFinal(task.status)) return E.left', replace: "task.status === 'in-progress') return E.left", killedBy: erasing },
  { title: 'an erasure is not among the events of its task', file: 'packages/core/src/fold/evolve.ts', find: 'on(tables, event.data.task, isFinal, () => undefined)', replace: 'undefined', killedBy: erasingServer },
  { title: 'the key stays where the file was written to last', file: keyFile, find: "db.pragma('wal_checkpoint(TRUNCATE)')", replace: "db.pragma('wal_checkpoint(PASSIVE)')", killedBy: erasing },
  { title: 'a file that is in use is not noticed', file: keyFile, find: 'if (busy !== 0) throw', replace: 'if (busy === 2) throw', killedBy: erasing },
  { title: 'freed pages of the keys are not cleared', file: keyFile, find: "'secure_delete = ON'", replace: "'secure_delete = OFF'", killedBy: erasing },
  { title: 'the keys of later tasks with the same id go as well', file: keyFile, find: 'SET key = NULL WHERE queue = ? AND task = ? AND revision < ?', replace: 'SET key = NULL WHERE queue = ? AND task = ? AND revision < 1e15 + ?', killedBy: erasing },
  { title: 'the key is thrown away before the event is in the log', file: eraser, find: "keys.intend({ queue, task: id, revision })", replace: "keys.throwAway({ queue, task: id, revision }, revision + 1)", killedBy: erasing },
  { title: 'no intention is noted', file: eraser, find: "keys.intend({ queue, task: id, revision })", replace: '', killedBy: erasing },
  { title: 'an interrupted erasure is not ended at the start', file: 'packages/adapters/src/engine/engine.ts', find: 'await engine.eraser.resume()', replace: '', killedBy: erasing },
  { title: 'a queue decides before whoever opened it listens', file: 'packages/adapters/src/engine/engine.ts', find: '  await engine.eraser.resume()\n  engine.start()\n', replace: '  engine.start()\n  await engine.eraser.resume()\n', killedBy: erasing },
  { title: 'an intention without its event is carried out at the start', file: eraser, find: 'if (revision !== undefined) keys?.throwAway(intention, revision)', replace: 'if (revision !== undefined || intention.revision > 0) keys?.throwAway(intention, revision ?? 1e9)', killedBy: erasing },
  { title: 'a task whose payload is in the clear is erased', file: eraser, find: 'const whole = held.filter(({ id: key }, index) => ', replace: 'const whole = held.filter(({ id: key }, index) => true || ', killedBy: erasing },
  { title: 'a refused erasure leaves its intention', file: eraser, find: "if (outcome.left.code !== 'outcome-unknown') this.withdraw", replace: "if (outcome.left.code === 'outcome-unknown') this.withdraw", killedBy: erasing },
  { title: 'the search for a history ends at the erasure', file: 'packages/adapters/src/engine/log/history.ts', find: "if (event.type === 'TaskErased' && previousOf(event) === undefined) erasures.unshift(event)\n      else {", replace: '{', killedBy: erasing },
  { title: 'an erased task does not say when and why', file: 'packages/adapters/src/engine/log/history.ts', find: "lastRevision, 'TaskErased')", replace: "lastRevision, 'QueueDeleted')", killedBy: erasingServer },
  { title: 'daybook show does not say that a task is erased', file: 'packages/adapters/src/cli/commands/show.ts', find: "    ['content', withheldText(task)],\n", replace: '', killedBy: erasingServer },
  { title: 'an erased task is restarted without its payload', file: 'packages/adapters/src/engine/contents/restart.ts', find: "return 'withheld'", replace: "return '{}'", killedBy: erasingServer, named: 'enqueue, complete, erase, restart' },
  { title: 'opening the file of keys drops the locks of other threads', file: keyFile, find: ' && !existsSync(file)', replace: '', killedBy: ['test/erasable/engine.test.ts'], named: 'second thread' },
  { title: 'keys can be read by everybody on the machine', file: 'packages/adapters/src/task-keys/key-file.ts', find: "openSync(file, 'a', 0o600)", replace: "openSync(file, 'a')", killedBy: server },
  { title: 'a task is called erased while its key is still in the file of the keys', file: eraser, find: 'return await this.endEarlier(keys, id, revision)', replace: 'return E.right({ value: { id, erased: true }, revision })', killedBy: erasing },
  { title: 'an erasure is acknowledged before its key is thrown away', file: eraser, find: 'return this.throwAway({ queue, task: id, revision }, outcome.right.revision)', replace: 'setTimeout(() => this.throwAway({ queue, task: id, revision }, outcome.right.revision), 300)\n    return E.right({ value: { id, erased: true }, revision: outcome.right.revision })', killedBy: killed },
  { title: 'an interrupted erasure is forgotten at the start', file: eraser, find: 'if (revision !== undefined) keys?.throwAway(intention, revision)', replace: 'if (revision !== undefined) keys?.withdraw(intention)', killedBy: killed },
  { title: 'states of past moments have the texts of erasable tasks', file: 'packages/adapters/src/http/past/past-thread.ts', find: 'keys)), stored, snapshots', replace: 'keys)), snapshots', killedBy: ['test/erasable/server.test.ts'] },
  { title: 'an audit without a server folds the texts of erasable tasks', file: 'packages/adapters/src/cli/audit/log-source.ts', find: '      stored: log,\n', replace: '', killedBy: ['test/erasable/server.test.ts'] },
  { title: 'the doctor does not look for the keys of erasable tasks', file: 'packages/adapters/src/cli/doctor/store.ts', find: '            keys?.event(recorded.data)\n', replace: '', killedBy: ['test/erasable/doctor.test.ts'] },
  { title: 'a server without the keys of its erasable tasks says nothing', file: 'packages/adapters/src/serve/serve.ts', find: 'if (!hasKeys) await', replace: 'if (!hasKeys && meter === undefined) await', killedBy: erasingServer },
  { title: 'keys that are moved undo an erasure', file: 'packages/adapters/src/task-keys/move-keys.ts', find: ' ON CONFLICT (id) DO UPDATE SET key = NULL WHERE excluded.key IS NULL', replace: ' ON CONFLICT (id) DO UPDATE SET key = excluded.key', killedBy: ['test/erasable/move-keys.test.ts'] },
  { title: 'a program keeps the keys of erasable tasks where no server looks', file: 'packages/adapters/src/embedded/open-embedded.ts', find: 'const keysFile = keysBeside(file)', replace: "const keysFile = join(dataDir, 'program.keys')", killedBy: ['test/embedded/embedded.test.ts'], named: 'a folder whose file of keys is gone' },
  { title: 'keys that an earlier version of a program kept are not found', file: 'packages/adapters/src/embedded/open-embedded.ts', find: 'moveKeys(join(dataDir, keysFileName), keysFile)', replace: '', killedBy: ['test/embedded/embedded.test.ts'] },
  { title: 'keys that cannot be read end the server', file: 'packages/adapters/src/engine/contents/withholding.ts', find: 'this.problem = error instanceof', replace: 'throw error instanceof', killedBy: ['test/erasable/unreadable-keys.test.ts'] },
  { title: 'events are written although it is not known whether their task has a key', file: 'packages/adapters/src/engine/contents/withholding.ts', find: 'if (problem !== undefined) throw problem', replace: '', killedBy: ['test/erasable/unreadable-keys.test.ts'] },
  { title: 'an empty file of keys is opened', file: 'packages/adapters/src/task-keys/key-file.ts', find: '(statSync(each, { throwIfNoEntry: false })?.size ?? 0) > 0', replace: 'statSync(each, { throwIfNoEntry: false }) !== undefined', killedBy: ['test/erasable/unreadable-keys.test.ts'] },
  { title: 'keys are moved into the file that they are in', file: 'packages/adapters/src/task-keys/move-keys.ts', find: 'realpathSync(from) === realpathSync(into)) return', replace: 'from === into) return', killedBy: ['test/erasable/move-keys.test.ts'] },
  { title: 'who reads keys changes their file', file: keyFile, find: 'return this.isReader ?', replace: "return this.isReader && this.file === '' ?", killedBy: ['test/erasable/encrypted.test.ts'], named: 'not a byte of it changes' },
]
