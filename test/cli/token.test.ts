import type { TokenView } from '@daybook/adapters/client'
import { expect, test } from 'vitest'
import { runHere, serverOfFile } from './program.js'

const server = serverOfFile()
const as = (token: string, ...args: ReadonlyArray<string>) => runHere(args, { DAYBOOK_URL: server.url, DAYBOOK_TOKEN: token })

test('SEC-2: daybook token: create, list, revoke', async () => {
  const made = await server.daybook(['token', 'create', 'farm', '--role', 'worker,producer', '--queue', 'builds', '--expires', '90d'])
  const token = made.out.trim()
  expect(token).toMatch(/^dbk_[A-Za-z0-9_-]{43}$/)
  expect(made).toMatchObject({ code: 0, err: expect.stringMatching(/token farm \(worker, producer; queues: builds; valid, expires in 90d\), shown this once/) as string })

  const list = await server.daybook(['token', 'list'])
  expect(list.out).toMatch(/admin +admin +all +valid/)
  expect(list.out).toMatch(/farm +worker, producer +builds +valid, expires in 90d +never/)
  expect(list.out).not.toContain(token)

  expect((await as(token, 'enqueue', 't', '--queue', 'builds')).code).toBe(0)
  expect((await server.daybook(['token'])).out).toMatch(/farm .* \d+s ago/)
  expect(await as(token, 'enqueue', 't', '--queue', 'other')).toMatchObject({ code: 1, err: expect.stringContaining('forbidden: token farm is for queue builds only') as string })
  expect(await as(token, 'list', '--queue', 'builds')).toMatchObject({ code: 1, err: expect.stringContaining('this needs the role operator or guardian or auditor or admin: token farm is worker and producer') as string })
  expect(await as(token, 'token', 'list')).toMatchObject({ code: 1, err: expect.stringContaining('forbidden') as string })

  const revoked = await server.daybook(['token', 'revoke', 'farm', '--reason', 'sold'])
  expect(revoked).toMatchObject({ code: 0, out: expect.stringMatching(/^farm: revoked \d+s ago by admin\n$/) as string })
  // Whoever revokes it again learns that this changes nothing.
  expect((await server.daybook(['token', 'revoke', 'farm', '--reason', 'lost'])).out).toMatch(/^farm: it was revoked already; revoked \d+s ago by admin\n$/)
  expect(await as(token, 'enqueue', 't', '--queue', 'builds')).toMatchObject({ code: 1, err: expect.stringContaining('this token was revoked') as string })
  expect((await server.daybook(['token', 'list'])).out).not.toContain('farm')
  expect((await server.daybook(['token', 'list', '--all'])).out).toMatch(/farm .*revoked/)
})

test('daybook token --json; a name that is free again, and an id', async () => {
  const first = await server.json<TokenView>('token', 'create', 'ci', '--role', 'producer')
  expect(first).toMatchObject({ name: 'ci', roles: ['producer'], token: expect.stringMatching(/^dbk_/) as string })
  expect(await server.daybook(['token', 'create', 'ci', '--role', 'producer'])).toMatchObject({ code: 1, err: expect.stringContaining('there is a valid token ci: revoke it first') as string })
  expect(await server.json('token', 'revoke', first.id)).toMatchObject({ status: 'revoked' })
  const second = await server.json<TokenView>('token', 'create', 'ci', '--role', 'producer', '--queues', 'a,b', '--expires', '2999-01-01T00:00:00Z')
  expect(second).toMatchObject({ queues: ['a', 'b'], expiresAt: '2999-01-01T00:00:00.000Z' })
  // By name, it is the valid one.
  expect(await server.json('token', 'revoke', 'ci')).toMatchObject({ id: second.id, status: 'revoked' })
  expect((await server.json<{ readonly tokens: ReadonlyArray<TokenView> }>('token', 'list', '--all')).tokens.map(({ name }) => name)).toEqual(expect.arrayContaining(['admin', 'ci', 'ci']))
})

test('SEC-8: daybook token create --rate', async () => {
  expect(await server.json('token', 'create', 'rated', '--role', 'worker', '--rate', '600/m', '--burst', '30')).toMatchObject({ rate: { perSecond: 10, burst: 30 } })
  expect((await server.daybook(['token', 'list'])).out).toMatch(/rated .* 10\/s, 30 at once/)
})

