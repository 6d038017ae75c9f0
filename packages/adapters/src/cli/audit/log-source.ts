/** An audit of a log without a server. It is answered by the server's own routes, so both say the same. Nothing is written, and a server may be running. */
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Difference, HistoryEvent, Moment, QueueMoment } from '../../client/index.js'
import { parseObject, streamOf, streamPrefix } from '../../engine/index.js'
import { readSnapshotFolder } from '../../files/index.js'
import { eventLines, httpLimitsDefault, type PastMoment, pastAnswersHere } from '../../http/index.js'
import { openLog, pastLimitsDefault, revisionAt } from '../../past/index.js'
import { causesIn } from '../../read-models/find-causes.js'
import { viewsFileName } from '../../read-models/views-file-name.js'
import type { LogAddress, RecordedEvent } from '../../store/index.js'
import { keysFileOf, readKeys, revealingLog } from '../../task-keys/index.js'
import { readTime } from '../../time.js'
import { CliError } from '../exit-codes.js'
import type { AuditSource } from './source.js'

const of = '/api/queues/{queue}'

/** `dataDir`: the folder of the server's data, for its snapshots; without it every moment is replayed from the first event. */
export const logSource = async (address: LogAddress, dataDir: string | undefined, queue: string, show: (what: string) => void): Promise<AuditSource> => {
  if (address.kind === 'sqlite' && (await stat(address.file).then(() => false, () => true))) {
    throw new CliError(`${address.file} is not there: --data names the server's data folder, --store its log`)
  }
  const log = await openLog(address, true)
  const head = await log.head(streamOf(queue))
  if (head < 0) {
    const queues = (await log.streams(streamPrefix)).map((stream) => stream.slice(streamPrefix.length))
    await log.close()
    throw new CliError(`there is no queue ${queue} in this log; --queue names one of: ${queues.join(', ')}`)
  }
  const keys = readKeys(keysFileOf(address))
  const snapshots = dataDir === undefined ? undefined : readSnapshotFolder(join(dataDir, 'snapshots'))
  // What people are shown: contents that are encrypted in the log, as far as their keys are there.
  const shown = revealingLog(log, keys)
  // A state is let go soon, so that it is not in memory while an export goes on.
  const states = { ...pastLimitsDefault, idleMs: 100 }
  const past = pastAnswersHere({ log: shown, snapshots, states, limits: httpLimitsDefault, causes: dataDir === undefined ? undefined : causesIn(join(dataDir, viewsFileName)), progress: (events, of) => show(`reading the log: ${events} of ${of} events`) })

  const known = (moment: Moment | undefined): PastMoment => {
    if (moment === undefined) return { revision: head }
    if ('at' in moment) return { at: readTime(String(moment.at)) ?? Number.NaN, head }
    if (moment.revision > head) throw new CliError(`queue ${queue} has no revision ${moment.revision}: its last is ${head}`)
    return { revision: moment.revision }
  }
  const momentOf = (value: string | number | Date | undefined, byDefault: number): PastMoment =>
    value === undefined ? { revision: byDefault } : known(typeof value === 'number' ? { revision: value } : { at: value })

  const ask = async (path: string, query: object, moment: PastMoment | { readonly from: PastMoment; readonly to: PastMoment }, wantsLines = false, params: Readonly<Record<string, string>> = {}): Promise<string | Readable> => {
    // A server gets its parameters as text.
    const texts = Object.fromEntries(Object.entries(query).flatMap(([name, value]: [string, unknown]) => (value === undefined ? [] : [[name, String(value)]])))
    const handled = await past.ask({ queue, path: `${of}${path}`, params: { queue, ...params }, query: texts, wantsLines, moment }, new AbortController().signal)
    if (E.isLeft(handled)) throw new CliError(handled.left.detail)
    return handled.right.text
  }

  const history = async (id: string, moment: Moment): Promise<ReadonlyArray<HistoryEvent>> => {
    let found: ReadonlyArray<HistoryEvent> = []
    for (let before: number | undefined; ; ) {
      const { events, next } = JSON.parse((await ask('/tasks/{id}/history', { before }, known(moment), false, { id })) as string) as { readonly events: ReadonlyArray<HistoryEvent>; readonly next: number | null }
      found = [...events, ...found]
      if (next === null) return found
      before = next
    }
  }

  return {
    queue,
    history,
    settings: async (moment) => JSON.parse((await ask('/settings', {}, known(moment))) as string) as unknown,
    state: async (filter, moment) => JSON.parse((await ask('/state', filter, known(moment))) as string) as QueueMoment,
    diff: async ({ from, to, ...page }) => JSON.parse((await ask('/diff', page, { from: momentOf(from, -1), to: momentOf(to, head) })) as string) as Difference,
    events: async function* (filter, moment) {
      const lines = createInterface({ input: (await ask('/events', filter, known(moment), true)) as Readable })
      for await (const line of lines) yield JSON.parse(line) as HistoryEvent
    },
    lines: async function* (moment, isWanted) {
      const handled = known(moment)
      const revision = 'revision' in handled ? handled.revision : await revisionAt(log, streamOf(queue), head, handled.at)
      for await (const page of shown.read(streamOf(queue), { from: 0, limit: revision + 1 })) {
        // What is no JSON object concerns every task.
        const wanted = isWanted === undefined ? page : page.filter(({ data }) => isWanted(parseObject(data) ?? {}))
        yield { bytes: eventLines(wanted), events: wanted.length, revision: (page[page.length - 1] as RecordedEvent).revision }
      }
    },
    close: async () => {
      keys.close()
      await log.close()
    },
  }
}
