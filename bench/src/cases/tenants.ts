/** Memory with one tenant per task, compared with one tenant for all tasks. */
import { join } from 'node:path'
import { createClient } from '@daybook/adapters/client'
import { evolve, initial, type QueueState } from '@daybook/core'
import { type Case, scaled } from '../case.js'
import { newTask, rssMb } from '../measure.js'
import { startServer } from '../queue.js'
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
