/** Controls a server in another process: JSON over HTTP, on a separate port. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Features } from './context.js'
import type { FaultRule, RandomFaults } from './faults.js'
import type { EventStoreServer } from './server.js'
import { deleteStream, tombstoneStream, truncateStream } from './admin.js'

export interface Control {
  readonly port: number
  readonly close: () => Promise<void>
}

type Order = (body: Record<string, unknown>) => unknown

const orders = (server: EventStoreServer): Readonly<Record<string, Order>> => ({
  'POST /faults': (body) => server.faults.script(...(body['rules'] as ReadonlyArray<FaultRule>)),
  'POST /random-faults': (body) => server.faults.random(body as unknown as RandomFaults),
  'DELETE /faults': () => server.faults.clear(),
  'GET /faults/fired': () => server.faults.fired,
  'POST /features': (body) => void (server.features = body['features'] as Features),
  'POST /drop': () => server.dropConnections(),
  'POST /half-open': (body) => server.halfOpen(body['on'] === true),
  'POST /stop': () => server.stop(),
  'POST /start': () => server.start(),
  'POST /restart': () => server.restart(),
  'POST /truncate': (body) => truncateStream(server, String(body['stream']), Number(body['before'])),
  'POST /delete': (body) => deleteStream(server, String(body['stream'])),
  'POST /tombstone': (body) => tombstoneStream(server, String(body['stream'])),
})

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

export const serveControl = async (server: EventStoreServer, port = 0): Promise<Control> => {
  const known = orders(server)
  const http = createServer((request, response) => {
    const order = known[`${request.method ?? ''} ${request.url ?? ''}`]
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? null))
    }
    if (order === undefined) return answer(404, { orders: Object.keys(known) })
    bodyOf(request).then(order).then((body) => answer(200, body), (error: unknown) => answer(400, { error: String(error) }))
  })
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve))
  return {
    port: (http.address() as AddressInfo).port,
    close: () => new Promise((resolve) => {
      http.close(() => resolve())
      http.closeAllConnections()
    }),
  }
}
