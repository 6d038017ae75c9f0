/** Erasable queues: what is encrypted, and who can read it (EV-07). */
import type { Plant } from '../plant.js'

const withhold = 'packages/core/src/withhold.ts'
const encrypted = 'packages/adapters/src/task-keys/encrypted.ts'
const withholding = 'packages/adapters/src/engine/withholding.ts'
const engine = ['test/erasable/engine.test.ts']
const server = ['test/erasable/encrypted.test.ts']
const facts = ['test/core/withhold.test.ts']

export const erasablePlants: ReadonlyArray<Plant> = [
  { title: 'the error of a failed attempt stays in the facts', file: withhold, find: "Failed: ['error', 'checkpoint']", replace: "Failed: ['checkpoint']", killedBy: facts },
  { title: 'the stack of an error stays in the facts', file: withhold, find: ': { message: withheldText }', replace: ': { ...(value as object), message: withheldText }', killedBy: facts },
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
  { title: 'an agent gets a task without its content', file: 'packages/adapters/src/engine/contents.ts', find: "cached[index] ?? shown(contentOf(textAt(contentRevision)) ?? '{}')", replace: "cached[index] ?? contentOf(textAt(contentRevision)) ?? '{}'", killedBy: engine },
  { title: 'queue files have the content', file: 'packages/adapters/src/files/queue-files.ts', find: 'new ContentMemory(contentsFrom(options.log, engine.name))', replace: 'new ContentMemory((revisions) => engine.contents(revisions))', killedBy: server },
  { title: 'past moments show no content', file: 'packages/adapters/src/http/past/past-thread.ts', find: 'revealingLog(await openLog(log), readKeys(keys))', replace: 'await openLog(log)', killedBy: server },
  { title: 'events are shown as they are stored', file: 'packages/adapters/src/http/serve-route.ts', find: 'viewOf(queue.right, daybook.contentLog, ', replace: 'viewOf(queue.right, daybook.log, ', killedBy: server },
]
