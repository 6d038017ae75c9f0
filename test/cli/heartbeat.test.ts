/** `daybook heartbeat --every`: a lease is extended as long as the work goes on. */
import { expect, test } from 'vitest'
import { until } from '../support/queue.js'
import { startServer, token } from './program.js'

test('a server that is away for a while does not end it, and a lost lease does', async () => {
  let server = await startServer()
  await server.json('enqueue', 'mail', '--id', 'a')
  const { claims: [claim] } = await server.json<{ claims: ReadonlyArray<{ lease: { token: number } }> }>('claim', '--agent', 'me')
  let [out, err] = ['', '']
  const times = (): number => out.split('a is yours').length - 1
  const beating = server.daybook(['heartbeat', 'a', '--agent', 'me', '--lease', String(claim?.lease.token), '--every', '0.1'], '', {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  })
  await until(() => times() > 0)
  await server.stop()
  await until(() => err.includes('the lease of a was not extended, and this is tried again'))
  const before = times()
  server = await startServer(['--port', new URL(server.url).port], { DAYBOOK_TOKEN: token }, server.dir)
  await until(() => times() > before)
  await server.json('cancel', 'a')
  expect((await beating).code).toBe(1)
  expect(err).toMatch(/daybook: lease-lost/)
  await server.stop()
  server.remove()
})
