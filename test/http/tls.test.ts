/** HTTPS and WebSockets over it, and certificates that are renewed while the server runs. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openTokens } from '@daybook/adapters/auth'
import { createDaybook, type Daybook } from '@daybook/adapters/engine'
import { type HttpServer, startHttpServer } from '@daybook/adapters/http'
import { openMemoryStore } from '@daybook/adapters/memory'
import { root } from '../cli/program.js'
import { inTime } from '../support/in-time.js'
import { adminToken, rawRequest } from './support.js'

const pem = (name: string): string => join(root, 'test/support/tls', name)
const ca = readFileSync(pem('ca.pem'))
const headers = { authorization: `Bearer ${adminToken}` }

let dir = ''
let daybook: Daybook
let http: HttpServer
const warnings: Array<string> = []
const files = () => ({ certFile: join(dir, 'cert.pem'), keyFile: join(dir, 'key.pem') })
const install = (name: string): void => {
  copyFileSync(pem(`${name}.pem`), files().certFile)
  copyFileSync(pem(`${name}.key`), files().keyFile)
}
const logger = Object.assign(Object.fromEntries(['fatal', 'error', 'info', 'debug', 'trace', 'silent'].map((level) => [level, () => undefined])), {
  level: 'warn',
  warn: (text: string) => void warnings.push(text),
  child: () => logger,
}) as never

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-tls-'))
  warnings.length = 0
  install('first')
  daybook = createDaybook({ store: openMemoryStore() })
  http = await startHttpServer({ daybook, tokens: openTokens({ dir: 'memory', adminToken }).tokens, port: 0, logger, tls: { ...files(), lookMs: 20 } })
})
afterEach(async () => {
  await inTime('the end of the server after a test', http.close(1_000))
  await daybook.close()
  rmSync(dir, { recursive: true, force: true })
})

interface Answer {
  readonly status: number
  readonly certificate: string
}

/** On a connection of its own. */
const ask = (path = '/api/queues', trusted: Buffer | undefined = ca): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request(`${http.url}${path}`, { headers, agent: false, ...(trusted === undefined ? {} : { ca: trusted }) }, (response) => {
      const { CN } = (response.socket as TLSSocket).getPeerCertificate().subject
      response.resume()
      response.on('end', () => resolve({ status: response.statusCode ?? 0, certificate: String(CN) }))
    })
    asked.on('error', reject).end()
  })

const untilServed = async (certificate: string): Promise<void> => {
  while ((await ask()).certificate !== certificate) await new Promise((resolve) => setTimeout(resolve, 10))
}

test('with a certificate, the server speaks HTTPS to those who trust it', async () => {
  expect(http.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  expect(await ask()).toEqual({ status: 200, certificate: 'first' })
  await expect(ask('/api/queues', Buffer.from(''))).rejects.toThrow(/certificate/)
  // Whoever speaks HTTP gets nothing.
  expect(await rawRequest(http.port, [`GET /api/queues HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminToken}\r\n\r\n`])).not.toContain('200')
})

test('stopping takes no longer than graceMs, also if TLS has not begun on a connection', async () => {
  const socket = connect(http.port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  await ask()
  await inTime('the end of the server', http.close(300))
})

test('WebSockets go over it, from pages of this server too', async () => {
  const socket = new WebSocket(`${http.url.replace('https', 'wss')}/api/ws`, { headers: { ...headers, origin: http.url }, ca })
  await inTime('the WebSocket', new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject)))
  socket.terminate()
})

test('a renewed certificate is used without a restart', async () => {
  install('second')
  await inTime('the second certificate', untilServed('second'))
})

test('a certificate whose key is not there yet is not used, and the server says so once', async () => {
  copyFileSync(pem('second.pem'), files().certFile)
  while (warnings.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  expect(warnings[0]).toContain('the server goes on with the certificate that it has')
  expect((await ask()).certificate).toBe('first')
  writeFileSync(files().keyFile, readFileSync(pem('second.key')))
  await inTime('the second certificate', untilServed('second'))
  expect(warnings).toHaveLength(1)
})

test.each<readonly [string, () => void, RegExp]>([
  ['no certificate', () => rmSync(files().certFile), /the file of --tls-cert cannot be read: ENOENT/],
  ['no key', () => rmSync(files().keyFile), /the file of --tls-key cannot be read: ENOENT/],
  ['the key of another one', () => copyFileSync(pem('second.key'), files().keyFile), /cert\.pem and \S+key\.pem are not a certificate and its key in PEM/],
  ['nonsense', () => writeFileSync(files().certFile, 'nonsense'), /are not a certificate and its key in PEM/],
])('a server does not start with %s', async (_, spoil, message) => {
  spoil()
  await expect(startHttpServer({ daybook, tokens: openTokens({ dir: 'memory', adminToken }).tokens, port: 0, tls: files() })).rejects.toThrow(message)
})
