import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readServeOptions, readSettingsFile, type ServeFlags } from '@daybook/adapters/config'
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-config-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const config = (text: string): string => {
  const file = join(dir, 'config.yaml')
  writeFileSync(file, text)
  return file
}
const options = async (flags: ServeFlags, env: Record<string, string> = {}) => {
  const read = await readServeOptions(flags, env)
  if (E.isLeft(read)) throw new Error(read.left.join('\n'))
  return read.right
}
const problems = async (flags: ServeFlags, env: Record<string, string> = {}) => {
  const read = await readServeOptions(flags, env)
  return E.isLeft(read) ? read.left : []
}

describe('options of serve', () => {
  test('defaults: loopback, 7878, SQLite in ./daybook-data, tokens', async () => {
    expect(await options({})).toEqual({
      host: '127.0.0.1', port: 7878, dataDir: resolve('daybook-data'), auth: 'tokens',
      store: { kind: 'sqlite', file: resolve('daybook-data', 'daybook.sqlite'), sharing: 'exclusive' },
    })
    expect((await options({ store: 'sqlite+shared:log' })).store).toEqual({ kind: 'sqlite', file: resolve('log'), sharing: 'shared' })
  })

  test('an address of EventStoreDB or KurrentDB is taken in the words of either', async () => {
    for (const url of ['esdb://db1:2113', 'esdb+discover://db1', 'kurrentdb://ann:pw@db1:2113,db2:2113?tls=false', 'kurrentdb+discover://db1']) {
      expect((await options({ store: url })).store).toMatchObject({ kind: 'eventstoredb', url })
    }
  })

  test.each(['secret', 's/cret', 's@cret', 's?cret'])('a store that is not known is named without its user and password %s, because the refusal goes into logs', async (password) => {
    const [problem = ''] = await problems({ store: `eventstore://ann:${password}@db1:2113?tls=false` })
    expect(problem).toContain('store "eventstore://…@db1:2113?tls=false" is not known')
    expect(problem).not.toContain('ann')
  })

  test('a flag overrides the environment, which overrides the file', async () => {
    const file = config('host: c\nport: 3\ndata: /c\nstore: "memory:"\nauth: off\nqueueFiles: /q\n')
    const env = { DAYBOOK_HOST: 'b', DAYBOOK_PORT: '2', DAYBOOK_DATA: '', DAYBOOK_TOKEN: 'secret' }
    expect(await options({ host: 'a', config: file }, env)).toEqual({
      host: 'a', port: 2, dataDir: '/c', store: { kind: 'memory' }, auth: 'off', token: 'secret', queueFilesDir: '/q',
    })
  })

  test('an empty path is refused: it would be the folder in which the server is started, and its files would be overwritten', async () => {
    for (const [flag, name] of [['data', 'data'], ['queueFiles', 'queue-files'], ['checkpointKey', 'checkpoint-key'], ['witness', 'witness']] as const) {
      for (const empty of ['', ' ']) expect(await problems({ [flag]: empty })).toEqual([`${name} is empty: give a path, or leave it out`])
      expect(await problems({ config: config(`${flag}: ""`) })).toEqual([`${name} is empty: give a path, or leave it out`])
    }
    expect(await problems({}, { DAYBOOK_DATA: '', DAYBOOK_WITNESS: '' })).toEqual([])
  })

  test('TQM-PROC-002: what the launcher gives its programs may name variables of the server, which must be set', async () => {
    const file = config("launcher: { command: [agent], env: { MODE: fast, DAYBOOK_TOKEN: 'env:AGENT_TOKEN', EMPTY: '' } }")
    expect((await options({ config: file }, { AGENT_TOKEN: 'dbk_of_agents' })).launcher).toEqual({ command: ['agent'], env: { MODE: 'fast', DAYBOOK_TOKEN: 'dbk_of_agents', EMPTY: '' } })
    for (const env of [{}, { AGENT_TOKEN: '' }]) expect(await problems({ config: file }, env)).toEqual([`${file}: launcher.env.DAYBOOK_TOKEN names the variable AGENT_TOKEN, which is not set`])
    expect(await problems({ config: config("launcher: { command: [agent], env: { 'A B': x } }") })).toEqual([expect.stringContaining('launcher.env')])
    expect(await problems({ config: config('launcher: { command: [agent], env: { MODE: 3 } }') })).toEqual([expect.stringContaining('launcher.env.MODE')])
  })

  test('how far the clock may jump: seconds, or off', async () => {
    expect((await options({})).clockJumpMs).toBeUndefined()
    expect((await options({ clockJump: '12.5' })).clockJumpMs).toBe(12_500)
    expect((await options({}, { DAYBOOK_CLOCK_JUMP: '60' })).clockJumpMs).toBe(60_000)
    expect((await options({ clockJump: 'off' }, { DAYBOOK_CLOCK_JUMP: '60' })).clockJumpMs).toBe(Number.POSITIVE_INFINITY)
    expect((await options({ config: config('clockJump: off') })).clockJumpMs).toBe(Number.POSITIVE_INFINITY)
    expect((await options({ config: config('clockJump: 600') })).clockJumpMs).toBe(600_000)
  })

  test('which requests are logged: none but those that are asked for', async () => {
    expect((await options({})).logRequests).toBeUndefined()
    expect((await options({ logRequests: 'off' }, { DAYBOOK_LOG_REQUESTS: 'all' })).logRequests).toBeUndefined()
    expect((await options({}, { DAYBOOK_LOG_REQUESTS: 'all' })).logRequests).toBe('all')
    expect((await options({ config: config('logRequests: sampled') })).logRequests).toBe('sampled')
    expect((await options({ config: config('logRequests: off') })).logRequests).toBeUndefined()
    expect(await problems({ logRequests: 'some' })).toEqual(['log-requests "some" is none of off, errors, sampled, all'])
  })

  test('a certificate and its key go together', async () => {
    expect((await options({})).tls).toBeUndefined()
    expect((await options({ tlsCert: '/a' }, { DAYBOOK_TLS_CERT: '/b', DAYBOOK_TLS_KEY: '/k' })).tls).toEqual({ certFile: '/a', keyFile: '/k' })
    expect((await options({ config: config('tlsCert: /c\ntlsKey: /k') })).tls).toEqual({ certFile: '/c', keyFile: '/k' })
    for (const flags of [{ tlsCert: '/a' }, { tlsKey: '/k' }]) expect(await problems(flags)).toEqual(['tls-cert and tls-key go together: give both, or none'])
  })

  test('checkpoints: how often, the key and the witness (EV-07)', async () => {
    expect((await options({})).checkpoints).toBeUndefined()
    expect((await options({ checkpoints: 'off' })).checkpoints).toBe('off')
    expect((await options({ checkpoints: '5', checkpointKey: '/keys/k.pem' }, { DAYBOOK_WITNESS: 'https://w.example.org/log' })).checkpoints).toEqual({ everyMs: 5_000, keyFile: '/keys/k.pem', witness: 'https://w.example.org/log' })
    expect((await options({ config: config('witness: /mnt/witness') })).checkpoints).toEqual({ witness: '/mnt/witness' })
    expect(await problems({ checkpoints: '0' })).toEqual([expect.stringContaining('checkpoints "0" is neither')])
  })

  test('EV-07: a witness at an address with a password is refused, and the password is not shown: fetch takes none, and the log would have it with each checkpoint', async () => {
    expect(await problems({ witness: 'https://ann:s3cret@w.example.org/log' })).toEqual(['witness must have no user and password'])
    expect(await problems({ witness: 'https://' })).toEqual([expect.stringContaining('witness must be an address')])
    expect((await options({ witness: 'ann:s3cret@w' })).checkpoints).toEqual({ witness: resolve('ann:s3cret@w') })
  })

  test('which older snapshots are kept: a count, and their size in MiB', async () => {
    expect((await options({ pastSnapshots: '0' })).pastSnapshots).toEqual({ count: 0, bytes: 2 ** 30 })
    expect((await options({}, { DAYBOOK_PAST_SNAPSHOTS_MIB: '10' })).pastSnapshots).toEqual({ count: 200, bytes: 10 * 2 ** 20 })
    expect((await options({ config: config('pastSnapshots: 40\npastSnapshotsMib: 4096') })).pastSnapshots).toEqual({ count: 40, bytes: 2 ** 32 })
    expect(await problems({ pastSnapshots: 'all', pastSnapshotsMib: '-1' })).toEqual([expect.stringContaining('past-snapshots must'), expect.stringContaining('past-snapshots-mib must')])
  })

  test('all errors are reported at once', async () => {
    expect(await problems({ port: '99999', auth: 'maybe', store: 'mysql:x' })).toEqual([
      expect.stringContaining('port "99999"') as string, expect.stringContaining('auth "maybe"') as string, expect.stringContaining('store "mysql:x"') as string,
    ])
    expect(await problems({ clockJump: '4' })).toEqual([expect.stringContaining('clock-jump "4"') as string])
    expect(await problems({ clockJump: 'soon' })).toEqual([expect.stringContaining('clock-jump "soon"') as string])
    expect(await problems({ config: join(dir, 'none.yaml') })).toEqual([expect.stringContaining('none.yaml') as string])
    expect(await problems({ config: config('hosts: x') })).toEqual([expect.stringContaining('hosts is not known here') as string])
    expect(await problems({ config: config('defaults: {maxRetrys: 3}') })).toEqual([expect.stringContaining('defaults.maxRetrys is not a field here') as string])
    for (const defaults of ['5', 'true', '[]', 'text']) expect(await problems({ config: config(`defaults: ${defaults}`) })).toEqual([expect.stringMatching(/: defaults must be/) as string])
    expect(await problems({ config: config('a: [') })).not.toEqual([])
  })
})

