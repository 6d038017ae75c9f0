import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ended, root, run, runHere, start } from './program.js'

const cli = (...args: ReadonlyArray<string>) => runHere(args)

const commands = [
  'serve', 'enqueue', 'claim', 'complete', 'fail', 'release', 'heartbeat', 'work', 'list', 'show', 'result', 'explain', 'history', 'watch', 'cancel', 'amend', 'bump', 'erase', 'restart', 'depth',
  'park', 'callback', 'approvals', 'approvals list', 'approvals show', 'approvals approve', 'approvals refuse', 'memory', 'memory search',
  'queues', 'queues list', 'queues delete', 'dlq', 'dlq list', 'dlq patterns', 'dlq show', 'dlq retry', 'dlq snooze', 'dlq escalate', 'dlq redrive', 'dlq redrive-status', 'dlq discard', 'breakers', 'breakers list', 'breakers open', 'breakers close',
  'agents', 'agents list', 'agents register', 'agents terminate', 'settings', 'settings get', 'settings set', 'pause', 'resume',
  'alerts', 'limits', 'limits list', 'limits set', 'limits remove', 'batch', 'batch list', 'batch show', 'batch create', 'batch close', 'batch cancel', 'schedules', 'schedules list', 'schedules show', 'schedules set', 'schedules pause', 'schedules resume', 'schedules remove', 'token', 'token list', 'token create', 'token revoke', 'import', 'export', 'simulate', 'audit', 'audit state', 'audit diff', 'audit log', 'audit export', 'audit replay', 'report', 'project', 'doctor', 'archive', 'backup', 'top', 'completion', 'man',
]
const groups = ['queues', 'dlq', 'approvals', 'memory', 'breakers', 'agents', 'settings', 'limits', 'batch', 'schedules', 'token']

describe('--help', () => {
  test('daybook --help names every command and every exit code', async () => {
    const { code, out } = await cli('--help')
    expect(code).toBe(0)
    for (const command of commands) expect(out).toContain(command.split(' ')[0])
    expect(out).toContain('0 done, 1 refused by the queue, 2 wrong usage, 3 server not reachable')
  })

  test.each(commands)('daybook %s --help has examples and the connection options', async (command) => {
    const { code, out, err } = await cli(...command.split(' '), '--help')
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(`Usage: daybook ${command}`)
    if (!groups.includes(command)) expect(out).toMatch(/Examples:\n {2}.*daybook /)
    expect(out).toMatch(/\nSee also: daybook \w+.*\nExit codes: 0 done, 1 refused/)
    if (command !== 'serve') expect(out).toContain('--token')
    else expect(out).toContain('--queue-files')
  })

  test.each([['doctor', '--data='], ['audit', 'verify', '--store='], ['archive', '--before', '1', '--data', ''], ['backup', '', '--data', 'x'], ['backup', 'x', '--store='], ['import', ''], ['project', '--views='], ['simulate', ''], ['man', '--write=']])('an empty path is wrong usage, and said in plain words: %j', async (...args) => {
    const { code, err } = await cli(...args)
    expect([code, err]).toEqual([2, expect.stringContaining('it is empty: name a file or a folder')])
  })

  test('the command is the first argument that is no value of an option, and without one all commands are named', async () => {
    expect((await cli('--queue', 'list', 'depth', '--help')).out).toContain('Usage: daybook depth')
    expect((await cli('--queue=list', 'depth', '--help')).out).toContain('Usage: daybook depth')
    for (const args of [['--help', 'list'], ['--json', '--help'], ['--queue', 'list', '--help']]) expect((await cli(...args)).out).toMatch(/ list .*\n(.*\n)* +archive /)
  })

  test('this test covers every command', async () => {
    const { out } = await cli('--help')
    const listed = [...(out.split('display help for command')[1]?.split('A first round')[0] ?? '').matchAll(/^ {2}(\w+)/gm)].map((match) => match[1])
    expect(listed.length).toBeGreaterThan(40)
    expect(listed.filter((name) => !commands.includes(name ?? ''))).toEqual([])
  })
})

