/** Commands for operators: paused queues, queues, cancelling many, why a task waits. */
import { describe, expect, test } from 'vitest'
import { serverOfFile, startServer } from './program.js'

const server = serverOfFile()

let last = 0
const queue = (): string => `q${++last}`
const on = (q: string, ...args: ReadonlyArray<string>) => server.daybook([...args, '--queue', q])
const enqueue = async (q: string, id: string, ...args: ReadonlyArray<string>): Promise<void> => {
  expect(await on(q, 'enqueue', ...(args.length === 0 ? ['x'] : args), '--id', id, '--payload', `"${id}"`)).toMatchObject({ code: 0 })
}
const claim = async (q: string, agent: string): Promise<string> => {
  const { claims: [claimed] } = await server.json<{ claims: ReadonlyArray<{ lease: { token: number } }> }>('claim', '--agent', agent, '--queue', q)
  return String(claimed?.lease.token)
}
const many = async (q: string, count: number): Promise<void> => {
  const tasks = Array.from({ length: count }, (_, i) => ({ id: `t${i}`, type: i % 2 === 0 ? 'even' : 'odd', payload: i }))
  expect(await server.daybook(['enqueue', '--file', '-', '--queue', q], JSON.stringify(tasks))).toMatchObject({ code: 0 })
}
const statuses = async (q: string) => (await server.json<{ byStatus: Record<string, number> }>('depth', '--queue', q)).byStatus

test('resume says whether the queue was paused', async () => {
  const q = queue()
  await enqueue(q, 'a')
  expect((await on(q, 'resume')).out).toBe(`${q}: it was not paused; tasks are handed out as before\n`)
  await on(q, 'pause')
  expect((await on(q, 'resume')).out).toBe(`${q}: tasks are handed out again\n`)
})

test('pause says whether the queue was paused already, and that its reason stays', async () => {
  const q = queue()
  await enqueue(q, 'a')
  expect((await on(q, 'pause', '--reason', 'deploying')).out).toBe(`${q}: paused; no task is handed out\n`)
  expect((await on(q, 'pause', '--reason', 'lunch')).out).toBe(`${q}: it was paused already (deploying); no task is handed out\n`)
  expect((await on(q, 'depth')).out).toContain('deploying')
})

describe('a paused queue is reported with the reason by every command that shows why nothing happens', () => {
  const why = 'the database moves'
  test.each(['list', 'list --all', 'depth', 'show a', 'claim', 'doctor', 'queues'])('daybook %s', async (command) => {
    const q = queue()
    await enqueue(q, 'a')
    const args = command.split(' ')
    for (const paused of [false, true, false]) {
      await on(q, paused ? 'pause' : 'resume', '--reason', why)
      // Doctor and queues print all queues: take only the lines about this one.
      const said = async (...flags: ReadonlyArray<string>): Promise<string> => (await on(q, ...args, ...flags)).out.split('\n').filter((line) => !['doctor', 'queues'].includes(command) || line.includes(q)).join('\n')
      const text = await said()
      expect([text.includes('paused'), text.includes(why)]).toEqual([paused, paused])
      expect((await said('--json')).includes(why)).toBe(paused)
      const { claims } = await server.json<{ claims: ReadonlyArray<{ lease: { token: number } }> }>('claim', '--agent', 'ann', '--queue', q)
      for (const { lease } of claims) await on(q, 'release', 'a', '--lease', String(lease.token), '--agent', 'ann', '--reason', 'r')
    }
  })
})

