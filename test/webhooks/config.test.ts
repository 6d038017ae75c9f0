/** `alerts:` in the config file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readServeOptions } from '@daybook/adapters/config'
import { afterAll, expect, test } from 'vitest'
import { secret, secretOf } from './receiver.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-webhook-config-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const read = (webhooks: unknown, env = {}) => readText(JSON.stringify({ alerts: { webhooks } }), env)
const readText = (text: string, env = {}) => {
  const config = join(dir, 'config.yaml')
  writeFileSync(config, text)
  return readServeOptions({ config }, env)
}
const url = 'https://alerts.example.org/daybook'

test('EV-08: webhooks have defaults, several secrets, and secrets in the environment', async () => {
  const next = secretOf('next')
  expect(await read([{ url, secret }, { url: 'http://10.0.0.1:8080/x', name: 'pager', secret: ['env:HOOK', next], kinds: ['breaker-open'], queues: ['a'], timeoutSeconds: 5, allowPrivateAddresses: true }], { HOOK: secret })).toMatchObject({
    _tag: 'Right',
    right: {
      webhooks: [
        { name: 'alerts.example.org', url, timeoutMs: 15_000, allowPrivateAddresses: false, kinds: undefined, queues: undefined, secrets: [Buffer.from(secret.slice(6), 'base64')] },
        { name: 'pager', url: 'http://10.0.0.1:8080/x', timeoutMs: 5_000, allowPrivateAddresses: true, kinds: ['breaker-open'], queues: ['a'], secrets: [Buffer.from(secret.slice(6), 'base64'), Buffer.from(next.slice(6), 'base64')] },
      ],
    },
  })
  expect(await readText('port: 0')).toMatchObject({ right: expect.not.objectContaining({ webhooks: expect.anything() }) })
})

const short = `whsec_${Buffer.from('too short').toString('base64')}`
test.each<[string, unknown, string]>([
  ['no list', {}, 'alerts.webhooks must be a list of 20 at most'],
  ['too many', Array(21).fill({ url, secret }), 'alerts.webhooks must be a list of 20 at most'],
  ['a text', ['https://x'], 'alerts.webhooks.0 must be an object with url and secret'],
  ['no url', [{ secret }], 'alerts.webhooks.0.url must be an address such as'],
  ['another protocol', [{ url: 'file:///etc/passwd', secret }], 'alerts.webhooks.0.url must be an address such as'],
  ['a password in the url', [{ url: 'https://u:p4ssw0rd@example.org/', secret }], 'alerts.webhooks.0.url must have no user and password'],
  ['a private address', [{ url: 'http://127.1/', secret }], 'alerts.webhooks.0.url is a loopback address: to send there, set allowPrivateAddresses: true for this webhook'],
  ['a private address in IPv6', [{ url: 'http://[fd00::1]/', secret }], 'alerts.webhooks.0.url is a private address'],
  ['no secret', [{ url }], 'alerts.webhooks.0.secret must be whsec_'],
  ['a short secret', [{ url, secret: short }], 'alerts.webhooks.0.secret must be whsec_ and 24 to 64 bytes in base64'],
  ['a secret without its prefix', [{ url, secret: [secret, secret.slice(6)] }], 'alerts.webhooks.0.secret.1 must be whsec_'],
  ['a secret that is not set', [{ url, secret: 'env:HOOK' }], 'alerts.webhooks.0.secret names the variable HOOK, which is not set'],
  ['an unknown member', [{ url, secret, secrets: 'x' }], 'alerts.webhooks.0.secrets is not known; known: name, url, secret'],
  ['an unknown kind', [{ url, secret, kinds: ['fire'] }], 'alerts.webhooks.0.kinds must be a list of one or more of critical-waiting, starvation'],
  ['no kinds', [{ url, secret, kinds: [] }], 'alerts.webhooks.0.kinds must be a list'],
  ['an invalid queue', [{ url, secret, queues: ['a b'] }], 'alerts.webhooks.0.queues must be a list of names of queues'],
  ['a long time-out', [{ url, secret, timeoutSeconds: 3600 }], 'alerts.webhooks.0.timeoutSeconds must be a number from 1 to 60'],
  ['one host twice', [{ url, secret }, { url: `${url}/2`, secret }], 'alerts.webhooks.1.name: there are two webhooks "alerts.example.org": give each a name of its own'],
])('%s is refused, with the path of the key and without secrets', async (_, webhooks, why) => {
  const answer = await read(webhooks)
  expect(answer).toMatchObject({ _tag: 'Left', left: [expect.stringContaining(why)] })
  expect(JSON.stringify(answer)).not.toMatch(new RegExp(`p4ssw0rd|${secret.slice(6, 30)}|${short.slice(6)}`))
})

test.each([['alerts: on', 'alerts must be an object with webhooks'], ['alerts: { criticalDepthSeconds: 5 }', 'alerts.criticalDepthSeconds is not known here']])('%s is refused: %s', async (text, why) => {
  expect(await readText(text)).toMatchObject({ _tag: 'Left', left: [expect.stringContaining(why)] })
})
