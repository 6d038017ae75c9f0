/** A file of keys that cannot be opened: commands that need it are refused, and all else goes on. */
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@daybook/adapters/serve'
import { createClient, type DaybookClient } from '@daybook/client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../support/queue.js'

let dir: string
const opened: Array<() => Promise<void>> = []
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'daybook-unreadable-keys-'))))
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
  rmSync(dir, { recursive: true, force: true })
})

const start = async (sharing: 'exclusive' | 'shared' = 'exclusive') => {
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: join(dir, 'log.sqlite'), sharing }, auth: 'off' }, { log: { write: () => undefined } })
  const clients: Array<DaybookClient> = []
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= Promise.all(clients.map((client) => client.close())).then(() => server.close()))
  opened.push(stop)
  const client = (queue: string): DaybookClient => {
    const made = createClient({ url: server.url, queue, retryForMs: 0 })
    clients.push(made)
    return made
  }
  return { client, stop }
}
const keys = (): string => join(dir, 'log.sqlite.keys')
const refused = { code: 'unavailable', detail: expect.stringMatching(/the keys of erasable tasks cannot be used: .*log\.sqlite\.keys/) as string }

test('EV-07: a claim that ends while the keys cannot be opened ends when they can, and other queues go on', async () => {
  const { client } = await start()
  const [erasable, plain] = [client('erasable'), client('plain')]
  await erasable.enqueue({ id: 'old', type: 't', payload: 1 })
  await erasable.settings.patch({ erasable: true })
  await plain.enqueue({ id: 'o', type: 't', payload: 3 })
  // No program can open a folder as a file.
  mkdirSync(keys())
  // A claim has no content, so it needs no key. Its end has a text.
  await erasable.claim({ agentId: 'a', types: ['t'], max: 1, leaseSeconds: 1 })
  await expect(erasable.enqueue({ id: 'new', type: 't', payload: 2 })).rejects.toMatchObject(refused)
  // The lease has ended by now, and the server was to write that.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect((await erasable.task('old')).status).toBe('in-progress')
  await plain.enqueue({ id: 'p', type: 't', payload: 4 })
  expect((await plain.claim({ agentId: 'a', types: ['t'], max: 2 })).map(({ task: { payload } }) => payload)).toEqual([3, 4])

  rmdirSync(keys())
  await until(async () => (await erasable.history('old')).some(({ type }) => type === 'ClaimExpired'))
  await erasable.enqueue({ id: 'new', type: 't', payload: 2 })
})

test('EV-07: of a queue that was never erasable, in a store that others use as well, a damaged file is said, and what was enqueued stays', async () => {
  const { client } = await start('shared')
  const plain = client('plain')
  await plain.enqueue({ id: 'a', type: 't', payload: 1 })
  writeFileSync(keys(), 'this is no database'.repeat(100))
  await expect(plain.enqueue({ id: 'b', type: 't', payload: 2 })).rejects.toMatchObject(refused)
  expect((await plain.tasks()).tasks.map(({ id }) => id)).toEqual(['a'])
  rmSync(keys())
  await until(() => plain.enqueue({ id: 'b', type: 't', payload: 2 }).then(() => true, () => false))
  expect((await plain.tasks()).tasks.map(({ id }) => id)).toEqual(['a', 'b'])
})

test('EV-07: a server starts beside a file of keys that it cannot open, and answers questions', async () => {
  const first = await start()
  await first.client('q').enqueue({ id: 'a', type: 't', payload: 1 })
  await first.stop()
  mkdirSync(keys())
  const second = await start()
  const again = second.client('q')
  expect((await again.task('a')).payload).toBe(1)
  await expect(again.enqueue({ id: 'b', type: 't' })).rejects.toMatchObject(refused)
  rmdirSync(keys())
  await until(() => again.enqueue({ id: 'b', type: 't' }).then(() => true, () => false))
})

test('EV-07: an empty file, as a full disk leaves it, counts as none', async () => {
  writeFileSync(keys(), '')
  const { client } = await start('shared')
  await client('plain').enqueue({ id: 'a', type: 't', payload: 1 })
  // Making tables in it would need room on that disk.
  expect(statSync(keys()).size).toBe(0)
  const erasable = client('erasable')
  await erasable.settings.patch({ erasable: true })
  await erasable.enqueue({ id: 'e', type: 't', payload: 2 })
  expect((await erasable.claim({ agentId: 'a', types: ['t'], max: 1 })).map(({ task: { payload } }) => payload)).toEqual([2])
})