describe('daybook queues', () => {
  test('lists each with its counts; an empty one can be deleted, and its next task creates it again', async () => {
    const q = queue()
    await enqueue(q, 'a')
    await enqueue(q, 'b')
    await on(q, 'settings', 'set', 'decisionReport=optional')
    expect((await server.daybook(['queues'])).out).toMatch(new RegExp(`^${q}\\s+2\\s`, 'm'))
    const refused = await server.daybook(['queues', 'delete', q])
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/tasks that are not finished \(2 pending\)/)])
    await on(q, 'cancel', '--all', '--yes')
    expect(await server.daybook(['queues', 'delete', q, '--reason', 'mistyped'])).toMatchObject({ code: 0, out: `${q} is deleted; its log stays\n` })
    expect((await server.daybook(['queues'])).out).not.toMatch(new RegExp(`^${q}\\s`, 'm'))
    expect((await on(q, 'list')).out).toBe('no such tasks\n')
    const gone = await on(q, 'show', 'a')
    expect([gone.code, gone.err]).toEqual([1, expect.stringMatching(/was deleted \(mistyped\)/)])
    // The log can still be read.
    expect((await on(q, 'history', 'a')).out).toMatch(/TaskEnqueued[\s\S]*Cancelled/)
    await enqueue(q, 'a')
    expect(await server.json('show', 'a', '--queue', q)).toMatchObject({ number: 3, status: 'pending' })
    expect(await server.json('settings', 'get', 'decisionReport', '--queue', q)).toBe('required')
  })

  test('an unknown queue, and an invalid name', async () => {
    expect(await server.daybook(['queues', 'delete', 'nowhere'])).toMatchObject({ code: 1, err: expect.stringContaining('no queue nowhere') as string })
    expect(await server.daybook(['queues', 'delete', 'a b'])).toMatchObject({ code: 2 })
  })

  test('a deleted queue stays deleted after a restart', async () => {
    const own = await startServer()
    try {
      await own.daybook(['enqueue', 'x', '--id', 'a', '--queue', 'slip'])
      await own.daybook(['cancel', 'a', '--queue', 'slip'])
      await own.daybook(['enqueue', 'x', '--queue', 'kept'])
      expect((await own.daybook(['queues', 'delete', 'slip'])).code).toBe(0)
      await own.stop()
      const again = await startServer([], undefined, own.dir)
      try {
        expect((await again.json<{ queues: ReadonlyArray<{ name: string }> }>('queues')).queues.map(({ name }) => name)).toEqual(['kept'])
      } finally {
        await again.stop()
      }
    } finally {
      own.remove()
    }
  })
})

