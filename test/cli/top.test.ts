/** `daybook top` on a real pseudo-terminal, with a real server. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { inTime } from '../support/in-time.js'
import { goesWithout, python } from '../support/needs.js'
import { until } from '../support/queue.js'
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

/** A server of two queues behind a path, that answers a question about its queues when it is told to. Each look at its metrics counts ten more arrivals. */
const withSlowServer = async (body: (slow: { readonly url: string; readonly asked: () => number; readonly answer: () => void }) => Promise<void>): Promise<void> => {
  let asked = 0
  let arrivals = 0
  let answer = (): void => undefined
  const send = (response: ServerResponse, url: string): void => {
    const queues = ['alpha', 'beta'].map((name) => ({ name, paused: null, revision: 0, byStatus: {} }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(url === '/behind/metrics' ? `daybook_enqueued_total{queue="alpha"} ${arrivals += 10}\n` : JSON.stringify({ queues, alerts: [], tasks: [], nextCursor: null }))
  }
  const slow = createServer(({ url = '' }, response) => {
    if (!url.startsWith('/behind/')) return response.writeHead(404).end()
    if (url !== '/behind/api/queues') return send(response, url)
    asked++
    answer = () => send(response, url)
  })
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  try {
    await body({ url: `http://127.0.0.1:${(slow.address() as AddressInfo).port}/behind/`, asked: () => asked, answer: () => answer() })
  } finally {
    slow.closeAllConnections()
    slow.close()
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

  test('q ends it also while the server does not answer', async () => {
    await withSlowServer(({ url, asked }) => onTerminal(async (pty) => {
      await pty.until((text) => text.includes('asking'), 'the first frame')
      await until(() => asked() === 1)
      pty.type('q')
      expect(await inTime('the end', pty.ended)).toEqual({ code: 0, echo: true })
    }, ['--url', url]))
  })

  test('an interval that is longer than any timer is no haste; a queue that is selected while the server answers is asked about next', async () => {
    await withSlowServer(({ url, asked, answer }) => onTerminal(async (pty) => {
      await until(() => asked() === 1)
      answer()
      await pty.until((text) => text.includes('running longest in alpha: none'), 'the first queue')
      pty.type('s')
      await pty.until((text) => text.includes('by wait'), 'another order')
      pty.type('s')
      await pty.until((text) => text.includes('by arrivals'), 'another order')
      expect(asked()).toBe(1)
      pty.type(' ')
      await until(() => asked() === 2)
      pty.type('\u001b[B')
      await pty.until((text) => /▸ +beta/.test(text), 'the second queue')
      answer()
      await until(() => asked() === 3)
      answer()
      await pty.until((text) => text.includes('running longest in beta: none'), 'what is known of the second queue')
      pty.type('q')
      expect(await pty.ended).toEqual({ code: 0, echo: true })
    }, ['--url', url, '--interval', '3000000']))
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

  test('a clock that is set back does not change the rates', async () => {
    await withSlowServer(async ({ url, asked, answer }) => {
      let now = 1e12
      const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now -= 3_600_000))
      try {
        const printed = server.daybook(['top', '--json', '--url', url])
        for (const nth of [1, 2]) {
          await Promise.race([until(() => asked() === nth), printed])
          answer()
        }
        const { queues: [alpha] } = JSON.parse((await printed).out) as { queues: [{ arrivals: { perMinute: number } }] }
        expect(alpha.arrivals.perMinute).toBeGreaterThan(0)
      } finally {
        clock.mockRestore()
      }
    })
  })

  test('a server that is not there is exit code 3', async () => {
    expect((await run(['top', '--url', 'http://127.0.0.1:1'])).code).toBe(3)
  })

  // The last test: it changes which queue comes first.
  test('the details are those of the first queue on the screen, which need not be the first of the server', async () => {
    for (const id of ['b-2', 'b-3', 'b-4', 'b-5', 'b-6']) await on('beta', 'enqueue', 'more', '--id', id, '--payload', JSON.stringify(id))
    const { out } = await server.daybook(['top', '--once'])
    expect(out).toMatch(/▸ +beta/)
    expect(out).toMatch(/waiting longest in beta\n#.*\n1 +b-1 /)
  })
})
