/** daybook batch: made, filled, watched, closed and cancelled on the command line. */
import { createClient } from '@daybook/adapters/client'
import { expect, test } from 'vitest'
import { until } from '../support/queue.js'
import { serverOfFile, token } from './program.js'

const server = serverOfFile()

test('INV-33: daybook batch: create, enqueue --batch, list, show, close, cancel', async () => {
  const on = (...args: ReadonlyArray<string>) => server.daybook([...args, '--queue', 'b'])
  expect((await on('batch')).out).toBe('no batches\n')
  const made = await on('batch', 'create', '--id', 'upload-7', '--open', '--description', 'Prices', '--callback-type', 'mail', '--callback-payload', '{"to":"ada@example.org"}')
  expect([made.code, made.out]).toEqual([0, expect.stringContaining('it is open for more tasks')])
  for (const payload of ['1', '2']) await on('enqueue', 'row', '--batch', 'upload-7', '--payload', payload)
  expect((await on('list', '--batch', 'upload-7')).out.match(/ row /g)).toHaveLength(2)
  const closed = await on('batch', 'close', 'upload-7')
  expect(closed.out).toMatch(/state +closed\n.*progress +[─-]+ {2}0 %\n.*0 of 2 tasks finished/s)
  expect(closed.out).toMatch(/not finished, because:\n- 2 tasks of it are not finished/)
  expect((await on('batch', 'list')).out).toMatch(/upload-7 +closed .*0 % +0 of 2 tasks finished +Prices/)
  const cancelled = await on('batch', 'cancel', 'upload-7', '--reason', 'the wrong file')
  expect(cancelled.out).toMatch(/^2 tasks cancelled\n.*finished, cancelled: the wrong file.*100 %/s)
  expect(await server.json('batch', 'show', 'upload-7', '--queue', 'b')).toMatchObject({ state: 'finished', cancelled: 2, progress: 1 })
})

test('daybook batch show --watch goes on until the batch is finished', async () => {
  const client = createClient({ url: server.url, token, queue: 'w' })
  await client.settings.patch({ decisionReport: 'optional' })
  await client.batches.create({ id: 'b', tasks: [{ id: 'x', type: 'row' }], callback: { type: 'mail' } })
  const watching = server.daybook(['batch', 'show', 'b', '--watch', '--queue', 'w'])
  const [claim] = await client.claim({ agentId: 'w' })
  await client.complete('x', { agentId: 'w', token: claim!.lease.token, result: {} })
  expect(await watching).toMatchObject({ code: 0, out: expect.stringMatching(/state +finished\n.*█+ {2}100 %.*callback +b\.callback/s) as string })
  await client.close()
})

test('daybook batch show --watch says how far it is also on a terminal that cannot draw a line again', async () => {
  await server.daybook(['batch', 'create', '--id', 'b', '--open', '--queue', 'dumb'])
  let told = ''
  const watching = server.daybook(['batch', 'show', 'b', '--watch', '--queue', 'dumb'], '', { errIsTerminal: true, env: { ...server.env, TERM: 'dumb' }, err: (text) => void (told += text) })
  await until(() => told.includes('it is open for more tasks'))
  await server.daybook(['batch', 'close', 'b', '--queue', 'dumb'])
  expect(await watching).toMatchObject({ code: 0 })
})

test('a list of batches is as wide with colours as without, and no colour runs on', async () => {
  await server.daybook(['batch', 'create', '--id', 'narrow', '--open', '--queue', 'n'])
  const list = async (width: number, env: Record<string, string>): Promise<string> =>
    (await server.daybook(['batch', '--queue', 'n'], '', { env: { ...server.env, COLUMNS: String(width), ...env } })).out
  for (const width of [30, 40, 50, 60, 80, 200]) {
    const coloured = await list(width, { FORCE_COLOR: '1' })
    // eslint-disable-next-line no-control-regex -- the colours
    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(await list(width, { NO_COLOR: '1' }))
    expect(coloured).toContain('\u001b[2m')
  }
})

test.each<[ReadonlyArray<string>, number, string]>([
  [['create', '--callback-type', 'x', '--callback', '{}'], 2, 'not both'],
  [['create', '--callback-payload', '1'], 2, 'give the --callback-type'],
  [['create', '--callback', '[]'], 2, 'must be a JSON object with a type'],
  [['show', 'none'], 1, 'no batch none'],
])('daybook batch %j', async (args, code, message) => {
  expect(await server.daybook(['batch', ...args, '--queue', 'b'])).toMatchObject({ code, err: expect.stringContaining(message) as string })
})
