/** `daybook backup`: a copy of a running server's data, from which another server goes on. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type DaybookClient } from '@daybook/client'
import { serve } from '@daybook/adapters/serve'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Ended, root, runHere } from '../cli/program.js'
import type { Io } from '@daybook/adapters/cli'
import { goesWithout, mount } from '../support/needs.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-backup-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const adminToken = 'admin-of-the-backup-test'
const served = async <A>(dataDir: string, body: (client: DaybookClient) => Promise<A>, token: string = adminToken, queue = 'q', log = join(dataDir, 'daybook.sqlite')): Promise<A> => {
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: log, sharing: 'exclusive' }, auth: 'tokens', token: adminToken, checkpoints: { everyMs: 20 } })
  const client = createClient({ url: server.url, token, queue, retryForMs: 10 })
  try {
    return await body(client)
  } finally {
    await client.close()
    await server.close()
  }
}
const backup = (to: string, dataDir: string, ...more: ReadonlyArray<string>): Promise<Ended> => runHere(['backup', to, '--data', dataDir, ...more], { NO_COLOR: '1' })

interface Told {
  readonly at: string
  readonly queues: ReadonlyArray<{ readonly queue: string; readonly ok: boolean; readonly events: number; readonly head: { readonly revision: number } }>
}

test('EV-03: without --data, the data folder is that of DAYBOOK_DATA', async () => {
  const [dataDir, to] = [join(dir, 'named'), join(dir, 'named-copy')]
  await served(dataDir, (client) => client.enqueue({ id: 'a', type: 'mail' }))
  const { code, out } = await runHere(['backup', to], { DAYBOOK_DATA: dataDir, NO_COLOR: '1' })
  expect([code, out]).toEqual([0, expect.stringMatching(/^q: 1 event, revision 0, verified$/m)])
})

test('EV-03: a backup beside a server under load has all that was acknowledged before, and a server goes on from it', async () => {
  const [dataDir, to] = [join(dir, 'busy'), join(dir, 'busy-copy')]
  const acknowledged: Array<string> = []
  const { before, told } = await served(dataDir, async (client) => {
    let isOver = false
    const load = (async () => {
      for (let i = 0; !isOver; i++) {
        await client.enqueueAll(Array.from({ length: 20 }, (_, each) => ({ id: `t${i}-${each}`, type: 'mail', payload: { i, each } })))
        acknowledged.push(...Array.from({ length: 20 }, (_, each) => `t${i}-${each}`))
      }
    })()
    while (acknowledged.length < 400) await new Promise((resolve) => setTimeout(resolve, 5))
    const known = [...acknowledged]
    // In a process of its own, as people do: this one has the log open.
    const child = spawn(process.execPath, [join(root, 'packages/adapters/bin/daybook.js'), 'backup', to, '--data', dataDir, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number]
    expect(code).toBe(0)
    isOver = true
    await load
    return { before: known, told: JSON.parse(out) as Told }
  })
  const copied = told.queues.find(({ queue }) => queue === 'q')
  expect(copied?.ok).toBe(true)
  expect(acknowledged.length).toBeGreaterThan(before.length)
  await served(to, async (client) => {
    const { revision } = await client.events({ limit: 1 })
    expect(revision).toBe(copied?.head.revision)
    for (const id of before.slice(-50)) expect((await client.task(id)).payload).toEqual({ i: Number(/^t(\d+)/.exec(id)?.[1]), each: Number(/-(\d+)$/.exec(id)?.[1]) })
    expect((await client.depth()).byStatus['pending']).toBeGreaterThanOrEqual(before.length)
    expect((await client.enqueue({ type: 'mail', payload: 'after the restore' })).duplicate).toBe(false)
    expect((await client.verify()).ok).toBe(true)
  })
})

test('a backup has tokens, archive, keys of erasable tasks and checkpoints, and no caches; secrets stay secret', async () => {
  const [dataDir, to] = [join(dir, 'whole'), join(dir, 'whole-copy')]
  const token = await served(dataDir, async (client) => {
    await client.settings.patch({ erasable: true })
    await client.enqueueAll(Array.from({ length: 60 }, (_, i) => ({ id: `secret-${i}`, type: 'letter', payload: { i, to: 'ada' } })))
    while ((await client.readModels()).behind > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    return (await client.tokens.create({ name: 'reader', roles: ['auditor'] })).token
  })
  const archived = await runHere(['archive', '--data', dataDir, '--queue', 'q', '--before', '30'], { NO_COLOR: '1' })
  expect([archived.code, archived.err]).toEqual([0, ''])
  const { code, out, err } = await backup(to, dataDir)
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^q: 61 events, revision 60, verified$/m)
  const names = readdirSync(to)
  expect(names).toEqual(expect.arrayContaining(['backup.json', 'checkpoint-key.pem', 'checkpoints', 'daybook.sqlite', 'daybook.sqlite.archive', 'daybook.sqlite.keys', 'tokens.json']))
  for (const cache of ['snapshots', 'views.db']) expect(names).not.toContain(cache)
  for (const secret of ['daybook.sqlite.keys', 'tokens.json', 'checkpoint-key.pem']) expect(statSync(join(to, secret)).mode & 0o077, secret).toBe(0)
  expect(statSync(to).mode & 0o077).toBe(0)
  // The admin's token is set when the server starts; this one is known by the copied log alone.
  await served(to, async (client) => {
    expect((await client.task('secret-3')).payload).toEqual({ i: 3, to: 'ada' })
    expect((await client.task('secret-59')).payload).toEqual({ i: 59, to: 'ada' })
  }, token)
  const verified = await runHere(['audit', 'verify', '--data', to, '--queue', 'q'], { NO_COLOR: '1' })
  expect(verified.out).toMatch(/^ok {2}\d+ events[\s\S]*signed by/)
})

test('EV-03: of a queue whose name ends like a side file of SQLite, the archive and the places of its followers are copied as well', async () => {
  const [dataDir, to, queue] = [join(dir, 'named-so'), join(dir, 'named-so-copy'), 'orders-journal']
  await served(dataDir, async (client) => {
    await client.enqueueAll(Array.from({ length: 60 }, (_, i) => ({ type: 'mail', payload: { i } })))
  }, adminToken, queue)
  expect(await runHere(['archive', '--data', dataDir, '--queue', queue, '--before', '30'], { NO_COLOR: '1' })).toMatchObject({ code: 0, err: '' })
  mkdirSync(join(dataDir, 'memory', queue), { recursive: true })
  writeFileSync(join(dataDir, 'memory', queue, 'memory.json'), '{}')
  const { code, out } = await backup(to, dataDir)
  expect([code, out]).toEqual([0, expect.stringMatching(/^orders-journal: 60 events, revision 59, verified$/m)])
  expect(existsSync(join(to, 'memory', queue, 'memory.json'))).toBe(true)
})

test('a folder that is there, one inside the data, and data that are not there are refused; nothing is left behind', async () => {
  const dataDir = join(dir, 'small')
  await served(dataDir, (client) => client.enqueue({ type: 'mail' }))
  const there = join(dir, 'there')
  cpSync(dataDir, there, { recursive: true })
  const refusals = [await backup(there, dataDir), await backup(join(dataDir, 'copy'), dataDir), await backup(join(dir, 'never'), join(dir, 'no-such-data'))]
  expect(refusals.map(({ code, err }) => [code, err])).toEqual([
    [1, expect.stringContaining('is there already')],
    [1, expect.stringContaining('is inside the data folder')],
    [1, expect.stringContaining('there is no data folder')],
  ])
  // A file that is no log: the copy is begun, and fails.
  writeFileSync(join(dir, 'other.sqlite'), 'not a database')
  expect((await backup(join(dir, 'failed'), dataDir, '--store', join(dir, 'other.sqlite'))).code).toBe(1)
  expect(readdirSync(dir).filter((name) => name.includes('unfinished') || name === 'failed' || name === 'never')).toEqual([])
})

test('a backup inside the data folder is refused whatever links lead there, and one in a folder whose name begins with two dots is not', async () => {
  const [dataDir, link] = [join(dir, 'linked'), join(dir, 'link')]
  await served(dataDir, (client) => client.enqueue({ type: 'mail' }))
  symlinkSync(dataDir, link)
  for (const [to, data] of [[join(link, 'copy'), dataDir], [join(dataDir, 'new', 'copy'), link]] as const) {
    expect(await backup(to, data)).toMatchObject({ code: 1, err: expect.stringContaining('is inside the data folder') as string })
  }
  expect(readdirSync(dataDir).filter((name) => /copy|new/.test(name))).toEqual([])
  expect(await backup(join(dir, '..copy'), link)).toMatchObject({ code: 0, err: '' })
})

test.each(['of the data', 'of the copy'])('a link to a folder above that %s ends a backup with its name, and nothing is left', async (above) => {
  const [dataDir, copies] = [join(dir, above, 'data'), join(dir, above, 'copies')]
  await served(dataDir, (client) => client.enqueue({ type: 'mail' }))
  mkdirSync(copies)
  symlinkSync(above === 'of the data' ? '..' : copies, join(dataDir, 'up'))
  expect(await backup(join(copies, 'copy'), dataDir)).toMatchObject({ code: 1, err: expect.stringContaining(`${join(dataDir, 'up')} leads to`) as string })
  expect(readdirSync(copies)).toEqual([])
})

test.each(['../elsewhere/tokens', 'log/events.sqlite'])('EV-03: of a log in %s, the copy has that log once, and no other log', async (place) => {
  const dataDir = join(dir, 'logs', place.replaceAll('/', '-'), 'data')
  const [log, to] = [join(dataDir, place), join(dataDir, '..', 'copy')]
  mkdirSync(join(log, '..'), { recursive: true })
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(join(dataDir, 'daybook.sqlite'), 'of earlier')
  await served(dataDir, (client) => client.enqueue({ id: 'a', type: 'mail' }), adminToken, 'q', log)
  expect(await backup(to, dataDir, '--store', log)).toMatchObject({ code: 0, out: expect.stringMatching(/^q: 1 event, revision 0, verified$/m) as string, err: '' })
  expect([existsSync(join(to, 'tokens.json')), existsSync(join(to, 'log', 'events.sqlite'))]).toEqual([true, false])
  await served(to, async (client) => expect((await client.task('a')).status).toBe('pending'))
})

test('a file that cannot be read ends a backup with its name', async () => {
  const dataDir = join(dir, 'unreadable')
  await served(dataDir, (client) => client.enqueue({ type: 'mail' }))
  symlinkSync('gone', join(dataDir, 'dangling'))
  expect((await backup(join(dir, 'dangling-copy'), dataDir)).code).toBe(0)
  symlinkSync('loop', join(dataDir, 'loop'))
  expect(await backup(join(dir, 'unreadable-copy'), dataDir)).toMatchObject({ code: 1, err: expect.stringContaining(join(dataDir, 'loop')) as string })
})

test.skipIf(goesWithout(mount))('a data folder that may not be written is named, with what to do', async () => {
  const dataDir = join(dir, 'not-writable')
  await served(dataDir, (client) => client.enqueue({ type: 'mail' }))
  const script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" "$3" backup "$4" --data "$1"'
  const child = spawn('unshare', ['-rm', 'sh', '-c', script, 'sh', dataDir, process.execPath, join(root, 'packages/adapters/bin/daybook.js'), join(dir, 'not-writable-copy')], { stdio: ['ignore', 'ignore', 'pipe'] })
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  expect([code, err]).toEqual([1, expect.stringContaining(`run this as a user who may write into ${dataDir}`)])
})

test('a backup that is killed leaves nothing under its name', async () => {
  const [dataDir, to] = [join(dir, 'killed'), join(dir, 'killed-copy')]
  await served(dataDir, async (client) => {
    for (let i = 0; i < 10; i++) await client.enqueueAll(Array.from({ length: 500 }, (_, each) => ({ type: 'mail', payload: { i, each, text: 'x'.repeat(2_000) } })))
  })
  const child = spawn(process.execPath, [join(root, 'packages/adapters/bin/daybook.js'), 'backup', to, '--data', dataDir], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  while (!readdirSync(dir).some((name) => name.startsWith('killed-copy'))) await new Promise((resolve) => setTimeout(resolve, 1))
  child.kill('SIGKILL')
  await ended
  // If it was done before the signal came, the copy is whole.
  if (existsSync(to)) expect(JSON.parse(readFileSync(join(to, 'backup.json'), 'utf8'))).toMatchObject({ daybook: 'backup' })
  else expect(readdirSync(dir).filter((name) => name.startsWith('killed-copy.unfinished-'))).toHaveLength(1)
  expect((await backup(join(dir, 'killed-again'), dataDir)).code).toBe(0)
})

test.each(['SIGINT', 'SIGTERM'] as const)('a backup that %s interrupts ends with code 130, and leaves nothing', async (name) => {
  const [dataDir, to] = [join(dir, `data-of-${name}`), join(dir, name)]
  await served(dataDir, (client) => client.enqueue({ type: 'mail' }))
  const copies = (): ReadonlyArray<string> => readdirSync(dir).filter((each) => each.startsWith(name))
  let signal: (name: NodeJS.Signals) => void = () => undefined
  let begun: ReadonlyArray<string> = []
  const { code } = await runHere(['backup', to, '--data', dataDir], {}, '', {
    errIsTerminal: true,
    err: (text) => {
      if (!text.includes('copying checkpoints')) return
      begun = copies()
      signal(name)
    },
    onSignal: (heard) => {
      signal = heard
      return () => undefined
    },
  })
  expect(begun).toEqual([expect.stringMatching(/\.unfinished-[0-9a-f]{8}$/)])
  expect([code, copies()]).toEqual([130, []])
})

describe('the log is copied in steps', () => {
  const dataDir = join(dir, 'large')
  beforeAll(() =>
    served(dataDir, async (client) => {
      for (let i = 0; i < 12; i++) await client.enqueueAll(Array.from({ length: 500 }, (_, each) => ({ type: 'mail', payload: { i, each, text: 'x'.repeat(2_000) } })))
    }))
  /** Makes a backup whose progress is all shown, however fast it is. Returns how much of the log was copied at each step, in percent. */
  const shown = async (to: string, step: () => void, world: Partial<Io> = {}): Promise<{ readonly ended: Ended; readonly parts: ReadonlyArray<number> }> => {
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000))
    const parts: Array<number> = []
    const err = (text: string): void => {
      const [, part] = /copying the log: (\d+) %/.exec(text) ?? []
      if (part === undefined) return
      parts.push(Number(part))
      step()
    }
    try {
      return { ended: await runHere(['backup', to, '--data', dataDir], {}, '', { errIsTerminal: true, err, ...world }), parts }
    } finally {
      clock.mockRestore()
    }
  }

  test('a signal ends it after the step in which it comes, and nothing is left', async () => {
    const to = join(dir, 'large-interrupted')
    let signal: (name: NodeJS.Signals) => void = () => undefined
    const { ended, parts } = await shown(to, () => signal('SIGINT'), {
      onSignal: (heard) => {
        signal = heard
        return () => undefined
      },
    })
    expect([ended.code, parts, readdirSync(dir).filter((name) => name.startsWith('large-'))]).toEqual([130, [0], []])
  })

  test('it does not begin anew when a server appends meanwhile, and the copy is as the log was', async () => {
    const to = join(dir, 'large-copy')
    const writer = new Database(join(dataDir, 'daybook.sqlite'))
    const before: unknown = writer.pragma('user_version', { simple: true })
    let writes = 0
    const { ended, parts } = await shown(to, () => {
      if (writes < 20) writer.pragma(`user_version = ${1_000 + ++writes}`)
    })
    expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(/^q: 6000 events, revision 5999, verified$/m) as string })
    expect(parts.length).toBeGreaterThan(2)
    expect(parts).toEqual([...new Set(parts)].sort((a, b) => a - b))
    const copy = new Database(join(to, 'daybook.sqlite'), { readonly: true })
    expect([copy.pragma('user_version', { simple: true }), copy.pragma('journal_mode', { simple: true })]).toEqual([before, 'delete'])
    for (const db of [copy, writer]) db.close()
  })
})

