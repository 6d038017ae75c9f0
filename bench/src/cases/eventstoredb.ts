/** EventStoreDB: the adapter and the bare client in the same run, against the same node. */
import { randomUUID } from 'node:crypto'
import { openEngine, type QueueEngine } from '@daybook/adapters/engine'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import { engineSource } from '@daybook/adapters/worker'
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client'
import { type Case, type Figures, scaled } from '../case.js'
import { nowMs, payload, perSecond, percentile, sleep } from '../measure.js'
import { fill, openQueue, right } from '../queue.js'
import { startNode } from '../node.js'
import { drain } from './drain.js'

const appendsAtOnce = 2

/** Appends batches with two in flight: the maximum of a single writer. */
const inChain = async (batches: number, append: (batch: number) => Promise<unknown>): Promise<number> => {
  const start = nowMs()
  const under: Array<Promise<unknown>> = []
  for (let batch = 0; batch < batches; batch++) {
    if (under.length === appendsAtOnce) await under.shift()
    under.push(append(batch))
  }
  await Promise.all(under)
  return nowMs() - start
}

const newEvent = (i: number) => ({
  id: randomUUID(),
  type: 'TaskEnqueued',
  data: { task: `t${i}`, ...payload(i, 5) },
  metadata: { $correlationId: `c${i}`, $causationId: `c${i}`, actor: 'bench' },
})

const middle = (values: ReadonlyArray<number>): number => percentile(values, 0.5)

const appendRates = async (url: string, size: number, events: number): Promise<readonly [bare: number, adapter: number]> => {
  const client = EventStoreDBClient.connectionString(url)
  const store = openEventStoreDb({ url })
  const batches = Math.ceil(events / size)
  const revision = (batch: number): number => batch * size - 1
  const load = () => Array.from({ length: batches }, (_, batch) => Array.from({ length: size }, (_unused, i) => newEvent(batch * size + i)))
  const bare = async (): Promise<number> => {
    const [stream, all] = [`bench-${randomUUID()}`, load()]
    return inChain(batches, (batch) => client.appendToStream(
      stream,
      all[batch]!.map((event) => jsonEvent(event)),
      { expectedRevision: batch === 0 ? NO_STREAM : BigInt(revision(batch)) },
    ))
  }
  const adapter = async (): Promise<number> => {
    const [stream, all] = [`bench-${randomUUID()}`, load()]
    return inChain(batches, async (batch) => right(await store.append(
      stream,
      all[batch]!.map(({ data, metadata, ...rest }) => ({ ...rest, data: JSON.stringify(data), metadata: JSON.stringify(metadata) })),
      batch === 0 ? 'no_stream' : revision(batch),
    )()))
  }
  // The client's first appends may overtake each other, so one is done first.
  await client.appendToStream(`bench-${randomUUID()}`, jsonEvent(newEvent(0)))
  await bare()
  await adapter()
  const [bares, adapters]: [Array<number>, Array<number>] = [[], []]
  for (let round = 0; round < 3; round++) {
    bares.push(perSecond(batches * size, await bare()))
    adapters.push(perSecond(batches * size, await adapter()))
  }
  await store.close()
  await client.dispose()
  return [middle(bares), middle(adapters)]
}

export const esdbAppend: Case = {
  name: 'esdb-append',
  what: 'appends of 100 and of 500 events, two in flight: the adapter, the bare client, their ratio',
  goals: { 'ratio at 100': ['≥', 0.7], 'ratio at 500': ['≥', 0.7] },
  run: async (_folder, scale) => {
    const node = await startNode()
    const figures: Record<string, number> = {}
    for (const size of [100, 500]) {
      const [bare, adapter] = await appendRates(node.url, size, scaled(30_000, scale))
      Object.assign(figures, { [`bare/s at ${size}`]: bare, [`adapter/s at ${size}`]: adapter, [`ratio at ${size}`]: adapter / bare })
    }
    await node.stop()
    return figures
  },
}

/** Enqueues, claims and completes `count` tasks. */
const lives = async (engine: QueueEngine, count: number): Promise<number> => {
  const start = nowMs()
  await fill(engine, count)
  await drain(engineSource(engine), count)
  return nowMs() - start
}

