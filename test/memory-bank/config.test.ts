/** `memory:` in the config file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readServeOptions } from '@daybook/adapters/config'
import { afterAll, expect, test } from 'vitest'

const dir = mkdtempSync(join(tmpdir(), 'daybook-memory-config-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const read = (text: string, env = {}) => {
  const config = join(dir, 'config.yaml')
  writeFileSync(config, text)
  return readServeOptions({ config }, env)
}

test.each([
  ['memory: off', { kind: 'off' }],
  ['memory: { kind: off }', { kind: 'off' }],
  ['memory: { kind: sqlite }', { kind: 'sqlite', recallMs: 50, limit: 5 }],
  ['memory: { kind: sqlite, recallMs: 200, limit: 3 }', { kind: 'sqlite', recallMs: 200, limit: 3 }],
  ['memory: { kind: http, url: "http://127.0.0.1:9/v1/", timeoutSeconds: 2 }', { kind: 'http', url: 'http://127.0.0.1:9/v1', timeoutMs: 2_000, recallMs: 50, limit: 5, token: 'secret' }],
])('%s is understood', async (text, memory) => {
  expect(await read(text, { DAYBOOK_MEMORY_TOKEN: 'secret' })).toMatchObject({ _tag: 'Right', right: { memory } })
})

test.each([
  ['memory: redis', 'memory must be off, or have a kind: sqlite, http or off'],
  ['memory: { kind: http }', 'memory.url must be an address'],
  ['memory: { kind: http, url: "https://ann:s3cret@x/" }', 'memory.url must have no user and password'],
  ['memory: { kind: http, url: "ftp://x" }', 'memory.url must be an address'],
  ['memory: { kind: http, url: "http://x", token: t }', 'memory.token is not known for http'],
  ['memory: { kind: sqlite, url: "http://x" }', 'memory.url is not known for sqlite'],
  ['memory: { kind: sqlite, recallMs: 0 }', 'memory.recallMs must be a number from 1 to 5000'],
])('%s is refused: %s', async (text, why) => {
  expect(await read(text)).toMatchObject({ _tag: 'Left', left: [expect.stringContaining(why)] })
})

test('without it, the default is left to the server', async () => {
  expect(await read('port: 0')).toMatchObject({ _tag: 'Right', right: expect.not.objectContaining({ memory: expect.anything() }) })
})
