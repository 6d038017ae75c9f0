/** docs/work-command.md is the contract of `daybook work -- CMD`: its tables have what a program really gets, and all that it may print. Its examples are run by readme.test.ts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Result } from '@daybook/core'
import { expect, test } from 'vitest'
import { root, run, serverOfFile } from '../cli/program.js'

const server = serverOfFile()
const page = readFileSync(join(root, 'docs/work-command.md'), 'utf8')

test('the table of variables has each that a program gets, and no other', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await fetch(`${server.url}/api/queues/default/tasks`, { method: 'POST', headers: { authorization: `Bearer ${server.env['DAYBOOK_TOKEN'] ?? ''}`, 'content-type': 'application/json', traceparent }, body: '{"id":"env","type":"t"}' })
  const print = 'const { argv, env } = process; console.log(JSON.stringify({ output: env, decisionReport: "looked" }))'
  expect(await run(['work', '--until-empty', '--', process.execPath, '-e', print], server.env)).toMatchObject({ code: 0 })
  const { output } = (await server.json<{ readonly result: { readonly output: Record<string, string> } }>('show', 'env')).result
  // Variables of whoever runs the tests are passed on as they are.
  const added = Object.keys(output).filter((name) => /^(DAYBOOK_|TRACE)/.test(name) && name !== 'DAYBOOK_TOKEN' && output[name] !== process.env[name])
  const told = [...page.matchAll(/^\| (`[A-Z_`, ]+`) \|/gm)].flatMap(([, names = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
  expect(told.sort()).toEqual(added.sort())
})

test('the fields of a result are all that a result has', () => {
  const [, fields = ''] = /fields of a result alone: (.*?) \|/.exec(page) ?? []
  expect([...fields.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(Object.keys(Result.props))
})

test('the exit codes of a program: 65 is a dead letter at once, others are tried again, and the message is the end of standard error', async () => {
  for (const [id, code, attempts] of [['permanent', 65, 1], ['temporary', 75, 2], ['other', 3, 2]] as const) {
    await server.daybook(['enqueue', id, '--id', id, '--max-retries', '2', '--backoff', '0.01'])
    await run(['work', '--types', id, '--until-empty', '--', 'sh', '-c', `echo why it failed >&2; exit ${code}`], server.env)
    expect(await server.json('show', id), id).toMatchObject({ status: 'dead-letter', attempts, lastError: 'why it failed' })
  }
})
