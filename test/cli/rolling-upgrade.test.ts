/** EV-11: two servers work on one queue, and the newer one writes an event that the older one cannot read. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newerBuild, type NewerBuild } from '../support/newer-build.js'
import { until } from '../support/queue.js'
import { ended, runHere, type Server, start, startServer } from './program.js'

const token = 'a-token-of-the-tests'
let build: NewerBuild
let dir = ''
const running: Array<() => unknown> = []
beforeAll(() => {
  build = newerBuild()
  dir = mkdtempSync(join(tmpdir(), 'daybook-upgrade-'))
})
afterAll(async () => {
  for (const stop of running.splice(0)) await stop()
  build.remove()
  rmSync(dir, { recursive: true, force: true })
})

const store = (): string => `sqlite+shared:${join(dir, 'log.sqlite')}`
const older = async (folder: string, ...flags: ReadonlyArray<string>): Promise<Server> => {
  const server = await startServer(['--store', store(), ...flags], { DAYBOOK_TOKEN: token }, join(dir, folder))
  running.push(() => server.stop())
  return server
}

/** Starts a server of the newer build; resolves to the variables that a client needs. */
const newerServer = async (folder: string): Promise<Record<string, string>> => {
  const child: ChildProcess = spawn(process.execPath, [build.bin, 'serve', '--port', '0', '--store', store(), '--data', join(dir, folder)], {
    env: { ...process.env, DAYBOOK_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.push(() => child.kill('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    let out = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      out += text
      const [found] = /http:\/\/[^\s"]+/.exec(out) ?? []
      if (found !== undefined) resolve(found)
    })
    child.on('close', (code) => reject(new Error(`the newer server ended with ${code}`)))
  })
  return { DAYBOOK_URL: url, DAYBOOK_TOKEN: token }
}

const readyz = async (url: string): Promise<{ readonly status: string; readonly readOnly?: ReadonlyArray<{ readonly queue: string; readonly reason: string }> }> =>
  (await fetch(`${url}/readyz`)).json() as never
const metrics = async (url: string): Promise<string> => (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()

test('the older server becomes read-only when the newer one has written an unknown event; it still answers reads, and names the version it needs', async () => {
  const old = await older('old')
  expect((await old.daybook(['enqueue', 'a', '--id', 'a'])).code).toBe(0)
  const env = await newerServer('new')
  const newer = (...args: ReadonlyArray<string>) => runHere(args, env)

  // The newer server runs, but has not written a new event yet: both work.
  expect((await newer('enqueue', 'b', '--id', 'b')).code).toBe(0)
  await until(async () => (await old.daybook(['show', 'b'])).code === 0)
  expect((await old.daybook(['enqueue', 'c', '--id', 'c'])).code).toBe(0)
  expect(await metrics(old.url)).toContain('daybook_queue_read_only{queue="default"} 0')

  // Now it pauses the queue with the new event. The older one would hand out tasks of a paused queue.
  await until(async () => (await newer('show', 'c')).code === 0)
  expect((await newer('pause', '--reason', 'maintenance')).code).toBe(0)
  await until(async () => (await readyz(old.url)).readOnly !== undefined)
  expect(await readyz(old.url)).toMatchObject({ status: 'ready', readOnly: [{ queue: 'default', reason: expect.stringMatching(/QueueHeld.*Update this server to Daybook 0\.2\.0 or newer; it is 0\.1\.0/) as string }] })
  expect(await metrics(old.url)).toMatch(/daybook_queue_available\{queue="default"\} 0[\s\S]*daybook_queue_read_only\{queue="default"\} 1[\s\S]*daybook_unreadable_events\{queue="default"\} 1/)
  for (const args of [['claim', '--agent', 'w'], ['enqueue', 'x'], ['cancel', 'a', '--reason', 'r'], ['resume']]) {
    const { code, err } = await runHere(args, old.env)
    expect(code, args.join(' ')).not.toBe(0)
    expect(err, args.join(' ')).toContain('QueueHeld')
  }
  expect(JSON.parse((await old.daybook(['list', '--json'])).out)).toMatchObject({ tasks: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] })
  const doctor = await old.daybook(['doctor'])
  expect(doctor.code).toBe(1)
  expect(doctor.out).toContain('Update this server to Daybook 0.2.0 or newer')
  expect((await newer('enqueue', 'd', '--id', 'd')).code).toBe(0)

  // After a restart it reports that at once. An operator may skip the event, by its revision.
  const again = await older('again')
  expect(again.said).toMatch(/queue default: read-only: event \d+ \(QueueHeld, version 1\)/)
  const [, revision] = /--past-unreadable default@(\d+)/.exec(again.said) ?? []
  const past = await older('past', '--past-unreadable', `default@${revision}`)
  expect((await readyz(past.url)).readOnly).toBeUndefined()
  expect((await past.daybook(['enqueue', 'e', '--id', 'e'])).code).toBe(0)

  // After the update it can read everything, and works again.
  const updated = await newerServer('old')
  expect((await runHere(['show', 'e'], updated)).code).toBe(0)
  expect((await runHere(['resume'], updated)).code).toBe(0)
  expect((await runHere(['claim', '--agent', 'w'], updated)).out).toContain('a')
})

test('--past-unreadable without a revision is refused before anything starts', async () => {
  for (const given of ['default', 'default@', '@7', 'a b@7', 'default@x']) {
    const { code, err } = await ended(start(['serve', '--port', '0', '--store', 'memory:', '--past-unreadable', given]))
    expect([code, err]).toEqual([2, expect.stringContaining('is not QUEUE@REVISION') as string])
  }
})
