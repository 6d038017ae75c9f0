/** The admin token: made once, shown once, kept as a hash. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLeft } from 'fp-ts/lib/Either.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isLoopback, openTokens, refusalOfAuthOff } from '@daybook/adapters/auth'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-tokens-'))
})
afterEach(() => rmSync(dir, { recursive: true }))
const file = () => join(dir, 'tokens.json')
/** As by a server that has started. */
const opened = (adminToken?: string): ReturnType<typeof openTokens> => {
  const tokens = openTokens({ dir, adminToken })
  tokens.keep()
  return tokens
}

test('is made at the first start, of 256 random bits, and not shown again', () => {
  const first = opened()
  expect(first.made).toMatch(/^dbk_[A-Za-z0-9_-]{43}$/)
  expect(openTokens({ dir: 'memory' }).made).not.toBe(first.made)
  const second = opened()
  expect(second.made).toBeUndefined()
  expect(second.tokens.check(first.made ?? '')).toMatchObject({ right: { name: 'admin', roles: ['admin'] } })
  for (const wrong of [`${first.made}x`, '']) expect(isLeft(second.tokens.check(wrong))).toBe(true)
})

test('is kept as a hash, in a file that only its owner can read', () => {
  const { made = '' } = opened()
  expect(readFileSync(file(), 'utf8')).not.toContain(made.slice(4))
  expect(statSync(file()).mode & 0o777).toBe(0o600)
})

test('is made anew if the start failed that made it, because nobody has seen it', () => {
  const { made } = openTokens({ dir })
  const next = opened()
  expect(next.made).toMatch(/^dbk_/)
  expect(next.made).not.toBe(made)
  expect(opened().made).toBeUndefined()
})

test('can be replaced; the former one is no longer valid', () => {
  const { made = '' } = opened()
  const set = opened('my-own-token')
  expect(set.made).toBeUndefined()
  expect(set.tokens.check('my-own-token')).toMatchObject({ right: { name: 'admin' } })
  expect(isLeft(set.tokens.check(made))).toBe(true)
  expect(openTokens({ dir }).tokens.check('my-own-token')).toMatchObject({ right: { name: 'admin' } })
})

test('must consist of characters that a header can carry', () => {
  for (const adminToken of ['', 'two words', 'ümlaut', 'line\nbreak']) expect(() => openTokens({ dir, adminToken })).toThrow('printable ASCII')
})

test('a damaged file is an error and does not admit everybody', () => {
  for (const text of ['', '{', '{"version":1,"tokens":[{"name":"admin","role":"admin","sha256":"","createdAt":""}]}', '{"version":2,"tokens":[]}']) {
    writeFileSync(file(), text)
    expect(() => openTokens({ dir }), text).toThrow('damaged')
  }
})

test('tokens can be turned off only on loopback addresses', () => {
  for (const host of ['127.0.0.1', '127.8.9.1', 'localhost', '::1', '[::1]', '::ffff:127.0.0.1']) {
    expect(isLoopback(host), host).toBe(true)
    expect(refusalOfAuthOff(host)).toBeUndefined()
  }
  for (const host of ['0.0.0.0', '::', '192.168.0.1', 'example.org', '127.0.0.1.example.org', '1271.0.0.1', '::2', '', 'localhost.example.org']) {
    expect(isLoopback(host), host).toBe(false)
    expect(refusalOfAuthOff(host)).toContain('loopback')
  }
})
