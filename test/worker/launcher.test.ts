/** The server's launcher: where programs cannot be started, and what they get of the server's environment. */
import childProcess, { type ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@daybook/adapters/serve'
import { createClient, type DaybookClient } from '@daybook/client'
import { afterEach, expect, test, vi } from 'vitest'
import { until } from '../support/queue.js'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  syncBuiltinESMExports()
})

const withServer = async (launcher: { readonly command: ReadonlyArray<string>; readonly env?: Readonly<Record<string, string>> }, body: (client: DaybookClient, warnings: ReadonlyArray<string>) => Promise<void>): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'daybook-launcher-'))
  const warnings: Array<string> = []
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'memory' }, auth: 'off', launcher }, { warn: (text) => void warnings.push(text) })
  const client = createClient({ url: server.url })
  try {
    await client.settings.patch({ decisionReport: 'optional' })
    await body(client, warnings)
  } finally {
    await client.close()
    await server.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const isCompleted = async (client: DaybookClient, id: string): Promise<boolean> => (await client.task(id)).status === 'completed'

test.each(['EMFILE', 'EAGAIN', 'ETXTBSY'])('TQM-PROC-002: a machine without room for a program, or a program that is being written (%s), ends neither the server nor its launcher: the task waits, held, until it can be started', async (code) => {
  let tried = 0
  const { spawn } = childProcess
  vi.spyOn(childProcess, 'spawn').mockImplementation((...given: ReadonlyArray<unknown>) => {
    if (++tried > 2) return (spawn as (...args: ReadonlyArray<unknown>) => ChildProcess)(...given)
    // As Node does it: without streams, and with an event.
    const child = new EventEmitter()
    process.nextTick(() => child.emit('error', Object.assign(new Error(`spawn true ${code}`), { code })))
    return child as ChildProcess
  })
  syncBuiltinESMExports()
  await withServer({ command: ['true'] }, async (client) => {
    await client.enqueue({ id: 'a', type: 'mail' })
    await until(() => isCompleted(client, 'a'))
    expect([tried, (await client.history('a')).map(({ type }) => type)]).toEqual([3, ['TaskEnqueued', 'Claimed', 'Completed']])
  })
})

test('TQM-PROC-002: while its program is away the launcher gives the task back, claims nothing, and goes on when the program is there again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-program-'))
  const program = join(folder, 'agent')
  writeFileSync(program, '#!/bin/sh\necho done\n', { mode: 0o755 })
  try {
    await withServer({ command: [program] }, async (client, warnings) => {
      await client.enqueue({ id: 'before', type: 'mail' })
      await until(() => isCompleted(client, 'before'))
      renameSync(program, `${program}.old`)
      await client.enqueue({ id: 'meanwhile', type: 'other' })
      await until(() => Promise.resolve(warnings.length === 1))
      renameSync(`${program}.old`, program)
      await until(() => isCompleted(client, 'meanwhile'))
      expect((await client.history('meanwhile')).map(({ type }) => type)).toEqual(['TaskEnqueued', 'Claimed', 'ClaimReturned', 'Claimed', 'Completed'])
      expect(warnings).toEqual([expect.stringMatching(/^the launcher waits until its program can be started: .+agent cannot be found/), 'the launcher goes on'])
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('TQM-PROC-002: programs get the environment of the server, but neither its admin token nor its store, and what `env` gives them', async () => {
  vi.stubEnv('DAYBOOK_TOKEN', 'dbk_admin')
  vi.stubEnv('DAYBOOK_STORE', 'esdb://ada:secret@db1:2113')
  vi.stubEnv('MODEL_KEY', 'of-the-model')
  const print = 'console.log(JSON.stringify({ output: { token: process.env.DAYBOOK_TOKEN, model: process.env.MODEL_KEY, store: process.env.DAYBOOK_STORE ?? null, task: process.env.DAYBOOK_TASK_ID } }))'
  await withServer({ command: [process.execPath, '-e', print], env: { DAYBOOK_TOKEN: 'dbk_of_agents', DAYBOOK_TASK_ID: 'another' } }, async (client) => {
    await client.enqueue({ id: 'a', type: 'mail' })
    await until(() => isCompleted(client, 'a'))
    expect((await client.result('a')).result).toMatchObject({ output: { token: 'dbk_of_agents', model: 'of-the-model', store: null, task: 'a' } })
  })
})
