import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { idsIn, numbered, readEvents, testFolder } from './store-files.js'

const root = testFolder('read')

test('EV-02 ids and types may contain the character that separates columns in messages between threads', async () => {
  const store = await openSqliteStore({ file: join(root, 'separator.daybook') })
  const odd = numbered(500).map((event, n) => (n % 50 === 7 ? { ...event, id: `\u001e${n}\u001e`, type: 'a\u001eb' } : event))
  await store.append('s', odd, 'no_stream')()
  const found = await readEvents(store, 's')
  expect(found.map(({ id, type, data }) => ({ id, type, data }))).toEqual(odd.map(({ id, type, data }) => ({ id, type, data })))
  await store.close()
})

test('a page has a bounded number of bytes, even if events suddenly get larger, and all events are in their order', async () => {
  const store = await openSqliteStore({ file: join(root, 'large.daybook') })
  const large = (n: number) => ({ ...numbered(1, n)[0]!, data: JSON.stringify('x'.repeat(300 * 1024)) })
  await store.append('s', numbered(3000), 'no_stream')()
  for (let n = 0; n < 60; n += 20) {
    await store.append('other', [{ ...numbered(1, n)[0]!, id: `other-${n}` }], 'any')()
    await store.append('s', Array.from({ length: 20 }, (_, i) => large(3000 + n + i)), 'any')()
  }
  for (const direction of ['forwards', 'backwards'] as const) {
    const revisions: Array<number> = []
    for await (const page of store.read('s', { direction })) {
      for (const { revision } of page) revisions.push(revision)
      expect(page.reduce((bytes, { data }) => bytes + data.length, 0)).toBeLessThanOrEqual(4.5 * 2 ** 20)
    }
    const all = Array.from({ length: 3060 }, (_, revision) => revision)
    expect(revisions).toEqual(direction === 'forwards' ? all : all.reverse())
  }
  await store.close()
})

test('EV-03 concurrent appends to many streams share commits, and each is there', async () => {
  const store = await openSqliteStore({ file: join(root, 'many.daybook') })
  const streams = Array.from({ length: 200 }, (_, n) => `s-${n}`)
  const outcomes = await Promise.all(streams.map((stream, n) => store.append(stream, numbered(1 + (n % 3)), 'no_stream')()))
  expect(outcomes.every(({ _tag }) => _tag === 'Right')).toBe(true)
  for (const [n, stream] of streams.entries()) expect((await idsIn(store, stream)).length).toBe(1 + (n % 3))
  expect(await store.streams('s-')).toEqual(streams)
  await store.close()
})