test('copies of read-only folders can be written into by their owner', async () => {
  const [dataDir, to] = [join(dir, 'read-only'), join(dir, 'read-only-copy')]
  await served(dataDir, (client) => client.enqueue({ type: 'mail' }))
  mkdirSync(join(dataDir, 'memories'))
  writeFileSync(join(dataDir, 'memories', 'one.json'), '{}')
  chmodSync(join(dataDir, 'memories'), 0o555)
  expect((await backup(to, dataDir)).code).toBe(0)
  expect(statSync(join(to, 'memories')).mode & 0o777).toBe(0o755)
})

test('a backup without the segments of the archive names the folder in which they are missing', async () => {
  const [dataDir, to] = [join(dir, 'lacking'), join(dir, 'lacking-copy')]
  await served(dataDir, (client) => client.enqueueAll(Array.from({ length: 60 }, (_, i) => ({ type: 'mail', payload: i }))))
  expect((await runHere(['archive', '--data', dataDir, '--queue', 'q', '--before', '30'])).code).toBe(0)
  rmSync(join(dataDir, 'daybook.sqlite.archive'), { recursive: true })
  const { code, out } = await backup(to, dataDir)
  expect([code, out]).toEqual([1, expect.stringContaining(`are not in ${join(dataDir, 'daybook.sqlite.archive')}`)])
})

