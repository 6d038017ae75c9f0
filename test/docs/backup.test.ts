/** docs/how-to/back-up-restore-upgrade.md: its example runs beside a server's data. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@daybook/client'
import { serve } from '@daybook/adapters/serve'
import { afterAll, expect, test } from 'vitest'
import { root } from '../cli/program.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-backup-page-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('docs/how-to/back-up-restore-upgrade.md: the example runs', async () => {
  const dataDir = join(dir, 'daybook-data')
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', memory: { kind: 'off' } })
  const client = createClient({ url: server.url })
  await client.enqueue({ type: 'mail' })
  await client.close()
  await server.close()
  mkdirSync(join(dir, 'bin'))
  writeFileSync(join(dir, 'bin/daybook'), `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'packages/adapters/bin/daybook.js')}' "$@"\n`)
  chmodSync(join(dir, 'bin/daybook'), 0o755)
  const page = readFileSync(join(root, 'docs/how-to/back-up-restore-upgrade.md'), 'utf8')
  const [, code = ''] = /<!-- run beside daybook-data -->\n```sh\n([\s\S]*?)```/.exec(page) ?? []
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-eu', '-c', code], { cwd: dir, encoding: 'utf8', env: { ...process.env, PATH: `${join(dir, 'bin')}:${process.env['PATH']}`, NO_COLOR: '1' } })
  expect([stderr, status]).toEqual(['', 0])
  expect(stdout).toMatch(/^default: 1 event, revision 0, verified\ncopied to .*backups\/monday, as of [\s\S]*^ok {2}1 event, revision 0/m)
}, 120_000)
