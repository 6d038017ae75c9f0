/** An audit of a log without a server. The server's own routes answer it, so both give the same answers. Nothing is written, and a server may be running. */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Difference, HistoryEvent, Moment, QueueMoment } from '../../client/index.js'
import { queueOf, streamOf, streamPrefix } from '../../engine/state/replay.js'
import { parseObject } from '../../engine/log/wire.js'
import { readSnapshotFolder } from '../../files/snapshots/snapshots.js'
import { eventLines } from '../../http/json/event-lines.js'
import type { PastAnswers, PastMoment } from '../../http/index.js'
import { openLog } from '../../open-log.js'
import { revisionAt, timeAt } from '../../engine/index.js'
import { viewsFileName } from '../../read-models/views-file-name.js'
import type { LogAddress, RecordedEvent } from '../../store/index.js'
import { keysFileOf, readKeys, revealingLog } from '../../task-keys/index.js'
import { readTime } from '../../time.js'
import { CliError } from '../exit-codes.js'
import { assertLogFile, noSuchQueue } from '../log-file.js'
import { EndingThread } from './thread-of-ending.js'
import type { AuditSource } from './source.js'

const of = '/api/queues/{queue}'

/** `dataDir`: the server's data folder, for its snapshots. Without it, every moment is replayed from the first event. */
export const logSource = async (address: LogAddress, dataDir: string | undefined, queue: string, show: (what: string) => void): Promise<AuditSource> => {
  await assertLogFile(address)
  const log = await openLog(address, true)
  const head = await log.head(streamOf(queue))
  if (head < 0) {
    const queues = (await log.streams(streamPrefix)).map(queueOf)
    await log.close()
    throw noSuchQueue(queue, queues)
  }
  const keys = readKeys(keysFileOf(address))
  const snapshots = dataDir === undefined ? undefined : join(dataDir, 'snapshots')
  // What people are shown: contents that are encrypted in the log are decrypted, if their keys exist.
  const shown = revealingLog(log, keys)
  const ending = new EndingThread()
  let past: Promise<PastAnswers> | undefined
  // Loaded only for queries: an export starts sooner without all routes of a server.
  const answers = async (): Promise<PastAnswers> => {
    const [{ httpLimitsDefault, pastAnswersHere }, { causesIn }] = await Promise.all([import('../../http/index.js'), import('../../read-models/find-causes.js')])
    return pastAnswersHere({
      log: shown,
      stored: log,
      snapshots: snapshots === undefined ? undefined : readSnapshotFolder(snapshots),
      limits: httpLimitsDefault,
      causes: dataDir === undefined ? undefined : causesIn(join(dataDir, viewsFileName)),
      progress: (events, of) => show(`reading the log: ${events} of ${of} events`),
    })
  }

  const known = async (moment: Moment | undefined): Promise<PastMoment> => {
    if (moment === undefined) return { revision: head }
    if ('at' in moment) {
      const at = readTime(String(moment.at)) ?? Number.NaN
      // The queue's time may be ahead of this clock. No later event gets a time before that of the last one.
      if (at > Date.now() && at >= ((await timeAt(log, streamOf(queue), head)) ?? 0)) throw new CliError(`${new Date(at).toISOString()} is not past: more events could still get that time`)
      return { at, head }
    }
    if (moment.revision > head) throw new CliError(`queue ${queue} has no revision ${moment.revision}: its last is ${head}`)
    return { revision: moment.revision }
  }
  const momentOf = async (value: string | number | Date | undefined, byDefault: number): Promise<PastMoment> =>
    value === undefined ? { revision: byDefault } : known(typeof value === 'number' ? { revision: value } : { at: value })

  const ask = async (path: string, query: object, moment: PastMoment | { readonly from: PastMoment; readonly to: PastMoment }, wantsLines = false, params: Readonly<Record<string, string>> = {}): Promise<string | Readable> => {
    // A server gets its parameters as text.
    const texts = Object.fromEntries(Object.entries(query).flatMap(([name, value]: [string, unknown]) => (value === undefined ? [] : [[name, String(value)]])))
    past ??= answers()
    const handled = await (await past).ask({ queue, path: `${of}${path}`, params: { queue, ...params }, query: texts, wantsLines, moment }, new AbortController().signal)
    if (E.isLeft(handled)) throw new CliError(handled.left.detail)
    return handled.right.text
  }

  const revisionOf = async (moment: Moment | undefined): Promise<number> => {
    const asked = await known(moment)
    return 'revision' in asked ? asked.revision : revisionAt(log, streamOf(queue), head, asked.at)
  }

  const history = async (id: string, moment: Moment): Promise<ReadonlyArray<HistoryEvent>> => {
    let found: ReadonlyArray<HistoryEvent> = []
    for (let before: number | undefined; ; ) {
      const { events, next } = JSON.parse((await ask('/tasks/{id}/history', { before }, await known(moment), false, { id })) as string) as { readonly events: ReadonlyArray<HistoryEvent>; readonly next: number | null }
      found = [...events, ...found]
      if (next === null) return found
      before = next
    }
  }

  return {
    queue,
    history,
    revision: revisionOf,
    ending: (revision) => ending.ask({ address, snapshots, queue, revision }),
    state: async (filter, moment) => JSON.parse((await ask('/state', filter, await known(moment))) as string) as QueueMoment,
    diff: async ({ from, to, ...page }) => JSON.parse((await ask('/diff', page, { from: await momentOf(from, -1), to: await momentOf(to, head) })) as string) as Difference,
    events: async function* (filter, moment) {
      const lines = createInterface({ input: (await ask('/events', filter, await known(moment), true)) as Readable })
      for await (const line of lines) yield JSON.parse(line) as HistoryEvent
    },
    lines: async function* (moment, isWanted) {
      for await (const page of shown.read(streamOf(queue), { from: 0, limit: (await revisionOf(moment)) + 1 })) {
        // Data that is no JSON object counts as concerning every task.
        const wanted = isWanted === undefined ? page : page.filter(({ type, data }) => isWanted(type, parseObject(data) ?? {}))
        yield { bytes: eventLines(wanted), events: wanted.length, revision: (page[page.length - 1] as RecordedEvent).revision }
      }
    },
    close: async () => {
      keys.close()
      await ending.close()
      await log.close()
    },
  }
}
