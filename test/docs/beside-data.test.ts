/** Examples that are marked `run beside daybook-data`: they run as they are, in a folder with the data of a server. */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@daybook/client'
import { serve } from '@daybook/adapters/serve'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../cli/program.js'
import { until } from '../support/queue.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-beside-data-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** 1,200 tasks of the queue `default`, and signed checkpoints of the first 1,000 events of its log and of all. */
beforeAll(async () => {
  const dataDir = join(dir, 'daybook-data')
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', memory: { kind: 'off' }, checkpoints: { everyMs: 100 } })
  const client = createClient({ url: server.url })
  const signed = join(dataDir, 'checkpoints/default.checkpoints')
  const isSigned = (events: number): boolean => existsSync(signed) && new RegExp(`^${events}$`, 'm').test(readFileSync(signed, 'utf8'))
  for (let i = 0; i < 6; i++) {
    if (i === 5) await until(() => isSigned(1_000))
    await client.enqueueAll(Array.from({ length: 200 }, (_, each) => ({ type: 'mail', payload: [i, each] })))
  }
  await until(() => isSigned(1_200))
  await client.close()
  await server.close()
  mkdirSync(join(dir, 'bin'))
  writeFileSync(join(dir, 'bin/daybook'), `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'packages/adapters/bin/daybook.js')}' "$@"\n`)
  chmodSync(join(dir, 'bin/daybook'), 0o755)
}, 300_000)

/** What the marked examples of a page print, in a folder of its own, beside a copy of the data. */
const outputOf = (page: string): string => {
  const cwd = mkdtempSync(join(dir, 'page-'))
  cpSync(join(dir, 'daybook-data'), join(cwd, 'daybook-data'), { recursive: true })
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  const code = [...text.matchAll(/<!-- run beside daybook-data -->\n```sh\n([\s\S]*?)```/g)].map(([, each = '']) => each).join('')
  expect(code, page).not.toBe('')
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-eu', '-c', code], { cwd, encoding: 'utf8', env: { ...process.env, PATH: `${join(dir, 'bin')}:${process.env['PATH']}`, NO_COLOR: '1' } })
  expect([stderr, status]).toEqual(['', 0])
  return stdout
}

test('docs/archive.md: the example runs, and says what the page says', () => {
  const stdout = outputOf('archive.md')
  expect(stdout).toContain('default: nothing to move')
  expect(stdout).toMatch(/default: moved 1000 events into 1 file of .* kB; the log now begins at revision 1000, and ends at 1199/)
  expect(stdout).toContain('ok  1200 events, revision 1199')
  expect(stdout).toContain('201 pending')
  expect(stdout).toContain('{"daybook":"segment","version":1,"stream":"taskqueue-default","from":0}')
}, 300_000)

test('docs/how-to/back-up-restore-upgrade.md: the example runs, and the copy is verified', () => {
  expect(outputOf('how-to/back-up-restore-upgrade.md')).toMatch(/^default: 1200 events, revision 1199, verified\ncopied to .*backups\/monday, as of [\s\S]*^ok {2}default: 1200 events, revision 1199/m)
}, 300_000)

test('docs/audit.md: the examples without a server run', () => {
  expect(outputOf('audit.md')).toMatch(/4 pending/)
}, 300_000)

test('EV-07: docs/tamper-evidence.md: the log is verified, and an event is proved to be in it', () => {
  expect(outputOf('tamper-evidence.md')).toMatch(/^ok {2}1200 events[\s\S]*42[\s\S]*^ok {2}the log of 1200 events begins with the 1000 of the older checkpoint$/m)
}, 300_000)
