/** What an administrator may do to a stream from outside. */
import { randomUUID } from 'node:crypto'
import type { EventStoreServer } from './server.js'
import { metadataType } from './log-event.js'
import { metastreamOf } from './metadata.js'
import type { Outcome } from './writer.js'

const outcomeOf = (write: (answer: (outcome: Outcome) => void) => void): Promise<Outcome> => new Promise((resolve) => write(resolve))

/** Writes the metadata of a stream, which may be any text. */
export const writeMetadata = ({ store: { writer } }: EventStoreServer, stream: string, text: string): Promise<Outcome> =>
  outcomeOf((answer) => writer.append(metastreamOf(stream), 'any', [{
    id: randomUUID(), type: metadataType, isJson: true, data: Buffer.from(text), metadata: new Uint8Array(),
  }], answer))

export const truncateStream = (server: EventStoreServer, stream: string, before: number): Promise<Outcome> =>
  writeMetadata(server, stream, JSON.stringify({ $tb: before }))

export const deleteStream = ({ store: { writer } }: EventStoreServer, stream: string): Promise<Outcome> =>
  outcomeOf((answer) => writer.delete(stream, 'any', answer))

export const tombstoneStream = ({ store: { writer } }: EventStoreServer, stream: string): Promise<Outcome> =>
  outcomeOf((answer) => writer.tombstone(stream, 'any', answer))
