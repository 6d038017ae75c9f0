import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folder } from '../import/samples.js'
import { commandsOf, type Task } from './commands-of.js'
import { run, serverOfFile } from './program.js'

const server = serverOfFile()

const { queue, enqueue, claim, list, in_ } = commandsOf(server)

describe('a task from the command line', () => {
  test('explain names the command that changes a limit or answers a callback', async () => {
    const q = queue()
    await server.daybook(['limits', 'set', '--queue', q, 'tenant:big', '--concurrency', '0'])
    await enqueue(q, 'mail', '--id', 'a', '--tenant', 'big')
    expect((await in_(q, 'explain', 'a')).out).toContain('  to change it: a higher limit: daybook limits set tenant:big\n')
    await enqueue(q, 'ask', '--id', 'b')
    const [held] = await claim(q, '--types', 'ask')
    await in_(q, 'park', 'b', '--lease', held?.lease ?? '', '--key', "Ann's answer", '--timeout', '60')
    expect((await in_(q, 'explain', 'b')).out).toContain(`  to change it: the callback: daybook callback 'Ann'\\''s answer'\n`)
  })

  test('TQM-MEM-001: a memory is told with what came of the task and what was found, also at a claim', async () => {
    const q = queue()
    await enqueue(q, 'review', '--id', 'a', '--ticket', 'T-1', '-d', 'Review the login')
    const [held] = await claim(q)
    const result = { output: 'works', decisionReport: 'read', discoveries: [{ type: 'note', details: 'the cookie stays' }, { file: 'a.ts' }, 'a text'] }
    expect(await in_(q, 'complete', 'a', '--lease', held?.lease ?? '', '--result', JSON.stringify(result))).toMatchObject({ code: 0 })
    const said = 'Review the login → works | note: the cookie stays | {"file":"a.ts"} | a text\n'
    await expect.poll(async () => (await in_(q, 'memory', 'search', 'login')).out, { timeout: 30_000 }).toMatch(/^a, T-1, /)
    expect((await in_(q, 'memory', 'search', 'login')).out.endsWith(said)).toBe(true)
    await enqueue(q, 'fix', '--id', 'b', '--ticket', 'T-1', '-d', 'Fix the login')
    expect((await in_(q, 'claim', '--types', 'fix')).out).toContain(said)
  })

  test('enqueue, list, show, claim, heartbeat, complete, history', async () => {
    const q = queue()
    const added = await enqueue(q, 'eng-backend', '--id', 'a', '--priority', 'high', '--payload', '{"action":"test"}', '--metadata', '{"m":1}', '-d', 'text')
    expect(added).toMatchObject({ id: 'a', status: 'pending', duplicate: false })
    expect(await enqueue(q, 'eng-backend', '--id', 'a', '--payload', '{"action":"test"}')).toMatchObject({ id: 'a', duplicate: true })
    // A shell has taken the quotes.
    expect(await in_(q, 'enqueue', 'eng-backend', '--payload', '{action:test}')).toMatchObject({ code: 2, err: expect.stringContaining('put single quotes around it') as string })
    expect((await in_(q, 'list')).out).toMatch(/a\s+eng-backend\s+8\s+pending/)
    expect(await server.json('show', 'a', '--queue', q)).toMatchObject({ id: 'a', payload: { action: 'test' }, metadata: { m: 1 }, description: 'text' })
    const [held] = await claim(q, '--types', 'eng-*')
    expect(held?.id).toBe('a')
    expect((await in_(q, 'heartbeat', 'a', '--lease', held?.lease ?? '', '--progress', 'half', '--checkpoint', '{"page":3}')).out).toContain('a is yours')
    expect((await in_(q, 'show', 'a')).out).toMatch(/^progress +"half"\ncheckpoint +\{"page":3\}$/m)
    expect((await in_(q, 'list')).out).toContain(', at half')
    const bare = await in_(q, 'complete', 'a', '--lease', held?.lease ?? '', '--output', 'done')
    expect([bare.code, bare.out]).toEqual([1, 'a incomplete\n'])
    expect(bare.err).toContain('the queue wants a decision report')
    const full = await in_(q, 'complete', 'a', '--lease', held?.lease ?? '', '--output', 'done', '--report', 'because')
    expect([full.code, full.out]).toEqual([0, 'a completed\n'])
    expect(await server.json('show', '#1', '--queue', q)).toMatchObject({ status: 'completed', result: { output: 'done', decisionReport: 'because' } })
    const { events } = await server.json<{ readonly events: ReadonlyArray<{ readonly type: string }> }>('history', 'a', '--queue', q)
    expect(events.map(({ type }) => type)).toEqual(['TaskEnqueued', 'Claimed', 'LeaseExtended', 'MarkedIncomplete', 'Completed'])
  })

  test('result waits for the end of a task; the exit code says whether it is completed', async () => {
    const q = queue()
    await enqueue(q, 'eng-backend', '--id', 'a')
    const early = await in_(q, 'result', 'a')
    expect([early.code, early.out, early.err]).toEqual([1, '', 'daybook: a is pending\n'])
    const waits = in_(q, 'result', '#1', '--wait', '30')
    const [held] = await claim(q)
    await in_(q, 'complete', 'a', '--lease', held?.lease ?? '', '--output', '42', '--report', 'because')
    const { code, out } = await waits
    expect([code, JSON.parse(out)]).toEqual([0, { output: 42, decisionReport: 'because' }])
  })

  test('a duplicate is reported on stderr: the first task, until when it blocks, and what to do', async () => {
    const q = queue()
    await in_(q, 'settings', 'set', 'decisionReport=optional')
    await enqueue(q, 'ops-backup', '--id', 'first')
    const again = await in_(q, 'enqueue', 'ops-backup')
    expect([again.code, again.out]).toEqual([0, 'first (#1) was there already: pending\n'])
    expect(again.err).toBe('daybook: not enqueued because first (#1, pending) has the same type and payload and stands in the way until it is finished, and for the retention after that. To run the same again: --key KEY, or --deduplicate off.\n')
    const [held] = await claim(q)
    await in_(q, 'complete', 'first', '--lease', held?.lease ?? '')
    const late = await in_(q, 'enqueue', 'ops-backup', '--json')
    expect(JSON.parse(late.out)).toMatchObject({ id: 'first', duplicate: true, duplicateBy: 'content', until: expect.stringMatching(/^\d{4}-/) as string })
    expect(late.err).toMatch(/first \(#1, completed\) .* in the way until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S+\. .*--deduplicate off/)
    const many = await server.daybook(['enqueue', '--file', '-', '--queue', q], JSON.stringify([{ type: 'ops-backup' }, { type: 'x' }, { id: 'first', type: 'ops-backup' }]))
    expect(many.err).toContain('daybook: 2 of 3 not enqueued, the first because first (#1, completed) has the same type and payload')
    expect(many.err.trim().split('\n')).toHaveLength(1)
    expect(await enqueue(q, 'ops-backup', '--deduplicate', 'off')).toMatchObject({ duplicate: false })
    expect((await in_(q, 'settings', 'set', 'deduplicate=key')).code).toBe(0)
    const fresh = await in_(q, 'enqueue', 'ops-backup')
    expect([fresh.code, fresh.err]).toEqual([0, ''])
    expect((await in_(q, 'enqueue', 'ops-backup', '--deduplicate', 'never')).code).toBe(2)
  })

  test('shows the attempt and the number of attempts, in lists, alone, and among the dead letters', async () => {
    const q = queue()
    await enqueue(q, 'x', '--id', 'once', '--max-retries', '1')
    const [first] = await claim(q)
    expect((await in_(q, 'list')).out).toMatch(/once .* 1 of 1 /)
    await in_(q, 'complete', 'once', '--lease', first?.lease ?? '', '--report', 'done')
    expect((await in_(q, 'show', 'once')).out).toMatch(/^attempt +1 of 1$/m)
    await enqueue(q, 'y', '--id', 'thrice', '--backoff', '0')
    expect((await in_(q, 'show', 'thrice')).out).toMatch(/^attempt +none yet$/m)
    for (const attempt of ['1 of 3', '2 of 3', '3 of 3']) {
      const table = (await in_(q, 'claim')).out
      expect(table).toContain(attempt)
      await in_(q, 'fail', 'thrice', '--lease', /of 3\s+(\d+)/.exec(table)?.[1] ?? '', '--error', 'no')
    }
    expect((await in_(q, 'dlq')).out).toMatch(/thrice .* 3 of 3 /)
    expect((await in_(q, 'dlq', 'show', 'thrice')).out).toMatch(/^attempt +3 of 3, 3 failed$/m)
    const dir = join(server.dir, 'attempts')
    mkdirSync(dir)
    writeFileSync(join(dir, 'dead-letter.json'), '[{"id":"brought","type":"x","retries":3,"lastError":"no"}]')
    await in_(q, 'import', dir)
    expect((await in_(q, 'show', 'brought')).out).toMatch(/^attempt +none here, 3 failed before the import$/m)
  })

  test('many from standard input, in any order; cancelled together with their dependents', async () => {
    const q = queue()
    const tasks = [{ id: 'b', type: 'x', payload: 1, dependencies: ['a'] }, { id: 'a', type: 'x', payload: 2 }]
    const { code } = await server.daybook(['enqueue', '--file', '-', '--queue', q], JSON.stringify({ tasks }))
    expect(code).toBe(0)
    expect((await list(q)).map(({ id, status }) => `${id} ${status}`)).toEqual(['a pending', 'b blocked'])
    expect((await in_(q, 'cancel', 'a', '--reason', 'not wanted')).out).toBe('2 tasks cancelled: a, b\n')
  })

  test('LK-11: amend changes a task that nobody works on; dlq retry --payload sends a dead letter back as another one', async () => {
    const q = queue()
    await enqueue(q, 'x', '--id', 'a', '--payload', '{"path":"/tpm"}')
    const reason = ['--reason', 'a slip']
    expect((await in_(q, 'amend', 'a', '--priority', 'high', '--available-at', '+1h', '--deadline', '+2h', ...reason)).out).toBe('a (scheduled): priority, deadlineAt, availableAt changed\n')
    expect((await in_(q, 'amend', 'a', '--available-at', 'now', '--deadline', 'none', ...reason)).out).toBe('a (pending): deadlineAt, availableAt changed\n')
    expect((await in_(q, 'amend', 'a', '--priority', '8', ...reason)).out).toBe('a is so already (pending)\n')
    expect((await in_(q, 'amend', 'a', ...reason)).code).toBe(2)
    expect((await in_(q, 'amend', 'a', '--priority', '1')).code).toBe(2)
    const [first] = await claim(q)
    const held = await in_(q, 'amend', 'a', '--priority', '1', ...reason)
    expect([held.code, held.err]).toEqual([1, expect.stringContaining('is working on a')])
    await in_(q, 'fail', 'a', '--lease', first?.lease ?? '', '--error', 'no', '--permanent')
    expect((await in_(q, 'dlq', 'retry', '--all', '--payload', '1', ...reason)).code).toBe(2)
    const edited = await server.daybook(['dlq', 'retry', 'a', '--queue', q, '--payload', '-', ...reason], '{"path":"/tmp"}')
    expect(edited.out).toBe('1 dead letter sent back: a\n')
    expect(await server.json('show', 'a', '--queue', q)).toMatchObject({ status: 'pending', priority: 8, payload: { path: '/tmp' } })
    const { events } = await server.json<{ readonly events: ReadonlyArray<{ readonly type: string }> }>('history', 'a', '--queue', q)
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['TaskAmended', 'Requeued'])
  })

  test('fail and release', async () => {
    const q = queue()
    await enqueue(q, 'x', '--id', 'a')
    const [first] = await claim(q, '--agent', 'one')
    expect((await in_(q, 'release', 'a', '--lease', first?.lease ?? '', '--agent', 'one')).out).toBe('a pending\n')
    const [second] = await claim(q, '--agent', 'two')
    expect((await in_(q, 'fail', 'a', '--lease', second?.lease ?? '', '--agent', 'two', '--error', 'no')).out).toMatch(/^a scheduled, tried again in \d+s\n$/)
    expect((await in_(q, 'claim', '--agent', 'two')).out).toBe('nothing to claim\n')
  })

  test('GB-04: release --stopping bars nobody; claim --lease makes a shorter lease', async () => {
    const q = queue()
    await enqueue(q, 'x', '--id', 'a')
    const claimed = async () => (await server.json<{ readonly claims: ReadonlyArray<{ readonly lease: { readonly token: number; readonly seconds: number } }> }>('claim', '--lease', '90', '--queue', q)).claims[0]
    const first = await claimed()
    expect(first?.lease.seconds).toBe(90)
    expect((await in_(q, 'release', 'a', '--lease', String(first?.lease.token), '--stopping')).out).toBe('a pending\n')
    expect((await claimed())?.lease.token).toBe(2)
  })

  test('park lets a task wait, and callback answers it, once', async () => {
    const q = queue()
    await enqueue(q, 'x', '--id', 'a')
    const [first] = await claim(q)
    const park = ['park', 'a', '--lease', first?.lease ?? '', '--key', 'ok', '--timeout', '60']
    expect((await in_(q, ...park, '--on-timeout', 'never')).code).toBe(2)
    expect((await in_(q, ...park, '--on-timeout', 'requeue', '--checkpoint', '{"at":3}')).out).toBe('a waiting for the callback ok\n')
    expect((await in_(q, 'show', 'a')).out).toContain('until the callback ok comes')
    expect((await in_(q, 'callback', 'wrong')).code).toBe(1)
    for (let i = 0; i < 2; i++) expect((await in_(q, 'callback', 'ok', '--payload', 'yes')).out).toBe('a pending\n')
    expect((await in_(q, 'show', 'a')).out).toMatch(/callback +ok .*"yes"/)
  })
})

describe('exit code 1: refused by the queue, the problem on stderr', () => {
  test.each<[string, ReadonlyArray<string>, string]>([
    ['an unknown task', ['show', 'nobody'], 'not-found'],
    ['a lease that is not one', ['complete', 'a', '--lease', '99', '--output', '1'], 'lease-lost'],
    ['a dependency that is nowhere', ['enqueue', 'y', '--depends-on', 'ghost'], 'unknown-dependency'],
    ['a field that is wrong', ['enqueue', 'y', '--priority', '11'], 'priority'],
  ])('%s', async (_, args, message) => {
    const q = queue()
    await enqueue(q, 'x', '--id', 'a')
    const { code, out, err } = await in_(q, ...args)
    expect(err).toContain(message)
    expect([code, out]).toEqual([1, ''])
    const json = await in_(q, ...args, '--json')
    expect(JSON.parse(json.err)).toHaveProperty('error.code')
  })

  test('a wrong token: the message says where to find the right one, and does not repeat the wrong one', async () => {
    const { code, err } = await server.daybook(['list', '--token', 'wrong-token'])
    expect(code).toBe(1)
    expect(err).toContain('DAYBOOK_TOKEN')
    expect(err).not.toContain('wrong-token')
  })
})

describe('operating a queue', () => {
  test('a queue that was never used is empty, and reported as unused', async () => {
    const q = queue()
    expect(await in_(q, 'depth')).toEqual({ code: 0, out: 'no tasks\n', err: expect.stringContaining(`queue ${q} was never used: its first task creates it`) as string })
    for (const command of ['list', 'alerts', 'dlq list', 'breakers', 'agents']) expect((await in_(q, ...command.split(' '))).err).toContain(`queue ${q} was never used`)
    await enqueue(`${q}-used`, 'x')
    expect((await in_(`${q}-usde`, 'list')).err).toBe(`queue ${q}-usde was never used: its first task creates it (did you mean ${q}-used?)\n`)
    expect(await in_(`${q}-used`, 'dlq', 'list')).toMatchObject({ code: 0, err: '' })
    expect(await in_(q, 'claim')).toMatchObject({ code: 0, out: 'nothing to claim\n' })
  })

  test('a queue that was never used is reported as unused by commands that show its past, its figures and what comes', async () => {
    // Unlike all others, so that none is suggested.
    const q = 'nobody-came-here'
    const note = `queue ${q} was never used: its first task creates it\n`
    for (const command of ['audit state', 'audit log', 'audit diff', 'report', 'memory', 'export', 'top --once']) expect([command, (await in_(q, ...command.split(' '))).err]).toEqual([command, note])
    expect((await in_(q, 'audit', 'what-if')).err).toBe(`daybook: queue ${q} has no events: --queue names another, and daybook queues lists them\n`)
    const stopped = { onSignal: (heard: (signal: NodeJS.Signals) => void) => (heard('SIGINT'), () => undefined) }
    expect((await server.daybook(['watch', '--queue', q], '', stopped)).err).toBe(note)
    await enqueue(q, 'x')
    for (const command of ['audit log --actor nobody', 'audit diff --from 0', 'report', 'memory', 'export', 'top --once']) expect([command, (await in_(q, ...command.split(' '))).err]).toEqual([command, ''])
    expect((await server.daybook(['watch', '--queue', q], '', stopped)).err).toBe('')
  })

  test('a value that the server refuses is named by its option', async () => {
    const q = queue()
    for (const type of ['x', 'y']) await enqueue(q, type)
    expect(await in_(q, 'report', '--top', '0')).toMatchObject({ code: 1, err: 'daybook: invalid: --top: must be a whole number from 1 to 1000, not "0"\n' })
    expect((await in_(q, 'report', '--top=0', '--json')).err).toContain('query.top')
    expect((await in_(q, 'audit', 'diff', '--from', '1', '--to', '0')).err).toContain('--to: is before from')
    for (const option of ['--type', '--ticket', '--search']) expect((await in_(q, 'cancel', option, '', '--dry-run')).err).toContain(`invalid: ${option}: must be`)
  })

  test('report: --csv and --json are two formats', async () => {
    expect(await in_(queue(), 'report', '--csv', '--json')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--csv or --json') as string })
  })

  test('LK-13: breakers: opened and closed by hand', async () => {
    const q = queue()
    await enqueue(q, 'ops')
    await in_(q, 'breakers', 'open', 'ops', '--reason', 'the API is down')
    expect((await in_(q, 'breakers')).out).toMatch(/ops\s+open/)
    expect(await claim(q)).toEqual([])
    expect((await in_(q, 'breakers', 'close', 'ops')).code).toBe(0)
    expect(await claim(q)).toHaveLength(1)
  })

  test('agents: listed with their tasks, and terminated', async () => {
    const q = queue()
    await enqueue(q, 'x', '--id', 'a')
    await claim(q, '--agent', 'worker-3')
    expect((await in_(q, 'agents')).out).toMatch(/worker-3\s+working\s+1\s+a/)
    expect((await in_(q, 'agents', 'terminate', 'worker-3')).out).toBe('worker-3 terminated\n1 task back in the queue, pending: a\n')
    expect((await list(q)).map(({ status }) => status)).toEqual(['pending'])
    expect((await in_(q, 'show', 'a')).out).toMatch(/^attempt +none yet$/m)
  })

  test('TQM-ASSIGN-001: agents register: what it can take is shown, and its claims take it over', async () => {
    const q = queue()
    await enqueue(q, 'x', '--id', 'a')
    expect((await in_(q, 'agents', 'register', 'coder', '--types', 'eng-*,ops', '--skills', 'go', '--max-tasks', '2', '--ttl', '600')).out).toBe('coder is registered; this ends in 10m unless it is heard of\n')
    expect((await in_(q, 'agents')).out).toMatch(/coder\s+idle\s+0 of 2\s+eng-\*,ops skills go\s+\d+s ago/)
    expect(await claim(q, '--agent', 'coder')).toEqual([])
  })

  test('LK-14: settings: get, set, and a circuit-breakers.yaml unchanged', async () => {
    const q = queue()
    await in_(q, 'settings', 'set', 'decisionReport=optional', 'breakers.overrides.a.b.failureThreshold=2', 'assignment.tenants.acme.com=3')
    expect(await server.json('settings', 'get', 'decisionReport', '--queue', q)).toBe('optional')
    const file = join(server.dir, 'circuit-breakers.yaml')
    writeFileSync(file, 'defaults:\n  failureThreshold: 7\noverrides:\n  ops-security:\n    failureThreshold: 3\n')
    expect((await in_(q, 'settings', 'set', '--file', file)).code).toBe(0)
    expect(await server.json('settings', 'get', '--queue', q)).toMatchObject({
      breakers: { defaults: { failureThreshold: 7 }, overrides: { 'a.b': { failureThreshold: 2 }, 'ops-security': { failureThreshold: 3 } } },
    })
    await in_(q, 'settings', 'set', 'breakers.overrides.a.b=null')
    expect(await server.json('settings', 'get', '--queue', q)).toMatchObject({ assignment: { tenants: { default: 1, 'acme.com': 3 } } })
    expect(await server.json('settings', 'get', '--queue', q)).not.toHaveProperty('breakers.overrides.a.b')
  })

  test('pause and resume; depth', async () => {
    const q = queue()
    await enqueue(q, 'x', '--priority', 'CRITICAL')
    await in_(q, 'pause', '--reason', 'deploying')
    expect(await claim(q)).toEqual([])
    await in_(q, 'resume')
    expect(await server.json('depth', '--queue', q)).toMatchObject({ byStatus: { pending: 1 }, byPriority: { CRITICAL: 1 } })
    expect((await in_(q, 'depth')).out).toMatch(/pending\s+1/)
    expect(await claim(q)).toHaveLength(1)
  })

  test('output that is not a terminal has no colours and no control characters', async () => {
    const q = queue()
    await enqueue(q, 'x', '--id', 'a', '-d', 'red\u001b[31m\u0007 alert\nsecond line')
    const { out } = await in_(q, 'list')
    expect(out).toContain('red [31m alert second line')
    // eslint-disable-next-line no-control-regex -- these are looked for
    expect(out.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f]/)
    // eslint-disable-next-line no-control-regex -- these are looked for
    expect((await run(['list', '--queue', q], { ...server.env, FORCE_COLOR: '1' })).out).toMatch(/\u001b\[36mpending/)
    // eslint-disable-next-line no-control-regex -- these are looked for
    expect((await run(['list', '--queue', q], { ...server.env, FORCE_COLOR: '1', NO_COLOR: '1' })).out).not.toMatch(/\u001b/)
  })
})

test('a result is printed as the JSON that it is, without characters that a terminal obeys', async () => {
  const q = queue()
  const output = 'two  blanks\u00a0and \u009b31m red \u202e\u001b[2J'
  await enqueue(q, 'x', '--id', 'a')
  const [held] = await claim(q)
  await in_(q, 'complete', 'a', '--lease', held?.lease ?? '', '--result', JSON.stringify({ output, decisionReport: 'r' }))
  const { out } = await in_(q, 'result', 'a')
  // eslint-disable-next-line no-control-regex -- these are the characters that must not be there
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  expect(JSON.parse(out)).toMatchObject({ output })
})

test('audit state says that a queue is paused, also without a reason, and prints no control characters of one', async () => {
  const q = queue()
  await enqueue(q, 'x')
  await in_(q, 'pause', '--reason', 'red\u001b[31m\nsecond line')
  expect((await in_(q, 'audit', 'state')).out).toMatch(/^paused +red \[31m second line$/m)
  await in_(q, 'resume')
  await in_(q, 'pause', '--reason', '')
  expect((await in_(q, 'audit', 'state')).out).toMatch(/^paused +yes$/m)
})

test('a message about a file of a stranger has no control characters', async () => {
  const file = join(server.dir, 'strange.ndjson')
  writeFileSync(file, '\u001b]0;title\u0007\u001b[2J\n{}\n')
  expect(await server.daybook(['audit', 'replay', file])).toEqual({ code: 1, out: '', err: `daybook: ${file}: this line is no JSON:  ]0;title  [2J\n` })
})

describe('EV-09: import and export of folders in the shape of real ones', () => {
  test.each([['sentinel', 31], ['bhengu', 5], ['ralph2', 12]] as const)('%s: %i tasks taken; a second import changes nothing and says so; the same after export and import elsewhere', async (name, count) => {
    const q = queue()
    const first = await server.json<{ readonly took: number; readonly refused: ReadonlyArray<unknown> }>('import', folder(name), '--queue', q)
    expect(first).toMatchObject({ took: count, refused: [] })
    const before = await server.json('depth', '--queue', q)
    const again = await in_(q, 'import', folder(name))
    expect(again.out).toContain(`0 tasks taken into ${q}, ${count} already there\nnothing has changed`)
    expect(again.out).not.toContain('not as it stood')
    expect(again.code).toBe(0)
    expect(await server.json('depth', '--queue', q)).toMatchObject({ revision: (before as { readonly revision: number }).revision })
    const out = join(server.dir, `export-${q}`)
    expect((await in_(q, 'export', '--out', out)).code).toBe(0)
    const other = queue()
    expect(await server.json('import', out, '--queue', other)).toMatchObject({ took: count, refused: [] })
    const shape = (tasks: ReadonlyArray<Task>) => tasks.map(({ id, type, priority, status }) => ({ id, type, priority, status })).sort((a, b) => (a.id < b.id ? -1 : 1))
    expect(shape(await list(other, '--all'))).toEqual(shape(await list(q, '--all')))
  })

  test('an import elsewhere finds nothing in an export that has no place of its own', async () => {
    const q = queue()
    for (const id of ['done', 'held', 'ready']) await enqueue(q, id, '--id', id)
    const [done] = await claim(q, '--types', 'done')
    await claim(q, '--types', 'held')
    await in_(q, 'complete', 'done', '--lease', done?.lease ?? '', '--report', 'r')
    const out = join(server.dir, `export-${q}`)
    expect((await in_(q, 'export', '--out', out)).code).toBe(0)
    const imported = await in_(queue(), 'import', out)
    expect(imported).toMatchObject({ code: 0, out: expect.stringContaining('3 tasks taken') as string })
    expect(imported.out).not.toContain('without a place of their own')
  })

  test('refused tasks are named, the others are taken, and the exit code is 1', async () => {
    const q = queue()
    const dir = join(server.dir, 'broken')
    mkdirSync(dir)
    writeFileSync(join(dir, 'pending.json'), '[{"id":"a","type":"x"},{"id":"b","type":"x","dependencies":["ghost"]},{"id":"big","type":"x","payload":"' + 'x'.repeat(300_000) + '"}]')
    writeFileSync(join(dir, 'completed.json'), '{"tasks":[{"id":')
    const { code, out } = await in_(q, 'import', dir)
    expect(code).toBe(1)
    expect(out).toContain('1 task taken')
    expect(out).toContain('left out (3)')
    expect(out).toMatch(/completed\.json: breaks off/)
    expect(out).toMatch(/pending\.json b: depends on ghost/)
    expect(out).toMatch(/pending\.json big: .*bytes/)
    expect((await list(q)).map(({ id }) => id)).toEqual(['a'])
  })

  test('an export that a signal interrupts ends with code 130; files of an earlier one stay whole', async () => {
    const q = queue()
    const out = join(server.dir, `export-${q}`)
    for (const id of ['a', 'b', 'c']) await enqueue(q, id, '--id', id)
    expect((await in_(q, 'export', '--out', out)).code).toBe(0)
    const before = readFileSync(join(out, 'pending.json'), 'utf8')
    await enqueue(q, 'd', '--id', 'd')
    let signal: (name: NodeJS.Signals) => void = () => undefined
    const { code } = await server.daybook(['export', '--queue', q, '--out', out], '', {
      errIsTerminal: true,
      err: (text) => {
        if (text.includes('exporting')) signal('SIGTERM')
      },
      onSignal: (heard) => {
        signal = heard
        return () => undefined
      },
    })
    expect(code).toBe(130)
    expect(readFileSync(join(out, 'pending.json'), 'utf8')).toBe(before)
    expect(readdirSync(out).filter((name) => !/^[a-z-]+\.json$/.test(name))).toEqual([])
  })

  test.each([
    [[], ['dead-letter']],
    [['--live'], []],
  ])('export %j while a dead letter is sent back: it is there as it was at the start, or with --live may be missing', async (options, statuses) => {
    const q = queue()
    await enqueue(q, 'x', '--id', 'dead')
    const [held] = await claim(q)
    await in_(q, 'fail', 'dead', '--lease', held?.lease ?? '', '--error', 'no', '--permanent')
    const others = Array.from({ length: 500 }, (_, i) => ({ type: 'x', payload: i }))
    await server.daybook(['enqueue', '--file', '-', '--queue', q], JSON.stringify(others))
    // After 500 tasks, when none of the dead letters is read.
    const flushed = async (): Promise<void> => void (await in_(q, 'dlq', 'retry', 'dead', '--reason', 'fixed'))
    const { out } = await server.daybook(['export', '--queue', q, ...options], '', { flushed })
    const { tasks } = JSON.parse(out) as { readonly tasks: ReadonlyArray<Task> }
    expect(tasks.filter(({ id }) => id === 'dead').map(({ status }) => status)).toEqual(statuses)
    expect(tasks).toHaveLength(500 + statuses.length)
  })

  test('export without a folder is one JSON document', async () => {
    const q = queue()
    await enqueue(q, 'x', '--id', 'a')
    const { out } = await in_(q, 'export')
    expect(JSON.parse(out)).toMatchObject({ tasks: [{ id: 'a', type: 'x', status: 'pending' }] })
  })

  test('a missing folder is an error', async () => {
    const { code, err } = await server.daybook(['import', join(server.dir, 'nowhere')])
    expect(code).toBe(2)
    expect(err).toMatch(/nowhere: it is not there/)
    expect(err).not.toContain('ENOENT')
  })
})

test('a wrong field of a single task is named once, as it was typed', async () => {
  const { code, err } = await in_(queue(), 'enqueue', 'x', '--priority', 'urgent')
  expect(code).toBe(2)
  expect(err).toContain("'urgent'")
  expect(err).not.toContain('tasks[0]')
  expect(err.match(/priority/g)).toHaveLength(1)
})

test('doctor: a healthy server', async () => {
  const q = queue()
  await enqueue(q, 'x')
  const report = await server.json<{ readonly ok: boolean; readonly findings: ReadonlyArray<{ readonly about: string }> }>('doctor')
  expect(report.ok).toBe(true)
  expect(report.findings.map(({ about }) => about)).toContain(`queue ${q}`)
})

test('doctor: a part that fails is not said to be tried again: a receiver that wants no more messages gets none', async () => {
  const reason = 'it answers 410: it wants no more messages, and gets none until the server starts again'
  const answers: Readonly<Record<string, object>> = {
    '/healthz': { status: 'ok' },
    '/readyz': { status: 'ready', queues: 0, degraded: [{ part: 'webhook pager', reason, since: '2026-01-05T09:00:00.000Z' }] },
    '/api/queues': { queues: [] },
  }
  const stub = createServer((request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers[request.url ?? ''] ?? {})))
  await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve))
  const { code, out } = await server.daybook(['doctor', '--url', `http://127.0.0.1:${(stub.address() as AddressInfo).port}`])
  stub.close()
  expect([code, out]).toEqual([1, expect.stringContaining(`BAD   webhook pager: out of date since 2026-01-05 09:00:00Z: ${reason}\n`)])
})

test('every read-only command takes --json and prints one document', async () => {
  const q = queue()
  await enqueue(q, 'x', '--id', 'a')
  for (const args of ['list', 'show a', 'history a', 'depth', 'dlq', 'dlq list', 'dlq patterns', 'breakers', 'agents', 'settings', 'export', 'doctor', 'claim']) {
    const { code, out } = await in_(q, ...args.split(' '), '--json')
    expect([args, code]).toEqual([args, 0])
    expect(() => JSON.parse(out) as unknown).not.toThrow()
  }
})

test('the queue can come from the environment', async () => {
  const q = queue()
  const env = { ...server.env, DAYBOOK_QUEUE: q }
  expect((await run(['enqueue', 'x', '--id', 'here'], env)).code).toBe(0)
  expect((await list(q)).map(({ id }) => id)).toEqual(['here'])
})

test('the files of this test exist', () => {
  expect(readFileSync(join(server.dir, 'data', 'tokens.json'), 'utf8')).not.toContain(server.env.DAYBOOK_TOKEN)
})
