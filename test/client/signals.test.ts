/** Calls leave nothing on a signal that lives longer than they do. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { witnessOf } from '@daybook/adapters/chain'
import { createClient } from '@daybook/adapters/client'
import { expect, test } from 'vitest'
import { WebSocketServer } from 'ws'

/** Number of signals that AbortSignal.any() has made from this one and that it still knows, on Node 20. */
const dependants = (signal: AbortSignal): number =>
  Object.getOwnPropertySymbols(signal)
    .filter((symbol) => symbol.description === 'kDependantSignals')
    .reduce((count, symbol) => count + ((signal as unknown as Record<symbol, Set<unknown> | undefined>)[symbol]?.size ?? 0), 0)

test('neither a stream nor a watch of a client nor a note to a witness', async () => {
  const server = createServer((request, response) => response.writeHead(200).end(request.method === 'GET' ? '{"id":1}\n' : ''))
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => socket.send('{"event":"task_created","timestamp":"","revision":1,"payload":{}}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createClient({ url })
  const { signal } = new AbortController()
  try {
    for await (const event of client.eachEvent({}, { signal })) expect(event).toEqual({ id: 1 })
    for await (const message of client.watch({ signal })) {
      expect(message.revision).toBe(1)
      break
    }
    await witnessOf(`${url}/`)('note', signal)
    expect(dependants(signal)).toBe(0)
  } finally {
    await client.close()
    for (const each of sockets.clients) each.terminate()
    sockets.close()
    server.closeAllConnections()
    server.close()
  }
})
