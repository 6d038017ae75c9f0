/** EV-07: signed checkpoints find a log that was cut short, or written anew with all its hashes. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Checkpointer, openNote, openSigningKey, readCheckpoint, readCheckpoints, readVerifierKey, type Signer, signedQueues, signerOf, splitNotes, type Verified, verifierKey, verifyScan, type Witness, witnessOf } from '@daybook/adapters/chain'
import { Chain } from '@daybook/adapters/seals'
import { createClient } from '@daybook/adapters/client'
import { openMemoryStore } from '@daybook/adapters/memory'
import { serve } from '@daybook/adapters/serve'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore, EventToAppend, RecordedEvent } from '@daybook/adapters/store'
import Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { runHere } from '../cli/program.js'
import { until } from '../support/queue.js'
import { newLog, resigned, sealNext, someEvent, stream } from './logs.js'


const dir = mkdtempSync(join(tmpdir(), 'daybook-checkpoints-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
let folders = 0
const newFolder = (): string => join(dir, `folder${++folders}`)

test('EV-07: notes are those of C2SP: the example of its first implementation is verified', () => {
  const signer = readVerifierKey('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW') as Signer
  const text = 'If you think cryptography is the answer to your problem,\nthen you don\'t know what your problem is.\n'
  const note = `${text}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`
  expect(openNote(note, signer)).toBe(text)
  expect(openNote(note.replace('your problem is', 'my problem is'), signer)).toBeUndefined()
  expect(openNote(note.replace('x08go/ZJ', 'x08go/ZK'), signer)).toBeUndefined()
  expect(verifierKey(signer)).toBe('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')
  expect(readVerifierKey('PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')).toBeUndefined()
  // A witness may have signed as well.
  expect(openNote(note.replace('— Peter', '— witness AAAA\n— Peter'), signer)).toBe(text)
  expect(splitNotes(`${note}\n${note}`)).toEqual([note, note])
})

const keyFile = join(dir, 'key.pem')
const key = openSigningKey(keyFile)
const signer = signerOf(key, 'q')

const checkpointerOf = (store: EventStore, folder: string, warnings: Array<string> = [], witness?: Witness): Checkpointer =>
  new Checkpointer({ log: store, stream, queue: 'q', folder, key, signer, witness, warn: (text) => void warnings.push(text) })

const verified = async (store: EventStore, folder: string): Promise<Verified> =>
  verifyScan(stream, { head: await store.head(stream), pages: store.read(stream) }, { checkpoints: await readCheckpoints(folder, 'q') })

const sizesIn = async (folder: string): Promise<ReadonlyArray<number | undefined>> =>
  ((await readCheckpoints(folder, 'q'))?.notes ?? []).map((note) => readCheckpoint(openNote(note, signer) ?? '')?.size)

test('EV-07: a file that holds no key is named', () => {
  const spoilt = join(dir, 'spoilt.pem')
  writeFileSync(spoilt, 'no key')
  expect(() => openSigningKey(spoilt)).toThrow(`${spoilt} holds no private key that signs checkpoints: restore it from a backup`)
})

test('EV-07: a checkpoint for each growth, over restarts; all of them fit the log', async () => {
  const folder = newFolder()
  const { store, grow } = await newLog([3, 1])
  const first = checkpointerOf(store, folder)
  await first.round()
  await first.round()
  await grow(5)
  await first.round()
  await grow(2)
  await checkpointerOf(store, folder).round()
  expect(await sizesIn(folder)).toEqual([4, 9, 11])
  expect(await verified(store, folder)).toMatchObject({ ok: true, checkpoint: { size: 11, count: 3, signer: signer.name } })
  await grow(1)
  expect(await verified(store, folder)).toMatchObject({ ok: true, events: 12, checkpoint: { size: 11 } })
  // The place is a cache, and what a crash left is removed.
  rmSync(join(folder, 'q.tree'))
  const file = join(folder, 'q.checkpoints')
  writeFileSync(file, `${readFileSync(file, 'utf8')}${signer.name}\n12\nhalf a`)
  expect(await verified(store, folder)).toMatchObject({ ok: false })
  await checkpointerOf(store, folder).round()
  expect(await sizesIn(folder)).toEqual([4, 9, 11, 12])
  expect(await verified(store, folder)).toMatchObject({ ok: true, checkpoint: { size: 12, count: 4 } })
})

test('EV-07: a log that is cut short, one that is another from its beginning or from the middle on, and a checkpoint that nobody signed', async () => {
  const folder = newFolder()
  const { store, grow } = await newLog([3, 3])
  const checkpointer = checkpointerOf(store, folder)
  await checkpointer.round()
  await grow(4)
  await checkpointer.round()
  const log: Array<RecordedEvent> = []
  for await (const page of store.read(stream)) log.push(...page)
  const copy = async (count: number, more: ReadonlyArray<number>): Promise<EventStore> => {
    const other = openMemoryStore()
    const chain = new Chain(stream, undefined)
    if (count > 0) await other.append(stream, log.slice(0, count), 'no_stream')()
    chain.take(log.slice(0, count))
    let head = count - 1
    for (const size of more) {
      const texts: Array<EventToAppend> = Array.from({ length: size }, () => someEvent())
      sealNext(chain, texts, head)
      await other.append(stream, texts, head < 0 ? 'no_stream' : head)()
      head += size
    }
    return other
  }
  expect(await verified(await copy(6, []), folder)).toMatchObject({ ok: false, broken: { kind: 'cut', revision: 6, to: 9 }, checkpoint: { size: 6 } })
  expect(await verified(await copy(0, [6, 4, 1]), folder)).toMatchObject({ ok: false, broken: { kind: 'rewritten', revision: 0, to: 5 } })
  expect(await verified(await copy(6, [4]), folder)).toMatchObject({ ok: false, broken: { kind: 'rewritten', revision: 6, to: 9 } })
  // The chain alone finds nothing.
  expect(await verified(await copy(6, [4]), newFolder())).toMatchObject({ ok: true, checkpoint: null })
  for (const [forged, reason] of [[await copy(6, []), 'the log has 6 events, and 10 were signed'], [await copy(6, [6]), 'not as signed'], [await copy(0, [12]), 'not as signed']] as const) {
    const warnings: Array<string> = []
    const again = checkpointerOf(forged, folder, warnings)
    await again.round()
    await again.round()
    expect(warnings).toEqual([expect.stringContaining(reason)])
    expect(await sizesIn(folder)).toEqual([6, 10])
  }
  const file = join(folder, 'q.checkpoints')
  writeFileSync(file, readFileSync(file, 'utf8').replace('\n10\n', '\n9\n'))
  expect(await verified(store, folder)).toMatchObject({ ok: false, broken: { kind: 'rewritten', reason: expect.stringContaining('checkpoint 2 of 2 is not signed by') } })
})

test('EV-07: an event that was altered, with hashes computed anew up to some later event: audit verify names the events after the last checkpoint that fits', async () => {
  const folder = newFolder()
  const { store, grow } = await newLog([2, 2])
  const checkpointer = checkpointerOf(store, folder)
  await checkpointer.round()
  await grow(3)
  await grow(2)
  const log: Array<RecordedEvent> = []
  const verdict = async (altered: number, through: number): Promise<Verified> =>
    verifyScan(stream, { head: log.length - 1, pages: (async function* () { yield resigned(log, altered, through) })() }, { checkpoints: await readCheckpoints(folder, 'q') })
  for (const size of [2, 1, 1]) await grow(size)
  for await (const page of store.read(stream)) log.push(...page)
  expect((await verdict(5, 10)).broken).toMatchObject({ kind: 're-signed', revision: 4, to: 10 })
  // The checkpoint tells more exactly where an event before it is.
  expect((await verdict(1, 10)).broken).toMatchObject({ kind: 'rewritten', revision: 0, to: 3 })
  await checkpointer.round()
  expect((await verdict(5, 8)).broken).toMatchObject({ kind: 're-signed', revision: 4, to: 8 })
})

test('EV-07: checkpoints that were signed and are lost: nothing is called whole, and nothing is signed; a key alone may be there before the first checkpoint', async () => {
  const { store } = await newLog([3, 3])
  const { store: cut } = await newLog([3])
  for (const lose of ['removed', 'emptied', 'a line break alone', 'emptied, and the tree removed'] as const) {
    const folder = newFolder()
    await checkpointerOf(store, folder).round()
    const file = join(folder, 'q.checkpoints')
    if (lose === 'removed') rmSync(file)
    else writeFileSync(file, lose === 'a line break alone' ? '\n' : '')
    if (lose === 'emptied, and the tree removed') rmSync(join(folder, 'q.tree'))
    const reason = lose === 'removed' ? `${file} is missing, and ${join(folder, 'q.tree')} says that checkpoints were signed` : `${file} has no checkpoint`
    await expect(readCheckpoints(folder, 'q'), lose).rejects.toThrow(reason)
    expect(await signedQueues(folder)).toEqual(['q'])
    const warnings: Array<string> = []
    const checkpointer = checkpointerOf(cut, folder, warnings)
    await checkpointer.round()
    await checkpointer.round()
    expect(warnings, lose).toEqual([expect.stringContaining(reason)])
    expect(checkpointer.status.problem).toContain(reason)
    await expect(readCheckpoints(folder, 'q'), lose).rejects.toThrow(reason)
  }
  const folder = newFolder()
  await checkpointerOf(store, folder).round()
  for (const ending of ['checkpoints', 'tree']) rmSync(join(folder, `q.${ending}`))
  expect(await readCheckpoints(folder, 'q')).toBeUndefined()
  await checkpointerOf(store, folder).round()
  expect(await sizesIn(folder)).toEqual([6])
})

test('EV-07: if the last checkpoints are gone and earlier ones are left, nothing is called whole, and nothing is signed, so that the trace stays', async () => {
  const folder = newFolder()
  const { store, grow } = await newLog([2])
  await checkpointerOf(store, folder).round()
  const olderTree = readFileSync(join(folder, 'q.tree'))
  await grow(3)
  await checkpointerOf(store, folder).round()
  const [file, tree] = [join(folder, 'q.checkpoints'), join(folder, 'q.tree')]
  const signed = readFileSync(file, 'utf8')
  await grow(1)
  const [first = ''] = splitNotes(signed)
  const reason = `the last checkpoint in ${file} is of 2 events, and ${tree} says that 5 were signed`
  for (const [what, text] of [['removed', `${first}\n`], ['altered', signed.replace('\n5\n', '\n6\n')]] as const) {
    writeFileSync(file, text)
    // Of the altered one, the comparison with the log says more.
    if (what === 'removed') await expect(readCheckpoints(folder, 'q')).rejects.toThrow(reason)
    else expect(await verified(store, folder)).toMatchObject({ ok: false, broken: { reason: expect.stringContaining('checkpoint 2 of 2 is not signed by') } })
    const warnings: Array<string> = []
    const checkpointer = checkpointerOf(store, folder, warnings)
    await checkpointer.round()
    await checkpointer.round()
    expect(warnings, what).toEqual([expect.stringContaining(reason)])
    expect(readFileSync(file, 'utf8')).toBe(text)
  }
  // A crash before the tree was written leaves an older one.
  writeFileSync(file, signed)
  writeFileSync(tree, olderTree)
  await checkpointerOf(store, folder).round()
  expect(await sizesIn(folder)).toEqual([2, 5, 6])
})

test('EV-07: a file that no server has named says nothing of any queue', async () => {
  const folder = newFolder()
  const { store } = await newLog([2])
  await checkpointerOf(store, folder).round()
  for (const name of ['100%', 'q (copy)', 'q%2']) writeFileSync(join(folder, `${name}.checkpoints`), readFileSync(join(folder, 'q.checkpoints')))
  expect(await signedQueues(folder)).toEqual(['q'])
})

test('EV-07: lost checkpoints: a crash before the first one is complete leaves no file', async () => {
  const folder = newFolder()
  const { store } = await newLog([2])
  const unfinished = join(folder, `q.checkpoints.${process.pid}.unfinished`)
  mkdirSync(unfinished, { recursive: true })
  await expect(checkpointerOf(store, folder).round()).rejects.toThrow('EISDIR')
  expect(existsSync(join(folder, 'q.checkpoints'))).toBe(false)
  rmSync(unfinished, { recursive: true })
  await checkpointerOf(store, folder).round()
  expect(await sizesIn(folder)).toEqual([2])
})

test('EV-07: lost checkpoints are named by audit verify, the doctor and the server; those of a witness still tell', async () => {
  const dataDir = newFolder()
  const file = join(dataDir, 'daybook.sqlite')
  const folder = join(dataDir, 'checkpoints')
  const options = { host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file, sharing: 'exclusive' }, auth: 'off', checkpoints: { everyMs: 20 } } as const
  const server = await serve(options)
  for (const payload of [1, 2]) {
    await createClient({ url: server.url, queue: 'q' }).enqueueAll([{ type: 'mail', payload }, { type: 'mail', payload: -payload }])
    await until(async () => (await readCheckpoints(folder, 'q'))?.notes.length === payload)
  }
  await server.close()
  const publicKey = readFileSync(join(folder, 'q.key'), 'utf8').trim()
  const signed = readFileSync(join(folder, 'q.checkpoints'), 'utf8')
  const kept = join(dir, 'kept-elsewhere')
  writeFileSync(kept, signed)
  const db = new Database(file)
  db.exec(`DELETE FROM events WHERE stream = 'taskqueue-q' AND revision > 1; UPDATE streams SET revision = 1, position = (SELECT max(position) FROM events WHERE stream = 'taskqueue-q') WHERE stream = 'taskqueue-q'`)
  db.close()
  const verify = (...args: ReadonlyArray<string>) => runHere(['audit', 'verify', '--data', dataDir, '--queue', 'q', ...args], { NO_COLOR: '1' })
  const [first = ''] = splitNotes(signed)
  for (const [lose, reason] of [[() => writeFileSync(join(folder, 'q.checkpoints'), `${first}\n`), 'q.tree says that 4 were signed'], [() => writeFileSync(join(folder, 'q.checkpoints'), ''), 'q.checkpoints has no checkpoint'], [() => rmSync(join(folder, 'q.checkpoints')), 'q.tree says that checkpoints were signed']] as const) {
    lose()
    expect(await verify()).toMatchObject({ code: 1, err: expect.stringContaining(reason) })
    expect(await verify('--checkpoint-key', publicKey)).toMatchObject({ code: 1, err: expect.stringContaining(reason) })
    expect(await verify('--checkpoints', kept, '--checkpoint-key', publicKey)).toMatchObject({ code: 1, out: expect.stringContaining('NOT WHOLE  cut') })
    expect(await runHere(['doctor', '--data', dataDir], { NO_COLOR: '1' })).toMatchObject({ code: 1, out: expect.stringContaining(reason) })
    const again = await serve(options)
    await until(async () => JSON.stringify(await (await fetch(`${again.url}/readyz`)).json()).includes(reason))
    await expect(createClient({ url: again.url, queue: 'q', retryForMs: 10 }).verify()).rejects.toThrow('run `daybook audit verify')
    await again.close()
  }
  // All of them are gone, and the log was cut. Somebody who names a key must not be told that it is whole.
  for (const ending of ['key', 'tree']) rmSync(join(folder, `q.${ending}`))
  expect(await verify('--checkpoint-key', publicKey)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(`nothing was compared with a checkpoint: ${folder} has none of queue q`) })
  expect(await runHere(['audit', 'verify', '--store', file, '--queue', 'q', '--checkpoint-key', publicKey], { NO_COLOR: '1' })).toMatchObject({ code: 1, err: expect.stringContaining('give --checkpoints, or --data') })
})

test('EV-07: a witness that fails is asked again, with the newest checkpoint', async () => {
  const { store, grow } = await newLog([1])
  const warnings: Array<string> = []
  const seen: Array<string> = []
  let isDown = true
  const checkpointer = checkpointerOf(store, newFolder(), warnings, async (note) => {
    if (isDown) throw new Error('nobody home')
    seen.push(note)
  })
  await checkpointer.round()
  await grow(1)
  await checkpointer.round()
  isDown = false
  await checkpointer.round()
  await checkpointer.round()
  expect(warnings).toHaveLength(2)
  expect(warnings[0]).toContain('nobody home')
  expect(seen.map((note) => readCheckpoint(openNote(note, signer) ?? '')?.size)).toEqual([2])
})

test('EV-07: a checkpoint that was cut short at the end of a witness\'s file is removed before the next one, and nothing else is', async () => {
  const { store, grow } = await newLog([1])
  const [file, folder] = [join(dir, 'cut-witness'), newFolder()]
  const checkpointer = checkpointerOf(store, folder, [], witnessOf(file))
  const next = async (): Promise<string> => {
    await grow(1)
    await checkpointer.round()
    return readFileSync(file, 'utf8')
  }
  const first = await next()
  const second = (await next()).slice(first.length)
  for (let length = 0; length < second.length - 1; length++) {
    writeFileSync(file, first + second.slice(0, length))
    const notes = splitNotes(await next())
    expect(notes.map((note) => openNote(note, signer) === undefined)).toEqual([false, false])
  }
  // What is whole stays, also without the empty line after it, and so does what somebody else has written.
  writeFileSync(file, first + second.slice(0, -1))
  expect(splitNotes(await next()).slice(0, 2)).toEqual([first.slice(0, -1), second.slice(0, -1)])
  writeFileSync(file, 'of somebody else')
  expect(await next()).toMatch(/^of somebody else/)
})

test('EV-07: a witness that does not answer is not waited for when the server ends', async () => {
  const { store } = await newLog([1])
  const warnings: Array<string> = []
  const stopping = new AbortController()
  const witness: Witness = (_, signal) => new Promise((__, reject) => {
    if (signal === undefined) return reject(new Error('without a signal'))
    signal.addEventListener('abort', () => reject(signal.reason as Error))
    stopping.abort(new Error('the server ends'))
  })
  await checkpointerOf(store, newFolder(), warnings, witness).round(stopping.signal)
  expect(warnings).toEqual([expect.stringContaining('the server ends')])
})

test('EV-07: a queue that was signed, and all of whose events are gone, is named by the server, the doctor and a backup', async () => {
  const dataDir = newFolder()
  const file = join(dataDir, 'daybook.sqlite')
  const options = { host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file, sharing: 'exclusive' }, auth: 'off', checkpoints: { everyMs: 20 } } as const
  const server = await serve(options)
  for (const queue of ['q', 'other']) await createClient({ url: server.url, queue }).enqueue({ type: 'mail', payload: queue })
  await until(async () => (await Promise.all(['q', 'other'].map((queue) => readCheckpoints(join(dataDir, 'checkpoints'), queue)))).every((signed) => signed !== undefined))
  await server.close()
  const db = new Database(file)
  db.exec("DELETE FROM events WHERE stream = 'taskqueue-q'; DELETE FROM streams WHERE stream = 'taskqueue-q'")
  db.close()
  expect(await runHere(['doctor', '--data', dataDir], { NO_COLOR: '1' })).toMatchObject({ code: 1, out: expect.stringContaining('the log has none of its events, and checkpoints of it were signed') })
  const copied = await runHere(['backup', join(dir, 'gone'), '--data', dataDir], { NO_COLOR: '1' })
  expect(copied).toMatchObject({ code: 1, out: expect.stringMatching(/^q: NOT WHOLE {2}cut/m) })
  expect(copied.out).toMatch(/^other: 1 event, revision 0, verified$/m)
  const again = await serve(options)
  await until(async () => JSON.stringify(await (await fetch(`${again.url}/readyz`)).json()).includes('the log has 0 events, and 1 were signed'))
  await again.close()
})

test('EV-07: checkpoints of all queues that stay late for the same reason are reported once, and again after they were signed in between', async () => {
  const dataDir = newFolder()
  const folder = join(dataDir, 'checkpoints')
  const said: Array<string> = []
  const late = (): number => said.filter((text) => text.includes('checkpoints are late')).length
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', checkpoints: { everyMs: 5 } }, { log: { write: (text) => void said.push(text) } })
  const signed = async (): Promise<boolean> => (await readCheckpoints(folder, 'q'))?.notes.length === 1
  /** A folder in the place of the file of a queue: no round can be ended. */
  const outage = async (stray: string): Promise<void> => {
    mkdirSync(stray)
    await until(() => late() > 0)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(late()).toBe(1)
    rmdirSync(stray)
    await until(async () => !JSON.stringify(await (await fetch(`${server.url}/readyz`)).json()).includes('checkpoints are late'))
  }
  try {
    await createClient({ url: server.url, queue: 'q' }).enqueue({ type: 'mail', payload: 1 })
    await until(signed)
    await outage(join(folder, 'one.checkpoints'))
    said.length = 0
    await outage(join(folder, 'another.checkpoints'))
  } finally {
    await server.close()
  }
})