export const esdbLife: Case = {
  name: 'esdb-life',
  what: 'enqueue, claim and complete tasks in EventStoreDB, one worker in process',
  goals: { 'tasks/s': ['≥', 5_000] },
  run: async (folder, scale) => {
    const node = await startNode()
    const { daybook, engine } = await openQueue(folder, { store: openEventStoreDb({ url: node.url }), queue: `bench-${randomUUID()}` })
    await lives(engine, 5_000)
    const tasks = scaled(30_000, scale)
    const ms = await lives(engine, tasks)
    await daybook.close()
    await node.stop()
    return { 'tasks/s': perSecond(tasks, ms) }
  },
}

export const esdbReplay: Case = {
  name: 'esdb-replay',
  what: 'start-up replay from EventStoreDB without a snapshot: replay, read by the bare client, their ratio',
  goals: { ratio: ['≥', 0.7] },
  run: async (folder, scale) => {
    const node = await startNode()
    const queue = `bench-${randomUUID()}`
    const { daybook, engine } = await openQueue(folder, { store: openEventStoreDb({ url: node.url }), queue })
    await lives(engine, scaled(30_000, scale))
    const events = engine.status().revision + 1
    await daybook.close()
    const client = EventStoreDBClient.connectionString(node.url)
    const [bares, replays]: [Array<number>, Array<number>] = [[], []]
    for (let round = 0; round < 4; round++) {
      const start = nowMs()
      let read = 0
      for await (const { event } of client.readStream(`taskqueue-${queue}`)) if (event !== undefined) read++
      if (read !== events) throw new Error(`the bare client read ${read} of ${events} events`)
      const middleMs = nowMs()
      const store = openEventStoreDb({ url: node.url })
      const again = await openEngine(store, queue, undefined, { skipped: () => undefined, progress: () => undefined })
      const end = nowMs()
      if (again.status().revision + 1 !== events) throw new Error('the replay did not reach the end')
      await again.close()
      await store.close()
      if (round === 0) continue
      bares.push(perSecond(events, middleMs - start))
      replays.push(perSecond(events, end - middleMs))
    }
    await client.dispose()
    await node.stop()
    return { 'bare events/s': middle(bares), 'replayed events/s': middle(replays), ratio: middle(replays) / middle(bares) }
  },
}

const soakMinutes = 10

/** Heap after a collection, in MiB. */
const heap = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}

/** Slope of the regression line through the points. */
const slope = (points: ReadonlyArray<readonly [x: number, y: number]>): number => {
  const mean = (of: 0 | 1): number => points.reduce((sum, point) => sum + point[of], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const across = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
  return across === 0 ? 0 : points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / across
}

export const esdbSoak: Case = {
  name: 'esdb-soak',
  what: `${soakMinutes} minutes of appends, reads and a subscription over the adapter (--scale for less): memory`,
  goals: { 'heap growth MiB/min': ['≤', 1] },
  onlyNamed: true,
  run: async (_folder, scale): Promise<Figures> => {
    const node = await startNode()
    const store = openEventStoreDb({ url: node.url })
    const stream = `bench-${randomUUID()}`
    const begun = nowMs()
    const points: Array<[number, number]> = []
    let [head, seen, read, sampled] = [-1, 0, 0, 0]
    const subscription = store.subscribe(stream, 0).subscribe({
      next: (delivered) => (seen += '_tag' in delivered ? 0 : delivered.length),
      error: (error) => process.stderr.write(`the subscription ended: ${String(error)}\n`),
    })
    while (nowMs() - begun < soakMinutes * 60_000 * scale) {
      const batch = Array.from({ length: 100 }, (_, i) => newEvent(head + 1 + i))
      head = right(await store.append(
        stream,
        batch.map(({ data, metadata, ...rest }) => ({ ...rest, data: JSON.stringify(data), metadata: JSON.stringify(metadata) })),
        head < 0 ? 'no_stream' : head,
      )()).revision
      // Left early, like a reader that has found what it looked for.
      for await (const page of store.read(stream, { from: Math.max(0, head - 2_500) })) {
        read += page.length
        break
      }
      await store.pick(stream, [0, head >> 1, head])
      // A moderate load, so that the memory of the protocol server does not dominate.
      await sleep(20)
      if (nowMs() - sampled > 2_000 * Math.max(0.1, scale)) {
        sampled = nowMs()
        points.push([(sampled - begun) / 60_000, heap()])
      }
    }
    subscription.unsubscribe()
    await store.close()
    await node.stop()
    // The first third is warm-up.
    const steady = points.slice(Math.floor(points.length / 3))
    return { 'events appended': head + 1, 'events read': read, 'events delivered': seen, 'heap MiB': steady.at(-1)?.[1] ?? 0, 'heap growth MiB/min': slope(steady) }
  },
}
