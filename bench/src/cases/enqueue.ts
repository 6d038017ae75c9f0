/** Enqueueing: one at a time, from many callers, in bulk; in process and over HTTP. */
import { createClient } from '@daybook/adapters/client'
import { prepareTask } from '@daybook/adapters/engine'
import { type Case, scaled } from '../case.js'
import { inParallel, newTask, nowMs, percentile, perSecond } from '../measure.js'
import { caller, enqueue, fill, openQueue, right, startServer } from '../queue.js'

const warmUp = 3_000

export const enqueueCallers: Case = {
  name: 'enqueue-256',
  what: 'enqueue, in process, 256 callers awaiting one task each',
  goals: { 'tasks/s': ['≥', 60_000] },
  peer: 'enqueue, 256 in flight',
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    const one = async (): Promise<void> => {
      const task = right(prepareTask(newTask()))
      right(await engine.submit({ type: 'Enqueue', tasks: [task] }, caller))
    }
    await inParallel(warmUp, 256, one)
    const count = scaled(100_000, scale)
    const ms = await inParallel(count, 256, one)
    await daybook.close()
    return { 'tasks/s': perSecond(count, ms) }
  },
}

export const enqueueCallersHttp: Case = {
  name: 'enqueue-256-http',
  what: 'enqueue over HTTP from another process, 256 callers awaiting one task each through the client',
  goals: { 'tasks/s': ['≥', 45_000] },
  peer: 'enqueue, 256 in flight',
  run: async (folder, scale) => {
    const server = await startServer(folder)
    const client = createClient({ url: server.url, token: server.token })
    await inParallel(warmUp, 256, () => client.enqueue(newTask()))
    const count = scaled(100_000, scale)
    const ms = await inParallel(count, 256, () => client.enqueue(newTask()))
    await client.close()
    await server.stop()
    return { 'tasks/s': perSecond(count, ms) }
  },
}

export const enqueueBulk: Case = {
  name: 'enqueue-bulk',
  what: 'enqueue in bulk, in process, 500 per call, 4 calls in flight',
  goals: { 'tasks/s': ['≥', 130_000] },
  peer: 'enqueue in bulk',
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    await fill(engine, warmUp * 2)
    const count = scaled(200_000, scale)
    const ms = await inParallel(Math.ceil(count / 500), 4, () => enqueue(engine, Array.from({ length: 500 }, newTask)))
    await daybook.close()
    return { 'tasks/s': perSecond(count, ms) }
  },
}

export const enqueueBulkHttp: Case = {
  name: 'enqueue-bulk-http',
  what: 'enqueue in bulk over HTTP, 500 per call, 4 calls in flight',
  goals: { 'tasks/s': ['≥', 66_000] },
  peer: 'enqueue in bulk',
  run: async (folder, scale) => {
    const server = await startServer(folder)
    const client = createClient({ url: server.url, token: server.token })
    const call = (): Promise<unknown> => client.enqueueAll(Array.from({ length: 500 }, newTask))
    await inParallel(12, 4, call)
    const count = scaled(200_000, scale)
    const ms = await inParallel(Math.ceil(count / 500), 4, call)
    await client.close()
    await server.stop()
    return { 'tasks/s': perSecond(count, ms) }
  },
}

const latencies = async (count: number, call: () => Promise<unknown>): Promise<{ p50: number; p99: number }> => {
  for (let i = 0; i < 500; i++) await call()
  const taken: Array<number> = []
  for (let i = 0; i < count; i++) {
    const start = nowMs()
    await call()
    taken.push(nowMs() - start)
  }
  return { p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) }
}

export const sequential: Case = {
  name: 'sequential',
  what: 'enqueue one at a time, awaiting each, in process',
  goals: { 'p50 ms': ['≤', 0.3], 'p99 ms': ['≤', 1] },
  peer: 'enqueue, one at a time',
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    const { p50, p99 } = await latencies(scaled(4_000, scale), async () => {
      right(await engine.submit({ type: 'Enqueue', tasks: [right(prepareTask(newTask()))] }, caller))
    })
    await daybook.close()
    return { 'p50 ms': p50, 'p99 ms': p99 }
  },
}

export const sequentialHttp: Case = {
  name: 'sequential-http',
  what: 'enqueue one at a time, awaiting each, over HTTP',
  goals: { 'p50 ms': ['≤', 0.9] },
  peer: 'enqueue, one at a time',
  run: async (folder, scale) => {
    const server = await startServer(folder)
    const client = createClient({ url: server.url, token: server.token })
    const { p50, p99 } = await latencies(scaled(4_000, scale), () => client.enqueue(newTask()))
    await client.close()
    await server.stop()
    return { 'p50 ms': p50, 'p99 ms': p99 }
  },
}
