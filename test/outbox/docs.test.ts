/** Runs the examples of docs/outbox.md against a real PostgreSQL and a real server. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../cli/program.js'
import { goesWithout, postgresql } from '../support/needs.js'
import { Postgres } from '../support/postgres.js'
import { type RealQueue, startRealQueue } from '../worker/real-queue.js'

const withoutPostgres = goesWithout(postgresql)
const here = fileURLToPath(new URL('.', import.meta.url))
let postgres: Postgres
let queue: RealQueue
beforeAll(async () => {
  if (withoutPostgres) return
  postgres = await Postgres.start()
  queue = await startRealQueue()
})
afterAll(async () => {
  if (withoutPostgres) return
  await queue.stop()
  await postgres.stop()
})

const run = async (program: string, args: ReadonlyArray<string>): Promise<{ readonly code: number | null; readonly printed: string; readonly output: string }> => {
  // In this folder, so that imports are resolved as in a service of the workspace.
  const child = spawn(program, args, { cwd: here, env: { ...process.env, DATABASE_URL: postgres.url, DAYBOOK_URL: queue.url, DAYBOOK_TOKEN: queue.token } })
  let printed = ''
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, printed, output }
}

describe.skipIf(withoutPostgres)('docs/outbox.md', () => {
  test('its examples run: the SQL of the table is what a database takes, and a committed task is in the queue', async () => {
    const page = await readFile(join(root, 'docs/outbox.md'), 'utf8')
    const [sh = '', ts = '', insert = '', ...more] = [...page.matchAll(/<!-- run -->\n```\w+\n([\s\S]*?)```/g)].map(([, code = '']) => code)
    expect(more).toEqual([])
    const migration = await run('bash', ['-euo', 'pipefail', '-c', sh])
    expect(migration.code, migration.output).toBe(0)
    const pool = postgres.pool()
    // Without what programs may say on stderr.
    await pool.query(migration.printed)
    await pool.query('SELECT number, queue, task, problem FROM daybook_outbox WHERE problem IS NOT NULL')

    const file = join(here, `.example-${process.pid}.mjs`)
    await writeFile(file, ts)
    const { code, output } = await run(process.execPath, [file]).finally(() => rm(file, { force: true }))
    expect(code, output).toBe(0)
    expect(output).toMatch(/^moved\n[\w-]{36} pending\n$/)

    await pool.query(insert)
    expect((await pool.query('SELECT task FROM daybook_outbox')).rows).toEqual([{ task: { type: 'invoice', payload: { order: 7 } } }])
  })
})
