/** A million queued tasks: cost of a claim, memory of the server, start, replay. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { replay, streamOf } from '@daybook/adapters/engine'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { listTasks } from '@daybook/core'
import { createClient } from '@daybook/adapters/client'
import { type Case, scaled } from '../case.js'
import { newTask, nowMs, percentile, perSecond, rssMb } from '../measure.js'
import { caller, fill, logFile, openQueue, right, startServer } from '../queue.js'

const million = 1_000_000
const content = '{"success":true}'

export const claimAtMillion: Case = {
  name: 'claim-1M',
  what: 'claim with 1,000,000 tasks queued, in the server; and a page by (status, priority, phase)',
  goals: { 'claim p99 ms': ['≤', 5], 'lookup p95 ms': ['≤', 5] },
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    await fill(engine, scaled(million, scale, 20_000))
    const claims: Array<number> = []
    const lookups: Array<number> = []
    for (let i = 0; i < 3_000; i++) {
      const start = nowMs()
      const [claim] = right(await engine.claim({ type: 'Claim', agent: 'bench', max: 1 }, caller)).value
      claims.push(nowMs() - start)
      if (claim === undefined) throw new Error('nothing to claim')
      const { task, token } = claim
      right(await engine.submit({ type: 'Complete', task, agent: 'bench', token, content, hasReport: false }, caller))
      if (i % 10 > 0) continue
      const priority = 1 + (i % 7)
      const asked = nowMs()
      const filter = { statuses: ['pending'], priorityMin: priority, priorityMax: priority } as const
      right(await engine.read((state) => listTasks(state, filter, 50)))
      lookups.push(nowMs() - asked)
    }
    await daybook.close()
    return {
      'claim p50 ms': percentile(claims, 0.5),
      'claim p99 ms': percentile(claims, 0.99),
      'lookup p95 ms': percentile(lookups, 0.95),
    }
  },
}

export const memory: Case = {
  name: 'memory-1M',
  what: 'memory of the server with 1,000,000 queued tasks of 300 bytes',
  goals: { 'RSS MiB': ['≤', 1_024] },
  run: async (folder, scale) => {
    const server = await startServer(folder)
    const client = createClient({ url: server.url, token: server.token })
    const count = scaled(million, scale, 20_000)
    for (let made = 0; made < count; made += 500) await client.enqueueAll(Array.from({ length: 500 }, newTask))
    const figures = { 'RSS MiB': rssMb(server.pid) }
    await client.close()
    await server.stop()
    return figures
  },
}

/** Makes 1,000,000 queued tasks and 3,000,000 events: 667,000 more tasks were completed. */
const makeHistory = async (folder: string, scale: number): Promise<void> => {
  const { engine } = await openQueue(folder)
  const count = scaled(million, scale, 20_000)
  for (let gone = 0; gone < (count * 2) / 3; ) {
    await fill(engine, 20_000)
    for (let claimed = 0; claimed < 20_000; ) {
      const claims = right(await engine.claim({ type: 'Claim', agent: 'bench', max: 1_000 }, caller)).value
      claimed += claims.length
      gone += claims.length
      const done = claims.map(({ task, token }) => ({ type: 'Complete' as const, task, agent: 'bench', token, content, hasReport: false }))
      await engine.submitAll(done, caller)
    }
  }
  await fill(engine, count)
}

export const start: Case = {
  name: 'start-1M',
  what: 'start with 1,000,000 queued tasks and 3,000,000 events of history after a kill, until ready',
  goals: { 'seconds to ready': ['≤', 8] },
  run: async (folder, scale) => {
    const maker = fork(fileURLToPath(import.meta.url), ['make-history', folder, String(scale)], { stdio: 'inherit' })
    await once(maker, 'exit')
    const begun = nowMs()
    const server = await startServer(folder)
    const seconds = (nowMs() - begun) / 1_000
    await server.stop()
    return { 'seconds to ready': seconds }
  },
}

// In a separate process, which ends like a killed one, without closing anything.
if (process.argv[2] === 'make-history') {
  await makeHistory(process.argv[3] as string, Number(process.argv[4]))
  process.kill(process.pid, 'SIGKILL')
}

export const replayFromFile: Case = {
  name: 'replay',
  what: 'replay from the SQLite file into state, parsing included, without a snapshot',
  goals: { 'events/s': ['≥', 250_000] },
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    const count = scaled(200_000, scale, 10_000)
    await fill(engine, count)
    for (let left = count; left > count / 2; ) {
      const claims = right(await engine.claim({ type: 'Claim', agent: 'bench', max: 1_000 }, caller)).value
      left -= claims.length
      const done = claims.map(({ task, token }) => ({ type: 'Complete' as const, task, agent: 'bench', token, content, hasReport: false }))
      await engine.submitAll(done, caller)
    }
    await daybook.close()
    const store = await openSqliteStore({ file: join(folder, logFile) })
    const events = (await store.head(streamOf('default'))) + 1
    const begun = nowMs()
    await replay(store, undefined, 'default', { progress: () => undefined, skipped: () => undefined })
    const ms = nowMs() - begun
    await store.close()
    return { 'events/s': perSecond(events, ms), events }
  },
}
