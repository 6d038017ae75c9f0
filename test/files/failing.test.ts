/** Obstacles to writing the queue files, and their effects. */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startQueueFilesOf } from '@daybook/adapters/files'
import { describe, expect, test } from 'vitest'
import { enqueue, fileNames, fixture, read, shown, start, useQueueFiles } from './queue.js'

useQueueFiles()

describe('files that cannot be written stop nothing', () => {
  const until = async (holds: () => boolean): Promise<void> => {
    for (let tries = 0; !holds(); tries++) {
      if (tries > 3_000) throw new Error(`the condition was not met in time; warnings: ${fixture.warnings.join('; ')}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  const problemOf = (queue = 'default') => fixture.folders?.status().find((status) => status.queue === queue)?.problem

  // Each makes a folder unwritable, and writable again. File modes would not stop root, and tests may run as root.
  const obstacles: ReadonlyArray<readonly [what: string, block: (at: string) => void, clear: (at: string) => void]> = [
    ['a file in the place of the folder', (at) => writeFileSync(at, ''), (at) => rmSync(at)],
    ['a file in the place of the folder above', (at) => writeFileSync(dirname(at), ''), (at) => rmSync(dirname(at))],
    ['a folder in the place of one of the files', (at) => mkdirSync(join(at, 'completed.json', 'x'), { recursive: true }), (at) => rmSync(join(at, 'completed.json'), { recursive: true })],
    ['a link that leads nowhere in the place of the folder', (at) => symlinkSync('/nowhere/at/all', at), (at) => rmSync(at)],
  ]

  test.each(obstacles)('at the start: %s', async (_, block, clear) => {
    const at = join(fixture.dir, 'above', 'files')
    if (!/above/.test(_)) mkdirSync(dirname(at))
    block(at)
    const engine = await fixture.daybook.open('default')
    await enqueue(engine, [{ id: 'a', type: 'x', payload: 1 }])
    await start(at)
    expect(problemOf()).toMatchObject({ reason: expect.stringMatching(/^E[A-Z]+: [^/]+$/) as string, since: expect.any(Number) as number })
    expect(fixture.warnings).toEqual([expect.stringContaining(at) as string])
    await enqueue(engine, [{ id: 'b', type: 'x', payload: 2 }])
    clear(at)
    await until(() => problemOf() === undefined)
    await shown(engine)
    expect(read('pending.json', at).tasks.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(fixture.warnings.slice(1)).toEqual([expect.stringContaining('up to date again') as string])
  })

  test.each(obstacles.filter(([what]) => !/above/.test(what)))('later on: %s', async (_, block, clear) => {
    const at = join(fixture.dir, 'files')
    await start(at)
    const engine = await fixture.daybook.open('default')
    await enqueue(engine, [{ id: 'a', type: 'x', payload: 1 }])
    await shown(engine)
    rmSync(at, { recursive: true })
    block(at)
    await enqueue(engine, [{ id: 'b', type: 'x', payload: 2 }])
    await until(() => problemOf() !== undefined)
    clear(at)
    await until(() => problemOf() === undefined)
    await shown(engine)
    expect(read('pending.json', at).tasks.map(({ id }) => id)).toEqual(['a', 'b'])
  })

  test('a folder that was removed is created again', async () => {
    const at = join(fixture.dir, 'files')
    await start(at)
    const engine = await fixture.daybook.open('default')
    for (let n = 0; n < 20; n++) {
      rmSync(at, { recursive: true, force: true })
      await enqueue(engine, [{ id: `t${n}`, type: 'x', payload: n }])
      if (n % 3 === 0) await shown(engine)
    }
    await shown(engine)
    expect(read('pending.json', at).total).toBe(20)
  })

  test('a queue whose files cannot be written does not affect the files of others', async () => {
    writeFileSync(join(fixture.dir, 'one'), '')
    const one = await fixture.daybook.open('one')
    await enqueue(one, [{ id: 'a', type: 'x' }])
    const two = await fixture.daybook.open('two')
    await enqueue(two, [{ id: 'b', type: 'x' }])
    await start()
    await shown(two)
    expect([problemOf('one') === undefined, problemOf('two'), problemOf()]).toEqual([false, undefined, undefined])
    expect(read('pending.json', join(fixture.dir, 'two')).total).toBe(1)
  })

  test('a queue that cannot be read is reported as a problem of its files, until it can', async () => {
    const engine = await fixture.daybook.open('default')
    let isReadable = false
    const { log } = fixture.daybook
    const failing: typeof log = { ...log, pick: (stream, revisions) => (isReadable ? log.pick(stream, revisions) : Promise.reject(new Error('the store is away'))) }
    await enqueue(engine, [{ id: 'a', type: 'x', payload: 1 }])
    const files = startQueueFilesOf({ engine, log: failing, dir: fixture.dir, warn: () => undefined })
    await files.tried
    expect(files.status()).toMatchObject({ queue: 'default', revision: undefined, problem: { reason: 'the store is away' } })
    isReadable = true
    await files.shown(engine.status().revision)
    expect(files.status()).toEqual({ queue: 'default', revision: engine.status().revision, problem: undefined })
    await files.close()
  })

  test('closing does not wait for a folder that does not come back', async () => {
    writeFileSync(join(fixture.dir, 'taken'), '')
    await start(join(fixture.dir, 'taken'))
    await fixture.folders?.close()
    const engine = await fixture.daybook.open('default')
    const hanging = new Proxy(engine, {
      get: (target, key) => (key === 'read' ? () => new Promise(() => undefined) : (Reflect.get(target, key) as unknown)),
    })
    await startQueueFilesOf({ engine: hanging, log: fixture.daybook.log, dir: fixture.dir, warn: () => undefined }).close()
  })
})

test('two writers of one folder: neither fails, files are always complete, and finally they show the newest revision', async () => {
  await fixture.daybook.ready
  const engine = await fixture.daybook.open('default')
  const begin = () => startQueueFilesOf({ engine, log: fixture.daybook.log, dir: fixture.dir, warn: (message) => void fixture.warnings.push(message) })
  const writers = [begin(), begin()]
  let last = 0
  for (let n = 0; n < 60; n++) {
    await enqueue(engine, Array.from({ length: 20 }, (_, i) => ({ id: `t${n}-${i}`, type: 'x', payload: n * 20 + i })))
    if (n % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    // On a slow machine all of this may be over before there are any.
    if (n === 30) await writers[0]?.shown(0)
    if (existsSync(join(fixture.dir, 'pending.json'))) last = Math.max(last, read('pending.json').total)
  }
  await Promise.all(writers.map((files) => files.shown(engine.status().revision)))
  expect(read('pending.json').total).toBe(1_200)
  expect(last).toBeGreaterThan(0)
  expect(fixture.warnings).toEqual([])
  await Promise.all(writers.map((files) => files.close()))
  expect(readdirSync(fixture.dir).sort()).toEqual([...fileNames].sort())
})

test('unfinished files of a crash are removed at the next start; recent ones are kept, because they may be another writer’s', async () => {
  const left = join(fixture.dir, 'pending.json.77-abc.tmp')
  const young = join(fixture.dir, 'completed.json.78-def.tmp')
  const own = join(fixture.dir, 'notes.tmp')
  for (const file of [left, young, own]) writeFileSync(file, 'x')
  const old = new Date(Date.now() - 2 * 3_600_000)
  for (const file of [left, own]) utimesSync(file, old, old)
  await start()
  expect([left, young, own].map((file) => existsSync(file))).toEqual([false, true, true])
})
