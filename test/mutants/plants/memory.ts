/** The store in memory, and the subscription that it shares with SQLite's. */
import type { Plant } from '../plant.js'

const memory = 'packages/adapters/src/memory/memory-store.ts'
const store = (file: string): string => `packages/adapters/src/store/${file}`
const contract = ['test/contract/memory.test.ts']

export const memoryPlants: ReadonlyArray<Plant> = [
  {
    title: 'memory: a conflict still writes the first event',
    file: memory,
    find: "if (expected !== 'any' && expected !== actual) return E.left",
    replace: "if (expected !== 'any' && expected !== actual) recorded.push({ ...events[0]!, stream, revision: recorded.length, position, created: '' })\n      if (expected !== 'any' && expected !== actual) return E.left",
    killedBy: contract,
  },
  {
    title: 'a read to the limit goes one event further',
    file: store('read-span.ts'),
    find: 'low + limit - 1) : Math.min(start, head)',
    replace: 'low + limit) : Math.min(start, head)',
    killedBy: contract,
  },
  {
    title: 'a subscription misses what is appended while it reads',
    file: store('catch-up-subscription.ts'),
    find: 'if (!signalled) await new Promise',
    replace: 'await new Promise',
    killedBy: contract,
  },
  {
    title: 'a subscription delivers again what it read last',
    file: store('catch-up-subscription.ts'),
    find: 'next += events.length',
    replace: 'next += events.length - 1',
    killedBy: contract,
  },
  {
    title: 'a subscription begun beyond the end delivers from the end on',
    file: store('catch-up-subscription.ts'),
    find: 'const revision = await head(stream)\n',
    replace: 'const revision = await head(stream)\n        if (next > revision) next = revision + 1\n',
    killedBy: contract,
  },
  {
    title: 'bytes of an append are counted as characters',
    file: store('append-bytes.ts'),
    find: 'Buffer.byteLength(data)',
    replace: 'data.length',
    killedBy: contract,
  },
]
