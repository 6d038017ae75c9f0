/** The read models: what they cost producers and workers, how soon they catch up, and how fast they are built. */
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { streamOf } from '@daybook/adapters/engine'
import { feedViews, startReadModels } from '@daybook/adapters/read-models'
import { openSqliteLog } from '@daybook/adapters/sqlite'
import { engineSource } from '@daybook/adapters/worker'
import { readModels } from '@daybook/projections'
import { type Case, type Figures, scaled } from '../case.js'
import { nowMs, perSecond, sleep } from '../measure.js'
import { caller, fill, logFile, openQueue, right } from '../queue.js'
import { drain } from './drain.js'

interface Life {
  readonly enqueued: number
  readonly drained: number
  /** Seconds after the drain until the tables include all events; 0 without read models. */
  readonly level: number
}

const live = async (folder: string, tasks: number, isKept: boolean): Promise<Life> => {
  const { daybook, engine } = await openQueue(folder)
  const kept = isKept ? startReadModels({ daybook, file: join(folder, 'views.db'), log: { kind: 'sqlite', file: join(folder, logFile) }, say: (text) => process.stderr.write(`${text}\n`) }) : undefined
  await fill(engine, 20_000)
  await drain(engineSource(engine), 20_000)
  await kept?.reached(engine.name, engine.status().revision, 60_000)
  const begun = nowMs()
  await fill(engine, tasks)
  const enqueued = perSecond(tasks, nowMs() - begun)
  const { ms } = await drain(engineSource(engine), tasks)
  const ended = nowMs()
  if ((await kept?.reached(engine.name, engine.status().revision, 600_000)) === false) throw new Error('the read models did not get level within ten minutes')
  const level = kept === undefined ? 0 : (nowMs() - ended) / 1_000
  await kept?.close()
  await daybook.close()
  return { enqueued, drained: perSecond(tasks, ms), level }
}

/** Builds all tables from the log that a queue has left. Pages are read ahead on a separate thread, as `daybook project` does. */
const build = async (folder: string, tasks: number): Promise<Figures> => {
  const log = openSqliteLog(join(folder, logFile), true)
  const file = join(folder, 'built.db')
  const events = (await log.head(streamOf('default'))) + 1
  const begun = nowMs()
  const cpu = process.cpuUsage()
  await feedViews({ file, models: readModels, log, once: true, signal: new AbortController().signal, grown: () => Promise.resolve(), report: () => undefined })
  const ms = nowMs() - begun
  const { user, system } = process.cpuUsage(cpu)
  await log.close()
  return { 'built events/s': perSecond(events, ms), 'built CPU µs/event': (user + system) / events, 'MB per million tasks': statSync(file).size / tasks, 'MB of log per million tasks': statSync(join(folder, logFile)).size / tasks }
}

const servedAtOnce = 10
const servedEveryMs = 10

/** The same on a separate thread, while 1,000 tasks/s are enqueued, claimed and completed. */
const buildWhileServing = async (folder: string): Promise<Figures> => {
  const { daybook, engine } = await openQueue(folder)
  let isBuilt = false
  let served = 0
  const serving = (async () => {
    while (!isBuilt) {
      await fill(engine, servedAtOnce)
      const claims = right(await engine.claim({ type: 'Claim', agent: 'bench', max: servedAtOnce }, caller)).value
      await engine.submitAll(claims.map(({ task, token }) => ({ type: 'Complete' as const, task, agent: 'bench', token, content: '{}', hasReport: false })), caller)
      served += claims.length
      await sleep(servedEveryMs)
    }
  })()
  const events = engine.status().revision + 1
  const begun = nowMs()
  const kept = startReadModels({ daybook, file: join(folder, 'served.db'), log: { kind: 'sqlite', file: join(folder, logFile) } })
  if (!(await kept.reached(engine.name, events - 1, 600_000))) throw new Error('the read models were not built within ten minutes')
  const ms = nowMs() - begun
  isBuilt = true
  await serving
  await kept.close()
  await daybook.close()
  return { 'built events/s, while serving': perSecond(events, ms), 'tasks/s served meanwhile': perSecond(served, ms) }
}

export const readModelsBeside: Case = {
  name: 'read-models',
  what: 'enqueue in bulk, then drain, with read models against without; seconds until they are level; building them from the log',
  goals: { 'enqueue ratio': ['≥', 0.85], 'drain ratio': ['≥', 0.85], 'level after s': ['≤', 15], 'built events/s': ['≥', 100_000], 'built events/s, while serving': ['≥', 100_000] },
  run: async (folder, scale) => {
    // As many as the goal for the time until they are level names.
    const tasks = scaled(500_000, scale, 5_000)
    const [without, beside] = [join(folder, 'without'), join(folder, 'with')]
    mkdirSync(without)
    mkdirSync(beside)
    const alone = await live(without, tasks, false)
    const kept = await live(beside, tasks, true)
    return {
      'enqueue/s without': alone.enqueued,
      'enqueue/s with': kept.enqueued,
      'enqueue ratio': kept.enqueued / alone.enqueued,
      'drain/s without': alone.drained,
      'drain/s with': kept.drained,
      'drain ratio': kept.drained / alone.drained,
      'level after s': kept.level,
      ...(await build(beside, tasks + 20_000)),
      ...(await buildWhileServing(beside)),
    }
  },
}
