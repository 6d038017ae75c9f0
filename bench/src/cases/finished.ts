/** Ten million finished tasks within the retention: memory, start after a kill, and the rate of a queue that knows this many. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { QueueEngine } from '@daybook/adapters/engine'
import { QueueState } from '@daybook/core/testing'
import { type Case, scaled } from '../case.js'
import { nowMs, percentile, perSecond, rssMb } from '../measure.js'
import { caller, fill, openQueue, right, startServer } from '../queue.js'

const tenMillion = 10_000_000
const round = 20_000
/** Tasks that the other queue completes first. */
const warmUp = 200_000
/** Rounds of each queue that are compared. */
const turns = 20
const content = '{"success":true}'

/** Completes 20,000 tasks. Returns the milliseconds it took. */
const lives = async (engine: QueueEngine): Promise<number> => {
  const begun = nowMs()
  await fill(engine, round)
  for (let claimed = 0; claimed < round; ) {
    const claims = right(await engine.claim({ type: 'Claim', agent: 'bench', max: 1_000 }, caller)).value
    claimed += claims.length
    await engine.submitAll(claims.map(({ task, token }) => ({ type: 'Complete' as const, task, agent: 'bench', token, content, hasReport: false })), caller)
  }
  return nowMs() - begun
}

/** A queue in a process of its own. It completes `count` tasks, says how many bytes each takes, and then completes more whenever it is asked to. */
const serveRounds = async (folder: string, count: number): Promise<void> => {
  const { engine } = await openQueue(folder)
  for (let done = 0; done < count; done += round) await lives(engine)
  const { size: tasks, bytes } = right(await engine.read((state) => QueueState.tablesOf(state).finished)).value
  process.on('message', () => void lives(engine).then((ms) => process.send?.(ms)))
  process.send?.(bytes / tasks)
}

class Queue {
  private constructor(
    private readonly child: ChildProcess,
    readonly bytesPerTask: number,
  ) {}

  static async start(folder: string, count: number): Promise<Queue> {
    mkdirSync(folder)
    const child = fork(fileURLToPath(import.meta.url), ['serve-rounds', folder, String(count)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const [bytes] = (await once(child, 'message')) as [number]
    return new Queue(child, bytes)
  }

  async round(): Promise<number> {
    this.child.send('round')
    return ((await once(this.child, 'message')) as [number])[0]
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await once(this.child, 'exit')
  }
}

export const finished: Case = {
  name: 'finished',
  what: 'a queue with 10,000,000 finished tasks within the retention (--scale for fewer): bytes of each in the state, its rate in turns with a queue that has few, start after a kill, memory of the server',
  goals: { 'bytes per finished task': ['≤', 40], 'lives/s, many over few': ['≥', 0.95], 'seconds to ready': ['≤', 8], 'RSS MiB': ['≤', 600] },
  onlyNamed: true,
  run: async (folder, scale) => {
    const many = await Queue.start(join(folder, 'many'), scaled(tenMillion, scale, 60_000))
    const few = await Queue.start(join(folder, 'few'), warmUp)
    // In turns, because the speed of a machine changes within the minutes that the first queue takes.
    const times = { many: [] as Array<number>, few: [] as Array<number> }
    for (let turn = 0; turn < turns; turn++) {
      times.few.push(await few.round())
      times.many.push(await many.round())
    }
    await few.kill()
    await many.kill()
    const begun = nowMs()
    const server = await startServer(join(folder, 'many'))
    const seconds = (nowMs() - begun) / 1_000
    const mib = rssMb(server.pid)
    await server.stop()
    const rate = (all: ReadonlyArray<number>): number => perSecond(round, percentile(all, 0.5))
    return { 'bytes per finished task': many.bytesPerTask, 'lives/s, few': rate(times.few), 'lives/s, many': rate(times.many), 'lives/s, many over few': rate(times.many) / rate(times.few), 'seconds to ready': seconds, 'RSS MiB': mib }
  },
}

if (process.argv[2] === 'serve-rounds') await serveRounds(process.argv[3] as string, Number(process.argv[4]))
