/** EV-07: of a log that was altered, no checkpoint is signed. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChainVerifier, Checkpointer, openNote, openSigningKey, readCheckpoint, readCheckpoints, signerOf } from '@daybook/adapters/chain'
import { createClient } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import { type RecordedEvent, StoreError } from '@daybook/adapters/store'
import Database from 'better-sqlite3'
import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { runHere } from '../cli/program.js'
import { runs } from '../properties/settings.js'
import { until } from '../support/queue.js'
import { appendsOf, attacks } from './attacks.js'
import { isSealed, logOfAppends, stream } from './logs.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-altered-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
let folders = 0
const newFolder = (): string => join(dir, `folder${++folders}`)
const key = openSigningKey(join(dir, 'key.pem'))
const signer = signerOf(key, 'q')

const pageSize = 7

/** A log whose events may be exchanged, and the checkpointers of a server on it. */
const signing = (events: ReadonlyArray<RecordedEvent>) => {
  const folder = newFolder()
  const warnings: Array<string> = []
  const reads: Array<number> = []
  let log = events
  const read = async function* (_: string, { from = 0, limit = Infinity }: { readonly from?: unknown; readonly limit?: number } = {}): AsyncGenerator<ReadonlyArray<RecordedEvent>> {
    const first = Number(from)
    reads.push(first)
    const found = log.filter(({ revision }) => revision >= first && revision < first + limit)
    for (let at = 0; at < found.length; at += pageSize) yield found.slice(at, at + pageSize)
  }
  const start = (): Checkpointer =>
    new Checkpointer({ log: { read, head: async () => log.reduce((most, { revision }) => Math.max(most, revision), -1) }, stream, queue: 'q', folder, key, signer, warn: (text) => void warnings.push(text) })
  const sizes = async (): Promise<ReadonlyArray<number | undefined>> => ((await readCheckpoints(folder, 'q'))?.notes ?? []).map((note) => readCheckpoint(openNote(note, signer) ?? '')?.size)
  return { folder, warnings, reads, start, sizes, become: (next: ReadonlyArray<RecordedEvent>) => void (log = next) }
}

for (const isRestarted of [false, true]) {
  test(`EV-07: whatever was done to what came after a checkpoint${isRestarted ? ', also while no server ran' : ''}: nothing is signed, and the event that audit verify names is named`, async () => {
    let tried = 0
    await fc.assert(
      fc.asyncProperty(appendsOf(true), fc.constantFrom(...Object.keys(attacks)), fc.nat(), fc.nat(), fc.nat(), async (appends, name, a, b, c) => {
        const log = logOfAppends(appends)
        const seals = log.filter(isSealed).map(({ revision }) => revision)
        // Signed up to a seal; altered between there and the last two appends.
        if (seals.length < 3) return
        const signed = (seals[a % (seals.length - 2)] as number) + 1
        const places = log.length - 3 - signed
        if (places < 2) return
        const i = signed + (b % (places - 1))
        const attacked = attacks[name]?.(log, i, i + 1 + (c % (signed + places - i - 1)))
        if (attacked === undefined) return
        tried++
        const verifier = new ChainVerifier(stream)
        verifier.take(attacked.log)
        const { broken } = verifier.end()
        const { start, sizes, warnings, become } = signing(log.slice(0, signed))
        const first = start()
        await first.round()
        become(attacked.log)
        const second = isRestarted ? start() : first
        await second.round()
        await second.round()
        expect(await sizes()).toEqual([signed])
        expect(warnings).toEqual([expect.stringContaining(`no more checkpoints are signed: ${broken?.kind}: ${broken?.reason}. Run daybook audit verify`)])
        expect(second.status).toEqual({ events: signed, problem: `${broken?.kind}: ${broken?.reason}` })
      }),
      runs(60),
    )
    expect(tried).toBeGreaterThan(0)
  })
}

test('EV-07: after a restart the log is read from its last checkpoint on; from its beginning if an older server signed, which looked at no seals', async () => {
  const log = logOfAppends([{ count: 3, sealed: true }, { count: 2, sealed: true }, { count: 4, sealed: true }])
  const { start, sizes, reads, folder, warnings, become } = signing(log.slice(0, 5))
  await start().round()
  become(log)
  reads.length = 0
  await start().round()
  expect(await sizes()).toEqual([5, 9])
  expect(reads).toEqual([4, 5])

  become(attacks['data altered']!(log, 1, 2)!.log)
  const place = join(folder, 'q.tree')
  writeFileSync(place, readFileSync(place, 'utf8').replace(/,"seal":.*$/, '}'))
  reads.length = 0
  await start().round()
  expect(reads).toEqual([0])
  expect(warnings).toEqual([expect.stringContaining('revision 1 is not the event that was appended there')])
})

test('EV-07: a tree that is ahead of the checkpoints was not written by a server after them: nothing is signed', async () => {
  const appends = [{ count: 3, sealed: true }, { count: 2, sealed: true }, { count: 4, sealed: true }]
  const [log, other] = [logOfAppends(appends), logOfAppends(appends)]
  const { start, sizes, folder, warnings, become } = signing(log.slice(0, 3))
  await start().round()
  const own = readFileSync(join(folder, 'q.tree'))
  const forged = signing(other.slice(0, 5))
  await forged.start().round()
  writeFileSync(join(folder, 'q.tree'), readFileSync(join(forged.folder, 'q.tree')))
  become(other)
  await start().round()
  expect(warnings).toEqual([expect.stringContaining('q.tree says that 5 were signed')])
  // With its own tree, or with none, a log that was written anew is not signed, and the one that was signed goes on.
  writeFileSync(join(folder, 'q.tree'), own)
  await start().round()
  expect(warnings.slice(1)).toEqual([expect.stringContaining('the first 3 events are not as signed')])
  expect(await sizes()).toEqual([3])
  become(log.slice(0, 5))
  await start().round()
  expect(await sizes()).toEqual([3, 5])
})

