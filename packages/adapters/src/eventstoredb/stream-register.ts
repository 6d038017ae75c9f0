/**
 * The list of existing streams. EventStoreDB could only list them by a read of everything that it stores. So the adapter keeps the list in a stream
 * of its own. A stream's name is added before its first event is written.
 */
import { randomUUID } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import type { AppendError } from '../store/index.js'
import type { Appender } from './appender.js'
import type { Reader } from './reader.js'

const registerStream = 'daybook-streams'

export interface StreamRegister {
  /** Adds the name to the list, in the order of the calls. Returns the error if that fails. */
  readonly add: (stream: string) => Promise<AppendError | undefined>
  /** Waits while the name is being added. */
  readonly added: (stream: string) => Promise<AppendError | undefined>
  /** Names in the order in which they were added. Some may be of streams that never got an event. */
  readonly names: () => Promise<ReadonlyArray<string>>
}

const streamIn = (entry: string): string | undefined => {
  try {
    const value = JSON.parse(entry) as { readonly stream?: unknown } | null
    return typeof value?.stream === 'string' ? value.stream : undefined
  } catch {
    return undefined
  }
}

export const streamRegister = (appender: Appender, reader: Reader): StreamRegister => {
  const adding = new Map<string, Promise<AppendError | undefined>>()
  const known = new Set<string>()
  let read = -1

  const add = async (stream: string): Promise<AppendError | undefined> => {
    const data = JSON.stringify({ stream })
    const entry = { id: randomUUID(), type: 'StreamBegun', data, metadata: '{}' }
    // A name that is added twice does no harm, so no revision is expected.
    const outcome = await appender.append({ stream: registerStream, events: [entry], expected: 'any', bytes: data.length })
    if (E.isRight(outcome)) return undefined
    adding.delete(stream)
    const { left } = outcome
    return { _tag: 'Unavailable', reason: `Nothing was written, because the name of the new stream could not be listed first: ${'reason' in left ? left.reason : 'its entry is too large'}` }
  }

  return {
    add: (stream) => {
      const under = adding.get(stream) ?? add(stream)
      adding.set(stream, under)
      return under
    },
    added: (stream) => adding.get(stream) ?? Promise.resolve(undefined),
    names: async () => {
      for await (const events of reader.read(registerStream, { from: read + 1 })) {
        for (const { data, revision } of events) {
          if (revision <= read) continue
          // Another program may have written to this stream as well.
          const stream = streamIn(data)
          if (stream !== undefined) known.add(stream)
          read = revision
        }
      }
      return [...known]
    },
  }
}
