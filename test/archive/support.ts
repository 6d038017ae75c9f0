/** Logs in SQLite files, and what is read of them. */
import { join } from 'node:path'
import { archiveBeside, archiveStream, type ArchiveOptions, joinedLog, planArchive, type Segment } from '@daybook/adapters/archive'
import { Chain } from '@daybook/adapters/chain'
import { openSqliteLog, openSqliteStore, openTrimmer } from '@daybook/adapters/sqlite'
import type { EventToAppend, LogReader, OpenedLog, RecordedEvent } from '@daybook/adapters/store'
import { type Append, someEvent } from '../chain/logs.js'

export const streams = ['taskqueue-q', 'taskqueue-other'] as const
export const [stream] = streams

export type StreamAppend = Append & { readonly stream: string }

/** A file with these appends, in this order. */
export const fileOf = async (folder: string, appends: ReadonlyArray<StreamAppend>): Promise<string> => {
  const file = join(folder, 'daybook.sqlite')
  const store = await openSqliteStore({ file })
  const chains = new Map<string, { chain: Chain; head: number }>()
  for (const { stream: to, count, sealed } of appends) {
    const known = chains.get(to) ?? { chain: new Chain(to, undefined), head: -1 }
    chains.set(to, known)
    const texts: Array<EventToAppend> = Array.from({ length: count }, (_, i) => someEvent('é\n"\u2028'.repeat(i % 4)))
    if (sealed) known.chain.seal(texts, known.head)
    const outcome = await store.append(to, texts, known.head < 0 ? 'no_stream' : known.head)()
    if (outcome._tag === 'Left') throw new Error(outcome.left._tag)
    if (!sealed) known.chain.take(texts.map((text, i) => ({ ...text, stream: to, revision: known.head + 1 + i, position: 0, created: '' })))
    known.head += count
  }
  await store.close()
  return file
}

/** Appends to two streams by turns. */
export const someAppends = (counts: ReadonlyArray<number>): ReadonlyArray<StreamAppend> => counts.map((count, i) => ({ stream: streams[i % 3 === 2 ? 1 : 0] as string, count, sealed: true }))

export const readAll = async (log: LogReader, from: string, options: Parameters<LogReader['read']>[1] = {}): Promise<Array<RecordedEvent>> => {
  const found: Array<RecordedEvent> = []
  for await (const page of log.read(from, options)) found.push(...page)
  return found
}

export const openJoined = (file: string): OpenedLog => joinedLog(openSqliteLog(file), archiveBeside(file))

/** Archives a stream of a file up to a revision, as the command does. */
export const archive = async (file: string, before: number, options: Partial<ArchiveOptions> & { readonly removeMax?: number; readonly stream?: string } = {}): Promise<ReadonlyArray<Segment>> => {
  const { removeMax = 10, stream: of = stream, ...rest } = options
  const trimmer = await openTrimmer(file)
  const log = openSqliteLog(file)
  try {
    const folder = rest.archive ?? archiveBeside(file)
    const plan = await planArchive(log, folder, of, before)
    return await archiveStream({ log, remove: async (each, end) => trimmer.remove(each, end, removeMax) }, of, plan, { archive: folder, ...rest })
  } finally {
    await log.close()
    trimmer.close()
  }
}
