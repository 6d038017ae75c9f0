/** Two servers on one store: a token is known to both, and revoked on both. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TokenView } from '@daybook/adapters/client'
import { expect, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { runHere, startServer } from './program.js'

test('SEC-5: a token that one server makes is known to the other, and revoked there as well, also after a restart', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-tokens-shared-'))
  const shared = ['--store', `sqlite+shared:${join(dir, 'log.db')}`]
  const env = { DAYBOOK_TOKEN: 'a-token-of-the-tests' }
  const one = await startServer(shared, env)
  let other = await startServer(shared, env)
  try {
    const made = await one.json<TokenView & { readonly token: string }>('token', 'create', 'shared', '--role', 'producer,auditor')
    const asks = async () => (await runHere(['depth', '--json'], { DAYBOOK_URL: other.url, DAYBOOK_TOKEN: made.token })).code
    const until = async (code: number): Promise<void> => {
      while ((await asks()) !== code) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await inTime('the token on the other server', until(0))
    await one.json('token', 'revoke', 'shared')
    await inTime('its end on the other server', until(1))
    expect((await other.json<{ readonly tokens: ReadonlyArray<TokenView> }>('token', 'list', '--all')).tokens).toContainEqual(expect.objectContaining({ name: 'shared', status: 'revoked' }))
    await other.stop()
    other.remove()
    other = await startServer(shared, env)
    expect(await asks()).toBe(1)
  } finally {
    for (const server of [one, other]) {
      await server.stop()
      server.remove()
    }
    rmSync(dir, { recursive: true, force: true })
  }
})
