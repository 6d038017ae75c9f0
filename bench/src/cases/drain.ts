/** Drains: claim and complete in strict priority, with a handler that does nothing. */
import { createClient } from '@daybook/adapters/client'
import type { QueueEngine } from '@daybook/adapters/engine'
import { createWorker, engineSource, httpSource, type TaskSource } from '@daybook/adapters/worker'
import { type Case, scaled } from '../case.js'
import { nowMs, perSecond } from '../measure.js'
import { fill, fillOver, openQueue, startServer } from '../queue.js'

interface Drained {
  /** Time until all tasks were handled and their outcomes accepted. */
  readonly ms: number
  /** Time until the first `mark` tasks were handled. */
  readonly markMs: number
}

export const drain = async (source: TaskSource, count: number, mark = count): Promise<Drained> => {
  let handled = 0
  let markedAt = 0
  let last: (value: unknown) => void = () => undefined
  const all = new Promise((resolve) => (last = resolve))
  const worker = createWorker({
    source,
    concurrency: 1_000,
    prefetchMax: 2_000,
    settleMax: 1_000,
    handler: () => {
      handled++
      if (handled === mark) markedAt = nowMs()
      if (handled === count) last(undefined)
    },
  })
  const start = nowMs()
  worker.start()
  await all
  await worker.stop({ graceMs: 10_000 })
  return { ms: nowMs() - start, markMs: markedAt - start }
}

/** A short drain to warm up, as for the peers. */
const warm = async (engine: QueueEngine): Promise<void> => {
  await fill(engine, 20_000)
  await drain(engineSource(engine), 20_000)
}

const drainInProcess = (name: string, count: number, goal: number, peer: string): Case => ({
  name,
  what: `drain of ${count.toLocaleString('en')} queued tasks, mixed priorities, one worker in process`,
  goals: { 'tasks/s': ['≥', goal] },
  peer,
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    await warm(engine)
    const tasks = scaled(count, scale)
    await fill(engine, tasks)
    const { ms } = await drain(engineSource(engine), tasks)
    await daybook.close()
    return { 'tasks/s': perSecond(tasks, ms) }
  },
})

export const drain50k = drainInProcess('drain', 50_000, 85_000, 'drain of 50,000')
export const drain500k = drainInProcess('drain-500k', 500_000, 70_000, 'drain of 500,000')

export const drainHttp: Case = {
  name: 'drain-http',
  what: 'drain of 50,000 queued tasks, mixed priorities, one worker in another process over HTTP',
  goals: { 'tasks/s': ['≥', 45_000] },
  peer: 'drain of 50,000',
  run: async (folder, scale) => {
    const server = await startServer(folder)
    const client = createClient({ url: server.url, token: server.token })
    await fillOver(client, 20_000)
    await drain(httpSource(client), 20_000)
    const tasks = scaled(50_000, scale)
    await fillOver(client, tasks)
    const { ms } = await drain(httpSource(client), tasks)
    await client.close()
    await server.stop()
    return { 'tasks/s': perSecond(tasks, ms) }
  },
}

/** The rate of the first 10,000 of a long queue, compared with a short one. */
export const backlog: Case = {
  name: 'backlog',
  what: 'drain rate of the first 10,000 with 500,000 queued against 10,000 queued',
  goals: { ratio: ['≥', 0.9] },
  peer: 'first 10,000 of 500,000',
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    await warm(engine)
    const first = scaled(10_000, scale, 5_000)
    const rates: Array<number> = []
    // Short, long, short, long, so that the warm-up affects both alike.
    for (let round = 0; round < 2; round++) {
      for (const queued of [first, scaled(500_000, scale, 20_000)]) {
        await fill(engine, queued)
        const { markMs } = await drain(engineSource(engine), queued, first)
        rates.push(perSecond(first, markMs))
      }
    }
    await daybook.close()
    const little = ((rates[0] ?? 0) + (rates[2] ?? 0)) / 2
    const much = ((rates[1] ?? 0) + (rates[3] ?? 0)) / 2
    return { 'tasks/s with little': little, 'tasks/s with much': much, ratio: much / little }
  },
}
