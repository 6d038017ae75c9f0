import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { ended, root, run, serverOfFile, start } from './program.js'

const server = serverOfFile()

let last = 0
const queueOf = async (...tasks: ReadonlyArray<object>): Promise<string> => {
  const q = `w${++last}`
  await server.daybook(['settings', 'set', 'defaults.backoffSeconds=0.1', 'defaults.jitter=0', '--queue', q])
  const { code, err } = await server.daybook(['enqueue', '--file', '-', '--queue', q], JSON.stringify(tasks))
  if (code !== 0) throw new Error(err)
  return q
}
/** Runs a Node program on each task. */
const program = (name: string, source: string): ReadonlyArray<string> => {
  const file = join(server.dir, `${name}.cjs`)
  writeFileSync(file, `const task = JSON.parse(require('node:fs').readFileSync(0, 'utf8')); const { env } = process;\n${source}`)
  return [process.execPath, file]
}
const work = (q: string, command: ReadonlyArray<string>, ...flags: ReadonlyArray<string>) =>
  run(['work', '--queue', q, '--until-empty', ...flags, '--', ...command], server.env)
interface Shown { readonly status: string; readonly result?: unknown; readonly lastError?: string; readonly attempts: number; readonly deadLetter?: { readonly reason: string } }
const show = (q: string, id: string) => server.json<Shown>('show', id, '--queue', q)
const firstLeaseMs = async (q: string, id: string): Promise<number> => {
  const { events } = await server.json<{ readonly events: ReadonlyArray<{ readonly type: string; readonly at: string; readonly data: { readonly expiresAt: string } }> }>('history', id, '--queue', q)
  const claimed = events.find(({ type }) => type === 'Claimed')!
  return Date.parse(claimed.data.expiresAt) - Date.parse(claimed.at)
}
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
/** Waits until the process has ended. If it has not in time, it is ended here, and the test fails. */
const untilGone = async (pid: number): Promise<void> => {
  try {
    await inTime('that the process ends', until(async () => !isAlive(pid) || isZombie(pid)))
  } catch (error) {
    process.kill(pid, 'SIGKILL')
    throw error
  }
}
/** Whether it has ended, and its parent has not asked for its exit code. In some containers nobody asks for those of orphans. */
const isZombie = (pid: number): boolean => existsSync(`/proc/${pid}/stat`) && / Z \d+ \d+ /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  for (let i = 0; i < 1_000; i++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the condition was not met in time')
}

