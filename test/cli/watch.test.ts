import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { serverOfFile } from './program.js'

const server = serverOfFile()

test('TQM-WS: daybook watch: what has happened since a revision, as lines or as JSON', async () => {
  await server.daybook(['enqueue', 'mail', '--id', 'a', '-d', 'to Ada', '--queue', 'w'])
  await server.daybook(['cancel', 'a', '--reason', 'not needed', '--queue', 'w'])
  const lines = await server.daybook(['watch', '--from', '0', '--limit', '3', '--queue', 'w'])
  expect([lines.code, lines.out.trimEnd().split('\n').map((line) => line.slice(21).trim().replace(/ +/g, ' '))]).toEqual([0, [
    '0 task_created task_id=a description=to Ada',
    '0 task_queued task_id=a description=to Ada slots_available=10',
    '1 task_completed task_id=a status=CANCELLED summary=not needed',
  ]])
  const { out } = await server.daybook(['watch', '--from', '0', '--events', 'task_completed', '--limit', '1', '--json', '--queue', 'w'])
  expect(JSON.parse(out)).toMatchObject({ event: 'task_completed', revision: 1, payload: { task_id: 'a', status: 'CANCELLED' } })
  expect(await server.daybook(['watch', '--from', 'then'])).toMatchObject({ code: 2, err: expect.stringContaining('--from must be a revision') as string })
})

test('daybook watch --events: a name that no message has is refused, with the names that there are', async () => {
  const said = await inTime('an answer', server.daybook(['watch', '--events', 'task_created,task_complete']))
  expect(said).toMatchObject({ code: 2, err: expect.stringMatching(/the events are task_created, .*alert_cleared \(did you mean task_completed\?\)/) as string })
})

test('daybook watch of a server that is not there says so, and ends', async () => {
  const said = await inTime('an answer', server.daybook(['watch', '--url', 'http://127.0.0.1:1']))
  expect(said).toMatchObject({ code: 3, err: expect.stringContaining('is the server running there?') as string })
})

test('daybook watch behind a proxy that keeps the probes to itself', async () => {
  await server.daybook(['enqueue', 'mail', '--queue', 'behind'])
  const proxy = createServer((_, response) => response.writeHead(404).end())
  proxy.on('upgrade', (request, socket) => {
    const { hostname, port } = new URL(server.env.DAYBOOK_URL ?? '')
    const to = connect(Number(port), hostname)
    to.write(`GET ${request.url} HTTP/1.1\r\n${Object.entries(request.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`).join('')}\r\n`)
    to.pipe(socket).pipe(to)
    for (const each of [to, socket]) each.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const said = await inTime('a message', server.daybook(['watch', '--from', '0', '--limit', '1', '--queue', 'behind', '--url', url]))
    expect(said).toMatchObject({ code: 0, out: expect.stringContaining('task_created') as string })
  } finally {
    proxy.closeAllConnections()
    proxy.close()
  }
})