test('EV-07: a backup of a queue whose checkpoints are lost is made, says so, and the copy says so as well', async () => {
  const dataDir = join(dir, 'lost')
  await served(dataDir, async (client) => {
    await client.enqueue({ type: 'mail' })
    await vi.waitFor(() => expect(existsSync(join(dataDir, 'checkpoints', 'q.tree'))).toBe(true), 30_000)
  })
  const checkpoints = join(dataDir, 'checkpoints', 'q.checkpoints')
  for (const [name, lose, reason] of [['emptied', () => writeFileSync(checkpoints, ''), 'has no checkpoint'], ['removed', () => rmSync(checkpoints), 'is missing']] as const) {
    lose()
    const to = join(dir, `lost-${name}`)
    const { code, out } = await backup(to, dataDir)
    expect([code, out], name).toEqual([1, expect.stringContaining(`q: NOT COMPARED with its checkpoints: ${checkpoints} ${reason}`)])
    expect(JSON.parse(readFileSync(join(to, 'backup.json'), 'utf8'))).toMatchObject({ queues: [{ queue: 'q', ok: false }] })
    expect(await runHere(['audit', 'verify', '--data', to, '--queue', 'q'], { NO_COLOR: '1' }), name).toMatchObject({ code: 1, err: expect.stringContaining(reason) as string })
  }
})

