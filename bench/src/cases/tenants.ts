/** What many tenants cost, compared with one: memory, and a limit that they share. */
import { join } from 'node:path'
import { createClient } from '@daybook/adapters/client'
import { openMemoryStore } from '@daybook/adapters/memory'
import { evolve, initial, type QueueState } from '@daybook/core'
import { type Case, scaled } from '../case.js'
import { newTask, nowMs, perSecond, rssMb } from '../measure.js'
import { caller, fill, openQueue, right, startServer } from '../queue.js'
import { enqueuedEvent } from './fold.js'

type TenantOf = (i: number) => string
const shared: TenantOf = () => 'tenant'
const own: TenantOf = (i) => `tenant-${i}`

/** Bytes per task of a state. */
const heapPerTask = (tasks: number, tenantOf: TenantOf): number => {
  const { gc } = globalThis
  if (gc === undefined) throw new Error('needs --expose-gc')
  gc()
  const before = process.memoryUsage().heapUsed
  const kept: { state: QueueState } = { state: initial('bench') }
  for (let i = 0; i < tasks; i++) kept.state = evolve(kept.state, enqueuedEvent(i, { tenant: tenantOf(i) }))
  gc()
  const bytes = (process.memoryUsage().heapUsed - before) / tasks
  // Uses the state, so that it is not collected before.
  kept.state = evolve(kept.state, enqueuedEvent(tasks))
  return bytes
}

const serverMb = async (folder: string, tasks: number, tenantOf: TenantOf): Promise<number> => {
  const server = await startServer(folder)
  const client = createClient({ url: server.url, token: server.token })
  for (let made = 0; made < tasks; made += 500) {
    await client.enqueueAll(Array.from({ length: 500 }, (_, i) => ({ ...newTask(), tenant: tenantOf(made + i) })))
  }
  const mb = rssMb(server.pid)
  await client.close()
  await server.stop()
  return mb
}

export const tenantMemory: Case = {
  name: 'memory-tenants',
  what: 'memory of 200,000 queued tasks with a tenant each against one tenant: heap of the state, RSS of the server',
  goals: { 'heap, ratio': ['≤', 1.5], 'RSS, ratio': ['≤', 1.5] },
  run: async (folder, scale) => {
    const tasks = scaled(200_000, scale, 20_000)
    heapPerTask(20_000, own)
    const [one, each] = [heapPerTask(tasks, shared), heapPerTask(tasks, own)]
    const [serverOne, serverEach] = [await serverMb(join(folder, 'one'), tasks, shared), await serverMb(join(folder, 'each'), tasks, own)]
    return {
      'bytes, one tenant': one,
      'bytes, one per task': each,
      'heap, ratio': each / one,
      'RSS MiB, one tenant': serverOne,
      'RSS MiB, one per task': serverEach,
      'RSS, ratio': serverEach / serverOne,
    }
  },
}

/** Tasks a second that run at a limit of ten, each claimed when another is completed. */
const rateAtLimit = async (folder: string, queue: string, tasks: number, tenants: number): Promise<number> => {
  const { daybook, engine } = await openQueue(folder, { store: openMemoryStore(), queue })
  let made = 0
  await fill(engine, 2 * tasks, () => ({ ...newTask(), tenant: `tenant-${made++ % tenants}` }))
  right(await engine.submit({ type: 'SetLimit', key: 'type:code.change', concurrency: 10 }, caller))
  const claim = async (max: number) => right(await engine.claim({ type: 'Claim', agent: 'bench', max }, caller)).value
  const held = [...(await claim(10))]
  const start = nowMs()
  for (let i = 0; i < tasks; i++) {
    const { task, token } = held.shift() ?? { task: '', token: 0 }
    right(await engine.submit({ type: 'Complete', task, agent: 'bench', token, content: '{}', hasReport: false }, caller))
    held.push(...(await claim(1)))
  }
  const rate = perSecond(tasks, nowMs() - start)
  await daybook.close()
  return rate
}

export const limitOfTenants: Case = {
  name: 'limit-tenants',
  what: 'tasks of one type at its limit of ten, completed and claimed one at a time, of 5,000 tenants against one; in memory',
  goals: { '5,000 tenants over one': ['≥', 0.8] },
  run: async (folder, scale) => {
    const tasks = scaled(20_000, scale, 2_000)
    await rateAtLimit(folder, 'warm-up', 2_000, 100)
    const [one, many] = [await rateAtLimit(folder, 'one', tasks, 1), await rateAtLimit(folder, 'many', tasks, 5_000)]
    return { 'tasks/s, one tenant': one, 'tasks/s, 5,000 tenants': many, '5,000 tenants over one': many / one }
  },
}
