/** `daybook top` on a real pseudo-terminal, with a real server. */
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { goesWithout, python } from '../support/needs.js'
import { root, run, serverOfFile } from './program.js'
import { type Pty, startPty } from './pty.js'

const server = serverOfFile()
const on = (queue: string, ...args: ReadonlyArray<string>) => server.daybook([...args, '--queue', queue])

beforeAll(async () => {
  for (const id of ['a-1', 'a-2', 'a-3', 'a-4']) await on('alpha', 'enqueue', `type-${id}`, '--id', id)
  await on('alpha', 'claim', '--agent', 'ann', '--types', 'type-a-1')
  await on('beta', 'enqueue', 'lone', '--id', 'b-1')
  await on('beta', 'breakers', 'open', 'lone', '--reason', 'a test')
})

const top = (args: ReadonlyArray<string> = [], size: readonly [number, number] = [120, 30], env: Readonly<Record<string, string>> = {}): Pty =>
  startPty([process.execPath, join(root, 'packages/adapters/bin/daybook.js'), 'top', '--interval', '0.3', ...args], { PATH: process.env['PATH'], TERM: 'xterm-256color', LANG: 'C.UTF-8', ...server.env, ...env }, ...size)

/** Runs a test on a terminal, and ends what is left of it. */
const onTerminal = async (body: (pty: Pty) => Promise<void>, ...args: Parameters<typeof top>): Promise<void> => {
  const pty = top(...args)
  try {
    await body(pty)
  } finally {
    pty.signal(9)
  }
}

describe.skipIf(goesWithout(python))('on a terminal', () => {
  test('it shows the queues, follows what happens, and q gives the terminal back as it was', async () => {
    await onTerminal(async (pty) => {
      const screen = await pty.until((text) => /▸ +alpha/.test(text) && text.includes('a-1') && text.includes('DONE/MIN'), 'the first frame')
      expect(screen).toMatch(/▸ +alpha +█+▓+ +3 +1 +0 .* 1 of 10/)
      expect(screen).toMatch(/ +beta .*1 open breaker/)
      expect(screen).toMatch(/running longest in alpha\n#.*\n1 +a-1 +type-a-1 +\d+s +ann/)
      expect(screen).toMatch(/waiting longest in alpha\n#.*\n2 +a-2 /)
      expect(pty.isFullScreen()).toBe(true)
      expect(screen.split('\n')[29]).toMatch(/^q quit/)
      await on('alpha', 'enqueue', 'later', '--id', 'a-5')
      await pty.until((text) => /▸ +alpha +█+▓+ +4 +1 /.test(text), 'the new task')
      await pty.until((text) => /▸ +alpha .* [1-9][\d.]* +[▁-█]+ /.test(text), 'its arrival in the rate')
      pty.type('q')
      expect(await pty.ended).toEqual({ code: 0, echo: true })
      expect(pty.isFullScreen()).toBe(false)
      expect(pty.screen().join('')).toBe('')
    })
  })

  test('keys: arrows select a queue, enter opens it, escape goes back, s sorts, space pauses, ? helps', async () => {
    await onTerminal(async (pty) => {
      await pty.until((text) => /▸ +alpha/.test(text), 'the first frame')
      pty.type('\u001b[B')
      await pty.until((text) => /▸ +beta/.test(text) && text.includes('waiting longest in beta') && text.includes('breakers: lone open'), 'the second queue')
      pty.type('\r')
      await pty.until((text) => /▸ +beta/.test(text) && !/alpha/.test(text) && text.includes('esc back') && /pending +1 +█+/.test(text), 'the queue alone')
      pty.type('\u001b')
      await pty.until((text) => text.includes('alpha') && text.includes('enter open'), 'all queues again')
      pty.type('s')
      await pty.until((text) => text.includes('by wait'), 'another order')
      pty.type(' ')
      await pty.until((text) => text.includes('PAUSED'), 'the pause')
      pty.type(' ')
      await pty.until((text) => text.includes('every 0.3 s'), 'the end of the pause')
      pty.type('?')
      await pty.until((text) => text.includes('space          stop and go on refreshing'), 'the help')
      pty.type('\u0003')
      expect(await pty.ended).toEqual({ code: 0, echo: true })
    })
  })

  test('it follows the size of the window', async () => {
    await onTerminal(async (pty) => {
      await pty.until((text) => text.includes('OLDEST') && text.includes('AGENTS'), 'the wide frame')
      pty.resize(40, 12)
      const small = await pty.until((text) => text.includes('q quit') && !text.includes('OLDEST'), 'the small frame')
      expect(small.split('\n')).toHaveLength(12)
      expect(small.split('\n')[11]).toMatch(/^q quit/)
      pty.resize(140, 30)
      await pty.until((text) => text.includes('OLDEST') && text.split('\n')[29]?.startsWith('q quit') === true, 'the wide frame again')
    })
  })

  test('SIGTERM gives the terminal back, too', async () => {
    await onTerminal(async (pty) => {
      await pty.until((text) => /▸ +alpha/.test(text), 'the first frame')
      pty.signal(15)
      expect(await pty.ended).toEqual({ code: 0, echo: true })
      expect(pty.isFullScreen()).toBe(false)
    })
  })

  test('a server that does not answer is said, and so is one that refuses the token', async () => {
    await onTerminal(async (pty) => {
      await pty.until((text) => text.includes('no answer: '), 'that there is no answer')
      pty.type('q')
      expect(await pty.ended).toEqual({ code: 0, echo: true })
    }, ['--url', 'http://127.0.0.1:1'])
  })
})

describe('without a terminal', () => {
  test('it prints one frame with rates, and ends', async () => {
    const { code, out, err } = await run(['top'], server.env)
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^daybook top {2}http:.*\n +QUEUE .*\n▸ +alpha .* \d[\d.]* .*1 of 10/)
    expect(out).toContain('running longest in alpha')
    // eslint-disable-next-line no-control-regex -- escapes would be in a file
    expect(out).not.toMatch(/\u001b/)
    expect(out).not.toContain('q quit')
  })

  test('--queue selects one, --plain draws with ASCII, --json has the figures', async () => {
    const { out } = await server.daybook(['top', '--once', '--plain', '--queue', 'beta'])
    expect(out).toMatch(/> +beta +=/)
    expect(out).toContain('waiting longest in beta')
    const figures = await server.json<{ queues: ReadonlyArray<{ name: string; agents: number; arrivals: { perMinute: number } }> }>('top')
    expect(figures.queues.map(({ name, agents }) => [name, agents])).toEqual([['alpha', 1], ['beta', 0]])
    expect(figures.queues[0]?.arrivals.perMinute).toBeGreaterThanOrEqual(0)
  })

  test('a server that is not there is exit code 3', async () => {
    expect((await run(['top', '--url', 'http://127.0.0.1:1'])).code).toBe(3)
  })
})