test('EV-07: a server that stops takes no more requests while its last checkpoint is still under way', async () => {
  let isGivenUp = false
  let asked = (): void => undefined
  const wasAsked = new Promise<void>((resolve) => (asked = resolve))
  // A witness that never answers.
  const witness = createServer((request) => {
    request.socket.once('close', () => (isGivenUp = true))
    asked()
  })
  await new Promise<void>((resolve) => witness.listen(0, '127.0.0.1', resolve))
  const dataDir = newFolder()
  const checkpoints = { everyMs: 10, witness: `http://127.0.0.1:${(witness.address() as AddressInfo).port}/` }
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', checkpoints })
  await createClient({ url: server.url, queue: 'q' }).enqueue({ type: 'mail', payload: 1 })
  await wasAsked
  const closed = server.close()
  const refused = async (): Promise<void> => {
    for (;;) await fetch(`${server.url}/healthz`)
  }
  await expect(refused()).rejects.toThrow()
  expect(isGivenUp).toBe(false)
  await closed
  witness.closeAllConnections()
  witness.close()
})

test('EV-07: a server signs with a key of its own, tells its witness, and finds its log cut short', async () => {
  const posted: Array<string> = []
  const witness = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      posted.push(body)
      response.end()
    })
  })
  await new Promise<void>((resolve) => witness.listen(0, '127.0.0.1', resolve))
  const dataDir = newFolder()
  const file = join(dataDir, 'daybook.sqlite')
  const checkpoints = { everyMs: 50, witness: `http://127.0.0.1:${(witness.address() as AddressInfo).port}/` }
  const options = { host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file, sharing: 'exclusive' }, auth: 'off', checkpoints } as const
  const server = await serve(options)
  const client = createClient({ url: server.url, queue: 'q' })
  for (let i = 0; i < 5; i++) await client.enqueue({ type: 'mail', payload: i })
  await until(() => posted.length > 0)
  await client.enqueue({ type: 'mail', payload: 'last' })
  await server.close()
  witness.close()
  expect(statSync(join(dataDir, 'checkpoint-key.pem')).mode & 0o777).toBe(0o600)
  const { signer: named, notes } = (await readCheckpoints(join(dataDir, 'checkpoints'), 'q'))!
  expect(readCheckpoint(openNote(notes.at(-1)!, named)!)?.size).toBe(6)
  expect(notes).toContain(posted[0])

  const verify = (...args: ReadonlyArray<string>) => runHere(['audit', 'verify', '--data', dataDir, '--queue', 'q', ...args], { NO_COLOR: '1' })
  expect(await verify()).toMatchObject({ code: 0, out: expect.stringContaining(`the first 6 events are as in ${notes.length} checkpoint`) })
  const elsewhere = join(dir, 'witness')
  writeFileSync(elsewhere, notes.map((note) => `${note}\n`).join(''))
  const publicKey = readFileSync(join(dataDir, 'checkpoints', 'q.key'), 'utf8').trim()
  const db = new Database(file)
  db.exec(`DELETE FROM events WHERE stream = 'taskqueue-q' AND revision > 3; UPDATE streams SET revision = 3, position = (SELECT max(position) FROM events WHERE stream = 'taskqueue-q') WHERE stream = 'taskqueue-q'`)
  db.close()
  expect(await verify()).toMatchObject({ code: 1, out: expect.stringContaining('NOT WHOLE  cut: the log has 4 events, and a checkpoint of 6 was signed') })
  const again = await serve(options)
  expect((await createClient({ url: again.url, queue: 'q' }).verify()).broken).toMatchObject({ kind: 'cut', revision: 4 })
  // Without the key nothing can be compared. That is no log that is whole.
  const keyFile = join(dataDir, 'checkpoints', 'q.key')
  writeFileSync(keyFile, 'nonsense')
  expect(await verify()).toMatchObject({ code: 1, err: expect.stringContaining('nothing to verify them with') })
  await expect(createClient({ url: again.url, queue: 'q', retryForMs: 10 }).verify()).rejects.toThrow('run `daybook audit verify')
  expect(await verify('--checkpoint-key', publicKey)).toMatchObject({ code: 1, out: expect.stringContaining('NOT WHOLE  cut') })
  rmSync(keyFile)
  expect(await verify()).toMatchObject({ code: 1, err: expect.stringContaining('nothing to verify them with') })
  await again.close()
  expect(await runHere(['doctor', '--data', dataDir], { NO_COLOR: '1' })).toMatchObject({ code: 1, out: expect.stringContaining('nothing to verify them with') })
  // Whoever cuts the log may remove the checkpoints beside it, but not those of the witness.
  rmSync(join(dataDir, 'checkpoints'), { recursive: true })
  expect((await verify()).code).toBe(0)
  expect(await verify('--checkpoints', elsewhere, '--checkpoint-key', publicKey)).toMatchObject({ code: 1, out: expect.stringContaining('cut') })
  writeFileSync(join(dir, 'empty'), 'no checkpoint\n')
  expect(await verify('--checkpoints', join(dir, 'empty'), '--checkpoint-key', publicKey)).toMatchObject({ code: 1, err: expect.stringContaining('has no checkpoint of') })
  expect(await verify('--checkpoints', elsewhere)).toMatchObject({ code: 1, err: expect.stringContaining('Give --checkpoint-key') })
  expect(existsSync(join(dataDir, 'checkpoint-key.pem'))).toBe(true)
})

test('EV-07: of a log from before hashes, audit verify says that the log proves nothing, and what the checkpoints do', async () => {
  const dataDir = newFolder()
  const file = join(dataDir, 'daybook.sqlite')
  mkdirSync(dataDir)
  const { store } = await newLog([4])
  const older = await openSqliteStore({ file })
  for await (const page of store.read(stream)) await older.append(stream, page.map(({ id, type, data, metadata }) => ({ id, type, data, metadata: metadata.replace(/,"chain":.*/, '}') })), 'any')()
  await checkpointerOf(older, join(dataDir, 'checkpoints')).round()
  await older.close()
  const { code, out } = await runHere(['audit', 'verify', '--data', dataDir, '--queue', 'q'], { NO_COLOR: '1' })
  expect([code, out.split('\n').slice(0, 2)]).toEqual([0, [
    '4 events, and no hashes: servers before this version wrote them. The log itself proves nothing',
    `the first 4 events are as in 1 checkpoint signed by ${signer.name}`,
  ]])
})
