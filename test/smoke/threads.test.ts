/** The heaps of the server's threads. */
import { execFileSync } from 'node:child_process'
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
