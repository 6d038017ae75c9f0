/** Dead letters on the command line (LK-11). */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandsOf, type Task } from './commands-of.js'
import { serverOfFile } from './program.js'

const server = serverOfFile()
const { queue, enqueue, claim, list, in_ } = commandsOf(server)

const deadLetter = async (q: string, ids: ReadonlyArray<string>): Promise<void> => {
  for (const id of ids) {
    await enqueue(q, 'ops', '--id', id, '--payload', `"${id}"`)
    const [held] = await claim(q)
    await in_(q, 'fail', id, '--lease', held?.lease ?? '', '--error', `disk ${id} is full`, '--permanent')
  }
}

test('LK-11: dead letters: list, patterns, show, retry one, discard by filter', async () => {
  const q = queue()
  await deadLetter(q, ['a', 'b', 'c'])
  expect((await server.json<{ readonly tasks: ReadonlyArray<Task> }>('dlq', '--queue', q)).tasks).toHaveLength(3)
  const { patterns } = await server.json<{ readonly patterns: ReadonlyArray<{ readonly count: number; readonly signature: string }> }>('dlq', 'patterns', '--queue', q)
  expect(patterns.reduce((sum, { count }) => sum + count, 0)).toBe(3)
  const shown = await in_(q, 'dlq', 'show', 'a')
  expect(shown.out).toContain('disk a is full')
  expect(shown.out).toContain('DeadLettered')
  expect((await in_(q, 'dlq', 'retry', 'a', '--reason', 'made room')).out).toBe('1 dead letter sent back: a\n')
  expect((await in_(q, 'dlq', 'discard', '--error', 'disk b', '--reason', 'old')).out).toBe('1 dead letter thrown away: b\n')
  expect((await in_(q, 'dlq', 'discard', '--all', '--reason', 'old')).out).toBe('1 dead letter thrown away: c\n')
  expect((await in_(q, 'dlq')).out).toBe('no dead letters\n')
})

test('LK-11: a filter of dead letters that is empty, as from a variable that is not set, is wrong usage: it would fit all', async () => {
  const q = queue()
  await deadLetter(q, ['a'])
  for (const option of ['--error', '--signature', '--type']) {
    const { code, out } = await in_(q, 'dlq', 'discard', option, '', '--reason', 'old')
    expect([option, code, out]).toEqual([option, option === '--type' ? 1 : 2, ''])
  }
  expect((await list(q)).map(({ status }) => status)).toEqual(['dead-letter'])
})

test('LK-11: dead letters that failed alike in two phases are two patterns, and each names its phase', async () => {
  const q = queue()
  for (const phase of ['TESTING', 'ANALYSIS']) {
    await in_(q, 'enqueue', 'ops', '--id', phase, '--phase', phase, '--payload', `"${phase}"`)
    const [held] = await claim(q)
    await in_(q, 'fail', phase, '--lease', held?.lease ?? '', '--error', 'no room', '--permanent')
  }
  const { patterns } = await server.json<{ readonly patterns: ReadonlyArray<{ readonly phase?: string; readonly tasks: ReadonlyArray<string> }> }>('dlq', 'patterns', '--queue', q)
  expect(patterns.map(({ phase, tasks }) => [phase, tasks])).toEqual(expect.arrayContaining([['TESTING', ['TESTING']], ['ANALYSIS', ['ANALYSIS']]]))
  expect((await in_(q, 'dlq', 'patterns')).out).toMatch(/^COUNT +TYPE +PHASE +SIGNATURE/)
})

