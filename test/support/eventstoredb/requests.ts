/** Requests as the client's stubs decode them, turned into the server's own terms. */
import type { Expected } from './decision.js'
import type { NewEvent } from './log-event.js'
import type { StreamIdentifier, UUID } from './stubs.js'

/** A request that the server answers with BadRequest, or fails on. */
export class BadRequest extends Error {}

export const streamName = (identifier: StreamIdentifier | undefined): string =>
  identifier === undefined ? '' : Buffer.from(identifier.getStreamName_asU8()).toString('utf8')

const usual = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** As .NET reads them: with braces, without dashes, in capitals. */
export const idOf = (uuid: UUID | undefined): string => {
  const text = uuid?.getString() ?? ''
  if (usual.test(text)) return text
  const digits = text.replace(/^[{(]|[)}]$/g, '').replaceAll('-', '').toLowerCase()
  const dashed = /^[({]?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}[)}]?$/i
  if (!dashed.test(text) && !/^[0-9a-f]{32}$/i.test(text)) throw new BadRequest('Unrecognized Guid format.')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

interface Proposed {
  readonly getId: () => UUID | undefined
  readonly getMetadataMap: () => { readonly get: (key: string) => string | undefined }
  readonly getData_asU8: () => Uint8Array
  readonly getCustomMetadata_asU8: () => Uint8Array
}

export const proposedEvent = (message: Proposed): NewEvent => {
  const properties = message.getMetadataMap()
  const type = properties.get('type')
  const contentType = properties.get('content-type')
  const id = idOf(message.getId())
  if (type === undefined || contentType === undefined) {
    throw new BadRequest(`The given key '${type === undefined ? 'type' : 'content-type'}' was not present in the dictionary.`)
  }
  if (id === '00000000-0000-0000-0000-000000000000') throw new BadRequest("Empty eventId provided. (Parameter 'eventId')")
  if (type === '') throw new BadRequest("Empty eventType provided. (Parameter 'eventType')")
  return { id, type, isJson: contentType === 'application/json', data: message.getData_asU8(), metadata: message.getCustomMetadata_asU8() }
}

/** Bytes that count towards the limit of one append. 23.10 leaves out metadata and type, by a slip. */
export const countedBytes = (event: NewEvent): number => event.data.length

const uint64Max = 2 ** 64

/** Revisions are unsigned 64 bit; the largest stands for the end. */
export const revisionOf = (text: string): number | 'end' => {
  const value = Number(text)
  if (value >= uint64Max) return 'end'
  if (value >= 2 ** 63 && text !== '9223372036854775807') throw new BadRequest("Specified argument was out of the range of valid values. (Parameter 'value')")
  return value
}

interface ExpectedOption {
  readonly hasNoStream: () => boolean
  readonly hasAny: () => boolean
  readonly hasStreamExists: () => boolean
}

/** `undefined` when the oneof is not set. */
export const expectedOf = (options: ExpectedOption, revision: string | undefined): Expected | undefined => {
  if (options.hasNoStream()) return 'no_stream'
  if (options.hasAny()) return 'any'
  if (options.hasStreamExists()) return 'stream_exists'
  if (revision === undefined) return undefined
  const number = revisionOf(revision)
  return number === 'end' ? 'no_stream' : number
}

export const expectedVersion = (expected: Expected): string => {
  switch (expected) {
    case 'no_stream': return '-1'
    case 'any': return '-2'
    case 'stream_exists': return '-4'
    default: return String(expected)
  }
}
