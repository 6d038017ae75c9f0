/** Exports of a whole log by the command, without a server: speed and memory. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { engineSource } from '@daybook/adapters/worker'
import { type Case, type Figures, scaled } from '../case.js'
import { nowMs, perSecond, rssMb } from '../measure.js'
import { fill, openQueue } from '../queue.js'
import { drain } from './drain.js'

const bin = fileURLToPath(new URL('../../../packages/adapters/bin/daybook.js', import.meta.url))
const rssEveryMs = 50

/** The time includes the start of the program, and the query for the state at the end. */
const exported = async (folder: string, format: 'ndjson' | 'parquet', events: number): Promise<Figures> => {
  const out = join(folder, `log.${format}`)
  const begun = nowMs()
  const child = spawn(process.execPath, [bin, '--queue', 'default', 'audit', 'export', '--data', folder, '--format', format, '--out', out], { stdio: ['ignore', 'ignore', 'inherit'] })
  let most = 0
  const watching = setInterval(() => {
    const now = child.pid === undefined || child.exitCode !== null ? 0 : rssMb(child.pid)
    if (now > most) most = now
  }, rssEveryMs)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearInterval(watching)
  if (code !== 0) throw new Error(`the export ended with ${String(code)}`)
  return { [`${format} events/s`]: perSecond(events, nowMs() - begun), [`${format} RSS MiB`]: most, [`${format} bytes/event`]: statSync(out).size / events }
}

export const exportLog: Case = {
  name: 'export',
  what: 'audit export of a log of 1,000,000 events without a server, as lines of JSON and as Parquet',
  goals: { 'ndjson events/s': ['≥', 200_000], 'parquet events/s': ['≥', 200_000] },
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    const tasks = scaled(333_333, scale, 5_000)
    await fill(engine, tasks)
    await drain(engineSource(engine), tasks)
    const events = engine.status().revision + 1
    await daybook.close()
    return { ...(await exported(folder, 'ndjson', events)), ...(await exported(folder, 'parquet', events)) }
  },
}