test.each<[ReadonlyArray<string>, number, string]>([
  [['create', 'x'], 2, '--role'],
  // An empty list was a token for all queues.
  [['create', 'x', '--role', 'worker', '--queues', ''], 2, "option '--queues <queue>' argument '' is invalid. it is empty"],
  [['create', 'x', '--role', 'worker', '--tenant', ','], 2, 'it is empty'],
  [['create', 'x', '--role', 'root'], 2, 'the roles are producer, worker, operator, guardian, auditor, admin'],
  [['create', 'x', '--role', 'worker', '--expires', 'soon'], 2, 'a time like'],
  [['create', 'x', '--role', 'admin', '--queue', 'a'], 1, 'cannot limit an admin'],
  [['create', 'admin', '--role', 'worker'], 1, 'name of 1 to 64 letters'],
  [['create', 'x', '--role', 'worker', '--burst', '3'], 2, '--burst goes with --rate'],
  [['create', 'x', '--role', 'worker', '--rate', '5/0s'], 2, 'a rate like'],
  [['revoke', 'nobody'], 1, 'there is no token nobody'],
  [['revoke', 'admin'], 1, 'the admin token is not revoked, but replaced'],
])('daybook token %j', async (args, code, message) => {
  expect(await server.daybook(['token', ...args])).toMatchObject({ code, err: expect.stringContaining(message) as string })
})

test('TEN-2: daybook token create --tenant: a token sees and changes the tasks of its tenant', async () => {
  await server.daybook(['settings', 'set', '--queue', 'jobs', 'tenants=isolated'])
  const token = async (tenant: string): Promise<string> => {
    const made = await server.daybook(['token', 'create', `of-${tenant}`, '--role', 'producer,operator', '--queue', 'jobs', '--tenant', tenant])
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining(`tenants: ${tenant}; valid`) as string })
    return made.out.trim()
  }
  const [acme, globex] = [await token('acme'), await token('globex')]
  expect((await server.daybook(['token', 'list'])).out).toMatch(/of-acme +producer, operator +jobs +acme +valid/)
  expect((await as(acme, 'enqueue', 't', '--queue', 'jobs', '--id', 'acme:one')).code).toBe(0)
  expect(await as(globex, 'show', 'acme:one', '--queue', 'jobs')).toMatchObject({ code: 1, err: expect.stringContaining('no task acme:one in queue jobs') as string })
  expect(await as(globex, 'enqueue', 't', '--queue', 'jobs', '--id', 'acme:two')).toMatchObject({ code: 1, err: expect.stringContaining('must begin with globex:') as string })
  expect((await as(globex, 'list', '--queue', 'jobs')).out).not.toContain('acme')
  expect((await as(acme, 'list', '--queue', 'jobs')).out).toContain('acme:one')
  expect(await as(acme, 'settings', 'get', '--queue', 'jobs')).toMatchObject({ code: 1, err: expect.stringContaining('token of-acme is for tenant acme only') as string })
})

test('TEN-2: whoever works with a token for a tenant reads how an agent is named', async () => {
  await server.daybook(['settings', 'set', '--queue', 'named', 'tenants=isolated'])
  const token = (await server.daybook(['token', 'create', 'named-fleet', '--role', 'worker', '--queue', 'named', '--tenant', 'acme'])).out.trim()
  const refused = 'agentId: must begin with acme: because the token is for this tenant\n  --agent gives the name\n'
  expect(await as(token, 'claim', '--queue', 'named')).toMatchObject({ code: 1, err: expect.stringContaining(refused) as string })
  expect(await as(token, 'work', '--queue', 'named', '--', 'true')).toMatchObject({ code: 1, err: expect.stringContaining(refused) as string })
  expect(await as(token, 'claim', '--queue', 'named', '--agent', 'acme:one')).toMatchObject({ code: 0 })
})

test('TEN-2: the doctor does not call a log damaged that the token may not read', async () => {
  await server.daybook(['settings', 'set', '--queue', 'unread', 'tenants=isolated'])
  const token = (await server.daybook(['token', 'create', 'unread-support', '--role', 'operator', '--queue', 'unread', '--tenant', 'acme'])).out.trim()
  const found = await as(token, 'doctor')
  expect(found).toMatchObject({ code: 1, out: expect.stringContaining('????  queue unread: its events were not read: this is about all tenants, and token unread-support is for tenant acme only') as string })
  expect(found.out).toContain('no problem found, but the events were not read')
})
