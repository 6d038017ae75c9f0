/** The server's launcher, where no program can be started. */
import childProcess, { type ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@daybook/adapters/serve'
import { createClient } from '@daybook/client'
import { afterEach, expect, test, vi } from 'vitest'
import { until } from '../support/queue.js'

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

test.each(['EMFILE', 'EAGAIN', 'ETXTBSY'])('TQM-PROC-002: a machine without room for a program, or a program that is being written (%s), ends neither the server nor its launcher: the task waits, held, until it can be started', async (code) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'daybook-launcher-'))
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
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'memory' }, auth: 'off', launcher: { command: ['true'] } })
  const client = createClient({ url: server.url })
  try {
    await client.settings.patch({ decisionReport: 'optional' })
    await client.enqueue({ id: 'a', type: 'mail' })
    await until(async () => (await client.task('a')).status === 'completed')
    expect([tried, (await client.history('a')).map(({ type }) => type)]).toEqual([3, ['TaskEnqueued', 'Claimed', 'Completed']])
  } finally {
    await client.close()
    await server.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
