/** An idle queue with one task every 5 ms: the time from the enqueue call to the start of the handler. */
import { createClient } from '@daybook/adapters/client'
import { prepareTask } from '@daybook/adapters/engine'
import { createWorker, engineSource, httpSource, type TaskSource } from '@daybook/adapters/worker'
import { type Case, type Figures, scaled } from '../case.js'
import { newTask, nowMs, percentile, sleep } from '../measure.js'
import { caller, openQueue, right, startServer } from '../queue.js'

const everyMs = 5

type Task = ReturnType<typeof newTask> & { readonly payload: { readonly sentAt: number } }

const measure = async (
  source: TaskSource,
  enqueue: (task: Task) => Promise<unknown>,
  count: number,
): Promise<Figures> => {
  const taken: Array<number> = []
  const worker = createWorker({
    source,
    handler: (task) => {
      const { sentAt } = task.payload as { readonly sentAt: number }
      taken.push(nowMs() - sentAt)
    },
  })
  worker.start()
  const warmUp = 100
  let due = nowMs() + 200
  for (let i = 0; i < warmUp + count; i++) {
    due += everyMs
    const wait = due - nowMs()
    if (wait > 1.2) await sleep(wait - 1.1)
    while (nowMs() < due) await new Promise((resolve) => setImmediate(resolve))
    const task = newTask()
    void enqueue({ ...task, payload: { ...task.payload, sentAt: nowMs() } })
  }
  while (taken.length < warmUp + count) await sleep(5)
  await worker.stop({ graceMs: 5_000 })
  const counted = taken.slice(warmUp)
  return { 'p50 ms': percentile(counted, 0.5), 'p99 ms': percentile(counted, 0.99) }
}

export const latency: Case = {
  name: 'latency',
  what: 'enqueue → handler start on an idle queue, one every 5 ms, in process',
  goals: { 'p50 ms': ['≤', 0.5], 'p99 ms': ['≤', 2] },
  peer: 'enqueue → handler start',
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    const enqueue = async (task: Task): Promise<void> => {
      right(await engine.submit({ type: 'Enqueue', tasks: [right(prepareTask(task))] }, caller))
    }
    const figures = await measure(engineSource(engine), enqueue, scaled(3_000, scale, 400))
    await daybook.close()
    return figures
  },
}

export const latencyHttp: Case = {
  name: 'latency-http',
  what: 'the same over HTTP long poll, worker and producer in another process than the server',
  goals: { 'p50 ms': ['≤', 1.2] },
  peer: 'enqueue → handler start',
  run: async (folder, scale) => {
    const server = await startServer(folder)
    const client = createClient({ url: server.url, token: server.token })
    const figures = await measure(httpSource(client), (task) => client.enqueue(task), scaled(3_000, scale, 400))
    await client.close()
    await server.stop()
    return figures
  },
}
