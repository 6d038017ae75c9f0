/** Tamper evidence: verifying a log, and what the seals cost those who append. */
import { join } from 'node:path'
import { Chain, Checkpointer, openSigningKey, readCheckpoints, readSeal, signerOf, verifyAt } from '@daybook/adapters/chain'
import { streamOf } from '@daybook/adapters/engine'
import { openSqliteLog } from '@daybook/adapters/sqlite'
import type { EventToAppend } from '@daybook/adapters/store'
import { type Case, scaled } from '../case.js'
import { nowMs, perSecond } from '../measure.js'
import { fill, logFile, openQueue } from '../queue.js'

const stream = streamOf('default')
const batch = 1_000

export const verifyLog: Case = {
  name: 'verify',
  what: 'audit verify of 1,000,000 events from the file, without and with checkpoints; seals as a part of the time of a bulk enqueue',
  goals: { 'events/s': ['≥', 300_000], 'seals over enqueue': ['≤', 0.1] },
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    const count = scaled(1_000_000, scale, 20_000)
    const enqueued = nowMs()
    await fill(engine, count)
    const enqueueMs = nowMs() - enqueued
    await daybook.close()

    const file = join(folder, logFile)
    const sealMs = await sealAnew(file)
    const log = openSqliteLog(file)
    const key = openSigningKey(join(folder, 'key.pem'))
    const signed = nowMs()
    await new Checkpointer({ log, stream, queue: 'default', folder, key, signer: signerOf(key, 'default'), warn: (text) => process.stderr.write(`${text}\n`) }).round()
    const signMs = nowMs() - signed
    await log.close()

    const rate = async (checkpoints: Awaited<ReturnType<typeof readCheckpoints>>): Promise<number> => {
      const begun = nowMs()
      const { ok, events } = await verifyAt({ kind: 'sqlite', file }, stream, { checkpoints })
      if (!ok) throw new Error('the log is not whole')
      return perSecond(events, nowMs() - begun)
    }
    return {
      'events/s': await rate(undefined),
      'events/s with checkpoints': await rate(await readCheckpoints(folder, 'default')),
      'events/s signed': perSecond(count, signMs),
      'seal µs/event': (sealMs * 1_000) / count,
      'seals over enqueue': sealMs / enqueueMs,
    }
  },
}

/** How long it takes to seal the events of the log again, in appends of a usual size, in milliseconds. */
const sealAnew = async (file: string): Promise<number> => {
  const log = openSqliteLog(file)
  const chain = new Chain(stream, undefined)
  let spent = 0
  let head = -1
  let texts: Array<EventToAppend> = []
  const seal = (): void => {
    const begun = nowMs()
    chain.seal(texts, head)
    spent += nowMs() - begun
    head += texts.length
    texts = []
  }
  for await (const page of log.read(stream)) {
    for (const { id, type, data, metadata } of page) {
      texts.push({ id, type, data, metadata: readSeal(metadata)?.bare ?? metadata })
      if (texts.length === batch) seal()
    }
  }
  if (texts.length > 0) seal()
  await log.close()
  return spent
}
