/** A server that is killed while its memory cannot be reached, started as people start it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createClient } from '@daybook/adapters/client'
import { afterAll, expect, test, vi } from 'vitest'
import { root } from '../cli/program.js'
import { BankServer } from './bank-server.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-memory-killed-'))
const token = 'token-of-this-test'
const children: Array<ChildProcess> = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

const serve = async (): Promise<{ readonly child: ChildProcess; readonly url: string }> => {
  const args = [join(root, 'packages/adapters/bin/daybook.js'), 'serve', '--port', '0', '--data', join(dir, 'data'), '--config', join(dir, 'config.yaml')]
  const child = spawn(process.execPath, args, { env: { ...process.env, DAYBOOK_TOKEN: token, DAYBOOK_MEMORY_TOKEN: 'of the bank' }, stdio: ['ignore', 'pipe', 'ignore'] })
  children.push(child)
  for await (const line of createInterface({ input: child.stdout! })) {
    const url = /http:\/\/\S+/.exec(line)?.[0]
    if (url !== undefined) return { child, url }
  }
  throw new Error('the server did not start')
}

test('TQM-MEM-001: killed while the memory is away, the next server gives it what it lacks, from the events', async () => {
  const away = await BankServer.start()
  await away.stop()
  writeFileSync(join(dir, 'config.yaml'), `memory:\n  kind: http\n  url: http://127.0.0.1:${away.port}/v1\n  recallMs: 100\n`)
  const { child, url } = await serve()
  const client = createClient({ url, token, queue: 'q' })
  for (const id of ['a', 'b']) {
    await client.enqueue({ id, type: 'x', ticketId: 'T-1', payload: id })
    const [claim] = await client.claim({ agentId: 'ann' })
    await client.complete(id, { agentId: 'ann', token: claim!.lease.token, result: { decisionReport: 'x', errors: ['e'] } })
  }
  await client.close()
  child.kill('SIGKILL')
  await once(child, 'exit')
  const bank = await BankServer.start(away.port)
  const again = await serve()
  await vi.waitFor(() => expect([...bank.kept.values()].map(({ task }) => task)).toEqual(['a', 'b']), { timeout: 60_000, interval: 20 })
  expect(bank.asked[0]?.authorization).toBe('Bearer of the bank')
  again.child.kill('SIGTERM')
  expect((await once(again.child, 'exit'))[0]).toBe(0)
  await bank.stop()
})
