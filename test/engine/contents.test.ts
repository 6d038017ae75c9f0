/** The cache of contents has only tasks that may still be claimed from this engine. */
import { openMemoryStore } from '@daybook/adapters/memory'
import { expect, test } from 'vitest'
import { caller, claim, complete, enqueue, ok, openQueue, task, until } from '../support/queue.js'
import { useVirtualTime } from '../support/virtual-time.js'

useVirtualTime()

const content = task('a').content.length

test('INV-22: a cancelled task, and those cancelled with it, leave the cache of contents', async () => {
  const { engine } = await openQueue()
  await engine.submit(enqueue(task('a'), task('b', { dependencies: ['a'] }), task('c', { dependencies: ['b'] }), task('d')), caller)
  expect(engine.status().cachedContent).toBe(4 * content)
  ok(await engine.submit({ type: 'Cancel', task: 'a', reason: 'no' }, caller))
  expect(engine.status().cachedContent).toBe(content)
  expect(ok(await engine.claim(claim('ann'), caller))).toMatchObject([{ task: 'd', content: '{"payload":"of d"}' }])
  expect(engine.status().cachedContent).toBe(0)
})

test('INV-22: a task that another process claims leaves the cache of contents, also if its retention is 0', async () => {
  const store = openMemoryStore({ isShared: true })
  const here = await openQueue({ store, defaults: { retentionSeconds: 0 } })
  const there = await openQueue({ store })
  ok(await here.engine.submit(enqueue(task('a'), task('b'), task('c')), caller))
  expect(here.engine.status().cachedContent).toBe(3 * content)
  const [claimed] = ok(await there.engine.claim(claim('bob'), caller, { waitMs: 20_000 }))
  ok(await there.engine.submit(complete(claimed!, 'bob'), caller))
  ok(await there.engine.submit({ type: 'Cancel', task: 'b', reason: 'no' }, caller))
  await until(() => here.engine.status().revision === there.engine.status().revision)
  expect(here.engine.status().cachedContent).toBe(content)
  expect(ok(await here.engine.claim(claim('ann'), caller))).toMatchObject([{ task: 'c', content: '{"payload":"of c"}' }])
})

test('LK-11: the content of a task that is amended, here or elsewhere, leaves the cache; claims get the new one, also after a restart', async () => {
  const store = openMemoryStore({ isShared: true })
  const here = await openQueue({ store })
  const there = await openQueue({ store })
  ok(await here.engine.submit(enqueue(task('a'), task('b')), caller))
  ok(await here.engine.submit({ type: 'AmendTask', task: 'a', reason: 'r', content: '{"payload":"new a"}' }, caller))
  expect(here.engine.status().cachedContent).toBe(content)
  await until(() => there.engine.status().revision === here.engine.status().revision)
  ok(await there.engine.submit({ type: 'AmendTask', task: 'b', reason: 'r', content: '{"payload":"new b"}' }, caller))
  await until(() => here.engine.status().revision === there.engine.status().revision)
  expect(here.engine.status().cachedContent).toBe(0)
  expect(ok(await here.engine.claim(claim('ann'), caller))).toMatchObject([{ task: 'a', content: '{"payload":"new a"}' }])
  await here.engine.close()
  await there.engine.close()
  const again = await openQueue({ store })
  expect(ok(await again.engine.claim(claim('ann'), caller))).toMatchObject([{ task: 'b', content: '{"payload":"new b"}' }])
})
