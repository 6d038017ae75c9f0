import { expect, test } from 'vitest'
import { serverOfFile } from './program.js'

const server = serverOfFile()

test('INV-27: daybook schedules: set, show, list, pause, resume, change, remove', async () => {
  const on = (...args: ReadonlyArray<string>) => server.daybook(['schedules', ...args, '--queue', 's'])
  expect((await on()).out).toBe('no schedules\n')
  const set = await on('set', 'nightly', '--cron', '30 2 * * *', '--zone', 'Europe/Berlin', '--type', 'ops-backup', '--payload', '{"of":"db"}', '--priority', 'high', '--missed', 'all')
  expect([set.code, set.out]).toEqual([0, expect.stringContaining('30 2 * * * in Europe/Berlin')])
  // On the clocks of its zone.
  expect(set.out).toMatch(/next +\w{3} \d{4}-\d\d-\d\d 0[23]:\d\d:00 GMT\+[12] \(in /)
  expect((await on('list')).out).toMatch(/nightly +30 2 \* \* \* in Europe\/Berlin +\w{3} .*ops-backup/)
  expect((await on('pause', 'nightly')).out).toMatch(/paused +yes/)
  expect((await on('list')).out).toContain('paused')
  expect(await on('pause', 'nightly')).toMatchObject({ code: 0, err: 'nightly was paused already\n' })
  const resumed = await on('resume', 'nightly')
  expect([resumed.out.includes('paused'), resumed.err]).toEqual([false, ''])
  expect(await on('resume', 'nightly')).toMatchObject({ code: 0, err: 'nightly was not paused\n' })
  await on('set', 'nightly', '--overlap', 'skip')
  expect(await server.json('schedules', 'show', 'nightly', '--queue', 's')).toMatchObject({ cron: '30 2 * * *', missed: 'all', overlap: 'skip', task: { type: 'ops-backup', payload: { of: 'db' }, priority: 'HIGH' } })
  await on('set', 'nightly', '--every', '90', '--task', '{"type":"x"}')
  expect(await server.json('schedules', 'show', 'nightly', '--queue', 's')).toMatchObject({ every: 90, task: { type: 'x' } })
  expect((await on('remove', 'nightly')).out).toBe('nightly is removed\n')
  expect(await on('show', 'nightly')).toMatchObject({ code: 1, err: expect.stringContaining('no schedule nightly') as string })
})

test.each<[ReadonlyArray<string>, number, string]>([
  [['set', 'n', '--every', '60'], 2, 'there is no schedule n yet: give the --type'],
  [['set', 'n', '--type', 'x'], 2, 'give --cron or --every'],
  [['set', 'n', '--cron', '@daily', '--every', '60'], 2, 'not both'],
  [['set', 'n', '--type', 'x', '--task', '{}'], 2, 'not both'],
  [['set', 'n', '--priority', '3'], 2, 'give the --type'],
  [['set', 'n', '--type', 'x', '--cron', 'whenever'], 1, 'five fields'],
])('daybook schedules %j', async (args, code, message) => {
  expect(await server.daybook(['schedules', ...args, '--queue', 'e'])).toMatchObject({ code, err: expect.stringContaining(message) as string })
})
