/** The heaps of the server's threads, and the files from which they are started. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const threads = import.meta.resolve('@daybook/adapters/engine').replace('/engine/index.js', '/threads/new-thread.js')
const program = `
  import { backgroundThread } from ${JSON.stringify(threads)}
  const told = 'import("node:worker_threads").then(({ parentPort }) => parentPort.postMessage(require("node:v8").getHeapStatistics().heap_size_limit))'
  const thread = backgroundThread(new URL('data:text/javascript,' + encodeURIComponent('import { createRequire } from "node:module"; const require = createRequire(process.cwd() + "/x.js");' + told)))
  thread.on('message', (bytes) => console.log(bytes / 2 ** 20))
`

test('a thread keeps its limit of memory, however large the young generation of the server is', () => {
  const limitOf = (...flags: ReadonlyArray<string>): number =>
    Number(execFileSync(process.execPath, [...flags, '--input-type=module', '-e', program], { encoding: 'utf8' }))
  const plain = limitOf()
  expect(plain).toBeGreaterThan(1_000)
  expect(limitOf('--max-semi-space-size=64')).toBe(plain)
})

test('a thread is started from the bundled program if that has it, and else from the file that is named', () => {
  const root = mkdtempSync(join(tmpdir(), 'daybook-threads-'))
  const dist = join(root, 'dist')
  const says = (file: string): void => writeFileSync(join(dist, file), `console.log(${JSON.stringify(file)})`)
  try {
    for (const folder of ['threads', 'store', 'program']) mkdirSync(join(dist, folder), { recursive: true })
    writeFileSync(join(dist, 'package.json'), '{ "type": "module" }')
    for (const copy of ['threads/new-thread.js', 'threads/bundle.js']) copyFileSync(fileURLToPath(threads), join(dist, copy))
    for (const file of ['store/both-thread.js', 'program/both-thread.js', 'store/single-thread.js', 'store/both.js', 'program/both.js']) says(file)
    const startedFor = (file: string, by = 'new-thread.js'): string => {
      writeFileSync(join(dist, 'start.js'), `import { newThread } from './threads/${by}'; newThread(new URL('./${file}', import.meta.url), {})`)
      return execFileSync(process.execPath, [join(dist, 'start.js')], { encoding: 'utf8' }).trim()
    }
    expect(['store/both-thread.js', 'store/single-thread.js', 'store/both.js'].map((file) => startedFor(file))).toEqual(['program/both-thread.js', 'store/single-thread.js', 'store/both.js'])
    // In a bundle that somebody else made, a folder with this name may be anything.
    expect(startedFor('store/both-thread.js', 'bundle.js')).toBe('store/both-thread.js')
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
