import { expect, test } from 'vitest'
import { until } from '../support/queue.js'
import { serverOfFile } from './program.js'

const server = serverOfFile()

test('EV-08: daybook alerts: what is raised, and nothing when it is over', async () => {
  const on = (...args: ReadonlyArray<string>) => server.daybook([...args, '--queue', 'a'])
  expect((await on('alerts')).out).toBe('no alerts\n')
  await on('enqueue', 'mail')
  await on('breakers', 'open', 'mail', '--reason', 'the server is down')
  await until(async () => (await on('alerts')).out.includes('breaker-open:mail'))
  expect((await on('alerts')).out).toMatch(/breaker-open:mail +\d+s ago +the breaker of type mail is open \(the server is down\)/)
  await on('breakers', 'close', 'mail', '--reason', 'it is back')
  await until(async () => (await on('alerts')).out === 'no alerts\n')
})
