/** docs/read-models.md names the tables as they are, and its queries run. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import { readModels, type Table } from '@daybook/projections'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { root } from '../cli/program.js'

let page = ''
beforeAll(async () => {
  page = await readFile(join(root, 'docs/read-models.md'), 'utf8')
})

const tableText = ({ name, about, key, columns }: Table): string =>
  [`### ${name}`, '', `${about} Key: ${key.map((column) => `\`${column}\``).join(', ')}.`, '', '| column | type | |', '|---|---|---|', ...Object.entries(columns).map(([column, { type, isOptional, about: what }]) => `| \`${column}\` | ${type}${isOptional ? ', or NULL' : ''} | ${what} |`), ''].join('\n')

const tablesText = `<!-- tables -->\n${readModels.flatMap(({ tables }) => tables.map(tableText)).join('\n')}\n### search\n\nThe full-text index: \`description\` and \`error\` of the tasks that have one. \`rowid\` is \`tasks.key\`.\n<!-- end of tables -->`

test('EV-04: docs/read-models.md has all tables with their columns', () => {
  const [shown] = /<!-- tables -->[\s\S]*<!-- end of tables -->/.exec(page) ?? []
  expect(shown, 'put the new tables on the page').toBe(tablesText)
})

/** The shell of SQLite is not everywhere; the queries are the same. */
const hasShell = ((): boolean => {
  try {
    execFileSync('sqlite3', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

test('EV-04: the queries of docs/read-models.md run beside a server, and find what happened', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'daybook-views-docs-'))
  const dataDir = join(dir, 'daybook-data')
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dir, 'log.db'), sharing: 'exclusive' }, auth: 'off', memory: { kind: 'off' } })
  try {
    const client = createClient({ url: server.url })
    await client.enqueue({ id: 'one', type: 'mow', description: 'mow the lawn', maxRetries: 1 })
    await client.enqueue({ id: 'two', type: 'sow' })
    const [first, second] = await client.claim({ agentId: 'bob', max: 2 })
    if (first === undefined || second === undefined) throw new Error('nothing to claim')
    await client.fail(first.task.id, { agentId: 'bob', token: first.lease.token, error: 'connection refused' })
    await client.complete(second.task.id, { agentId: 'bob', token: second.lease.token, result: { decisionReport: 'done' } })
    await client.readModels({ atLeast: server.daybook.queue('default')?.status().revision ?? 0 })
    const queries = [...page.matchAll(/```sh\nsqlite3 -header -column daybook-data\/views\.db "([^"]*)"\n```/g)].map(([, sql = '']) => sql)
    expect(queries.length).toBe(page.match(/<!-- run by test\/docs\/read-models.test.ts -->/g)?.length)
    const answers = queries.map((sql) => {
      if (hasShell) return execFileSync('sqlite3', ['-header', '-column', 'daybook-data/views.db', sql], { cwd: dir, encoding: 'utf8' })
      const db = new Database(join(dataDir, 'views.db'), { readonly: true })
      const rows = db.prepare(sql).all().map((row) => JSON.stringify(row)).join('\n')
      db.close()
      return rows
    })
    const wanted = ['dead-letter', 'two', 'refused', 'failed', '[refused]', 'mow', 'actor']
    answers.forEach((answer, i) => expect(answer, queries[i]).toContain(wanted[i]))
  } finally {
    await server.close()
    await rm(dir, { recursive: true, force: true })
  }
})
