import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Io, run as runProgram } from '@daybook/adapters/cli'
import { openEmbedded } from '@daybook/adapters/embedded'
import { serve } from '@daybook/adapters/serve'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { inTime } from '../support/in-time.js'
import { ended, noTerminal, root, run, runHere, type Server, start, startServer } from './program.js'

let dir = ''
const servers: Array<Server> = []
const serving = async (...args: Parameters<typeof startServer>): Promise<Server> => {
  const server = await startServer(args[0], args[1], args[2] ?? dir)
  servers.push(server)
  return server
}
/** A data folder whose queue has one event and no snapshot: the next start reads the log. */
const leaveUnread = async (): Promise<void> => {
  const first = await serving()
  await first.daybook(['enqueue', 'x'])
  servers.pop()
  await first.stop()
  rmSync(join(dir, 'data', 'snapshots'), { recursive: true })
}
/** Runs `daybook serve` in this process on a terminal, until `stop` of its output is called. Resolves to the exit code. */
const serveOnTerminal = (output: (stop: () => void) => Pick<Io, 'out' | 'err'>): Promise<number> => {
  let signal: () => void = () => undefined
  return runProgram(['serve', '--port', '0', '--data', join(dir, 'data')], {
    ...noTerminal,
    env: { DAYBOOK_TOKEN: 'a-token-of-the-tests' },
    ...output(() => signal()),
    errIsTerminal: true,
    onSignal: (heard) => {
      signal = () => heard('SIGTERM')
      return () => undefined
    },
  })
}
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-serve-'))
})
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
  rmSync(dir, { recursive: true, force: true })
})

