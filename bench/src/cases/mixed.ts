/** A mix of types, phases, tenants and deadlines under policy `score`, compared with tasks without them under policy `priority`. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, type DaybookClient, type NewTask as ClientTask } from '@daybook/adapters/client'
import { engineSource, httpSource, type TaskSource } from '@daybook/adapters/worker'
import type { CommandOf, NewTask } from '@daybook/core'
import { type Case, type Figures, scaled } from '../case.js'
import { newTask, nowMs, percentile, perSecond } from '../measure.js'
import { mixedTask, mixedTaskForClient, mixSettings, mixTenants, mixTypes } from '../mix.js'
import { caller, fill, fillOver, type Opened, openQueue, right, startServer } from '../queue.js'
import { drain } from './drain.js'

const million = 1_000_000
const content = '{"success":true}'

const openMixed = async (folder: string): Promise<Awaited<ReturnType<typeof openQueue>>> => {
  mkdirSync(folder, { recursive: true })
  const opened = await openQueue(folder)
  right(await opened.engine.submit({ type: 'Configure', patch: mixSettings }, caller))
  return opened
}

/** What the claims ask for, in rotation: anything, five types, a tenant. */
const asked: ReadonlyArray<(i: number) => Partial<CommandOf<'Claim'>>> = [
  () => ({}),
  (i) => ({ types: Array.from({ length: 5 }, (_, k) => `mix.${(i + k * 10) % mixTypes}`) }),
  (i) => ({ tenant: `tenant-${i % mixTenants}` }),
]

export const claimMixed: Case = {
  name: 'claim-mix-1M',
  what: 'claim with 1,000,000 tasks queued of 50 types, 5 phases and 100 tenants, a fifth with deadlines, policy score, in the server',
  goals: { 'claim p99 ms': ['≤', 5] },
  run: async (folder, scale) => {
    const { daybook, engine } = await openMixed(folder)
    await fill(engine, scaled(million, scale, 20_000), mixedTask)
    const claims: Array<number> = []
    for (let i = 0; i < 3_000; i++) {
      const start = nowMs()
      const [claim] = right(await engine.claim({ type: 'Claim', agent: 'bench', max: 1, ...asked[i % asked.length]!(i) }, caller)).value
      claims.push(nowMs() - start)
      if (claim === undefined) throw new Error('nothing to claim')
      const { task, token } = claim
      right(await engine.submit({ type: 'Complete', task, agent: 'bench', token, content, hasReport: false }, caller))
    }
    await daybook.close()
    return { 'claim p50 ms': percentile(claims, 0.5), 'claim p99 ms': percentile(claims, 0.99) }
  },
}

/** Where tasks are enqueued, and where a worker takes them from. */
interface Queue {
  readonly fill: (count: number) => Promise<unknown>
  readonly source: TaskSource
}

/** Enqueues, claims and completes `count` tasks. Returns tasks/s. */
const lives = async (queue: Queue, count: number): Promise<number> => {
  const start = nowMs()
  await queue.fill(count)
  await drain(queue.source, count)
  return perSecond(count, nowMs() - start)
}

/** Lives of plain tasks and of the mix, alternately, after one warm-up of each. */
const compareLives = async (plain: Queue, mixed: Queue, count: number): Promise<Figures> => {
  const rates: [Array<number>, Array<number>] = [[], []]
  for (let round = 0; round < 4; round++) {
    const both = [await lives(plain, count), await lives(mixed, count)]
    both.forEach((rate, i) => void (round > 0 && rates[i]!.push(rate)))
  }
  const [without, with_] = rates.map((each) => percentile(each, 0.5)) as [number, number]
  return { 'tasks/s, plain': without, 'tasks/s, mix': with_, ratio: with_ / without }
}

export const lifeMixed: Case = {
  name: 'life-mix',
  what: 'enqueue, claim and complete 200,000 tasks of the same mix under policy score, against plain ones under policy priority, in process',
  goals: { ratio: ['≥', 0.75] },
  run: async (folder, scale) => {
    const plain = await openQueue(folder)
    const mixed = await openMixed(join(folder, 'mixed'))
    const queueOf = ({ engine }: Opened, task: () => NewTask): Queue => ({ fill: (count) => fill(engine, count, task), source: engineSource(engine) })
    const figures = await compareLives(queueOf(plain, newTask), queueOf(mixed, mixedTask), scaled(200_000, scale, 10_000))
    await Promise.all([plain.daybook.close(), mixed.daybook.close()])
    return figures
  },
}

export const lifeMixedHttp: Case = {
  name: 'life-mix-http',
  what: 'the same over HTTP, with two queues of one server',
  goals: { ratio: ['≥', 0.75] },
  run: async (folder, scale) => {
    const server = await startServer(folder)
    const client = createClient({ url: server.url, token: server.token })
    const mixed = client.in('mixed')
    await mixed.settings.patch({ ...mixSettings, decisionReport: 'optional' })
    const queueOf = (queue: DaybookClient, task: () => ClientTask): Queue => ({ fill: (count) => fillOver(queue, count, task), source: httpSource(queue) })
    const figures = await compareLives(queueOf(client, newTask), queueOf(mixed, mixedTaskForClient), scaled(200_000, scale, 10_000))
    await client.close()
    await server.stop()
    return figures
  },
}

const startSeconds = async (folder: string, scale: number, mixed: boolean): Promise<number> => {
  const maker = fork(fileURLToPath(import.meta.url), ['make-mix', folder, String(scale), String(mixed)], { stdio: 'inherit' })
  await once(maker, 'exit')
  const begun = nowMs()
  const server = await startServer(folder)
  const seconds = (nowMs() - begun) / 1_000
  await server.stop()
  return seconds
}

export const startMixed: Case = {
  name: 'start-mix-1M',
  what: 'start with 1,000,000 queued tasks of the same mix after a kill, until ready, against plain ones',
  goals: { ratio: ['≤', 1.2] },
  run: async (folder, scale) => {
    const without = await startSeconds(join(folder, 'plain'), scale, false)
    const with_ = await startSeconds(join(folder, 'mixed'), scale, true)
    return { 'seconds, plain': without, 'seconds, mix': with_, ratio: with_ / without }
  },
}

// In a separate process, which ends like a killed one, without closing anything.
if (process.argv[2] === 'make-mix') {
  const [, , , folder, scale, mixed] = process.argv as [string, string, string, string, string, string]
  mkdirSync(folder, { recursive: true })
  const isMixed = mixed === 'true'
  const { engine } = isMixed ? await openMixed(folder) : await openQueue(folder)
  await fill(engine, scaled(million, Number(scale), 20_000), isMixed ? mixedTask : newTask)
  process.kill(process.pid, 'SIGKILL')
}
