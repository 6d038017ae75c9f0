/** Logs in SQLite files, and what is read of them. */
import { join } from 'node:path'
import { archiveStream, type ArchiveOptions, planArchive } from '@daybook/adapters/archive'
import { archiveBeside, joinedLog, type Segment } from '@daybook/adapters/segments'
import { openSqliteLog, openSqliteStore, openTrimmer } from '@daybook/adapters/sqlite'
import type { LogReader, OpenedLog, RecordedEvent } from '@daybook/adapters/store'
import { type Append, logOfAppends } from '../chain/logs.js'

export const streams = ['taskqueue-q', 'taskqueue-other'] as const
export const [stream] = streams

export type StreamAppend = Append & { readonly stream: string }

/** A file with these appends, in this order. The chain is that of the first stream. */
export const fileOf = async (folder: string, appends: ReadonlyArray<StreamAppend>): Promise<string> => {
  const file = join(folder, 'daybook.sqlite')
  const store = await openSqliteStore({ file })
  const rest = new Map(streams.map((each) => [each as string, logOfAppends(appends.filter(({ stream: of }) => of === each))]))
  for (const { stream: to, count } of appends) {
    const texts = (rest.get(to) ?? []).splice(0, count).map(({ id, type, data, metadata }) => ({ id, type, data, metadata }))
    const outcome = await store.append(to, texts, 'any')()
    if (outcome._tag === 'Left') throw new Error(outcome.left._tag)
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
