/**
 * Which streams there are. EventStoreDB can be asked only by reading all that it holds, of everybody, so the
 * adapter keeps a list in a stream of its own: a stream's name goes there before its first event is written.
 */
import { randomUUID } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import type { AppendError } from '../store/index.js'
import type { Appender } from './appender.js'
import type { Reader } from './reader.js'

export const registerStream = 'daybook-streams'

export interface StreamRegister {
  /** Puts the name on the list; why it could not, if so. Who asks first goes on first. */
  readonly add: (stream: string) => Promise<AppendError | undefined>
  /** Waits while the name is being put on the list. */
  readonly added: (stream: string) => Promise<AppendError | undefined>
  /** In the order in which they were added. Names of streams that never got an event may be among them. */
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
    // Twice on the list does no harm, so it needs no revision.
    const outcome = await appender.append({ stream: registerStream, events: [entry], expected: 'any', bytes: data.length })
    if (E.isRight(outcome)) return undefined
    adding.delete(stream)
    const { left } = outcome
    return { _tag: 'Unavailable', reason: 'reason' in left ? left.reason : 'the stream could not be listed' }
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
          // A stranger may have written there as well.
          const stream = streamIn(data)
          if (stream !== undefined) known.add(stream)
          read = revision
        }
      }
      return [...known]
    },
  }
}