test('LK-11: dead letters say what they hold up', async () => {
  const q = queue()
  await deadLetter(q, ['alone'])
  await in_(q, 'enqueue', 'ops', '--id', 'first', '--ordering-key', 'cart', '--payload', '1')
  const [held] = await claim(q)
  await in_(q, 'enqueue', 'ops', '--id', 'second', '--ordering-key', 'cart', '--payload', '2')
  for (const id of ['x', 'y']) await in_(q, 'enqueue', 'ops', '--id', id, '--depends-on', 'first', '--payload', `"${id}"`)
  await in_(q, 'fail', 'first', '--lease', held?.lease ?? '', '--error', 'the disk is full', '--permanent')
  const listed = async (columns: string): Promise<string> => (await server.daybook(['dlq', '--queue', q], '', { env: { ...server.env, COLUMNS: columns } })).out
  const out = await listed('200')
  expect(out).toMatch(/ first .* the disk is full \(holds up 2 dependents and 1 in its line\)/)
  expect(await listed('80')).toContain('the disk is full')
  expect(out).toMatch(/ alone .* disk alone is full/)
  expect(out.match(/holds up/g)).toHaveLength(1)
  expect((await in_(q, 'dlq', 'show', 'first')).out).toMatch(/^holds up +2 dependents and 1 in its line$/m)
})

test('LK-11: the signature that `dlq patterns` shows is long enough for the other commands, and unique', async () => {
  const q = queue()
  for (const type of ['ops', 'eng', 'doc']) {
    await enqueue(q, type, '--id', type)
    const [held] = await claim(q)
    await in_(q, 'fail', type, '--lease', held?.lease ?? '', '--error', `${type} failed`, '--permanent')
  }
  const { patterns } = await server.json<{ readonly patterns: ReadonlyArray<{ readonly type: string; readonly signature: string }> }>('dlq', 'patterns', '--queue', q)
  // Also at the narrowest width, because people copy it from there.
  for (const COLUMNS of ['', '40']) {
    const { out } = await server.daybook(['dlq', 'patterns', '--queue', q], '', { env: { ...server.env, COLUMNS } })
    for (const { signature } of patterns) {
      const [shown = ''] = /[0-9a-f]{12,}/.exec(out.split('\n').find((line) => line.includes(signature.slice(0, 12))) ?? '') ?? []
      expect(patterns.filter((other) => other.signature.startsWith(shown)).map((other) => other.signature)).toEqual([signature])
      expect((await server.json<{ readonly tasks: ReadonlyArray<Task> }>('dlq', 'list', '--signature', shown, '--queue', q)).tasks).toHaveLength(1)
    }
  }
  const [one, other] = patterns.map(({ signature }) => signature) as [string, string]
  expect((await in_(q, 'dlq', 'retry', '--signature', one.slice(0, 12), '--reason', 'r')).out).toContain('1 dead letter sent back')
  expect((await in_(q, 'dlq', 'discard', '--signature', other, '--reason', 'r')).out).toContain('1 dead letter thrown away')
})

test('LK-11: a beginning that several signatures have is refused, and they are named', async () => {
  const q = queue()
  // So many that two begin with the same of sixteen characters.
  await server.daybook(['enqueue', '--file', '-', '--queue', q], JSON.stringify(Array.from({ length: 17 }, (_, i) => ({ id: `t${i}`, type: `type-${i}`, payload: i }))))
  for (const { id, lease } of await claim(q, '--max', '17')) await in_(q, 'fail', id, '--lease', lease, '--error', 'failed', '--permanent')
  const { patterns } = await server.json<{ readonly patterns: ReadonlyArray<{ readonly signature: string }> }>('dlq', 'patterns', '--queue', q)
  const alike = patterns.map(({ signature }) => patterns.filter((other) => other.signature[0] === signature[0])).find((group) => group.length > 1) ?? []
  const ambiguous = await in_(q, 'dlq', 'retry', '--signature', alike[0]?.signature[0] ?? '', '--reason', 'r')
  expect([ambiguous.code, ambiguous.out]).toEqual([1, ''])
  for (const { signature } of alike) expect(ambiguous.err).toContain(signature)
})

test('LK-11: a review that matches no dead letter exits with 1, and says so', async () => {
  const q = queue()
  await deadLetter(q, ['a'])
  for (const verb of ['retry', 'discard']) {
    for (const filter of [['--error', 'nonsense'], ['--type', 'other-*'], ['--signature', 'f'.repeat(64)]]) {
      const { code, out } = await in_(q, 'dlq', verb, ...filter, '--reason', 'r')
      expect([code, out]).toEqual([1, expect.stringContaining('no dead letter fits')])
      const json = await in_(q, 'dlq', verb, ...filter, '--reason', 'r', '--json')
      expect([json.code, JSON.parse(json.out)]).toEqual([1, verb === 'retry' ? { retried: [] } : { discarded: [], cancelled: [] }])
    }
    const unknown = await in_(q, 'dlq', verb, '--signature', 'ffffffffffff', '--reason', 'r')
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('no dead letter has a signature that begins with ffffffffffff')])
  }
})

