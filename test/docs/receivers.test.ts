/** EV-08: runs the receivers of docs/alerts.md, and lets a server tell them of an alert. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve } from '@daybook/adapters/serve'
import { openPoster, readSecret, testMessage } from '@daybook/adapters/webhooks'
import { afterEach, expect, test } from 'vitest'
import { goesWithout, python } from '../support/needs.js'
import { until } from '../support/queue.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const here = fileURLToPath(new URL('.', import.meta.url))
const secret = `whsec_${Buffer.from('the secret of this test, as is').toString('base64')}`
const withoutPython = goesWithout(python)

const receivers = [...readFileSync(join(root, 'docs/alerts.md'), 'utf8').matchAll(/<!-- receiver -->\n```(\w+)\n([\s\S]*?)```/g)].map(([, language = '', code = '']) => ({ language, code }))

const ends: Array<() => Promise<unknown> | void> = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    }).on('error', () => resolve(false))
  })

test('there is one in JavaScript and one in Python', () => expect(receivers.map(({ language }) => language)).toEqual(['js', 'python']))

interface Started {
  readonly url: string
  readonly said: () => string
}

/** Starts a receiver of the page. */
const start = async (language: string, code: string): Promise<Started> => {
  // In this folder, so that imports are resolved as in a service of the workspace.
  const file = join(here, `.receiver-${randomUUID()}.${language === 'js' ? 'mjs' : 'py'}`)
  writeFileSync(file, code)
  ends.push(() => rmSync(file, { force: true }))
  const port = await freePort()
  const child: ChildProcess = spawn(language === 'js' ? process.execPath : 'python3', [file], { env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret }, stdio: ['ignore', 'pipe', 'ignore'] })
  ends.push(() => void child.kill('SIGKILL'))
  let said = ''
  child.stdout?.on('data', (text: Buffer) => (said += text.toString()))
  await until(() => listens(port))
  return { url: `http://127.0.0.1:${port}/`, said: () => said }
}

test.each(receivers)('the receiver in $language gets an alert once, and refuses what is not signed', async ({ language, code }) => {
  if (language === 'python' && withoutPython) return
  const { url, said } = await start(language, code)
  const dataDir = mkdtempSync(join(tmpdir(), 'daybook-receivers-'))
  ends.push(() => rmSync(dataDir, { recursive: true, force: true }))
  const webhook = { url, secrets: [readSecret(secret)!], timeoutMs: 20_000, allowPrivateAddresses: true }
  // The same receiver twice, as if two servers told it.
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'memory' }, auth: 'off', webhooks: [{ name: 'one', ...webhook }, { name: 'two', ...webhook }] })
  ends.push(() => server.close())
  const post = (path: string, body: object): Promise<Response> => fetch(`${server.url}/api/queues/q/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  await post('tasks', { type: 'mail' })
  await post('breakers/mail/open', { reason: 'the host is ünreachable' })
  const delivered = async (): Promise<number> => ((await (await fetch(`${server.url}/metrics`)).text()).match(/^daybook_webhook_messages_total.*delivered"} 1$/gm) ?? []).length
  await until(async () => (await delivered()) === 2)
  await until(() => said().includes('\n'))
  expect(said().trim()).toBe('alert.raised q breaker-open:mail the breaker of type mail is open (the host is ünreachable): its tasks are held back')
  const forged = await fetch(url, { method: 'POST', headers: { 'webhook-id': 'x', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)), 'webhook-signature': 'v1,bm8=' }, body: '{}' })
  expect(forged.status).toBe(401)
})

test.each(receivers)('the receiver in $language takes the message of --test-webhooks', async ({ language, code }) => {
  if (language === 'python' && withoutPython) return
  const { url, said } = await start(language, code)
  const poster = openPoster({ url, secrets: [readSecret(secret)!], timeoutMs: 20_000, allowPrivateAddresses: true })
  ends.push(() => poster.close())
  expect(await poster.post(testMessage('a-test', Date.now()))).toMatchObject({ kind: 'delivered' })
  await until(() => said().includes('\n'))
  expect(said().trim()).toBe('test A test of this webhook. Nothing has happened.')
})