describe('cancel by filter', () => {
  test('shows how many match, asks, and cancels them with all dependents, in as many pages as necessary', async () => {
    const q = queue()
    await many(q, 2_500)
    await enqueue(q, 'child', 'odd', '--depends-on', 't0')
    const dry = await on(q, 'cancel', '--type', 'even', '--dry-run')
    expect([dry.code, dry.out]).toEqual([0, expect.stringMatching(/^1250 tasks would be cancelled/)])
    expect(await statuses(q)).toMatchObject({ pending: 2_500, blocked: 1 })

    const asked: Array<string> = []
    const answering = (answer: string) =>
      server.daybook(['cancel', '--type', 'even', '--queue', q], '', { inIsTerminal: true, ask: async (question) => (asked.push(question), answer) })
    for (const no of ['', 'n', 'what']) expect(await answering(no)).toMatchObject({ code: 1, err: 'nothing was cancelled\n' })
    expect(asked[0]).toMatch(/^1250 tasks would be cancelled/)
    expect(await statuses(q)).toMatchObject({ pending: 2_500 })
    expect((await answering('y')).out).toMatch(/^1251 tasks cancelled/)
    expect(await statuses(q)).toMatchObject({ pending: 1_250, blocked: 0, cancelled: 1_251 })

    const all = await server.json<{ count: number; cancelled: ReadonlyArray<string> }>('cancel', '--all', '--yes', '--reason', 'the end', '--queue', q)
    expect([all.count, new Set(all.cancelled).size]).toEqual([1_250, 1_250])
    expect(await statuses(q)).toMatchObject({ pending: 0, cancelled: 2_501 })
  })

  test('without a terminal it needs --yes, and says how many tasks match', async () => {
    const q = queue()
    await many(q, 3)
    expect(await on(q, 'cancel', '--all')).toMatchObject({ code: 2, err: expect.stringMatching(/3 tasks would be cancelled.*--yes/) as string })
    expect(await statuses(q)).toMatchObject({ pending: 3 })
  })

  test('its options have the same meaning as those of list', async () => {
    const q = queue()
    await enqueue(q, 'a', 'eng-a', '--priority', '9', '--tenant', 'acme')
    await enqueue(q, 'b', 'eng-b', '--ticket', 'T-1', '--phase', 'TESTING')
    await enqueue(q, 'c', 'ops', '--at', '+1h')
    await enqueue(q, 'd', 'ops', '--depends-on', 'c')
    for (const filter of ['--type eng-*', '--priority 9', '--priority HIGH', '--tenant acme', '--ticket T-1', '--phase testing', '--status scheduled', '--status blocked,pending', '--search eng-b', '--agent nobody']) {
      const listed = await server.json<{ tasks: ReadonlyArray<{ id: string }> }>('list', ...filter.split(' '), '--queue', q)
      const { code, out } = await on(q, 'cancel', ...filter.split(' '), '--dry-run', '--json')
      const ids = (JSON.parse(out) as { matching: ReadonlyArray<string> }).matching
      expect([filter, [...ids].sort()]).toEqual([filter, listed.tasks.map(({ id }) => id).sort()])
      expect(code).toBe(ids.length === 0 ? 1 : 0)
    }
  })

  test.each<[ReadonlyArray<string>, number, string]>([
    [['cancel'], 2, 'name a task, or say which: --status, --type, --phase, --priority, --ticket, --batch, --tenant, --agent, --search, or --all'],
    [['cancel', 'a', '--all'], 2, 'an id or a filter, not both'],
    [['cancel', '--status', 'completed', '--yes'], 2, '--status completed is not known here'],
    [['cancel', '--type', 'nothing', '--yes'], 1, ''],
  ])('daybook %j', async (args, code, message) => {
    const q = queue()
    await enqueue(q, 'a')
    const ended = await on(q, ...args)
    expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(message)])
    if (message === '') expect(ended.out).toBe('no task matches that can be cancelled\n')
    expect(await statuses(q)).toMatchObject({ pending: 1 })
  })
})

test('show prints all reasons why a task waits, and what it requires', async () => {
  const q = queue()
  await enqueue(q, 'first', 'eng')
  await enqueue(q, 'second', 'eng', '--depends-on', 'first', '--at', '+1h', '--skills', 'sql,go')
  await on(q, 'breakers', 'open', 'eng', '--reason', 'the API is down')
  await on(q, 'pause', '--reason', 'lunch')
  const { out } = await on(q, 'show', 'second')
  for (const said of [/first \(pending\)/, /its time has not come, until .+ \(in \d+m\)/, /the queue is paused: lunch/, /breaker of eng is open \(the API is down\)/, /^skills\s+go, sql$/m]) {
    expect(out).toMatch(said)
  }
  expect(await server.json('show', 'second', '--queue', q)).toMatchObject({
    reasons: [{ code: 'blocked', blockedBy: [{ id: 'first', status: 'pending' }] }, { code: 'scheduled' }, { code: 'queue-paused' }, { code: 'breaker-open' }, { code: 'skills-required' }],
  })
  await on(q, 'resume')
  await on(q, 'breakers', 'close', 'eng')
  expect((await on(q, 'show', 'first')).out).toMatch(/^waits\s+it waits for an agent that claims eng tasks$/m)
  const token = await claim(q, 'ann')
  expect((await on(q, 'show', 'first')).out).not.toMatch(/^waits/m)
  await on(q, 'release', 'first', '--lease', token, '--agent', 'ann')
  expect((await on(q, 'show', 'first')).out).toMatch(/ann gave it back and will not get it again/)
})