test('LK-11: a review by filter takes all that match, although the server takes 1,000 at once', async () => {
  const q = queue()
  const file = join(server.dir, `${q}.json`)
  const count = 1_003
  writeFileSync(file, JSON.stringify(Array.from({ length: count }, (_, i) => ({ id: `d${i}`, type: 'ops', status: 'dead-letter', payload: i }))))
  await server.json('import', file, '--queue', q)
  const first = `${count} dead letters`
  expect((await in_(q, 'dlq', 'snooze', '--all', '--until', '+1h', '--reason', 'r')).out).toContain(`${first} to be sent back`)
  expect((await in_(q, 'dlq', 'escalate', '--all', '--reason', 'r')).out).toContain(`${first} escalated`)
  expect((await in_(q, 'dlq', 'retry', '--all', '--reason', 'r')).out).toContain(`${first} sent back`)
  expect(await list(q, '--status', 'pending', '--all')).toHaveLength(count)
  await server.json('import', file, '--queue', `${q}-again`)
  const { discarded } = await server.json<{ readonly discarded: ReadonlyArray<string> }>('dlq', 'discard', '--all', '--reason', 'r', '--queue', `${q}-again`)
  expect(new Set(discarded).size).toBe(count)
})

test('LK-11: a redrive that matches no dead letter exits with 1, and says so', async () => {
  const q = queue()
  await deadLetter(q, ['a'])
  for (const flags of [['--dry-run'], []]) {
    const redrive = (type: string) => in_(q, 'dlq', 'redrive', '--type', type, '--per-minute', '60', '--reason', 'r', ...flags)
    expect(await redrive('other-*')).toMatchObject({ code: 1, out: expect.stringContaining('no dead letter fits') as string })
    expect(await redrive('ops')).toMatchObject({ code: 0, out: expect.stringContaining('1 dead letter') as string })
  }
})

test('LK-11: a redrive that an open breaker stops at once says so, and does not claim to send anything back', async () => {
  const q = queue()
  await deadLetter(q, ['a'])
  await in_(q, 'breakers', 'open', 'ops', '--reason', 'down')
  const redrive = (...more: ReadonlyArray<string>) => in_(q, 'dlq', 'redrive', '--type', 'ops', '--per-minute', '60', '--reason', 'r', ...more)
  expect(await redrive()).toMatchObject({ code: 1, out: expect.stringMatching(/^no dead letter is sent back: the breaker of ops is open\..*daybook breakers close ops\n$/) as string })
  const { code, out } = await redrive('--json')
  expect([code, JSON.parse(out)]).toMatchObject([1, { count: 1, redrive: { retried: 0, stopped: { cause: 'breaker-opened', taskType: 'ops' } } }])
  await in_(q, 'breakers', 'close', 'ops')
  expect(await redrive()).toMatchObject({ code: 0, out: expect.stringContaining('sending 1 dead letter back') as string })
})

test('LK-11: a list of dead letters says when there are more', async () => {
  const q = queue()
  await deadLetter(q, ['a', 'b'])
  expect((await in_(q, 'dlq', 'list', '--limit', '1')).out).toMatch(/1 +a .*\n… and more: --limit shows them\n$/)
  expect(await server.json('dlq', 'list', '--limit', '1', '--queue', q)).toMatchObject({ tasks: [{ id: 'a' }], more: true })
  expect((await in_(q, 'dlq', 'list', '--limit', '2')).out).not.toContain('and more')
  expect(await server.json('dlq', 'list', '--limit', '2', '--queue', q)).toMatchObject({ tasks: [{ id: 'a' }, { id: 'b' }], more: false })
})
