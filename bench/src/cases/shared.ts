/** Two processes on one queue: their total rate compared with that of one process, and how soon one continues after the other is killed. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Case, type Figures } from '../case.js'
import { nowMs, perSecond, sleep } from '../measure.js'
import { startNode } from '../node.js'

const seconds = 8
const warmUpMs = 1_000

/** The time of each answer, in milliseconds. */
const answersOf = async (child: ChildProcess): Promise<ReadonlyArray<number>> => {
  child.send('stop')
  const [answers] = (await once(child, 'message')) as [ReadonlyArray<number>]
  await once(child, 'exit')
  return answers
}

const start = async (spec: string, queue: string, folder: string): Promise<ChildProcess> => {
  mkdirSync(folder, { recursive: true })
  const child = fork(fileURLToPath(new URL('../shared-child.js', import.meta.url)), [spec, queue, folder])
  await once(child, 'message')
  return child
}

const rate = (answers: ReadonlyArray<number>, from: number, to: number): number =>
  perSecond(answers.filter((at) => at >= from && at < to).length, to - from)

const measure = async (spec: string, folder: string, scale: number): Promise<Figures> => {
  const ms = Math.max(1_000, seconds * 1_000 * scale)
  const run = async (processes: number): Promise<number> => {
    const queue = `bench-${randomUUID()}`
    const children = await Promise.all(Array.from({ length: processes }, (_, i) => start(spec, queue, join(folder, queue, String(i)))))
    const from = nowMs() + warmUpMs
    await sleep(warmUpMs + ms)
    const answers = await Promise.all(children.map(answersOf))
    return answers.reduce((sum, each) => sum + rate(each, from, from + ms), 0)
  }
  const alone = await run(1)
  const both = await run(2)

  const queue = `bench-${randomUUID()}`
  const [victim, survivor] = await Promise.all([0, 1].map((i) => start(spec, queue, join(folder, queue, String(i)))))
  await sleep(2 * warmUpMs)
  victim!.kill('SIGKILL')
  const killed = nowMs()
  await once(victim!, 'exit')
  await sleep(2_500)
  const answers = await answersOf(survivor!)
  const next = answers.find((at) => at > killed) ?? Number.POSITIVE_INFINITY
  return { 'commands/s alone': alone, 'commands/s both': both, 'both over alone': both / alone, 'ms to go on': next - killed }
}

const goals = { 'both over alone': ['≥', 0.5], 'ms to go on': ['≤', 2_000] } as const

export const sharedSqlite: Case = {
  name: 'shared-sqlite',
  what: 'two processes on one SQLite file, both enqueueing, claiming and completing; one of them is killed',
  goals,
  run: (folder, scale) => measure(`sqlite:${join(folder, 'shared.sqlite')}`, folder, scale),
}

export const sharedEsdb: Case = {
  name: 'shared-esdb',
  what: 'the same on one EventStoreDB',
  goals,
  run: async (folder, scale) => {
    const node = await startNode()
    const figures = await measure(node.url, folder, scale)
    await node.stop()
    return figures
  },
}
