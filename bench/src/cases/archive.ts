/** Moving a log into an archive, and reading it back from there. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { archiveLog } from '@daybook/adapters/archive'
import { archiveBeside, joinedLog } from '@daybook/adapters/segments'
import { verifyAt } from '@daybook/adapters/chain'
import { streamOf } from '@daybook/adapters/engine'
import { openSqliteLog } from '@daybook/adapters/sqlite'
import { engineSource } from '@daybook/adapters/worker'
import { type Case, scaled } from '../case.js'
import { nowMs, perSecond } from '../measure.js'
import { fill, logFile, openQueue } from '../queue.js'
import { drain } from './drain.js'

const stream = streamOf('default')

/** The time includes the verification before, reading the files back, and compacting the file. No snapshot is taken; `start-1M` measures that. */
export const archiveOldEvents: Case = {
  name: 'archive',
  what: 'archive of a log of 500,000 events; then reading and verifying them through the archive, beside reading them before',
  goals: {},
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    const tasks = scaled(166_666, scale, 5_000)
    await fill(engine, tasks)
    await drain(engineSource(engine), tasks)
    const cut = engine.status().revision
    await daybook.close()
    const file = join(folder, logFile)
    const address = { kind: 'sqlite', file } as const
    const archive = archiveBeside(file)

    const read = async (): Promise<number> => {
      const log = joinedLog(openSqliteLog(file), archive)
      const begun = nowMs()
      let events = 0
      for await (const page of log.read(stream, { limit: cut })) events += page.length
      const ms = nowMs() - begun
      await log.close()
      if (events !== cut) throw new Error(`${events} of ${cut} events were read`)
      return perSecond(events, ms)
    }

    const readBefore = await read()
    const bytesBefore = statSync(file).size
    const begun = nowMs()
    const cpu = process.cpuUsage()
    const { streams } = await archiveLog({ address, archive, streams: [stream], before: { revision: cut } })
    const ms = nowMs() - begun
    const { user, system } = process.cpuUsage(cpu)
    const segments = streams.flatMap((each) => each.segments)
    const moved = segments.reduce((sum, { index: { from, to } }) => sum + to - from + 1, 0)
    // A cut falls between two appends.
    if (moved < cut * 0.9) throw new Error(`${moved} of ${cut} events were moved`)
    const readAfter = await read()
    const verifyBegun = nowMs()
    const { ok, events } = await verifyAt(address, stream)
    if (!ok) throw new Error('the archived log is not whole')
    return {
      'events/s moved': perSecond(moved, ms),
      'CPU µs/event moved': (user + system) / moved,
      'bytes/event in the file before': bytesBefore / cut,
      'bytes/event in segments': segments.reduce((sum, { bytes }) => sum + bytes, 0) / moved,
      'events/s read before': readBefore,
      'events/s read from segments': readAfter,
      'events/s verified from segments': perSecond(events, nowMs() - verifyBegun),
    }
  },
}
