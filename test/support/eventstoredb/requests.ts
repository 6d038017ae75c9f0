/** Converts requests, as the client's stubs decode them, into the server's terms. */
import type { Expected } from './decision.js'
import type { NewEvent } from './log-event.js'
import { int64Max, uint64Max } from './protobuf.js'
import type { StreamIdentifier, UUID } from './stubs.js'

/** A request that the server answers with BadRequest or with a failure. */
export class BadRequest extends Error {}

export const streamName = (identifier: StreamIdentifier | undefined): string =>
  identifier === undefined ? '' : Buffer.from(identifier.getStreamName_asU8()).toString('utf8')

const usual = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Accepts the same forms as .NET: with braces, without dashes, in capitals. */
export const idOf = (uuid: UUID | undefined): string => {
  const text = uuid?.getString() ?? ''
  if (usual.test(text)) return text
  const digits = text.replace(/^[{(]|[)}]$/g, '').replaceAll('-', '').toLowerCase()
  const dashed = /^[({]?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[)}]?$/i
  if (!dashed.test(text) && !/^[0-9a-f]{32}$/i.test(text)) throw new BadRequest('Unrecognized Guid format.')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Lone surrogates have no UTF-8 encoding: the client sends three bytes that .NET cannot decode. */
const loneSurrogates = /\p{Surrogate}/gu

interface Proposed {
  readonly getId: () => UUID | undefined
  readonly getMetadataMap: () => { readonly get: (key: string) => string | undefined }
  readonly getData_asU8: () => Uint8Array
  readonly getCustomMetadata_asU8: () => Uint8Array
}

export const proposedEvent = (message: Proposed): NewEvent => {
  const properties = message.getMetadataMap()
  const type = properties.get('type')?.replace(loneSurrogates, '\ufffd\ufffd\ufffd')
  const contentType = properties.get('content-type')
  const id = idOf(message.getId())
  if (type === undefined || contentType === undefined) {
    throw new BadRequest(`The given key '${type === undefined ? 'type' : 'content-type'}' was not present in the dictionary.`)
  }
  if (id === '00000000-0000-0000-0000-000000000000') throw new BadRequest("Empty eventId provided. (Parameter 'eventId')")
  if (type === '') throw new BadRequest("Empty eventType provided. (Parameter 'eventType')")
  return { id, type, isJson: contentType === 'application/json', data: message.getData_asU8(), metadata: message.getCustomMetadata_asU8() }
}

/** Bytes that count towards the limit of one append. 23.10 does not count metadata and type (a bug of the server). */
export const countedBytes = (event: NewEvent): number => event.data.length

/** Revisions have 64 bits and are below 2^63; the largest 64-bit number means the end. */
export const revisionOf = (text: string): bigint => {
  const value = BigInt(text)
  if (value > int64Max && value !== uint64Max) throw new BadRequest("Specified argument was out of the range of valid values. (Parameter 'value')")
  return value
}

/** The expected revision exactly as the caller sent it: errors repeat all its digits. */
export type Stated = Exclude<Expected, number> | bigint

export const understood = (stated: Stated): Expected => {
  if (typeof stated !== 'bigint') return stated
  return stated === uint64Max ? 'no_stream' : Number(stated)
}

interface ExpectedOption {
  readonly hasNoStream: () => boolean
  readonly hasAny: () => boolean
  readonly hasStreamExists: () => boolean
}

/** `undefined` if the oneof is not set. */
export const expectedOf = (options: ExpectedOption, revision: string | undefined): Stated | undefined => {
  if (options.hasNoStream()) return 'no_stream'
  if (options.hasAny()) return 'any'
  if (options.hasStreamExists()) return 'stream_exists'
  return revision === undefined ? undefined : revisionOf(revision)
}

export const expectedVersion = (expected: Stated): string => {
  switch (expected) {
    case uint64Max:
    case 'no_stream': return '-1'
    case 'any': return '-2'
    case 'stream_exists': return '-4'
    default: return String(expected)
  }
}
