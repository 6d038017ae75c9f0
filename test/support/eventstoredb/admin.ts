/** What an administrator may do to a stream from outside. */
import { randomUUID } from 'node:crypto'
import type { EventStoreServer } from './server.js'
import { metadataType } from './log-event.js'
import { metastreamOf } from './metadata.js'
import type { Outcome } from './writer.js'

const outcomeOf = (write: (answer: (outcome: Outcome) => void) => void): Promise<Outcome> => new Promise((resolve) => write(resolve))

export const truncateStream = ({ store: { writer } }: EventStoreServer, stream: string, before: number): Promise<Outcome> =>
  outcomeOf((answer) => writer.append(metastreamOf(stream), 'any', [{
    id: randomUUID(), type: metadataType, isJson: true, data: Buffer.from(JSON.stringify({ $tb: before })), metadata: new Uint8Array(),
  }], answer))

export const deleteStream = ({ store: { writer } }: EventStoreServer, stream: string): Promise<Outcome> =>
  outcomeOf((answer) => writer.delete(stream, 'any', answer))

export const tombstoneStream = ({ store: { writer } }: EventStoreServer, stream: string): Promise<Outcome> =>
  outcomeOf((answer) => writer.tombstone(stream, 'any', answer))
