/** Errors name the command, the option or the value that was meant. */
import { describe, expect, test } from 'vitest'
import { runHere } from './program.js'

/** The error, without the line that names the help. */
const errorOf = async (line: string): Promise<string> => {
  const { code, out, err } = await runHere(line.split(' '))
  expect([code, out]).toEqual([2, ''])
  return err
}

describe('a command', () => {
  test.each<[line: string, meant: string]>([
    // Slips of the finger.
    ['equeue x', 'daybook enqueue'],
    ['lsit', 'daybook list'],
    ['setings get', 'daybook settings'],
    ['token lst', 'daybook token list'],
    ['audit stat', 'daybook audit state'],
    // The other number.
    ['queue', 'daybook queues'],
    ['tokens', 'daybook token'],
    ['schedule', 'daybook schedules'],
    // Words of other queues.
    ['push', 'daybook enqueue'],
    ['add', 'daybook enqueue'],
    ['jobs', 'daybook list'],
    ['retry', 'one of: daybook restart, daybook dlq retry'],
    ['dead', 'daybook dlq'],
    ['logs', 'one of: daybook history, daybook audit log'],
    ['ps', 'one of: daybook list --status in-progress, daybook agents'],
    ['ack', 'daybook complete'],
    ['cron', 'daybook schedules'],
    ['help', 'daybook --help'],
    // A command of a group, and words for one.
    ['redrive', 'daybook dlq redrive'],
    ['dlq ls', 'daybook dlq list'],
    ['dlq rm x', 'daybook dlq discard'],
    ['dlq retri x', 'daybook dlq retry'],
    ['token add x', 'daybook token create'],
    ['limits delete x', 'daybook limits remove'],
  ])('daybook %s', async (line, meant) => {
    const err = await errorOf(line)
    expect(err.split('\n')[0]).toMatch(/^error: unknown command '/)
    expect(err).toContain(`\n(Did you mean ${meant}?)\n`)
  })

  test('what resembles nothing gets no suggestion, and whatever is suggested exists', async () => {
    expect(await errorOf('frobnicate')).toBe("error: unknown command 'frobnicate'\n(daybook --help tells more)\n")
    expect(await errorOf('dlq frobnicate')).toContain("error: unknown command 'daybook dlq frobnicate'\n(daybook")
  })

  test('too many arguments behind a command are no unknown command', async () => {
    expect(await errorOf('dlq list ls')).toContain('error: too many arguments')
    expect(await errorOf('depth show')).toContain('error: too many arguments')
  })
})

describe('an option', () => {
  test.each<[line: string, meant: string]>([
    ['list --stauts pending', '--status'],
    ['list --prio 3', '--priority'],
    ['list --ulr x', '--url'],
    ['enqueue x --desc y', '--description'],
    ['depth --jsn', '--json'],
    ['depth --hlep', '--help'],
  ])('daybook %s', async (line, meant) => {
    expect(await errorOf(line)).toContain(`(did you mean ${meant}?)\n`)
  })

  test('what resembles none gets no suggestion', async () => {
    expect(await errorOf('list --frobnicate')).toBe("error: unknown option '--frobnicate'\n(daybook list --help tells more)\n")
  })
})

describe('a value', () => {
  test.each<[line: string, meant: string]>([
    ['list --status complted', 'completed'],
    ['list --status running', 'in-progress'],
    ['list --status pending,dead', 'dead-letter'],
    ['enqueue x --priority hihg', 'HIGH'],
    ['enqueue x --priority urgent', 'CRITICAL'],
    ['enqueue x --deduplicate contnet', 'content'],
    ['settings set defaults.timout=3', 'defaults.timeout'],
    ['settings set timeout=3', 'defaults.timeout'],
    ['settings set default.timeout=3', 'defaults'],
    ['settings set maxConcurrentAgent=3', 'capacity.maxConcurrentAgents'],
    ['token create x --role viewer', 'auditor'],
    ['token create x --role opertor', 'operator'],
    ['report latancy', 'latency'],
    ['report --by typ', 'type'],
  ])('daybook %s', async (line, meant) => {
    expect(await errorOf(line)).toContain(`(did you mean ${meant}?)\n`)
  })

  test.each(['list --status xyzzy', 'enqueue x --priority xyzzy', 'settings set xyzzy=3', 'token create x --role xyzzy', 'report xyzzy'])('daybook %s gets no suggestion', async (line) => {
    expect(await errorOf(line)).not.toContain('did you mean')
  })
})
