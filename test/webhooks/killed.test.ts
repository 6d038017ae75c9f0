/** A server that is killed when its message has arrived and is not answered yet, started as people start it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createClient } from '@daybook/adapters/client'
import { serve as serveHere } from '@daybook/adapters/serve'
import { readSecret, type WebhookOptions } from '@daybook/adapters/webhooks'
import { afterAll, expect, test } from 'vitest'
import { root, runHere } from '../cli/program.js'
import { until } from '../support/queue.js'
import { secret, TestReceiver, verify } from './receiver.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-webhook-killed-'))
const config = join(dir, 'config.yaml')
const token = 'token-of-this-test'
const env = { ...process.env, DAYBOOK_TOKEN: token, HOOK_SECRET: secret }
const children: Array<ChildProcess> = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

const serve = async (): Promise<{ readonly child: ChildProcess; readonly url: string; readonly said: () => string }> => {
  const child = spawn(process.execPath, [join(root, 'packages/adapters/bin/daybook.js'), 'serve', '--port', '0', '--data', join(dir, 'data'), '--config', config], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let said = ''
  child.stderr.on('data', (text: Buffer) => (said += text.toString()))
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/\S+/.exec(line)?.[0]
    if (url !== undefined) return { child, url, said: () => said }
  }
  throw new Error(`the server did not start: ${said}`)
}

test('EV-08: killed between the delivery and its answer, the next server sends the message again under the same id, and no other twice', async () => {
  const receiver = await TestReceiver.start()
  writeFileSync(config, `alerts:\n  webhooks:\n    - url: ${receiver.url}\n      secret: env:HOOK_SECRET\n      allowPrivateAddresses: true\n`)
  const first = await serve()
  const client = createClient({ url: first.url, token, queue: 'q' })
  for (const type of ['a', 'b', 'c']) await client.enqueue({ type })
  await client.breakers.open('a', 'down')
  await until(() => receiver.received.length === 1)
  receiver.answer = () => void first.child.kill('SIGKILL')
  const exited = once(first.child, 'exit')
  await client.breakers.open('b', 'down')
  await exited
  await client.close()
  receiver.answer = (_, response) => void response.writeHead(204).end()
  const second = await serve()
  await until(() => receiver.received.length === 3)
  const again = createClient({ url: second.url, token, queue: 'q' })
  await again.breakers.open('c', 'down')
  await until(() => receiver.received.length === 4)
  expect(receiver.keys).toEqual(['+breaker-open:a', '+breaker-open:b', '+breaker-open:b', '+breaker-open:c'])
  expect(receiver.ids[1]).toBe(receiver.ids[2])
  receiver.received.forEach((each) => verify(each))
  await again.close()
  second.child.kill('SIGTERM')
  expect((await once(second.child, 'exit'))[0]).toBe(0)
  expect(first.said() + second.said()).not.toMatch(/whsec|path-that-is-secret/)
  await receiver.stop()
})

test('EV-08: a start without any webhook forgets the receivers, so one that comes back is told of what happens from then on', async () => {
  const receiver = await TestReceiver.start()
  const told = { name: 'one', url: receiver.url, secrets: [readSecret(secret)!], timeoutMs: 20_000, allowPrivateAddresses: true }
  const dataDir = join(dir, 'without-webhooks')
  const served = async (webhooks: ReadonlyArray<WebhookOptions>, type: string, ...andThen: ReadonlyArray<() => Promise<void>>): Promise<void> => {
    const server = await serveHere({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', webhooks })
    const here = createClient({ url: server.url, queue: 'q' })
    await here.enqueue({ type })
    await here.breakers.open(type, 'down')
    await until(async () => (await here.alerts()).some(({ key }) => key === `breaker-open:${type}`))
    for (const step of andThen) await step()
    await here.close()
    await server.close()
  }
  await served([told], 'a', () => until(() => receiver.received.length === 1))
  await served([], 'b')
  await served([told], 'c', () => until(() => receiver.keys.includes('+breaker-open:c')))
  expect(receiver.keys.filter((key) => key !== '+breaker-open:a')).toEqual(['+breaker-open:c'])
  await receiver.stop()
})

test('EV-08: a server that never had a webhook has no folder for them', async () => {
  const dataDir = join(dir, 'never')
  await (await serveHere({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off' })).close()
  expect(existsSync(join(dataDir, 'webhooks'))).toBe(false)
})

test('daybook alerts --test-webhooks sends one signed message to each, and says what came of it', async () => {
  const [works, fails] = [await TestReceiver.start(), await TestReceiver.start()]
  fails.answer = (_, response) => void response.writeHead(500).end()
  const entry = ({ url }: TestReceiver, name: string, more = '') => `    - name: ${name}\n      url: ${url}\n      secret: env:HOOK_SECRET\n      allowPrivateAddresses: true\n${more}`
  writeFileSync(config, `alerts:\n  webhooks:\n${entry(works, 'pager')}`)
  const given = { HOOK_SECRET: secret }
  expect(await runHere(['alerts', '--test-webhooks', config], given)).toMatchObject({ code: 0, out: expect.stringMatching(/pager +yes +it answers 204/), err: '' })
  verify(works.received[0]!)
  expect(works.received[0]?.body).toMatchObject({ type: 'test' })
  writeFileSync(config, `alerts:\n  webhooks:\n${entry(works, 'pager')}${entry(fails, 'mail')}`)
  const { code, out } = await runHere(['alerts', '--test-webhooks', config, '--json'], given)
  expect([code, JSON.parse(out)]).toEqual([1, { webhooks: [{ webhook: 'pager', delivered: true, says: 'it answers 204' }, { webhook: 'mail', delivered: false, says: 'it answers 500' }] }])
  writeFileSync(config, 'port: 0\n')
  expect(await runHere(['alerts', '--test-webhooks', config], given)).toMatchObject({ code: 2, err: expect.stringContaining('has no alerts.webhooks') })
  await Promise.all([works.stop(), fails.stop()])
})
