/** `daybook serve --tls-cert --tls-key`, and commands that trust a private authority. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { ended, root, run, start } from './program.js'

const pem = (name: string): string => join(root, 'test/support/tls', name)

test('daybook serve speaks HTTPS, and a command needs the certificate of the authority', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-tls-cli-'))
  const child = start(['serve', '--port', '0', '--data', dir, '--tls-cert', pem('first.pem')], { DAYBOOK_TOKEN: 'a-token', DAYBOOK_TLS_KEY: pem('first.key') })
  const end = ended(child)
  try {
    const url = await inTime('the server', new Promise<string>((resolve) => {
      let out = ''
      child.stdout.on('data', (text: string) => {
        out += text
        const found = /https:\/\/\S+/.exec(out)
        if (found !== null) resolve(found[0])
      })
    }))
    const env = { DAYBOOK_URL: url, DAYBOOK_TOKEN: 'a-token' }
    expect(await run(['enqueue', 't', '--id', 'a'], { ...env, NODE_EXTRA_CA_CERTS: pem('ca.pem') })).toMatchObject({ code: 0 })
    const refused = await run(['depth'], env)
    expect(refused.code).toBe(3)
    expect(refused.err).toMatch(/certificate.*\n.*NODE_EXTRA_CA_CERTS/s)
  } finally {
    child.kill('SIGTERM')
    await end
    rmSync(dir, { recursive: true, force: true })
  }
})
