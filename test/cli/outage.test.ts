/** Commands that wait go on when the server is away for a while: `result --wait`, `batch show --watch`. */
import { createClient } from '@daybook/adapters/client'
import { expect, test } from 'vitest'
import { until } from '../support/queue.js'
import { startServer, token } from './program.js'

test('a server that restarts ends neither, and one that is not there is told at once without a wait', async () => {
  let server = await startServer()
  const on = (url: string) => createClient({ url, token })
  const first = on(server.url)
  await first.settings.patch({ decisionReport: 'optional' })
  await first.batches.create({ id: 'b', tasks: [{ id: 'x', type: 'row' }] })
  await first.close()

  let [told, seen, drawn] = ['', '', '']
  const result = server.daybook(['result', 'x', '--wait', '600', '--json'], '', { err: (text) => void (told += text) })
  const batch = server.daybook(['batch', 'show', 'b', '--watch'], '', { err: (text) => void (seen += text) })
  const onTerminal = server.daybook(['batch', 'show', 'b', '--watch'], '', { errIsTerminal: true, err: (text) => void (drawn += text) })
  await until(() => [seen, drawn].every((text) => text.includes('0 of 1')))
  await server.stop()
  await until(() => [told, seen, drawn].every((text) => text.includes('this is tried again')))
  // Not behind the line that says how far it is.
  expect(drawn).toContain('\r\u001b[2Kdaybook: this is tried again')
  expect(await server.daybook(['result', 'x'])).toMatchObject({ code: 3 })
  expect(await server.daybook(['batch', 'show', 'b', '--watch'])).toMatchObject({ code: 3 })

  server = await startServer(['--port', new URL(server.url).port], { DAYBOOK_TOKEN: token }, server.dir)
  const again = on(server.url)
  const [claim] = await again.claim({ agentId: 'w' })
  await again.complete('x', { agentId: 'w', token: claim!.lease.token, result: { output: 7 } })
  expect(await result).toMatchObject({ code: 0, out: expect.stringContaining('"output":7') as string })
  for (const watched of [batch, onTerminal]) expect(await watched).toMatchObject({ code: 0, out: expect.stringMatching(/state +finished/) as string })
  await again.close()
  await server.stop()
  server.remove()
})