describe('daybook serve', () => {
  test('ready is one line on stdout; SIGTERM ends it with exit code 0', async () => {
    const server = await serving()
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    servers.pop()
    expect(await server.stop()).toMatchObject({ code: 0, out: `daybook: ready at ${server.url}\n` })
  })

  test('the first start shows an admin token once; the token works, and later starts do not show it', async () => {
    const first = await serving([], {})
    const [, token] = /export DAYBOOK_TOKEN=(\S+)/.exec(first.said) ?? []
    expect(token).toMatch(/^dbk_/)
    expect(first.said.match(/export DAYBOOK_TOKEN=/g)).toHaveLength(1)
    // It says where the server is, where the data is, what to try and how to stop.
    for (const told of [`address  ${first.url}\n`, `export DAYBOOK_URL=${first.url}\n`, `data     ${join(dir, 'data')}\n`, 'daybook enqueue ', 'stop     Ctrl-C']) expect(first.said).toContain(told)
    expect((await runHere(['enqueue', 'x'], { DAYBOOK_URL: first.url, DAYBOOK_TOKEN: token ?? '' })).code).toBe(0)
    expect((await runHere(['enqueue', 'x'], { DAYBOOK_URL: first.url })).code).toBe(1)
    servers.pop()
    await first.stop()
    const second = await serving([], {})
    expect(second.said).not.toContain('token')
    expect((await runHere(['list'], { DAYBOOK_URL: second.url, DAYBOOK_TOKEN: token ?? '' })).code).toBe(0)
  })

  test('a first start that fails makes no token that nobody has seen: the first one that succeeds shows it', async () => {
    const other = await serving(['--store', 'memory:'])
    const failed = await run(['serve', '--port', new URL(other.url).port, '--data', join(dir, 'data')])
    expect([failed.code, failed.err]).toEqual([1, expect.stringContaining('is in use')])
    const first = await serving([], {})
    const [, token] = /export DAYBOOK_TOKEN=(\S+)/.exec(first.said) ?? []
    expect((await runHere(['list'], { DAYBOOK_URL: first.url, DAYBOOK_TOKEN: token ?? '' })).code).toBe(0)
  })

  test('enqueued tasks are there after a restart', async () => {
    const first = await serving()
    await first.daybook(['enqueue', 'x', '--id', 'a'])
    servers.pop()
    await first.stop()
    expect(await (await serving()).json('show', 'a')).toMatchObject({ id: 'a', status: 'pending' })
  })

  // Below /proc nothing can be created, and nothing is refused: Node's recursive mkdir never returns there.
  test.each(['/dev/null/x', '/proc/x', '/proc/x/y'])('a data folder that cannot be created is reported: %s', async (folder) => {
    const child = start(['serve', '--port', '0', '--data', folder])
    try {
      const { code, err } = await ended(child)
      expect([code, err]).toEqual([1, expect.stringMatching(`the data folder ${folder} cannot be made: .+ Give another --data`)])
    } finally {
      child.kill('SIGKILL')
    }
  })

  // Permissions do not apply to root, so another user has to try.
  test('a file that the user of the server may not use is named, with what to do', async () => {
    const isRoot = process.getuid?.() === 0
    const folder = join(dir, 'snapshots')
    mkdirSync(folder)
    chmodSync(folder, isRoot ? 0o700 : 0)
    if (isRoot) chownSync(dir, 65534, 65534)
    const child = spawn(process.execPath, [join(root, 'packages/adapters/bin/daybook.js'), 'serve', '--port', '0', '--auth', 'off', '--data', dir], isRoot ? { uid: 65534, gid: 65534 } : {})
    try {
      const { code, err } = await inTime('the end of a server that may not read its snapshots', ended(child))
      expect([code, err]).toEqual([1, expect.stringMatching(`^daybook: the user .+ may not use ${folder} .+ chown`)])
    } finally {
      child.kill('SIGKILL')
    }
  })

  test('--token, --url and --queue are refused, and it says what a server takes instead', async () => {
    expect(await runHere(['serve', '--token', 'x', '--data', join(dir, 'data')])).toMatchObject({ code: 2, err: expect.stringMatching(/DAYBOOK_TOKEN .+ daybook token create/) as string })
    expect(await runHere(['serve', '--url', 'http://127.0.0.1:8080', '--port', '0', '--data', join(dir, 'data')])).toMatchObject({ code: 2, err: expect.stringContaining('--host and --port') as string })
    expect(await runHere(['serve', '--queue', 'x', '--port', '0', '--data', join(dir, 'data')])).toMatchObject({ code: 2, err: expect.stringContaining('all queues') as string })
  })

  test('a terminal shows the progress of reading the log', async () => {
    await leaveUnread()
    const told: Array<string> = []
    const code = await serveOnTerminal((stop) => ({
      out: (text) => {
        told.push(text)
        stop()
      },
      err: (text) => void told.push(text),
    }))
    expect(code).toBe(0)
    const read = told.findIndex((text) => /reading the log: default, \d+ of 1 events/.test(text))
    expect(read).toBeGreaterThanOrEqual(0)
    expect(told.findIndex((text) => text.startsWith('daybook: ready'))).toBeGreaterThan(read)
  })

  test('a signal while the log is read ends the start at once: it is not read to its end', async () => {
    // The log comes in pages of 2,000 events, and there is more than one of them after the signal.
    const embedded = await openEmbedded({ dataDir: join(dir, 'data') })
    for (let thousand = 0; thousand < 6; thousand++) await embedded.enqueueAll(Array.from({ length: 1_000 }, (_, i) => ({ type: 'x', payload: thousand * 1_000 + i })))
    await embedded.close()
    rmSync(join(dir, 'data', 'snapshots'), { recursive: true })
    const told: Array<string> = []
    const read: Array<string> = []
    // Each step of the progress is shown.
    let now = 0
    const spied = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000))
    try {
      const code = await serveOnTerminal((stop) => ({
        out: (text) => void told.push(text),
        err: (text) => {
          const [, done] = /reading the log: default, (\d+) of 6000 events/.exec(text) ?? []
          if (done === undefined) return
          read.push(done)
          if (done === '2000') stop()
        },
      }))
      expect([code, told, read]).toEqual([0, [], ['0', '2000']])
    } finally {
      spied.mockRestore()
    }
    // A queue that has been read leaves a snapshot when it is closed.
    expect(readdirSync(join(dir, 'data', 'snapshots')).filter((name) => name.startsWith('taskqueue'))).toEqual([])
  })

  test('without a terminal, a start that takes long says every ten seconds how far it is', async () => {
    await leaveUnread()
    // Time runs a thousand times as fast.
    const now = performance.now.bind(performance)
    const spied = vi.spyOn(performance, 'now').mockImplementation(() => now() * 1_000)
    const told: Array<string> = []
    let stop: () => void = () => undefined
    try {
      const code = await runProgram(['serve', '--port', '0', '--data', join(dir, 'data')], {
        ...noTerminal,
        env: { DAYBOOK_TOKEN: 'a-token-of-the-tests' },
        out: () => stop(),
        err: (text) => void told.push(text),
        onSignal: (heard) => {
          stop = () => heard('SIGTERM')
          return () => undefined
        },
      })
      expect([code, told]).toEqual([0, expect.arrayContaining([expect.stringMatching(/^daybook: reading the log: default, \d+ of 1 events\n$/)])])
    } finally {
      spied.mockRestore()
    }
  })

  test('two servers with one data folder: the second one is refused, whatever the store; what only reads the folder, and a queue inside a program, are not', async () => {
    const data = join(dir, 'data')
    const shared = ['--store', `sqlite+shared:${join(data, 'daybook.sqlite')}`]
    const one = await serving(shared)
    expect((await one.daybook(['enqueue', 'x', '--id', 'a'])).code).toBe(0)
    for (const store of [shared, ['--store', `sqlite:${join(dir, 'other.sqlite')}`]]) {
      const child = start(['serve', '--port', '0', '--data', data, ...store])
      try {
        const { code, out, err } = await inTime('the end of the second server', ended(child))
        expect([code, out, err]).toEqual([1, '', `daybook: another server uses the data folder ${data}: stop that one, or give this one a --data of its own\n`])
      } finally {
        child.kill('SIGKILL')
      }
    }
    await serving(['--store', 'memory:'])
    expect((await runHere(['audit', 'verify', '--data', data])).code).toBe(0)
    expect((await runHere(['backup', join(dir, 'copy'), '--data', data])).code).toBe(0)
    expect(existsSync(join(dir, 'copy', 'server.lock'))).toBe(false)
    const embedded = await openEmbedded({ dataDir: data, shared: true })
    expect(await embedded.task('a')).toMatchObject({ id: 'a' })
    await embedded.close()
  })

  test('two servers on one file: each sees queues, tasks and claims of the other', async () => {
    const store = ['--store', `sqlite+shared:${join(dir, 'shared.sqlite')}`]
    const one = await serving(store, undefined, join(dir, 'one'))
    const two = await serving(store, undefined, join(dir, 'two'))
    const waiting = one.daybook(['enqueue', 'x', '--id', 'a', '--queue', 'q'])
    expect((await waiting).code).toBe(0)
    expect(await two.json('show', 'a', '--queue', 'q')).toMatchObject({ id: 'a', status: 'pending' })
    expect(await two.json('claim', '--agent', 'ann', '--queue', 'q')).toMatchObject({ claims: [{ task: { id: 'a' } }] })
    const there = two.json('claim', '--agent', 'bob', '--queue', 'q', '--wait', '20')
    await one.daybook(['enqueue', 'y', '--id', 'b', '--queue', 'q'])
    expect(await there).toMatchObject({ claims: [{ task: { id: 'b' } }] })
    const third = await run(['serve', '--port', '0', '--data', join(dir, 'three'), '--store', `sqlite:${join(dir, 'shared.sqlite')}`])
    expect([third.code, third.err]).toEqual([1, expect.stringContaining('Another Daybook server')])
  })

  test('queue files that cannot be written stop neither the server nor its start: /readyz, metrics and the doctor report it until they can be written', async () => {
    const folder = join(dir, 'files')
    writeFileSync(folder, 'in the way')
    const server = await serving(['--queue-files', folder])
    expect((await server.daybook(['enqueue', 'x', '--id', 'a'])).code).toBe(0)
    const ready = async () => {
      const answer = await fetch(`${server.url}/readyz`)
      return { code: answer.status, ...(await answer.json() as { readonly status: string; readonly degraded?: ReadonlyArray<object> }) }
    }
    const metrics = async () => (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.env.DAYBOOK_TOKEN ?? ''}` } })).text()
    const degraded = { part: 'queue files', queue: 'default', reason: expect.stringMatching(/^E[A-Z]+: /) as string, since: expect.stringMatching(/Z$/) as string }
    expect(await ready()).toMatchObject({ code: 200, status: 'ready', degraded: [degraded] })
    expect(await metrics()).toContain('daybook_queue_files_failing{queue="default"} 1')
    const found = await server.daybook(['doctor'])
    expect([found.code, found.out]).toEqual([1, expect.stringMatching(/BAD +queue files of default: out of date since .+: E[A-Z]+: /)])
    rmSync(folder)
    for (let tries = 0; (await ready()).degraded !== undefined; tries++) {
      expect(tries).toBeLessThan(3_000)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(JSON.parse(readFileSync(join(folder, 'pending.json'), 'utf8'))).toMatchObject({ tasks: [{ id: 'a' }] })
    expect((await metrics()).split('\n')).toEqual(expect.arrayContaining(['daybook_queue_files_failing{queue="default"} 0', 'daybook_queue_files_position{queue="default"} 0']))
    expect((await server.daybook(['doctor'])).code).toBe(0)
    servers.pop()
    const { code, err } = await server.stop()
    const lines = err.split('\n').filter((line) => line.includes('queue files'))
    // What the start says is for people; what comes later is a line of the log, with its time.
    expect([code, lines]).toEqual([0, [expect.stringMatching(/^daybook: .+ cannot be written, and are tried again: /), expect.stringMatching(/^\{"level":40,"time":\d+,.+ up to date again/)]])
  })

  test('LK-14: new queues begin with the settings of --config', async () => {
    const config = join(dir, 'config.yaml')
    writeFileSync(config, 'defaults: { decisionReport: optional }\nbreakers:\n  overrides:\n    ops-security: { failureThreshold: 3 }\n')
    const server = await serving(['--config', config])
    await server.daybook(['enqueue', 'x'])
    expect(await server.json('settings', 'get')).toMatchObject({ decisionReport: 'optional', breakers: { overrides: { 'ops-security': { failureThreshold: 3 } } } })
  })

  test('TQM-PROC-002: a launcher starts a program for each task, within capacity, as agents with names', async () => {
    const config = join(dir, 'config.yaml')
    const log = join(dir, 'runs')
    const script = `
      const { appendFileSync, readFileSync } = require('node:fs')
      const task = JSON.parse(readFileSync(0, 'utf8'))
      appendFileSync(${JSON.stringify(log)}, 'begin ' + task.id + '\\n')
      setTimeout(() => {
        appendFileSync(${JSON.stringify(log)}, 'end ' + task.id + '\\n')
        console.log(JSON.stringify({ output: task.payload, decisionReport: process.env.DAYBOOK_AGENT }))
      }, 100)`
    writeFileSync(config, JSON.stringify({ defaults: { capacity: { maxConcurrentAgents: 1 } }, launcher: { command: [process.execPath, '-e', script], types: ['eng-*'], concurrency: 3 } }))
    const server = await serving(['--config', config])
    for (const id of ['a', 'b', 'c']) await server.daybook(['enqueue', 'eng-web', '--id', id, '--payload', `"${id}"`])
    await server.daybook(['enqueue', 'ops', '--id', 'other'])
    for (const id of ['a', 'b', 'c']) expect(await server.json('result', id, '--wait', '30')).toMatchObject({ status: 'completed', result: { output: id, decisionReport: expect.stringMatching(/^launcher-.+-[123]$/) as string } })
    // One at a time, although three may run.
    const lines = readFileSync(log, 'utf8').trim().split('\n')
    for (let i = 0; i < lines.length; i += 2) expect(lines[i + 1]).toBe(lines[i]?.replace('begin', 'end'))
    expect(await server.json('show', 'other')).toMatchObject({ status: 'pending' })
    servers.pop()
    expect(await server.stop()).toMatchObject({ code: 0 })
  })

  test('TQM-PROC-002: a launcher whose program cannot be started, or that is not described rightly, is reported at the start', async () => {
    const config = join(dir, 'config.yaml')
    const problem = async (launcher: object) => {
      writeFileSync(config, JSON.stringify({ launcher }))
      const { code, err } = await run(['serve', '--config', config, '--port', '0', '--store', 'memory:', '--auth', 'off'])
      return [code, err]
    }
    expect(await problem({ command: ['no-such-program'] })).toEqual([1, expect.stringContaining("the launcher's program: no-such-program cannot be found")])
    expect(await problem({ command: [], agents: 3 })).toEqual([2, expect.stringContaining('launcher')])
  })

  test('a start that fails leaves the log free for the next one', async () => {
    const data = join(dir, 'data')
    mkdirSync(data)
    writeFileSync(join(data, 'snapshots'), '')
    const options = { host: '127.0.0.1', port: 0, dataDir: data, store: { kind: 'sqlite', file: join(data, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off' } as const
    await expect(serve(options)).rejects.toThrow('snapshots')
    rmSync(join(data, 'snapshots'))
    const started = await serve(options)
    await started.close()
  })

  test('--auth off: no token needed on loopback, refused elsewhere', async () => {
    const server = await serving(['--auth', 'off', '--store', 'memory:'], {})
    expect((await server.daybook(['enqueue', 'x'])).code).toBe(0)
    const { code, err } = await run(['serve', '--auth', 'off', '--host', '0.0.0.0', '--port', '0', '--store', 'memory:'])
    expect([code, err]).toEqual([1, expect.stringContaining('loopback')])
  })

  test('a second server on the same data folder, or the same port, says what is in use', async () => {
    const server = await serving()
    const data = await run(['serve', '--port', '0', '--data', join(dir, 'data')])
    expect([data.code, data.err]).toEqual([1, expect.stringContaining('another server uses the data folder')])
    const port = await run(['serve', '--port', new URL(server.url).port, '--store', 'memory:'])
    expect([port.code, port.err]).toEqual([1, expect.stringContaining('is in use')])
  })
})

describe('daybook doctor on files', () => {
  const doctor = async (...args: ReadonlyArray<string>) => {
    const { code, out } = await runHere(['doctor', ...args, '--json'])
    return { code, ...(JSON.parse(out) as { readonly ok: boolean; readonly findings: ReadonlyArray<{ readonly level: string; readonly says: string }> }) }
  }
  const filled = async (): Promise<string> => {
    const server = await serving()
    await server.daybook(['enqueue', 'x', '--id', 'a'])
    servers.pop()
    await server.stop()
    return join(dir, 'data')
  }

  test('an intact file; while a server has it open its events are not read, and it is not reported as intact', async () => {
    const data = await filled()
    expect(await doctor('--data', data)).toMatchObject({ code: 0, ok: true })
    expect(await doctor('--store', join(data, 'daybook.sqlite'))).toMatchObject({ code: 0, ok: true })
    await serving()
    const open = await run(['doctor', '--data', data])
    expect([open.code, open.out]).toEqual([1, expect.stringContaining('no problem found, but the events were not read')])
    expect(open.out).not.toContain('nothing is wrong')
    expect(await doctor('--data', data)).toMatchObject({ code: 1, ok: false })
  })

  test('a queue whose time is ahead of every clock: said of a file and of a server, and nothing is wrong', async () => {
    const data = await filled()
    const { appendLater } = await import('./foreign.js')
    await appendLater(join(data, 'daybook.sqlite'), 86_400)
    const { code, ok, findings } = await doctor('--data', data)
    expect([code, ok]).toEqual([0, true])
    const says = /its time is 86[34]\d\d s ahead of this machine's clock/
    expect(findings).toContainEqual({ level: 'note', about: 'queue default', says: expect.stringMatching(says) as string })
    const server = await serving()
    const online = await server.daybook(['doctor'])
    expect([online.code, online.out]).toEqual([0, expect.stringMatching(/its time is 86[34]\d\d s ahead of the clock of its server/) as string])
  })

  test('EV-11: events of unknown type or version, malformed ones and misfits are counted', async () => {
    const data = await filled()
    const { appendForeign } = await import('./foreign.js')
    await appendForeign(join(data, 'daybook.sqlite'))
    const { code, ok, findings } = await doctor('--data', data)
    expect([code, ok]).toEqual([1, false])
    const says = findings.filter(({ level }) => level === 'bad').map((finding) => finding.says).join('\n')
    expect(says).toMatch(/unknown type: Tickled/)
    expect(says).toMatch(/unknown version: Claimed/)
    expect(says).toMatch(/malformed data: Completed/)
    expect(says).toMatch(/1 event does not fit/)
    expect(says).toMatch(/once a start replays this event, because no snapshot covers it, the queue is read-only: event \d+ \(/)
    const server = await serving()
    const online = await server.daybook(['doctor'])
    expect(online.code).toBe(1)
    expect(online.out).toMatch(/unknown type: Tickled/)
    expect(online.out).toMatch(/unknown version: Claimed/)
    expect((await server.daybook(['show', 'a'])).code).toBe(0)
  })

  test('a damaged file is detected', async () => {
    const data = await filled()
    const db = new Database(join(data, 'daybook.sqlite'))
    db.prepare("UPDATE events SET data = 'not json' WHERE revision = 0").run()
    db.close()
    const { code, ok, findings } = await doctor('--data', data)
    expect([code, ok]).toEqual([1, false])
    const says = findings.map((finding) => finding.says).join('\n')
    expect(says).toMatch(/not JSON texts: \S*default revision 0 \(position 1\)/)
    // The rest is checked nevertheless.
    expect(says).toMatch(/checksum right/)
  })

  test('unusable snapshots are reported; they do no harm', async () => {
    const data = await filled()
    const { readdirSync } = await import('node:fs')
    const [snapshot = ''] = readdirSync(join(data, 'snapshots'))
    writeFileSync(join(data, 'snapshots', snapshot), 'damaged')
    const { code, findings } = await doctor('--data', data)
    expect(code).toBe(0)
    expect(findings.filter(({ level }) => level === 'note')).toHaveLength(1)
  })

  test('an event below the snapshot that cannot be read any more: the doctor of the server does not call its queue read-only', async () => {
    const data = await filled()
    const second = await serving()
    await second.daybook(['enqueue', 'y', '--id', 'b'])
    servers.pop()
    await second.stop()
    const db = new Database(join(data, 'daybook.sqlite'))
    db.prepare("UPDATE events SET type = 'Tickled' WHERE revision = 0").run()
    db.close()
    const server = await serving()
    expect(await server.daybook(['enqueue', 'z', '--id', 'c'])).toMatchObject({ code: 0, err: '' })
    const { code, out } = await server.daybook(['doctor'])
    expect([code, out]).toEqual([1, expect.stringMatching(/unknown type: Tickled/)])
    expect(out).not.toContain('read-only')
  })

  test.each([
    ['checkpoint-key.pem', 'holds no private key that signs checkpoints'],
    ['tokens.json', 'is damaged: restore it'],
  ])('a %s with which no server starts is found, and a backup warns of it', async (name, reason) => {
    const data = await filled()
    const file = join(data, name)
    const whole = readFileSync(file, 'utf8')
    for (const text of ['', whole.slice(0, whole.length / 2), 'junk']) {
      writeFileSync(file, text)
      const { code, findings } = await doctor('--data', data)
      expect([code, findings]).toEqual([1, expect.arrayContaining([{ level: 'bad', about: file, says: expect.stringContaining(reason) as string }])])
    }
    expect(await runHere(['backup', join(dir, 'copy'), '--data', data])).toMatchObject({ code: 0, err: expect.stringContaining(reason) as string })
    expect(await runHere(['serve', '--port', '0', '--data', data], {}, '')).toMatchObject({ code: 1, err: expect.stringContaining(reason) as string })
  })

  test('a file in place of a folder, or a folder in place of a file, is named, and the rest is checked nevertheless', async () => {
    const data = await filled()
    const bad = async () => (await doctor('--data', data)).findings.filter(({ level }) => level === 'bad')
    const [snapshots, checkpoints] = [join(data, 'snapshots'), join(data, 'checkpoints')]
    rmSync(snapshots, { recursive: true })
    writeFileSync(snapshots, '')
    const key = join(checkpoints, 'default.key')
    mkdirSync(key, { recursive: true })
    writeFileSync(join(checkpoints, 'default.checkpoints'), 'x\n\n— x y\n')
    expect(await bad()).toMatchObject([{ about: snapshots }, { about: 'queue default', says: expect.stringContaining(key) as string }])
    rmSync(checkpoints, { recursive: true })
    writeFileSync(checkpoints, '')
    expect(await bad()).toMatchObject([{ about: snapshots }, { about: checkpoints, says: expect.stringContaining('ENOTDIR') as string }])
    expect((await doctor('--data', data)).findings).toContainEqual(expect.objectContaining({ level: 'good', about: 'queue default' }))
  })

  test('a folder without a log is an error', async () => {
    expect(await run(['doctor', '--data', join(dir, 'nowhere')])).toMatchObject({ code: 1, err: expect.stringContaining('is not there') as string })
  })
})

test('a server that is stopped while it starts stops', async () => {
  const child = start(['serve', '--port', '0', '--data', join(dir, 'data')])
  const end = ended(child)
  await new Promise((resolve) => setTimeout(resolve, 700))
  child.kill('SIGTERM')
  const { code } = await end
  // Before its handlers are installed, the signal ends the process.
  expect([0, null]).toContain(code)
})
