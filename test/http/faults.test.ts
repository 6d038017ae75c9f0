/** Errors inside the server: the caller gets a short message, the log the details. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDaybook } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import { serve } from '@daybook/adapters/serve'
import { type EventStore, StoreError } from '@daybook/adapters/store'
import { expect, test } from 'vitest'
import { startTestServer } from './support.js'

test('a 500 is in the log of a served daybook, under its correlation id and with its stack', async () => {
  const lines: Array<string> = []
  const server = await serve(
    { host: '127.0.0.1', port: 0, dataDir: 'none', store: { kind: 'memory' }, auth: 'off' },
    { log: { write: (line) => void lines.push(line) } },
  )
  try {
    const headers = { 'content-type': 'application/json', 'x-correlation-id': 'mine-7' }
    const tasks = `${server.url}/api/queues/q/tasks`
    expect((await fetch(tasks, { method: 'POST', headers, body: '{"type":"t"}' })).status).toBe(201)
    expect(lines).toEqual([])
    Object.defineProperty(server.daybook.queue('q'), 'read', { value: () => Promise.reject(new Error('a screw is loose')) })
    const answer = await fetch(tasks, { headers })
    expect(answer.status).toBe(500)
    const text = await answer.text()
    expect(text).toContain('under this correlation id')
    expect(text).not.toContain('screw')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ level: 50, correlationId: 'mine-7', err: expect.objectContaining({ message: 'a screw is loose', stack: expect.stringContaining('faults.test') as string }) as object }),
    ])
  } finally {
    await server.close()
  }
})

test('a start that is given up while it reads the log rejects, and the log of the server has nothing of it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'daybook-given-up-'))
  try {
    const options = { host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'log.sqlite'), sharing: 'exclusive' }, auth: 'tokens', token: 'x'.repeat(40) } as const
    const first = await serve(options)
    await (await first.daybook.open('q')).submit({ type: 'Pause', reason: 'r' }, { actor: 'a' })
    await first.close()
    rmSync(join(dataDir, 'snapshots'), { recursive: true })
    const ended = new AbortController()
    const lines: Array<string> = []
    const log = { write: (line: string) => void lines.push(line) }
    await expect(serve(options, { log, signal: ended.signal, progress: () => ended.abort(new Error('given up')) })).rejects.toThrow('given up')
    await expect(serve(options, { log, signal: ended.signal })).rejects.toThrow('given up')
    expect(lines).toEqual([])
    const again = await serve(options)
    expect(again.daybook.queue('q')?.status().revision).toBe(0)
    await again.close()
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})

/** A store whose reads fail with `fault`, if it is set. */
const breakable = (inner: EventStore): EventStore & { fault: StoreError | undefined } => {
  const store = {
    ...inner,
    fault: undefined as StoreError | undefined,
    head: (stream: string) => inner.head(stream),
    pick: (...asked: Parameters<EventStore['pick']>) => (store.fault === undefined ? inner.pick(...asked) : Promise.reject(store.fault)),
    read: async function* (...asked: Parameters<EventStore['read']>) {
      if (store.fault !== undefined) throw store.fault
      yield* inner.read(...asked)
    },
  }
  return store
}

test.each([
  ['damaged', 'Events 0 to 0 of taskqueue-q are not all where they should be: run the doctor, or restore a backup.', 'the log is damaged at events 0 to 0 of taskqueue-q: run `daybook audit verify --data DIR --queue QUEUE` where the server runs'],
  ['damaged', 'Cannot use the store /srv/secret.sqlite. It is damaged.', 'the log is damaged: run `daybook audit verify --data DIR --queue QUEUE` where the server runs'],
  ['unavailable', 'Cannot use the store /srv/secret.sqlite. Check the disk.', 'the log cannot be read now; the server\'s own log has more under this correlation id'],
] as const)('EV-11: a log that cannot be read (%s: %s) is unavailable, with advice', async (code, message, detail) => {
  const store = breakable(openMemoryStore())
  const before = createDaybook({ store: { ...store, close: () => Promise.resolve() } })
  await before.ready
  const first = await startTestServer({ daybook: before })
  await first.post('/api/queues/q/tasks', { id: 'a', type: 't', payload: 1 })
  await first.stop()
  // A new server, which has no contents in memory yet.
  const server = await startTestServer({}, store)
  try {
    await server.daybook.ready
    store.fault = new StoreError(code, message)
    for (const path of ['tasks', 'tasks/a', 'tasks/a/history', 'events']) {
      expect(await server.get(`/api/queues/q/${path}`), path).toMatchObject({ status: 503, body: { code: 'unavailable', detail } })
    }
    const headers = { accept: 'application/x-ndjson' }
    expect(await server.get('/api/queues/q/events', { headers })).toMatchObject({ status: 503 })
    expect((await server.get('/api/queues/q/depth')).status).toBe(200)
  } finally {
    store.fault = undefined
    await server.stop()
  }
})
