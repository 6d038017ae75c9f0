/** docs/archive.md: its example runs in a folder with the data of a server. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import { afterAll, expect, test } from 'vitest'
import { root } from '../cli/program.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-archive-page-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('docs/archive.md: the example runs, and says what the page says', async () => {
  const dataDir = join(dir, 'daybook-data')
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', memory: { kind: 'off' } })
  const client = createClient({ url: server.url })
  for (let i = 0; i < 6; i++) await client.enqueueAll(Array.from({ length: 200 }, (_, each) => ({ type: 'mail', payload: [i, each] })))
  await client.close()
  await server.close()
  mkdirSync(join(dir, 'bin'))
  writeFileSync(join(dir, 'bin/daybook'), `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'packages/adapters/bin/daybook.js')}' "$@"\n`)
  chmodSync(join(dir, 'bin/daybook'), 0o755)
  const page = readFileSync(join(root, 'docs/archive.md'), 'utf8')
  const [, code = ''] = /<!-- run beside daybook-data -->\n```sh\n([\s\S]*?)```/.exec(page) ?? []
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-eu', '-c', code], { cwd: dir, encoding: 'utf8', env: { ...process.env, PATH: `${join(dir, 'bin')}:${process.env['PATH']}`, NO_COLOR: '1' } })
  expect([stderr, status]).toEqual(['', 0])
  expect(stdout).toContain('default: nothing to move')
  expect(stdout).toMatch(/default: moved 1000 events into 1 file of .* kB; the log now begins at revision 1000, and ends at 1199/)
  expect(stdout).toContain('ok  1200 events, revision 1199')
  expect(stdout).toContain('201 pending')
  expect(stdout).toContain('{"daybook":"segment","version":1,"stream":"taskqueue-default","from":0}')
}, 120_000)
