/** To which addresses nothing is sent, and signatures by the specification's example. */
import { openPoster, readRetryAfter, readSecret, signatureOf, whyNotPublic } from '@daybook/adapters/webhooks'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, test } from 'vitest'
import { secret, TestReceiver } from './receiver.js'

const forbidden: ReadonlyArray<readonly [string, string]> = [
  ['127.0.0.1', 'a loopback address'], ['127.255.255.254', 'a loopback address'], ['0.0.0.0', 'an unspecified address'], ['0.1.2.3', 'an unspecified address'],
  ['10.0.0.1', 'a private address'], ['172.16.0.1', 'a private address'], ['172.31.255.255', 'a private address'], ['192.168.1.1', 'a private address'],
  ['100.64.0.1', 'a private address'], ['100.127.255.255', 'a private address'],
  ['169.254.169.254', 'a link-local address'], ['169.254.170.2', 'a link-local address'],
  ['224.0.0.1', 'a multicast address'], ['239.255.255.255', 'a multicast address'], ['255.255.255.255', 'a broadcast address'], ['240.0.0.1', 'a reserved address'],
  ['192.0.0.192', 'a reserved address'], ['192.0.2.1', 'a reserved address'], ['198.18.0.1', 'a reserved address'], ['198.51.100.1', 'a reserved address'], ['203.0.113.1', 'a reserved address'],
  ['::1', 'a loopback address'], ['::', 'an unspecified address'], ['fe80::1', 'a link-local address'], ['fe80::1%eth0', 'a link-local address'],
  ['fc00::1', 'a private address'], ['fd00:ec2::254', 'a private address'], ['fec0::1', 'a reserved address'], ['ff02::1', 'a multicast address'],
  ['::ffff:127.0.0.1', 'a loopback address'], ['::ffff:10.0.0.1', 'a private address'], ['::ffff:169.254.169.254', 'a link-local address'], ['::ffff:a9fe:a9fe', 'a link-local address'],
  ['::127.0.0.1', 'a loopback address'], ['::7f00:1', 'a reserved address'], ['64:ff9b::7f00:1', 'a reserved address'], ['64:ff9b:1::a00:1', 'a reserved address'], ['::ffff:0:7f00:1', 'a reserved address'],
  ['2002:7f00:1::1', 'a reserved address'], ['2001::1', 'a reserved address'], ['2001:db8::1', 'a reserved address'], ['100::1', 'a reserved address'], ['4000::1', 'a reserved address'],
  ['example.org', 'no IP address'], ['', 'no IP address'], ['127.0.0.1.', 'no IP address'],
]
test.each(forbidden)('EV-08: nothing is sent to %s: it is %s', (address, why) => expect(whyNotPublic(address)).toBe(why))
test.each(['8.8.8.8', '1.1.1.1', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1', '::ffff:8.8.8.8'])('%s is public', (address) => expect(whyNotPublic(address)).toBeUndefined())

describe('EV-08: no connection is made', () => {
  const opened: Array<() => Promise<void>> = []
  afterEach(async () => {
    for (const close of opened.splice(0)) await close()
  })
  const tried = async (host: string, addresses?: ReadonlyArray<string>) => {
    const receiver = await TestReceiver.start()
    const asked: Array<string> = []
    const resolve = addresses === undefined ? undefined : (name: string) => {
      asked.push(name)
      return Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
    }
    const poster = openPoster({ url: `http://${host}:${receiver.port}/`, secrets: [readSecret(secret)!], allowPrivateAddresses: false, timeoutMs: 20_000 }, resolve)
    opened.push(() => receiver.stop(), () => poster.close())
    const outcome = await poster.post({ id: 'x', body: '{}' })
    expect(receiver.connections).toBe(0)
    return { outcome, asked }
  }

  test.each(['127.0.0.1', '0x7f000001', '2130706433', '0177.0.0.1', '127.1', '0', '[::1]', '[::ffff:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:1]', 'localhost'])('to http://%s', async (host) => {
    expect((await tried(host)).outcome).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/is (a loopback|an unspecified) address: to send there, set allowPrivateAddresses: true for this webhook$/) })
  })
  test.each<[string, ReadonlyArray<string>, string]>([
    ['a private one', ['127.0.0.1'], 'hooks.example.org is 127.0.0.1, which is a loopback address'],
    ['a private one in IPv6', ['::ffff:127.0.0.1'], 'hooks.example.org is ::ffff:127.0.0.1, which is a loopback address'],
    ['a public one and a private one', ['93.184.215.14', '127.0.0.1'], 'hooks.example.org is 127.0.0.1, which is a loopback address'],
    ['the address of cloud metadata', ['169.254.169.254'], 'hooks.example.org is 169.254.169.254, which is a link-local address'],
  ])('to a name that means %s', async (_, addresses, why) => {
    const { outcome, asked } = await tried('hooks.example.org', addresses)
    expect(outcome).toEqual({ kind: 'failed', reason: `${why}: to send there, set allowPrivateAddresses: true for this webhook` })
    // Once for the connection: there is no second answer that could be another one.
    expect(asked).toEqual(['hooks.example.org'])
  })
  test('to a name that means nothing', async () => {
    expect((await tried('hooks.example.org', [])).outcome).toMatchObject({ kind: 'failed', reason: 'it cannot be reached' })
  })
  test('unless private addresses are allowed', async () => {
    const receiver = await TestReceiver.start()
    const poster = openPoster({ url: `http://localhost:${receiver.port}/`, secrets: [readSecret(secret)!], allowPrivateAddresses: true, timeoutMs: 20_000 })
    opened.push(() => receiver.stop(), () => poster.close())
    expect(await poster.post({ id: 'x', body: '{"data":{}}' })).toEqual({ kind: 'delivered', status: 204 })
  })
})

test('EV-08: the signature is that of the example of Standard Webhooks', () => {
  const key = readSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')!
  const [id, timestamp, body] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}'] as const
  expect(signatureOf([key], id, timestamp, body)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  expect(signatureOf([key], id, timestamp, body)).toBe(new Webhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw').sign(id, new Date(timestamp * 1_000), body))
})

test.each<[unknown, number]>([
  ['120', 120_000], ['0', 0], ['3601', 3_600_000], ['999999999', 3_600_000], ['99999999999999999999', 0], ['-5', 0], ['1e9', 0], ['soon', 0], ['', 0], [undefined, 0],
  ['Thu, 01 Jan 1970 00:01:40 GMT', 99_000], ['Fri, 31 Dec 9999 23:59:59 GMT', 3_600_000], ['Thu, 01 Jan 1970 00:00:00 GMT', 0], [['5', '6'], 0],
])('Retry-After: %j is a pause of %d ms', (value, ms) => expect(readRetryAfter(value as string | undefined, 1_000)).toBe(ms))
