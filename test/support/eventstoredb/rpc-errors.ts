/** Errors of calls: status, text and trailers as EventStoreDB sends them (RpcExceptions.cs). */
import { Metadata, status } from '@grpc/grpc-js'

export interface RpcError {
  readonly code: status
  readonly details: string
  readonly metadata: Metadata
}

const failure = (code: status, details: string, trailers: Readonly<Record<string, string>> = {}): RpcError => {
  const metadata = new Metadata()
  for (const [key, value] of Object.entries(trailers)) {
    if (/[^\t\x20-\x7e]/.test(value)) return serverError()
    // The client does not accept tabs in trailers, so such a trailer is left out.
    if (!value.includes('\t')) metadata.set(key, value)
  }
  return { code, details, metadata }
}

/** Trailers must be ASCII. With another one, the call ends in a bare HTTP 500, which the client reports like this. */
const serverError = (): RpcError => failure(status.UNKNOWN, bareError)
const bareError = 'Received HTTP status code 500'

/** The same error for a call that has already sent something: it is too late for an HTTP status, so the call is reset. */
export const onceBegun = (error: RpcError): RpcError =>
  error.details === bareError ? internal('Received RST_STREAM with code 2 (Internal server error)') : error

export const streamDeleted = (stream: string): RpcError =>
  failure(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, { exception: 'stream-deleted', 'stream-name': stream })

export const wrongExpectedVersion = (stream: string, expected: string, actual: number): RpcError =>
  failure(
    status.FAILED_PRECONDITION,
    `Delete failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: ${expected}, Actual version: ${actual}`,
    { exception: 'wrong-expected-version', 'stream-name': stream, 'expected-version': expected, 'actual-version': String(actual) },
  )

export const maxAppendSizeExceeded = (bytesMax: number): RpcError =>
  failure(status.INVALID_ARGUMENT, `Maximum Append Size of ${bytesMax} Exceeded.`, {
    exception: 'maximum-append-size-exceeded', 'maximum-append-size': String(bytesMax),
  })

export const missingMetadata = (property: string): RpcError =>
  failure(status.INVALID_ARGUMENT, `Required Metadata Property '${property}' is missing`, {
    exception: 'missing-required-metadata-property', 'required-metadata-properties': 'type,content-type',
  })

export const notLeader = (host: string, port: number): RpcError =>
  failure(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader', 'leader-endpoint-host': host, 'leader-endpoint-port': String(port),
  })

export const noLeaderInfo = (): RpcError => failure(status.UNKNOWN, 'No leader info available in response')
export const notReady = (): RpcError => failure(status.UNAVAILABLE, 'Server Is Not Ready')
export const tooBusy = (): RpcError => failure(status.UNAVAILABLE, 'Server Is Too Busy')
export const unavailable = (): RpcError => failure(status.UNAVAILABLE, 'Unavailable')
export const timedOut = (text: string): RpcError => failure(status.ABORTED, `Operation timed out: ${text}`)
export const unexpectedResult = (of: string): RpcError => failure(status.UNKNOWN, `Unexpected ${of}: Error`)
export const incomplete = (): RpcError => failure(status.INTERNAL, 'Incomplete message.')
export const invalidArgument = (details: string): RpcError => failure(status.INVALID_ARGUMENT, details)
export const unimplemented = (): RpcError => failure(status.UNIMPLEMENTED, 'Method is unimplemented.')
export const internal = (details: string): RpcError => failure(status.INTERNAL, details)
/** The answer to an unexpected exception in a handler. */
export const thrown = (): RpcError => failure(status.UNKNOWN, 'Exception was thrown by handler.')
