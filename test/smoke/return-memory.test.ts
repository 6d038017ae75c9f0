/** What a server that has read its log gives back to the operating system. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const module = import.meta.resolve('@daybook/adapters/engine').replace('/engine/index.js', '/return-memory.js')
/** Makes so many objects, keeps `kept` of them, and prints whether memory was returned, and the MiB of the heap before and afterwards. */
const program = (objects: number, kept: number): string => `
  import { returnMemory } from ${JSON.stringify(module)}
  let all = Array.from({ length: ${objects} }, (_, n) => ({ n, next: { n } }))
  all = all.slice(0, ${kept})
  const mib = () => process.memoryUsage().heapTotal / 2 ** 20
  const before = mib()
  console.log(JSON.stringify([await returnMemory(), before, mib(), all.length]))
`
const run = (objects: number, kept: number): readonly [boolean, number, number, number] =>
  JSON.parse(execFileSync(process.execPath, ['--max-semi-space-size=64', '--input-type=module', '-e', program(objects, kept)], { encoding: 'utf8' })) as [boolean, number, number, number]

test('all of a heap that is garbage, with the room for young objects, and nothing of what is used', () => {
  const [isReturned, before, after, kept] = run(3_000_000, 1_000)
  expect(isReturned).toBe(true)
  expect(before).toBeGreaterThan(128)
  expect(after).toBeLessThan(64)
  expect(kept).toBe(1_000)
})

test('nothing of a small heap, and of one in which much is in use, because that takes long', () => {
  const [ofSmall, small] = run(10_000, 10_000)
  expect(small).toBeLessThan(128)
  expect(ofSmall).toBe(false)
  const [ofUsed, used] = run(9_000_000, 9_000_000)
  expect(used).toBeGreaterThan(400)
  expect(ofUsed).toBe(false)
})
