/** Sets `$tb` in the metadata of a stream: events before that revision are no longer read. Their disk space is freed when an administrator scavenges. */
import { randomUUID } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import { StoreError } from '../store/index.js'
import type { Appender } from './appender.js'
import type { Reader } from './reader.js'

type Metadata = Readonly<Record<string, unknown>>

/** @throws StoreError for metadata that somebody has written and that are no JSON: nothing of them may be lost. */
const parsed = (text: string, stream: string, name: string): Metadata => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new StoreError('unavailable', `The metadata of ${stream} in ${name} are no JSON, so nothing is archived: write them anew as a JSON object, with the settings that they should have, and run again.`, { cause: error })
  }
  return typeof value === 'object' && value !== null ? (value as Metadata) : {}
}

export const truncator = (appender: Appender, reader: Reader, name: string) => async (stream: string, before: number): Promise<number> => {
  const metastream = `$$${stream}`
  const target = Math.min(before, await reader.head(stream))
  for (;;) {
    const head = await reader.head(metastream)
    const [page = []] = head < 0 ? [] : await pagesOf(reader, metastream, head)
    // All other metadata that an administrator has set stays.
    const metadata = page[0] === undefined ? {} : parsed(page[0].data, stream, name)
    const first = await reader.first(stream)
    if (first >= target) return first
    const data = JSON.stringify({ ...metadata, $tb: target })
    const outcome = await appender.append({ stream: metastream, events: [{ id: randomUUID(), type: '$metadata', data, metadata: '{}' }], expected: head < 0 ? 'no_stream' : head, bytes: data.length })
    if (E.isRight(outcome)) continue
    const { left } = outcome
    if (left._tag === 'WrongExpectedRevision') continue
    throw new StoreError('unavailable', `The metadata of ${stream} in ${name} cannot be written, and it is not known whether they were: ${'reason' in left ? left.reason : 'they are too large'} Run again.`)
  }
}

const pagesOf = async (reader: Reader, stream: string, head: number) => {
  const pages: Array<ReadonlyArray<{ readonly data: string }>> = []
  for await (const page of reader.read(stream, { from: head, limit: 1 })) pages.push(page)
  return pages
}
