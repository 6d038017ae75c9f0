/** Tamper evidence: verifying a log, and the cost of seals for appends. */
import { join } from 'node:path'
import { Checkpointer, openSigningKey, readCheckpoints, signerOf, verifyAt } from '@daybook/adapters/chain'
import { streamOf } from '@daybook/adapters/engine'
import { openSqliteLog, openSqliteStore } from '@daybook/adapters/sqlite'
import type { Appended, EventStore } from '@daybook/adapters/store'
import * as E from 'fp-ts/lib/Either.js'
import { type Case, scaled } from '../case.js'
import { nowMs, percentile, perSecond } from '../measure.js'
import { fill, logFile, openQueue } from '../queue.js'

const stream = streamOf('default')

export const verifyLog: Case = {
  name: 'verify',
  what: 'audit verify of 1,000,000 events from the file, without and with checkpoints; the rate of a bulk enqueue with seals over that without',
  goals: { 'events/s': ['≥', 300_000], 'enqueue with seals over without': ['≥', 0.9] },
  run: async (folder, scale) => {
    const { daybook, engine } = await openQueue(folder)
    const count = scaled(1_000_000, scale, 20_000)
    await fill(engine, count)
    await daybook.close()

    const file = join(folder, logFile)
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
      'enqueue with seals over without': await sealedOverUnsealed(folder, Math.ceil(count / 5)),
    }
  },
}

/** The rate of `count` enqueues with seals, relative to the rate without: the median of alternating pairs. The first pair is the warm-up and does not count. */
const sealedOverUnsealed = async (folder: string, count: number): Promise<number> => {
  const msOf = async (turn: string, isSealed: boolean): Promise<number> => {
    const store = await openSqliteStore({ file: join(folder, `${turn}.sqlite`) })
    const { daybook, engine } = await openQueue(join(folder, turn), { store: isSealed ? store : withoutSeals(store), queue: 'default' })
    await fill(engine, 5_000)
    const begun = nowMs()
    await fill(engine, count)
    const ms = nowMs() - begun
    await daybook.close()
    return ms
  }
  const ratios: Array<number> = []
  for (let pair = 0; pair < 6; pair++) {
    const ms = { sealed: 0, unsealed: 0 }
    const kinds = pair % 2 === 0 ? (['sealed', 'unsealed'] as const) : (['unsealed', 'sealed'] as const)
    for (const kind of kinds) ms[kind] = await msOf(`${kind}${pair}`, kind === 'sealed')
    if (pair > 0) ratios.push(ms.unsealed / ms.sealed)
  }
  return percentile(ratios, 0.5)
}

/** A store that writes no seals but reports that it did. */
const withoutSeals = (store: EventStore): EventStore => ({
  ...store,
  append: (stream, events, expected) => async () => E.map((appended: Appended) => ({ ...appended, seal: '' }))(await store.append(stream, events, expected)()),
})