describe('daybook work -- COMMAND', () => {
  test('the task comes as JSON and in the environment; the output is the result', async () => {
    const q = await queueOf({ id: 'a', type: 'eng-x', payload: { n: 1 } }, { id: 'b', type: 'eng-y', payload: { n: 2 }, dependencies: ['a'] })
    const command = program('echo', `
      const { DAYBOOK_TASK_ID: id, DAYBOOK_TASK_TYPE: type, DAYBOOK_QUEUE: queue, DAYBOOK_ATTEMPT: attempt } = env
      console.log(JSON.stringify({ output: { id, type, queue, attempt, payload: task.payload }, decisionReport: 'echoed' }))`)
    const { code, err } = await work(q, command, '--types', 'eng-*')
    expect([code, err]).toEqual([0, expect.stringContaining('2 tasks completed')])
    expect(await show(q, 'a')).toMatchObject({ status: 'completed', result: { output: { id: 'a', type: 'eng-x', queue: q, attempt: '1', payload: { n: 1 } } } })
    expect(await show(q, 'b')).toMatchObject({ status: 'completed' })
  })

  test('a program parks its task by what it prints; run again, it has the callback', async () => {
    const q = await queueOf({ id: 'a', type: 'x' }, { id: 'b', type: 'y', maxRetries: 1 })
    const command = program('park', `
      const { callback, checkpoint } = task
      console.log(JSON.stringify(callback ? { output: { callback, checkpoint }, decisionReport: 'r' } : { park: { callbackKey: 'ok-' + task.id, timeoutSeconds: task.id === 'a' ? 600 : -1, checkpoint: 3 } }))`)
    const running = work(q, command, '--types', 'x')
    await until(async () => (await show(q, 'a')).status === 'waiting')
    expect((await server.daybook(['list', '--queue', q])).out).toContain('callback ok-a')
    expect(await server.json('callback', 'ok-a', '--payload', '{"by":"ann"}', '--queue', q)).toMatchObject({ task: 'a', status: 'pending' })
    const { code, err } = await running
    expect([code, err]).toEqual([0, expect.stringContaining('1 task completed, 1 parked')])
    expect(await show(q, 'a')).toMatchObject({ status: 'completed', attempts: 0, result: { output: { callback: { key: 'ok-a', payload: { by: 'ann' } }, checkpoint: 3 } } })
    await work(q, command, '--types', 'y')
    expect(await show(q, 'b')).toMatchObject({ status: 'dead-letter', lastError: expect.stringContaining('park.timeoutSeconds') })
  })

  test('a result without success is a failed attempt, and its errors are told', async () => {
    const q = await queueOf({ id: 'a', type: 'x', maxRetries: 1 })
    const { err } = await work(q, program('unsuccessful', 'console.log(JSON.stringify({ success: false, errors: ["nope", "never"] }))'))
    expect(err).toContain('nope; never')
    expect(await show(q, 'a')).toMatchObject({ status: 'dead-letter', lastError: 'nope; never' })
  })

  test('text becomes the output; without a report the task is incomplete, which is reported with exit code 1', async () => {
    const q = await queueOf({ id: 'a', type: 'x' })
    const command = program('text', "console.log('just text')")
    const { code, err } = await work(q, command)
    expect([code, err]).toEqual([1, expect.stringContaining('incomplete')])
    expect(err).toContain('decisionReport')
    expect(await show(q, 'a')).toMatchObject({ status: 'incomplete' })
    const free = await queueOf({ id: 'a', type: 'x' })
    await server.daybook(['settings', 'set', 'decisionReport=optional', '--queue', free])
    expect((await work(free, command)).code).toBe(0)
    expect(await show(free, 'a')).toMatchObject({ status: 'completed', result: { output: 'just text' } })
  })

  test('exit codes: 65 is not retried, 75 and all others are; the end of stderr is the error message', async () => {
    const q = await queueOf({ id: 'temporary', type: 'x', payload: 75 }, { id: 'permanent', type: 'x', payload: 65 }, { id: 'flaky', type: 'x', payload: 1, maxRetries: 2 })
    const command = program('codes', `
      if (task.payload !== 65 && env.DAYBOOK_ATTEMPT === '2') console.log('{"decisionReport":"second time"}')
      else { console.error('the reason for ' + task.payload); process.exitCode = task.payload }`)
    const { code, err } = await work(q, command)
    expect(code).toBe(0)
    expect(err).toContain('the reason for 75')
    expect(await show(q, 'temporary')).toMatchObject({ status: 'completed', attempts: 1 })
    expect(await show(q, 'flaky')).toMatchObject({ status: 'completed', attempts: 1 })
    expect(await show(q, 'permanent')).toMatchObject({ status: 'dead-letter', lastError: 'the reason for 65', deadLetter: { reason: 'not-retryable' } })
  })

  test('lease lost: the program and its children are ended', async () => {
    const q = await queueOf({ id: 'a', type: 'x', timeout: 3 })
    const mark = join(server.dir, 'ended')
    const script = join(server.dir, 'stubborn.sh')
    // The shell handles SIGTERM itself; its child does not get it.
    writeFileSync(script, `trap 'echo term > ${mark}; exit 1' TERM\nsleep 60 & wait\n`)
    const child = start(['work', '--queue', q, '--', 'bash', script], server.env)
    const end = ended(child)
    await until(async () => (await show(q, 'a')).status === 'in-progress')
    await server.daybook(['cancel', 'a', '--queue', q])
    await until(async () => existsSync(mark))
    child.kill('SIGINT')
    const { err } = await end
    expect(err).toContain('lost')
    expect(await show(q, 'a')).toMatchObject({ status: 'cancelled' })
  })

  test('lease lost: the children of a program are ended also if the program itself has ended, and they hold its output', async () => {
    const q = await queueOf({ id: 'a', type: 'x' })
    const [mark, pid] = [join(server.dir, 'child-ended'), join(server.dir, 'pid')]
    const script = join(server.dir, 'leaves-a-child.sh')
    writeFileSync(script, `(trap 'echo term > ${mark}; exit 1' TERM; sleep 60 & wait) &\necho $$ > ${pid}.new; mv ${pid}.new ${pid}\n`)
    const child = start(['work', '--queue', q, '--', 'bash', script], server.env)
    const end = ended(child)
    await until(async () => existsSync(pid) && !isAlive(Number(readFileSync(pid, 'utf8'))))
    await server.daybook(['cancel', 'a', '--queue', q])
    await until(async () => existsSync(mark))
    child.kill('SIGINT')
    expect((await end).err).toContain('lost')
  })

  test('lease lost: a child that ignores SIGTERM gets SIGKILL, also if the program itself has ended, and the child does not hold its output', async () => {
    const q = await queueOf({ id: 'a', type: 'x' })
    const pid = join(server.dir, 'pid-of-deaf-child')
    const script = join(server.dir, 'leaves-a-deaf-child.sh')
    writeFileSync(script, `(trap '' TERM; exec > /dev/null 2>&1 < /dev/null; echo $BASHPID > ${pid}.new; mv ${pid}.new ${pid}; sleep 300) & sleep 300\n`)
    const child = start(['work', '--queue', q, '--lease', '2', '--', 'bash', script], server.env)
    const end = ended(child)
    await until(async () => existsSync(pid))
    await server.daybook(['cancel', 'a', '--queue', q])
    await untilGone(Number(readFileSync(pid, 'utf8')))
    child.kill('SIGINT')
    expect((await end).err).toContain('lost')
  })

  test('a program that ignores SIGTERM does not outlive its worker, which a second signal ends at once', async () => {
    const q = await queueOf({ id: 'a', type: 'x' })
    const [mark, pid] = [join(server.dir, 'deaf-heard'), join(server.dir, 'pid-of-deaf')]
    const child = start(['work', '--queue', q, '--lease', '2', '--', ...program('deaf', `
      const { renameSync, writeFileSync } = require('node:fs')
      process.on('SIGTERM', () => writeFileSync(${JSON.stringify(mark)}, ''))
      setTimeout(() => undefined, 300_000)
      writeFileSync(${JSON.stringify(`${pid}.new`)}, String(process.pid))
      renameSync(${JSON.stringify(`${pid}.new`)}, ${JSON.stringify(pid)})`)], server.env)
    const end = ended(child)
    await until(async () => existsSync(pid))
    await server.daybook(['cancel', 'a', '--queue', q])
    await until(async () => existsSync(mark))
    child.kill('SIGINT')
    child.kill('SIGTERM')
    expect((await end).err).toContain('lost')
    await untilGone(Number(readFileSync(pid, 'utf8')))
  })

  test('a program that prints too much is ended, also if it ignores SIGTERM, and is not tried again', async () => {
    const q = await queueOf({ id: 'a', type: 'x' })
    const { code } = await work(q, program('endless', `process.on('SIGTERM', () => undefined); const more = () => process.stdout.write('x'.repeat(65_536), more); more()`))
    expect(code).toBe(0)
    expect(await show(q, 'a')).toMatchObject({ status: 'dead-letter', lastError: 'it printed more than 4194304 bytes' })
  })

  test('SIGTERM: running programs may finish, nothing new is started, exit code 0', async () => {
    const q = await queueOf({ id: 'a', type: 'x', priority: 9 }, { id: 'b', type: 'x', payload: 2 })
    // It runs until the worker has said that it stops.
    const go = join(server.dir, 'go')
    const child = start(['work', '--queue', q, '--', ...program('slow', `const look = () => require('node:fs').existsSync(${JSON.stringify(go)}) ? console.log('{"decisionReport":"slow"}') : setTimeout(look, 10); look()`)], server.env)
    const end = ended(child)
    await until(async () => (await show(q, 'a')).status === 'in-progress')
    child.kill('SIGTERM')
    await inTime('that it stops', new Promise<void>((resolve) => child.stderr.on('data', (text: string) => text.includes('stopping') && resolve())))
    writeFileSync(go, '')
    expect((await end).code).toBe(0)
    expect([(await show(q, 'a')).status, (await show(q, 'b')).status]).toEqual(['completed', 'pending'])
  })

  test('a program that cannot be started is wrong usage, reported before any task is claimed', async () => {
    const q = await queueOf({ id: 'a', type: 'x' })
    const plain = join(server.dir, 'plain.txt')
    writeFileSync(plain, 'no program')
    for (const [command, message] of [['no-such-program-anywhere', 'cannot be found'], ['/nonexistent/cmd', 'cannot be found'], [plain, 'may not be run'], [server.dir, 'may not be run']] as const) {
      const { code, err } = await work(q, [command])
      expect([command, code, err]).toEqual([command, 2, expect.stringContaining(message)])
    }
    const { events } = await server.json<{ readonly events: ReadonlyArray<{ readonly type: string }> }>('history', 'a', '--queue', q)
    expect(events.map(({ type }) => type)).not.toContain('Claimed')
  })

  test('if the worker is killed, its task is available again when the lease ends, however long the task’s timeout is', async () => {
    const q = await queueOf({ id: 'a', type: 'x', timeout: 3_600 })
    const child = start(['work', '--queue', q, '--lease', '2', '--', 'sleep', '600'], server.env)
    const end = ended(child)
    await until(async () => (await show(q, 'a')).status === 'in-progress')
    child.kill('SIGKILL')
    await end
    await until(async () => (await show(q, 'a')).status === 'pending')
    expect(await firstLeaseMs(q, 'a')).toBe(2_000)
    expect(await show(q, 'a')).toMatchObject({ lastError: 'lease expired without a heartbeat' })
  })

  test('a lease lasts a minute by default', async () => {
    const q = await queueOf({ id: 'a', type: 'x', timeout: 3_600 })
    await work(q, program('quick', 'console.log(\'{"decisionReport":"done"}\')'))
    expect(await firstLeaseMs(q, 'a')).toBe(60_000)
  })

  test('a program that hangs is ended after --max-run seconds, and its attempt has failed', async () => {
    const q = await queueOf({ id: 'a', type: 'x', maxRetries: 1 }, { id: 'b', type: 'x', payload: 2 })
    const command = program('hangs', `if (task.id === 'a') setInterval(() => undefined, 1_000); else console.log('{"decisionReport":"done"}')`)
    // Long enough for the other program to start and end on a slow machine.
    const { code, err } = await work(q, command, '--max-run', '8.5')
    expect([code, err]).toEqual([0, expect.stringContaining('it ran longer than 8.5 s (--max-run) and was ended')])
    expect(err).toMatch(/failed {2}a .*now a dead letter/)
    expect(await show(q, 'a')).toMatchObject({ status: 'dead-letter', lastError: 'the handler ran longer than 8.5 s (maxRunSeconds)' })
    expect(await show(q, 'b')).toMatchObject({ status: 'completed' })
  })

  test('GB-04: a worker with a fixed name is stopped while it works: the task goes back without an attempt, and that name can claim it again', async () => {
    const q = await queueOf({ id: 'a', type: 'x' })
    const child = start(['work', '--queue', q, '--agent', 'mailer-1', '--grace', '0.1', '--', 'sleep', '600'], server.env)
    const end = ended(child)
    await until(async () => (await show(q, 'a')).status === 'in-progress')
    child.kill('SIGTERM')
    const { code, err } = await end
    expect([code, err]).toEqual([0, expect.stringMatching(/given back a .*\n.*1 given back/s)])
    expect(await show(q, 'a')).toMatchObject({ status: 'pending', attempts: 0, claimants: [] })
    const again = await work(q, program('quick', 'console.log(\'{"decisionReport":"done"}\')'), '--agent', 'mailer-1')
    expect(again.code).toBe(0)
    expect(await show(q, 'a')).toMatchObject({ status: 'completed', claimedBy: 'mailer-1' })
  })

  test('a task is reported as done only after the queue has accepted the completion', async () => {
    const q = await queueOf({ id: 'good', type: 'x', payload: 1 }, { id: 'bad', type: 'x', payload: 2, maxRetries: 1 }, { id: 'taken', type: 'x', payload: 3 }, { id: 'odd', type: 'x', payload: 4, maxRetries: 1 })
    // The program cancels its own task, so that the completion is refused.
    const bin = join(root, 'packages/adapters/bin/daybook.js')
    const command = program('each', `
      if (task.id === 'bad') { console.error('no such page'); process.exit(65) }
      if (task.id === 'taken') require('node:child_process').execFileSync(process.execPath, [${JSON.stringify(bin)}, 'cancel', 'taken'], { env: { ...env, DAYBOOK_QUEUE: ${JSON.stringify(q)} } })
      console.log(task.id === 'odd' ? '{"__proto__":1}' : '{"decisionReport":"done"}')`)
    const { code, out } = await work(q, command, '--json')
    expect(code).toBe(1)
    const lines = out.trim().split('\n').map((line) => JSON.parse(line) as { readonly event: string; readonly task?: string; readonly status?: string; readonly error?: string })
    expect(lines.filter(({ task }) => task === 'good')).toEqual([expect.objectContaining({ event: 'done', type: 'x', status: 'completed', ms: expect.any(Number) as number })])
    expect(lines.filter(({ task }) => task === 'bad')).toEqual([expect.objectContaining({ event: 'failed', status: 'dead-letter', error: 'no such page' })])
    expect(lines.filter(({ task }) => task === 'taken').map(({ event }) => event)).toEqual(['refused'])
    expect(lines.filter(({ task }) => task === 'odd')).toMatchObject([{ event: 'refused' }, { event: 'failed', error: expect.stringMatching(/^the result was refused \(invalid\): .*__proto__/) }])
  })

  test('--lease and --max-run that are not durations are wrong usage, reported before any task is claimed', async () => {
    for (const flags of [['--lease', '0'], ['--lease', 'soon'], ['--max-run', '-1']]) {
      const { code, err } = await work('any', ['true'], ...flags)
      expect([code, err]).toEqual([2, expect.stringContaining(flags[0]!)])
    }
  })

  test('its lines have colours where stderr is a terminal, and none in a file, whatever stdout is', async () => {
    const errOf = async (world: object): Promise<string> => {
      const q = await queueOf({ id: 'a', type: 'x' })
      return (await server.daybook(['work', '--queue', q, '--until-empty', '--', ...program('done', 'console.log(\'{"decisionReport":"done"}\')')], '', world)).err
    }
    expect(await errOf({ outIsTerminal: true })).toMatch(/^done {4}a x, [\d.]+ s\n1 task completed\n$/)
    expect(await errOf({ errIsTerminal: true })).toContain('\u001b[32mdone\u001b[39m    a ')
  })

  test('--json of the program is not for the worker', async () => {
    expect(await server.daybook(['work', '--', 'no-such-program', '--json'])).toMatchObject({ code: 2, err: expect.stringMatching(/^daybook: no-such-program cannot be found/) as string })
  })

  test('a program that fails to start later: the task is given back, not failed, and the worker stops', async () => {
    const q = await queueOf({ id: 'a', type: 'x', maxRetries: 0 }, { id: 'b', type: 'x', payload: 'b' })
    const script = join(server.dir, 'orphan.sh')
    writeFileSync(script, '#!/nonexistent/interpreter\n', { mode: 0o755 })
    const { code, err } = await work(q, [script])
    expect([code, err]).toEqual([1, expect.stringContaining('interpreter')])
    const { events } = await server.json<{ readonly events: ReadonlyArray<{ readonly type: string }> }>('history', 'a', '--queue', q)
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['ClaimReturned']))
    expect(await show(q, 'a')).toMatchObject({ status: 'pending', attempts: 0, claimants: [] })
  })

  test.each([[[], 'waiting', 'back'], [['--json'], '{"event":"waiting"', '{"event":"back"']] as const)('an unavailable server is reported once, and once more when it is back; with --quiet too %j', async (flags, waiting, back) => {
    let claims = 0
    let outcomes = 0
    let firstLookAt: number | undefined
    const unavailable = (response: ServerResponse): void => {
      response.writeHead(503, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ status: 503, code: 'unavailable', title: 'no', detail: 'the log cannot be written' }))
    }
    const proxy = createServer((request, response) => {
      const url = request.url ?? ''
      if (url.includes('/claims') && ++claims <= 4) return unavailable(response)
      if (url.includes('/outcomes') && ++outcomes <= 3) return unavailable(response)
      // What --until-empty asks between its claims. The client tries each look again for a second.
      if (url.includes('/tasks?')) firstLookAt ??= claims
      if (url.includes('/tasks?') && claims < (firstLookAt ?? 0) + 2) return unavailable(response)
      const chunks: Array<Buffer> = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
        const { host: _, 'content-length': __, 'transfer-encoding': ___, connection: ____, ...headers } = request.headers
        void fetch(`${server.url}${url}`, {
          method: request.method ?? 'GET',
          headers: headers as Record<string, string>,
          ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
        }).then(async (answer) => {
          response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
          response.end(await answer.text())
        })
      })
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    try {
      const q = await queueOf({ id: 'a', type: 'x' })
      const { port } = proxy.address() as AddressInfo
      const command = program('plain', 'console.log(\'{"decisionReport":"done"}\')')
      const { code, out, err } = await run(['work', '--quiet', ...flags, '--queue', q, '--until-empty', '--', ...command], { ...server.env, DAYBOOK_URL: `http://127.0.0.1:${port}` })
      expect([code, claims > 4, outcomes > 3, firstLookAt === undefined]).toEqual([0, true, true, false])
      const told = flags.length > 0 ? out : err
      // One outage of claims and one of outcomes.
      expect(told.split('\n').map((line) => line.split(/[ ,}]/)[0]).filter((word) => word === waiting || word === back)).toEqual([waiting, back, waiting, back])
      expect(told).toContain('the log cannot be written')
      expect((await show(q, 'a')).status).toBe('completed')
    } finally {
      proxy.closeAllConnections()
      proxy.close()
    }
  })

  test('--until-empty that a signal ends is not empty: exit code 130', async () => {
    const q = await queueOf({ id: 'a', type: 'x', availableAt: new Date(Date.now() + 3_600_000).toISOString() })
    const child = start(['work', '--queue', q, '--agent', 'waits', '--until-empty', '--', 'true'], server.env)
    const end = ended(child)
    await until(async () => (await server.daybook(['agents', '--queue', q])).out.includes('waits'))
    child.kill('SIGINT')
    expect((await end).code).toBe(130)
    expect((await show(q, 'a')).status).toBe('scheduled')
  })

  test('--until-empty on a queue that does not exist yet ends at once; --json prints one JSON document per line', async () => {
    const { code, out } = await work('never-seen', ['true'], '--json')
    expect(code).toBe(0)
    expect(out.trim().split('\n').map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(['end'])
  })

  test('--until-empty waits for what other agents do before its blocked tasks, and not for dead letters', async () => {
    const q = await queueOf(
      { id: 'a', type: 'resize' }, { id: 'b', type: 'check', dependencies: ['a'] }, { id: 'c', type: 'publish', dependencies: ['b'] },
      { id: 'lost', type: 'lost', maxRetries: 1 }, { id: 'd', type: 'publish', payload: 2, dependencies: ['lost'] },
    )
    await work(q, ['false'], '--types', 'lost')
    const echo = program('done', "console.log(JSON.stringify({ output: 1, decisionReport: 'r' }))")
    let isOver = false
    const publishing = work(q, echo, '--types', 'publish').finally(() => (isOver = true))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(isOver).toBe(false)
    expect((await work(q, echo, '--types', 'resize,check')).err).toContain('2 tasks completed')
    expect((await publishing).err).toContain('1 task completed')
    expect([await show(q, 'c'), await show(q, 'd')]).toMatchObject([{ status: 'completed' }, { status: 'blocked' }])
  })

  test.each([
    ['tenant', ['--tenant', 'acme'], { tenant: 'beta' }],
    ['phase', ['--phases', 'TESTING'], { phase: 'ANALYSIS' }],
    ['required skill', ['--skills', 'node'], { requires: { skills: ['cuda'] } }],
  ])('--until-empty does not wait for tasks of another %s, which it may not claim', async (_, flags, fields) => {
    const q = await queueOf({ id: 'a', type: 'x', ...fields }, { id: 'b', type: 'x', payload: 2, dependencies: ['a'], ...fields })
    const working = work(q, ['true'], '--types', 'x', ...flags)
    try {
      expect((await inTime('the end of the worker', working)).code).toBe(0)
      expect(await show(q, 'a')).toMatchObject({ status: 'pending' })
    } finally {
      // A worker that waits for them would never end.
      await server.daybook(['cancel', 'a', '--reason', 'over', '--queue', q])
      await working
    }
  })

  test('the agent of the examples does what the README says', async () => {
    const q = await queueOf({ id: 'a', type: 'eng-x', payload: { action: 'implement', target: 'apps/api' } })
    expect((await work(q, [join(root, 'examples/agent.sh')])).code).toBe(0)
    expect(await show(q, 'a')).toMatchObject({ status: 'completed', result: { success: true, output: 'implement apps/api' } })
  })
})