test('EV-10: explain says in a sentence whether the task can be claimed, why not, what to do, and its score', async () => {
  const q = queue()
  await enqueue(q, 'first', 'eng')
  await enqueue(q, 'second', 'eng', '--depends-on', 'first', '--at', '+1h', '--skills', 'sql')
  await on(q, 'pause', '--reason', 'lunch')
  const { out } = await on(q, 'explain', 'second')
  expect(out).toMatch(/^second is blocked and cannot be claimed now:\n\n- blocked: it waits for first \(pending\)\n {2}to change it: the completion of first\n/)
  for (const said of [/^- scheduled: its time has not come, until .+ \(in \d+m\)$/m, /^- queue-paused: the queue is paused: lunch\n {2}to change it: resume the queue$/m, /^priority\s+0.5\s+0.45\s+0.225$/m, /^score\s+0\.\d+$/m]) expect(out).toMatch(said)
  await on(q, 'resume')
  await enqueue(q, 'third', 'eng')
  expect((await on(q, 'explain', 'first')).out).toMatch(/^first can be claimed now\. It is next\.\n\n- ready: /)
  expect((await on(q, 'explain', '#3')).out).toMatch(/^#3 can be claimed now\. It is number 2 in the order of claims\.$/m)
  expect((await on(q, 'explain', 'first', '--agent', 'ann', '--types', 'ops-*')).out).toMatch(/^- type-not-claimed: its type is eng, and the claim asks for ops-\*$/m)
  expect(await server.json('explain', 'first', '--queue', q)).toMatchObject({ status: 'pending', runnable: true, position: 1, reasons: [{ code: 'ready' }], scoreParts: { boost: 1 } })
  await claim(q, 'ann')
  expect((await on(q, 'explain', 'first')).out).toMatch(/^first is in-progress and cannot be claimed now:\n\n- held: ann is working on it, until /)
  expect(await on(q, 'explain', 'nobody')).toMatchObject({ code: 1, err: expect.stringContaining('no task nobody') as string })
})

test('the history of a task that is no longer in memory comes from the log, with ISO 8601 times', async () => {
  const q = queue()
  await on(q, 'settings', 'set', 'retentionSeconds=0')
  await enqueue(q, 'a', 'x', '--deadline', '2030-01-01T00:00:00Z')
  await claim(q, 'ann')
  await on(q, 'cancel', 'a')
  await on(q, 'pause')
  expect((await on(q, 'show', 'a')).code).toBe(1)
  const { out } = await on(q, 'history', 'a')
  expect(out).toMatch(/TaskEnqueued[\s\S]*Claimed[\s\S]*Cancelled/)
  expect(out).toMatch(/deadlineAt=20(30-01-01|29-12-31)T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)/)
  expect(out).not.toMatch(/At=\d{10}/)
  const { events } = await server.json<{ events: ReadonlyArray<{ type: string; data: Record<string, unknown> }> }>('history', 'a', '--queue', q)
  expect(events.find(({ type }) => type === 'Claimed')?.data.expiresAt).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
  expect(await on(q, 'history', 'nobody')).toMatchObject({ code: 1, err: expect.stringContaining('no task nobody was ever in queue') as string })
})

test('the doctor notes each breaker that holds tasks back, with a server and without', async () => {
  const q = queue()
  await enqueue(q, 'a')
  const said = async (...flags: ReadonlyArray<string>): Promise<string> => (await on(q, 'doctor', ...flags)).out.split('\n').filter((line) => line.includes(`queue ${q}`)).join('\n')
  expect(await said()).not.toContain('breaker')
  await on(q, 'breakers', 'open', 'x', '--reason', 'the API is down')
  expect(await on(q, 'doctor')).toMatchObject({ code: 0 })
  expect(await said()).toContain('the breaker of x is open (the API is down): its tasks are held back until somebody closes it')
  await on(q, 'breakers', 'close', 'x')
  expect(await said()).not.toContain('breaker')
})
