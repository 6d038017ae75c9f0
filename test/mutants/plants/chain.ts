/** The chain of hashes over a log. */
import type { Plant } from '../plant.js'

const of = (name: string): string => `packages/adapters/src/chain/${name}.ts`
const seals = (name: 'leaf' | 'seal'): string => `packages/adapters/src/seals/${name}.ts`
const attacks = ['test/chain/verify.test.ts']
const engines = ['test/chain/engine.test.ts']
const checkpoints = ['test/chain/checkpoints.test.ts']
const anotherKey = ['test/chain/another-key.test.ts']
const altered = ['test/chain/altered-checkpoints.test.ts']
const proofs = ['test/chain/prove.test.ts']
const trees = ['test/chain/tree.test.ts']
const commands = ['test/chain/audit-verify.test.ts']

export const chainPlants: ReadonlyArray<Plant> = [
  { title: 'a hash does not depend on the type of an event', file: seals('leaf'), find: '\\n${type}\\n${metadata}', replace: '\\n\\n${metadata}', killedBy: attacks },
  { title: 'a hash does not depend on who caused an event', file: seals('leaf'), find: '\\n${metadata}\\n', replace: '\\n\\n', killedBy: attacks },
  { title: 'a hash does not depend on the id of an event', file: seals('leaf'), find: '\\n${id}\\n', replace: '\\n\\n', killedBy: attacks },
  { title: 'a seal does not continue the one before', file: seals('seal'), find: '`${before}\\n${leaves}\\n${count}`', replace: '`${before.slice(43)}\\n${leaves}\\n${count}`', killedBy: [...attacks, ...engines] },
  { title: 'the seal of an append is not continued', file: 'packages/adapters/src/engine/engine.ts', find: '    this.live.chain.advance(sealed)\n', replace: '    void sealed\n', killedBy: engines },
  { title: 'an append behind another one in flight continues the one before both', file: 'packages/adapters/src/engine/engine.ts', find: "this.inFlight.size > 0 ? 'sent' : this", replace: "this", killedBy: engines },
  { title: 'an append that is sent again begins a chain', file: 'packages/adapters/src/engine/append/unknown-append.ts', find: 'batch.expected, chain.end)', replace: 'batch.expected, { head: undefined })', killedBy: engines },
  { title: 'an append whose outcome was unknown is not continued', file: 'packages/adapters/src/engine/append/unknown-append.ts', find: '? await sealThere(log, batch)', replace: '? (chain.head ?? (await sealThere(log, batch)))', killedBy: engines },
  { title: 'the writer forgets the last seals after a refused append', file: 'packages/adapters/src/sqlite/append-transaction.ts', find: "      return { error: { _tag: 'WrongExpectedRevision', actual } }", replace: "      Object.assign(seals, new LastSeals())\n      return { error: { _tag: 'WrongExpectedRevision', actual } }", killedBy: ['test/contract/sqlite.test.ts'], named: 'EV-07' },
  { title: 'the writer does not cover events of an older server', file: 'packages/adapters/src/sqlite/sqlite-store.ts', find: "continues === 'sent' || continues.open === undefined", replace: "continues === 'sent' || continues.head !== undefined", killedBy: ['test/contract/sqlite.test.ts'], named: 'EV-07' },
  { title: 'what others append is not part of the chain', file: 'packages/adapters/src/engine/state/live-state.ts', find: '    this.chain.take(recorded)\n', replace: '', killedBy: engines },
  { title: 'events of an older server are not covered after a start', file: 'packages/adapters/src/engine/state/replay.ts', find: 'chain.take(page)', replace: 'void page', killedBy: engines },
  { title: 'a snapshot of an altered log is used', file: 'packages/adapters/src/engine/state/replay.ts', find: 'seal.hash === sealed.hash) return', replace: 'seal.hash !== undefined) return', killedBy: engines },
  { title: 'what a seal says about itself is not checked', file: of('verify'), find: 'if (!fits || !isMarked || hash !== seal.hash) return', replace: 'if (false) return', killedBy: attacks },
  { title: 'an event that was re-signed is not told from a hash that was altered', file: of('verify'), find: '=== seal.hash\n      return this.fail(isOwn', replace: '!== seal.hash\n      return this.fail(isOwn', killedBy: attacks },
  { title: 'the events among which an altered one is begin with the append whose hash does not fit', file: of('verify'), find: "group.faultBefore(last !== undefined, this.begins ?? 0,", replace: "group.faultBefore(last !== undefined, this.lastFrom,", killedBy: attacks },
  { title: 'what was signed counts as perhaps altered', file: of('verify'), find: 'signed > to ? begins : Math.max(begins, signed)', replace: 'signed > to ? begins : begins', killedBy: attacks },
  { title: 'audit verify does not tell the chain what was signed', file: of('verify-log'), find: ', undefined, () => check.proof?.size ?? 0)', replace: ')', killedBy: checkpoints, named: 'computed anew' },
  { title: 'the last hash of a log is never the altered one', file: of('verify'), find: 'if (this.broken === undefined) this.broken = this.doubted()', replace: 'if (this.broken === undefined) this.broken = this.doubt?.before', killedBy: attacks },
  { title: 'an event that somebody added is not told of after the next append', file: of('verify'), find: 'if (group.ownFrom > first) this.sealedLater =', replace: 'if (group.ownFrom < 0) this.sealedLater =', killedBy: [...attacks, ...commands], named: 'append' },
  { title: 'audit verify does not say which events only a later append sealed', file: 'packages/adapters/src/cli/commands/audit-verify.ts', find: 'if (sealedLater !== undefined) printer', replace: 'if (sealedLater?.events === 0) printer', killedBy: commands, named: 'somebody added' },
  { title: 'a row that is not where it should be ends the verification', file: 'packages/adapters/src/sqlite/scan-events.ts', find: 'yield* rows(last)', replace: 'throw error', killedBy: commands },
  { title: 'the end of a log is not missed', file: of('verify'), find: 'head >= this.next)', replace: 'head > this.next + 1_000)', killedBy: [...attacks, ...commands] },
  { title: 'audit verify ends with exit code 0 for a broken log', file: 'packages/adapters/src/cli/commands/audit-verify.ts', find: 'verdict.ok ? exitCodes.done : exitCodes.refused', replace: 'exitCodes.done', killedBy: commands },
  { title: 'a checkpoint is signed of a log that was altered', file: of('checkpointer'), find: 'this.fits &&= tree.root().equals(last.root)', replace: 'void tree.root()', killedBy: checkpoints },
  { title: 'a checkpoint is signed of a log that was cut short', file: of('checkpointer'), find: 'if (head + 1 < signed) return', replace: 'if (head + 1 < 0) return', killedBy: checkpoints },
  { title: 'a checkpoint is signed without a look at the seals', file: of('checkpointer'), find: 'if (broken !== null) this.refuse', replace: 'if (broken?.kind === undefined) void this.refuse; else if (broken.revision < 0) this.refuse', killedBy: altered },
  { title: 'what no seal covers is signed', file: of('checkpointer'), find: 'seal === undefined ? next : Math.max', replace: 'next >= 0 ? next : Math.max', killedBy: altered },
  { title: 'after a restart a seal may continue any other', file: of('verify'), find: '    this.last = { revision: seal.to, hash: seal.hash }\n    this.lastFrom', replace: '    this.lastFrom', killedBy: altered },
  { title: 'what was signed without a look at seals is not looked at again', file: of('checkpoint-files'), find: 'return seal === undefined ? undefined :', replace: 'return', killedBy: altered },
  { title: 'a queue whose checkpoints are refused is not told of', file: of('checkpoint-thread'), find: '...checkpointer.status, ...', replace: '...checkpointer.status, problem: undefined, ...', killedBy: altered },
  { title: 'what a witness has not taken is forgotten', file: of('checkpointer'), find: '      await witness(this.owed, signal)\n', replace: '      const { owed } = this\n      this.owed = undefined\n      await witness(owed, signal)\n', killedBy: checkpoints },
  { title: 'a witness that does not answer holds up the end of a server', file: of('checkpointer'), find: 'await this.payWitness(signal)', replace: 'await this.payWitness(undefined)', killedBy: checkpoints, named: 'does not answer' },
  { title: 'signatures of checkpoints are not verified', file: of('note'), find: 'if (crypto.verify(null, Buffer.from(text), signer.publicKey, bytes.subarray(4))) return text', replace: 'return text', killedBy: checkpoints },
  { title: 'roots of checkpoints are not compared', file: of('checkpoint-check'), find: 'if (next.root.equals(this.tree.root()))', replace: 'if (next.root.length > 0)', killedBy: checkpoints },
  { title: 'the key of checkpoints is for everybody to read', file: of('signing-key'), find: "'w', 0o600", replace: "'w', 0o644", killedBy: checkpoints },
  { title: 'interior nodes hash without their prefix', file: of('tree'), find: 'Buffer.concat([interiorPrefix, Buffer', replace: 'Buffer.concat([Buffer.alloc(1), Buffer', killedBy: trees },
  { title: 'a proof of an event is believed whatever its path', file: of('proof'), find: "|| !verifyInclusion(leafOfText(event), place, size, hashes.map(hashOf), root)) throw", replace: ') throw', killedBy: proofs },
  { title: 'a proof of consistency is believed whatever its path', file: of('proof'), find: 'if (!verifyConsistency(', replace: 'if (false && !verifyConsistency(', killedBy: proofs },
  { title: 'verification passes without the key of the checkpoints', file: 'packages/adapters/src/chain/checkpoint-files.ts', find: '  if (signer === undefined) throw new', replace: '  if (signer === undefined && folder === \'\') throw new', killedBy: checkpoints },
  { title: 'verification passes with an empty file of checkpoints', file: of('checkpoint-files'), find: '? !isSigned : splitNotes(text).length > 0) return', replace: '? !isSigned : true) return', killedBy: checkpoints, named: 'lost' },
  { title: 'verification passes if checkpoints were signed and are gone', file: of('checkpoint-files'), find: 'if (text === undefined ? !isSigned :', replace: 'if (text === undefined ? true :', killedBy: checkpoints, named: 'lost' },
  { title: 'a key without a checkpoint counts as a loss', file: of('checkpoint-files'), find: "fileOf(folder, queue, 'tree'))) !==", replace: "fileOf(folder, queue, 'key'))) !==", killedBy: checkpoints, named: 'lost' },
  { title: 'a server signs a log anew whose checkpoints are gone', file: of('checkpointer'), find: "if (obstacle !== undefined) this.refuse(obstacle, 'Then start the server again')", replace: 'if (obstacle === undefined) await this.sign(signal)', killedBy: checkpoints, named: 'lost' },
  { title: 'a queue whose checkpoints are gone is not looked at', file: of('checkpoint-files'), find: '(?:checkpoints|tree)$/s', replace: '(?:checkpoints)$/s', killedBy: checkpoints, named: 'lost' },
  { title: 'a checkpoint is joined to one that was cut short in a witness\'s file', file: of('witness'), find: 'await mendEnd(place)', replace: "await Promise.resolve('')", killedBy: checkpoints, named: 'cut short' },
  { title: 'a witness is not asked if the folder has lost its checkpoints', file: 'packages/adapters/src/cli/audit/checkpoints.ts', find: 'data === undefined || isGiven ?', replace: 'data === undefined ?', killedBy: checkpoints, named: 'lost' },
  { title: 'the first checkpoint is not written whole', file: of('checkpoint-files'), find: 'await replace(checkpoints, entryOf(note))', replace: 'await appendNote(checkpoints, note)', killedBy: checkpoints, named: 'lost' },
  { title: 'two processes write checkpoints into one unfinished file', file: of('checkpoint-files'), find: '${file}.${process.pid}.unfinished', replace: '${file}.unfinished', killedBy: checkpoints, named: 'lost' },
  { title: 'a file without a checkpoint of the log is compared with nothing', file: 'packages/adapters/src/cli/audit/checkpoints.ts', find: 'own.length === 0', replace: 'own.length < 0', killedBy: checkpoints },
  { title: 'a server does not miss a queue that was signed', file: 'packages/adapters/src/chain/checkpoint-thread.ts', find: ', ...signed])', replace: '])', killedBy: checkpoints, named: 'all of whose events are gone' },
  { title: 'a backup does not miss a queue that was signed', file: 'packages/adapters/src/backup/backup.ts', find: '...(await signedQueues(checkpointFolderOf(folder)))', replace: '', killedBy: checkpoints },
  { title: 'the doctor does not miss a queue that was signed', file: 'packages/adapters/src/cli/doctor/store.ts', find: 'if (streams.includes(streamOf(queue))) await', replace: 'if (streams.length > 0) await', killedBy: checkpoints },
  { title: 'the doctor does not miss the key of checkpoints', file: 'packages/adapters/src/cli/doctor/store.ts', find: '  await readCheckpoints(folder, queue)\n', replace: '', killedBy: checkpoints },
  { title: 'an older checkpoint must be alone in its file', file: 'packages/adapters/src/chain/proof.ts', find: 'splitNotes(file).flatMap((note) => readSigned(note, signer) ?? [])', replace: '[file].flatMap((note) => readSigned(note, signer) ?? [])', killedBy: proofs },
  { title: 'a proof with an empty line at its end is not signed', file: 'packages/adapters/src/chain/proof.ts', find: 'splitNotes(text.slice(end + 2))[0] ?? \'\'', replace: 'text.slice(end + 2)', killedBy: proofs },
  { title: 'audit verify: a queue without events on the server is whole', file: 'packages/adapters/src/cli/commands/audit-verify.ts', find: 'if (verdict.events === 0 && verdict.ok) throw new CliError(`queue', replace: 'if (verdict.events < 0) throw new CliError(`queue', killedBy: commands },
  { title: 'a row behind the end of a log is not read', file: 'packages/adapters/src/sqlite/scan-events.ts', find: '      yield* rows(last, head)\n', replace: '', killedBy: commands },
  { title: 'another key goes on with the checkpoints of a queue', file: of('checkpoint-files'), find: ' ?? (await signedByAnother(this.folder, this.queue, this.signer))', replace: '', killedBy: anotherKey },
  { title: 'another key goes on if the public key is gone', file: of('checkpoint-files'), find: 'openNote(first, signer) !== undefined', replace: 'first !== null', killedBy: anotherKey },
  { title: 'a torn public key stays torn', file: of('checkpoint-files'), find: "if ((await textOf(this.file('key'))) !== own)", replace: "if ((await textOf(this.file('key'))) === undefined)", killedBy: anotherKey },
  { title: 'the doctor does not compare the key with the one that signed', file: 'packages/adapters/src/cli/doctor/store.ts', find: 'if (another !== undefined) throw', replace: "if (another === '') throw", killedBy: anotherKey },
  { title: 'checkpoints that stay late are told in each round', file: 'packages/adapters/src/chain/checkpoint-thread.ts', find: 'if (problem !== allLate) warn(problem)', replace: 'warn(problem)', killedBy: ['test/chain/checkpoints.test.ts'] },
  { title: 'a blob counts as the text that was appended', file: 'packages/adapters/src/sqlite/scan-events.ts', find: '        if (!reading(() => areTexts(page.span))) throw damaged(page.span)\n', replace: '', killedBy: commands },
  { title: 'a log that was altered is proven to begin with what was signed', file: of('proof'), find: ' || !whole.root().equals(root)', replace: '', killedBy: proofs },
  { title: 'a key without checkpoints verifies nothing in silence', file: 'packages/adapters/src/cli/audit/checkpoints.ts', find: 'if (trusted !== undefined) throw', replace: "if (trusted?.name === '') throw", killedBy: checkpoints, named: 'lost checkpoints are named' },
  { title: 'a file that was copied by hand counts as a queue', file: of('checkpoint-files'), find: 'encodeURIComponent(queue) === name ?', replace: 'true ?', killedBy: checkpoints, named: 'no server has named' },
  { title: 'a tree that is ahead of the checkpoints is taken as it is', file: of('checkpointer'), find: 'Math.min(last?.size ?? 0, head + 1)', replace: 'head + 1', killedBy: altered, named: 'ahead of the checkpoints' },
]