describe('LK-14: breaker settings from YAML', () => {
  const source = `
defaults:
  failureThreshold: 5
  cooldownSeconds: 300
  halfOpenAfter: 60
overrides:
  ops-security:
    failureThreshold: 3  # More sensitive for security
  biz-marketing:
    failureThreshold: 10
`
  const breakers = {
    defaults: { failureThreshold: 5, cooldownSeconds: 300, halfOpenAfter: 60 },
    overrides: { 'ops-security': { failureThreshold: 3 }, 'biz-marketing': { failureThreshold: 10 } },
  }
  const indented = source.replace(/^(?=.)/gm, '  ')

  test.each([
    ['circuit-breakers.yaml as it is', source],
    ['under breakers', `breakers:${indented}`],
    ['under defaults, as any setting', `defaults:\n  breakers:${indented.replace(/^ {2}/gm, '    ')}`],
  ])('%s', async (_, text) => {
    expect((await options({ config: config(text) })).defaults).toEqual({ breakers })
  })

  test('together with other settings, but not twice', async () => {
    expect((await options({ config: config(`defaults: {decisionReport: optional}\nbreakers:${indented}`) })).defaults).toEqual({ decisionReport: 'optional', breakers })
    expect(await problems({ config: config(`defaults: {breakers: {}}\nbreakers:${indented}`) })).toEqual([expect.stringContaining('stand twice') as string])
  })

  test('for an existing queue, the same file is a patch of its settings', () => {
    expect(readSettingsFile(source, 'f')).toEqual(E.right({ breakers }))
    expect(readSettingsFile('policy: priority', 'f')).toEqual(E.right({ policy: 'priority' }))
    expect(readSettingsFile('defaults: {failureThreshold: -1}', 'f')).toEqual(E.left([expect.stringContaining('breakers.defaults.failureThreshold') as string]))
    expect(E.isLeft(readSettingsFile('- x', 'f'))).toBe(true)
  })
})
