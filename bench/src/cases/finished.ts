/** Ten million finished tasks within the retention: memory, start after a kill, and the rate of a queue that knows this many. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { finishedSizeOf } from '@daybook/core/testing'
import { type Case, scaled } from '../case.js'
import { nowMs, perSecond, rssMb } from '../measure.js'
import { caller, fill, openQueue, right, startServer } from '../queue.js'

const tenMillion = 10_000_000
const round = 20_000
const content = '{"success":true}'

interface Made {
  readonly 'bytes per finished task': number
  readonly 'lives/s, last over first': number
}

/** Completes `count` tasks, and reports the rates of the first and of the last tenth. */
const makeFinished = async (folder: string, count: number): Promise<Made> => {
  const { engine } = await openQueue(folder)
  const times: Array<number> = []
  for (let done = 0; done < count; done += round) {
    const begun = nowMs()
    await fill(engine, round)
    for (let claimed = 0; claimed < round; ) {
      const claims = right(await engine.claim({ type: 'Claim', agent: 'bench', max: 1_000 }, caller)).value
      claimed += claims.length
      await engine.submitAll(claims.map(({ task, token }) => ({ type: 'Complete' as const, task, agent: 'bench', token, content, hasReport: false })), caller)
    }
    times.push(nowMs() - begun)
  }
  const tenth = Math.max(1, Math.floor(times.length / 10))
  // The first round warms up.
  const rate = (rounds: ReadonlyArray<number>): number => perSecond(round * rounds.length, rounds.reduce((a, b) => a + b, 0))
  const { tasks, bytes } = right(await engine.read(finishedSizeOf)).value
  return { 'bytes per finished task': bytes / tasks, 'lives/s, last over first': rate(times.slice(-tenth)) / rate(times.slice(1, 1 + tenth)) }
}

export const finished: Case = {
  name: 'finished',
  what: 'a queue with 10,000,000 finished tasks within the retention (--scale for fewer): bytes of each in the state, rate, start after a kill, memory of the server',
  goals: { 'bytes per finished task': ['≤', 40], 'lives/s, last over first': ['≥', 0.95], 'seconds to ready': ['≤', 8], 'RSS MiB': ['≤', 600] },
  onlyNamed: true,
  run: async (folder, scale) => {
    const maker: ChildProcess = fork(fileURLToPath(import.meta.url), ['make-finished', folder, String(scaled(tenMillion, scale, 60_000))], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const [made] = (await once(maker, 'message')) as [Made]
    maker.kill('SIGKILL')
    await once(maker, 'exit')
    const begun = nowMs()
    const server = await startServer(folder)
    const seconds = (nowMs() - begun) / 1_000
    const mib = rssMb(server.pid)
    await server.stop()
    return { ...made, 'seconds to ready': seconds, 'RSS MiB': mib }
  },
}

if (process.argv[2] === 'make-finished') {
  process.send?.(await makeFinished(process.argv[3] as string, Number(process.argv[4])))
}
