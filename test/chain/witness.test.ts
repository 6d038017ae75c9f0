/** EV-07: a witness by URL. Nothing but the status of its answer counts. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { witnessOf } from '@daybook/adapters/chain'
import { expect, test } from 'vitest'

const note = 'daybook-q\n1\nAAAA\n'

const answered = async (listener: RequestListener): Promise<unknown> => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/log?key=s3cret`
  try {
    return await witnessOf(url)(note).then(() => 'accepted', (error: Error) => error.message.replace(new URL(url).origin, 'ORIGIN'))
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('it gets the note, and accepts it with any status of success', async () => {
  let got = ''
  const saved = answered((request, response) => {
    request.on('data', (chunk: Buffer) => (got += chunk.toString()))
    request.on('end', () => response.writeHead(204).end())
  })
  expect(await saved).toBe('accepted')
  expect(got).toBe(note)
})

test('another status is a refusal, which does not repeat the path: it may be a secret', async () => {
  expect(await answered((_, response) => response.writeHead(403).end('no'))).toBe('ORIGIN answered 403')
})

test('it is not waited for until an answer without end is over', async () => {
  const drip = (_: unknown, response: Parameters<RequestListener>[1]): void => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(timer))
  }
  expect(await answered(drip)).toBe('accepted')
})