describe('exit code 2: wrong usage', () => {
  test.each<[ReadonlyArray<string>, string]>([
    [['frobnicate'], 'unknown command'],
    [['list', '--frob'], 'unknown option'],
    [['list', '--limit', 'many'], 'a number is wanted'],
    [['list', '--status', 'odd'], '--status odd is not known'],
    [['list', '--status', ''], 'it is empty'],
    [['work', '--types', '', '--', 'true'], 'it is empty'],
    [['watch', '--events', ','], 'it is empty'],
    [['enqueue', 'x', '--depends-on', ''], 'it is empty'],
    [['enqueue', 'x', '--skills', ','], 'it is empty'],
    [['schedules', 'set', 'x', '--every', '60', '--type', 'x', '--skills', ''], 'it is empty'],
    [['work', '--grace', '-1', '--', 'true'], 'a number of seconds is wanted, at least 0'],
    [['result', 'x', '--wait', '-1'], 'a number of seconds is wanted, at least 0'],
    [['heartbeat', 'x', '--lease', '1', '--every', '-1'], 'a number of seconds is wanted, at least 0.1'],
    [['show'], "missing required argument 'id'"],
    [['complete', 'x'], "required option '--lease"],
    [['complete', 'x', '--lease', '1', '--result', '5'], '--result must be a JSON object'],
    [['complete', 'x', '--lease', '1', '--result', '"done"'], '--result must be a JSON object'],
    [['dlq', 'retry'], "required option '--reason"],
    [['dlq', 'retry', '--reason', 'r'], 'name one dead letter, or say which'],
    [['dlq', 'discard', 'x', '--all', '--reason', 'r'], 'an id or a filter, not both'],
    [['enqueue'], 'give the type of the task'],
    [['enqueue', 'x', '--file', 'y'], 'not both'],
    [['enqueue', 'x', '--at', '120'], 'a time like'],
    [['enqueue', 'x', '--metadata', '{'], '--metadata is not JSON'],
    [['enqueue', 'x', '--payload', '-', '--metadata', '-'], 'standard input can be read only once'],
    [['settings', 'set'], 'give key=value, or --file'],
    [['settings', 'set', 'nonsense'], 'is not key=value'],
    [['settings', 'set', 'defaults.timout=3'], 'defaults.timout is not a field here'],
    [['work'], "missing required argument 'command'"],
    [['list', '--url', 'nowhere'], 'is not an address'],
    [['list', '--queue', 'a b'], 'is not a queue name'],
    [['serve', '--port', '123456'], 'port "123456"'],
    [['doctor', '--store', 'memory:'], 'leaves nothing to look at'],
    [['enqueue', 't', '--at', '2026-02-30T00:00:00Z'], 'a day that exists'],
    [['enqueue', 't', '--deadline', '2026-01-31T25:00:00Z'], 'a day that exists'],
    [['enqueue', 't', '--at', '+99999999999d'], 'a day that exists'],
  ])('daybook %j', async (args, message) => {
    const { code, out, err } = await cli(...args)
    expect(err).toContain(message)
    expect([code, out]).toEqual([2, ''])
  })

  test.each<[ReadonlyArray<string>, string]>([
    [['list', '--nope', '--json'], "unknown option '--nope' (did you mean --type?)"],
    [['lsit', '--json'], "unknown command 'lsit'\n(Did you mean daybook list?)"],
    [['explain', '--json'], "missing required argument 'id'"],
    [['complete', 'x', '--json'], "required option '--lease <token>' not specified"],
    [['list', '--limit', 'many', '--json'], "option '-n, --limit <n>' argument 'many' is invalid. a number is wanted"],
    [['--json'], 'a command is missing: --help lists them'],
  ])('with --json wrong usage is JSON, too: %j', async (args, detail) => {
    const { code, out, err } = await cli(...args)
    expect([code, out, JSON.parse(err)]).toEqual([2, '', { error: { code: 'usage', detail } }])
  })
})

describe('exit code 3: the server cannot be reached', () => {
  test('the message says what to do', async () => {
    const { code, out, err } = await run(['list', '--url', 'http://127.0.0.1:1'])
    expect([code, out]).toEqual([3, ''])
    expect(err).toContain('daybook serve starts one')
  })

  test('with --json the problem is JSON, on stderr', async () => {
    const { code, err } = await run(['depth', '--json'], { DAYBOOK_URL: 'http://127.0.0.1:1' })
    expect(code).toBe(3)
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'unreachable' } })
  })

  test('a token is never printed back', async () => {
    for (const args of [['list', '--token', 'sesame'], ['list', '--token', 'ses ame'], ['frob', '--token', 'sesame'], ['--token', 'sesame', '--help']]) {
      const { out, err } = await run([...args, '--url', 'http://127.0.0.1:1'])
      expect(out + err).not.toMatch(/ses ?ame/)
    }
  })
})

describe('output that cannot be written', () => {
  test('a full disk is told, without a stack trace', async () => {
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [join(root, 'packages/adapters/bin/daybook.js'), '--help'], { stdio: ['ignore', full, 'pipe'] })
    closeSync(full)
    const [err, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, 'close')])
    expect([code, err]).toEqual([1, expect.stringMatching(/^daybook: the output cannot be written: ENOSPC.*\n$/)])
  })

  test('a closed pipe is no failure', async () => {
    const child = start(['--help'])
    const end = ended(child)
    child.stdout.destroy()
    expect(await end).toMatchObject({ code: 0, err: '' })
  })
})
