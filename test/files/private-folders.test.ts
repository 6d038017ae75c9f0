/** Folders that the program makes: who else on the machine can read them. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openEmbedded } from '@daybook/adapters/embedded'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { runHere, type Server, startServer } from '../cli/program.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-folders-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

// That of most machines. With another one of the person who runs the tests, they would say nothing.
let before: number
beforeEach(() => void (before = process.umask(0o022)))
afterEach(() => void process.umask(before))

let server: Server | undefined
afterEach(async () => {
  await server?.stop()
  server = undefined
})

test('folders that are made with data in them are only for their owner: data, queue files, export, archive, read models, backup', async () => {
  const [files, exported, views, copy] = [join(dir, 'new/files'), join(dir, 'exported'), join(dir, 'views'), join(dir, 'backups/monday')]
  server = await startServer(['--queue-files', files], undefined, dir)
  const data = join(dir, 'data')
  expect((await server.daybook(['enqueue', 'mail', '--queue', 'q', '--payload', '"secret"'])).code).toBe(0)
  await server.json('settings', 'set', 'deduplicate=off', '--queue', 'q')
  for (let i = 0; i < 30; i++) await server.json('enqueue', 'mail', '--queue', 'q')
  expect((await server.daybook(['export', '--queue', 'q', '--out', exported])).code).toBe(0)
  expect((await server.stop()).code).toBe(0)
  server = undefined
  const offline = [
    ['archive', '--data', data, '--queue', 'q', '--before', '20'],
    ['project', '--data', data, '--once', '--views', join(views, 'views.db')],
    ['backup', copy, '--data', data],
  ]
  for (const args of offline) expect(await runHere(args, { NO_COLOR: '1' })).toMatchObject({ code: 0 })
  const archive = join(data, 'daybook.sqlite.archive')
  const made = [data, join(data, 'snapshots'), archive, ...readdirSync(archive).map((name) => join(archive, name)), files, exported, views, dirname(copy), copy]
  expect(made.map((path) => [path, modeOf(path)])).toEqual(made.map((path) => [path, '700']))
  // A folder above may have other folders, of other people.
  expect(modeOf(dirname(files))).toBe('755')
})

test('the data folder of an embedded queue is only for its owner', async () => {
  const data = join(dir, 'embedded')
  await (await openEmbedded({ dataDir: data })).close()
  expect(modeOf(data)).toBe('700')
})

test('a folder that is there keeps its permissions', async () => {
  const [above, files] = [join(dir, 'there'), join(dir, 'there/files')]
  for (const path of [above, join(above, 'data'), files]) {
    mkdirSync(path)
    chmodSync(path, 0o755)
  }
  server = await startServer(['--queue-files', files], undefined, above)
  expect([join(above, 'data'), files].map(modeOf)).toEqual(['755', '755'])
})
