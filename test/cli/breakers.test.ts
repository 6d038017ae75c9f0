/** LK-14, LK-10: breakers configured from YAML act on the queues of a real server, and are moved by hand. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Server, startServer } from './program.js'

/** The file of the source, with `countOn` for one more type. */
const yaml = `
defaults:
  failureThreshold: 5
  cooldownSeconds: 300
  halfOpenAfter: 60
overrides:
  ops-security:
    failureThreshold: 3  # More sensitive for security
  biz-marketing:
    failureThreshold: 10
  ops-flaky:
    failureThreshold: 2
    countOn: attempt
`
interface Breaker { readonly state: string; readonly failures: number; readonly reason?: string; readonly openedAt?: string; readonly halfOpenAt?: string }

let server: Server
beforeAll(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-breakers-'))
  writeFileSync(join(dir, 'circuit-breakers.yaml'), yaml)
  server = await startServer(['--config', join(dir, 'circuit-breakers.yaml')], undefined, dir)
})
afterAll(async () => {
  await server.stop()
  server.remove()
})

const breakers = async (): Promise<Readonly<Record<string, Breaker>>> => (await server.json<{ readonly breakers: Readonly<Record<string, Breaker>> }>('breakers')).breakers
let lastKey = 0
const failOnce = async (type: string, ...flags: ReadonlyArray<string>): Promise<void> => {
  await server.json('enqueue', type, '--key', `k${++lastKey}`)
  const [claim] = (await server.json<{ readonly claims: ReadonlyArray<{ readonly task: { readonly id: string }; readonly lease: { readonly token: number } }> }>('claim', '--types', type, '--agent', `agent ${lastKey}`)).claims
  await server.json('fail', claim?.task.id ?? '', '--lease', String(claim?.lease.token), '--agent', `agent ${lastKey}`, '--error', 'boom', ...flags)
}

describe('LK-14: circuit-breakers.yaml for new queues', () => {
  test.each([['eng-backend', 5], ['ops-security', 3], ['biz-marketing', 10]])('%s opens at the %ith dead letter', async (type, threshold) => {
    for (let failures = 1; failures < threshold; failures++) {
      await failOnce(type, '--permanent')
      expect((await breakers())[type]).toMatchObject({ state: 'closed', failures })
    }
    await failOnce(type, '--permanent')
    const { state, openedAt = '', halfOpenAt = '', reason } = (await breakers())[type] as Breaker
    expect([state, reason, Date.parse(halfOpenAt) - Date.parse(openedAt)]).toEqual(['open', 'threshold', 60_000])
  })

  test('countOn: attempt: failed attempts open it that are no dead letters', async () => {
    await failOnce('ops-flaky')
    expect((await breakers())['ops-flaky']).toMatchObject({ state: 'closed', failures: 1 })
    await failOnce('ops-flaky')
    expect((await breakers())['ops-flaky']).toMatchObject({ state: 'open', failures: 2 })
    expect((await server.json<{ readonly byStatus: Readonly<Record<string, number>> }>('depth')).byStatus).toMatchObject({ scheduled: 2 })
  })

  test('all settings of the file are in the queue, and in its log', async () => {
    const { breakers: set } = await server.json<{ readonly breakers: unknown }>('settings', 'get')
    expect(set).toEqual({
      defaults: { failureThreshold: 5, cooldownSeconds: 300, halfOpenAfter: 60, countOn: 'dead-letter' },
      overrides: { 'ops-security': { failureThreshold: 3 }, 'biz-marketing': { failureThreshold: 10 }, 'ops-flaky': { failureThreshold: 2, countOn: 'attempt' } },
    })
  })

  test('LK-15: by hand, against what the file says', async () => {
    await server.json('breakers', 'close', 'ops-security', '--reason', 'it is repaired')
    expect((await breakers())['ops-security']).toMatchObject({ state: 'closed', failures: 0, reason: 'it is repaired' })
    await server.json('breakers', 'open', 'eng-frontend')
    expect(await server.json('breakers')).toMatchObject({ breakers: { 'eng-frontend': { reason: 'opened on the command line' } } })
    await server.json('breakers', 'open', 'eng-frontend', '--reason', 'a bad release')
    expect((await breakers())['eng-frontend']).toMatchObject({ state: 'open', reason: 'a bad release' })
    await server.json('enqueue', 'eng-frontend')
    expect((await server.json<{ readonly claims: ReadonlyArray<unknown> }>('claim', '--types', 'eng-frontend')).claims).toEqual([])
  })
})
