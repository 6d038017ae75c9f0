/** EV-07: the doctor notices that the keys of erasable tasks are lost. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runHere } from '../cli/program.js'
import { liveThrough, logFile, startServer } from './support.js'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-keys-'))
})
afterEach(() => {
  rmSync(dir, { recursive: true, force: true })
})

const doctor = () => runHere(['doctor', '--data', dir], { NO_COLOR: '1' })

test('EV-07: the doctor counts contents whose keys are lost, and not those that were erased', async () => {
  const { client, stop } = await startServer(dir)
  await client.settings.patch({ erasable: true })
  await liveThrough(client, 'a', 'xanthippe')
  await liveThrough(client, 'b', 'aspasia')
  await client.erase('a', 'request 2026-118')
  await stop()

  const file = `${logFile(dir)}.keys`
  expect(await doctor()).toMatchObject({ code: 0, out: expect.stringContaining('nothing is wrong') as string })

  renameSync(file, `${file}.away`)
  const lost = await doctor()
  expect(lost.code).toBe(1)
  expect(lost.out).toMatch(/^BAD {3}queue q: the contents of \d+ events cannot be read, because the key is not in .*\.keys: restore that file from a backup\. /m)

  writeFileSync(file, 'not a file of keys at all, but long enough to be taken for one '.repeat(20))
  const damaged = await doctor()
  expect(damaged.code).toBe(1)
  expect(damaged.out).toMatch(/^BAD {3}queue q: the file with the keys of erasable tasks, .*\.keys, is damaged /m)

  rmSync(file)
  renameSync(`${file}.away`, file)
  expect(await doctor()).toMatchObject({ code: 0 })
})