test('EV-07: what no seal covers is signed when one does; a log without seals is signed as it is', async () => {
  const log = logOfAppends([{ count: 2, sealed: false }, { count: 3, sealed: true }, { count: 2, sealed: false }, { count: 1, sealed: true }])
  const { start, sizes, warnings, become } = signing(log.slice(0, 2))
  const checkpointer = start()
  for (const length of [2, 5, 6, 7, 8]) {
    become(log.slice(0, length))
    await checkpointer.round()
  }
  expect(await sizes()).toEqual([2, 5, 8])
  // An event that was signed and has lost its seal is compared with what was signed.
  const bare = attacks['seal removed']!(log, 7, 0)!.log
  become(bare.map((event, at) => (at === 6 ? { ...event, data: '{}' } : event)))
  rmSync(join(dir, `folder${folders}`, 'q.tree'))
  await start().round()
  expect(warnings).toEqual([expect.stringContaining('the first 8 events are not as signed')])
})

test('EV-07: an event that cannot be read is named, and nothing is signed', async () => {
  const log = logOfAppends([{ count: 3, sealed: true }, { count: 6, sealed: true }])
  const folder = newFolder()
  const warnings: Array<string> = []
  const read = async function* (_: string, { from = 0, limit = Infinity }: { readonly from?: unknown; readonly limit?: number } = {}): AsyncGenerator<ReadonlyArray<RecordedEvent>> {
    const first = Number(from)
    if (first <= 5 && first + limit > 5) throw new StoreError('damaged', 'not where it should be')
    yield log.slice(first, first + limit)
  }
  const checkpointer = new Checkpointer({ log: { read, head: async () => 8 }, stream, queue: 'q', folder, key, signer, warn: (text) => void warnings.push(text) })
  await checkpointer.round()
  expect(warnings).toEqual([expect.stringContaining('revision 5 cannot be read: not where it should be')])
  expect(await readCheckpoints(folder, 'q')).toBeUndefined()
})

test('EV-07: a server whose log is altered says so in /readyz, /metrics, its log and the doctor, and signs nothing more of that queue', async () => {
  const dataDir = newFolder()
  const file = join(dataDir, 'daybook.sqlite')
  const lines: Array<string> = []
  const options = { host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file, sharing: 'exclusive' }, auth: 'off', checkpoints: { everyMs: 50 } } as const
  const server = await serve(options, { log: { write: (line: string) => void lines.push(line) } })
  const metric = async (name: string): Promise<string | undefined> => (await (await fetch(`${server.url}/metrics`)).text()).split('\n').find((line) => line.startsWith(`daybook_${name}{queue="q"}`))?.split(' ')[1]
  const client = createClient({ url: server.url, queue: 'q' })
  try {
    await client.enqueueAll(Array.from({ length: 4 }, (_, i) => ({ id: `t${i}`, type: 'mail', payload: i })))
    await until(async () => (await metric('checkpoint_events')) === '4')
    expect(await metric('checkpoints_failing')).toBe('0')
    // Altered in the transaction in which it is appended, so that no checkpoint comes between.
    const db = new Database(file)
    db.exec(`CREATE TRIGGER alter_one AFTER INSERT ON events WHEN new.stream = 'taskqueue-q' AND new.revision = 5 BEGIN UPDATE events SET data = replace(data, 'mail', 'fail') WHERE position = new.position; END`)
    db.close()
    await client.enqueueAll(Array.from({ length: 3 }, (_, i) => ({ id: `u${i}`, type: 'mail', payload: i + 4 })))
    await client.in('other').enqueue({ type: 'mail', payload: 1 })
    await until(async () => (await metric('checkpoints_failing')) === '1')
    const reason = 'altered: revision 5 is not the event that was appended there'
    expect((await client.ready()).degraded).toEqual([{ part: 'checkpoints', queue: 'q', reason, since: expect.stringMatching(/Z$/) as string }])
    expect(lines.join('')).toContain(`queue q: no more checkpoints are signed: ${reason}`)
    expect(await metric('checkpoint_events')).toBe('4')
    expect(await runHere(['doctor'], { DAYBOOK_URL: server.url, NO_COLOR: '1' })).toMatchObject({ code: 1, out: expect.stringContaining(reason) as string })
    expect((await client.verify()).broken).toMatchObject({ kind: 'altered', revision: 5 })
    // Others go on.
    await until(async () => (await readCheckpoints(join(dataDir, 'checkpoints'), 'other')) !== undefined)
  } finally {
    await client.close()
    await server.close()
  }
  const { notes } = (await readCheckpoints(join(dataDir, 'checkpoints'), 'q'))!
  expect(notes.length).toBeGreaterThan(0)
  for (const note of notes) expect(Number(note.split('\n')[1])).toBeLessThanOrEqual(4)
})