test('EV-07: of checkpoints that are signed while they are copied, no copy has a tree that is ahead of them', async () => {
  const [dataDir, to] = [join(dir, 'signing'), join(dir, 'signing-copy')]
  await served(dataDir, (client) => client.enqueue({ type: 'mail' }))
  const folder = join(dataDir, 'checkpoints')
  const [checkpoints, tree] = [join(folder, 'busy.checkpoints'), join(folder, 'busy.tree')]
  // A server that ends soon signs nothing, and makes no folder.
  mkdirSync(folder, { recursive: true })
  /** Writes what a server writes, in its order. */
  const sign = (size: number): void => {
    appendFileSync(checkpoints, `log/busy\n${size}\nroot\n\n— log/busy signature\n\n`)
    writeFileSync(`${tree}.unfinished`, JSON.stringify({ size }))
    renameSync(`${tree}.unfinished`, tree)
  }
  sign(1)
  // By name, these are between the two, so that much is signed between the copies of the two.
  for (let i = 0; i < 300; i++) writeFileSync(join(folder, `busy.note-${i}`), '')
  const child = spawn(process.execPath, [join(root, 'packages/adapters/bin/daybook.js'), 'backup', to, '--data', dataDir], { stdio: 'ignore' })
  let isOver = false
  const ended = once(child, 'exit').finally(() => (isOver = true))
  for (let size = 2; !isOver; size++) {
    sign(size)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await ended
  const copied = (file: string): string => readFileSync(join(to, 'checkpoints', file), 'utf8')
  const { size } = JSON.parse(copied('busy.tree')) as { readonly size: number }
  expect(size).toBeGreaterThan(1)
  expect(Number(/(\d+)\nroot\n\n.*\n\n$/.exec(copied('busy.checkpoints'))?.[1])).toBeGreaterThanOrEqual(size)
})

test('teeth: a log that was altered is copied, and said to be not whole', async () => {
  const dataDir = join(dir, 'altered')
  await served(dataDir, (client) => client.enqueueAll([{ type: 'mail', payload: 'for ada' }, { type: 'mail', payload: 'for bob' }]))
  const db = new Database(join(dataDir, 'daybook.sqlite'))
  db.prepare(`UPDATE events SET data = replace(data, 'ada', 'eve') WHERE stream = 'taskqueue-q'`).run()
  db.close()
  const { code, out } = await backup(join(dir, 'altered-copy'), dataDir)
  expect(code).toBe(1)
  expect(out).toMatch(/^q: NOT WHOLE {2}altered/m)
  expect(existsSync(join(dir, 'altered-copy', 'daybook.sqlite'))).toBe(true)
})
