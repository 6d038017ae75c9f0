/**
 * The only place where errors of EventStoreDB, its client and gRPC are translated into Daybook's.
 *
 * The client mostly names an error by `type`, but errors of gRPC itself only have a `code`.
 */
import { StoreError, StoreUnreachable, type AppendError } from '../store/index.js'
import { type BatchAppendResp, convertToCommandError, MaximumAppendSizeExceeded, WrongExpectedVersion } from './stubs.js'

/** There was no connection, so nothing was sent. */
export class NotConnected extends Error {}

/** The server did not answer in time. */
export class NoAnswer extends Error {}

/** The server ended a call with OK before it had answered. */
export class EndedEarly extends Error {
  constructor() {
    super('the server ended the call')
  }
}

interface Kind {
  /** `.type` of the client's errors; without it, `.code` of gRPC's. */
  readonly kind: string
  readonly message: string
}

const codes: Readonly<Record<number, string>> = {
  1: 'cancelled', 2: 'unknown', 3: 'invalid-argument', 4: 'deadline-exceeded', 5: 'not-found', 7: 'access-denied',
  8: 'resource-exhausted', 10: 'timeout', 12: 'unimplemented', 13: 'internal', 14: 'unavailable', 16: 'access-denied',
}

const kindOf = (error: unknown): Kind => {
  if (error instanceof StoreError) return { kind: error.code, message: error.message }
  if (error instanceof NotConnected) return { kind: 'not-connected', message: error.message }
  if (error instanceof NoAnswer) return { kind: 'no-answer', message: error.message }
  if (error instanceof EndedEarly) return { kind: 'ended-early', message: error.message }
  if (!(error instanceof Error)) return { kind: 'unknown', message: String(error) }
  const known = convertToCommandError(error) as Error & { readonly type?: string; readonly code?: number }
  const named = known.type === undefined || known.type === 'unknown' ? undefined : known.type
  return { kind: named ?? codes[known.code ?? 2] ?? 'unknown', message: known.message || known.name }
}

type Meaning = {
  /** For an append: certainly not written (`refused`), or perhaps written (`unknown`). */
  readonly append: 'refused' | 'unknown'
  /** For a read or a subscription: the code to report, or `again` if it is worth trying again. */
  readonly read: StoreError['code'] | 'again'
  readonly words: string
}

const meanings: Readonly<Record<string, Meaning>> = {
  'not-connected': { append: 'refused', read: 'again', words: 'Cannot reach EventStoreDB' },
  'no-answer': { append: 'unknown', read: 'again', words: 'EventStoreDB does not answer' },
  'ended-early': { append: 'unknown', read: 'again', words: 'EventStoreDB ended the call too early' },
  closed: { append: 'refused', read: 'closed', words: 'The store has been closed' },
  'stream-deleted': { append: 'refused', read: 'deleted', words: 'The stream was deleted by an administrator, and its log with it' },
  'access-denied': { append: 'refused', read: 'unavailable', words: 'The user of the connection string is unknown, has another password, or may not do this' },
  unimplemented: { append: 'refused', read: 'unavailable', words: 'The server is too old: EventStoreDB 21.10 or newer is needed' },
  // A call with several appends fails as a whole, whichever append caused it.
  'not-leader': { append: 'unknown', read: 'again', words: 'The leader of EventStoreDB has changed' },
}

const otherwise: Meaning = { append: 'unknown', read: 'again', words: 'The call to EventStoreDB failed' }

const meaningOf = (error: unknown): Meaning & { readonly text: string } => {
  const { kind, message } = kindOf(error)
  const meaning = meanings[kind] ?? otherwise
  return { ...meaning, text: `${meaning.words} [${kind}: ${message}]` }
}

export const isWorthRetrying = (error: unknown): boolean =>
  !(error instanceof StoreError) && meaningOf(error).read === 'again'

const advice = 'Are host and port right, is the node up (of a cluster, more than half of its nodes), and does it use TLS? Without TLS, the address ends in ?tls=false; with a certificate of your own authority, in ?tlsCAFile=FILE.'

/** The outcome of an append whose call failed or was never made. */
export const failedAppend = (error: unknown): AppendError => {
  const { append, text } = meaningOf(error)
  if (append === 'unknown') return { _tag: 'OutcomeUnknown', reason: text }
  return { _tag: 'Unavailable', reason: error instanceof NotConnected ? `${text}. ${advice}` : `${text}.` }
}

/** The error of a read or a subscription that failed for good. */
export const storeError = (error: unknown, name: string, stream: string): StoreError => {
  if (error instanceof StoreError) return error
  const { read, text } = meaningOf(error)
  const says = error instanceof NotConnected ? `${text}. ${advice}` : `Cannot read ${stream} from ${name}. ${text}`
  return read === 'again' ? new StoreUnreachable(says, { cause: error }) : new StoreError(read, says, { cause: error })
}

const prefix = 'event_store.client.'

/** The outcome of an append that the server has answered with an error. */
export const refusedAppend = (response: BatchAppendResp, bytes: number, bytesMax: number): AppendError => {
  const status = response.getError()
  const details = status?.getDetails()
  const name = details?.getTypeName() ?? ''
  const message = status?.getMessage() ?? ''
  switch (name) {
    case `${prefix}WrongExpectedVersion`: {
      const found = details?.unpack(WrongExpectedVersion.deserializeBinary, name)
      const actual = found?.hasCurrentStreamRevision() === true ? Number(found.getCurrentStreamRevision()) : 'no_stream'
      return { _tag: 'WrongExpectedRevision', actual }
    }
    case `${prefix}MaximumAppendSizeExceeded`: {
      const found = details?.unpack(MaximumAppendSizeExceeded.deserializeBinary, name)
      return { _tag: 'AppendTooLarge', bytes, bytesMax: found?.getMaxappendsize() ?? bytesMax }
    }
    case `${prefix}StreamDeleted`:
    case `${prefix}AccessDenied`: {
      const kind = name.endsWith('Deleted') ? 'stream-deleted' : 'access-denied'
      return { _tag: 'Unavailable', reason: `${meanings[kind]!.words}.` }
    }
    // Not ready, too busy, no leader: refused before anything was done. An internal error has the same shape and another code.
    case 'google.protobuf.Empty':
      return status?.getCode() === 0
        ? { _tag: 'Unavailable', reason: `EventStoreDB refused: ${message}.` }
        : { _tag: 'OutcomeUnknown', reason: `EventStoreDB said ${message}` }
    case `${prefix}BadRequest`:
    case `${prefix}InvalidTransaction`:
    case `${prefix}MaximumAppendEventSizeExceeded`:
      return { _tag: 'Unavailable', reason: `EventStoreDB refused: ${message}.` }
    // A time-out, a failure, or an error that this client does not know: the append may have been written.
    default:
      return { _tag: 'OutcomeUnknown', reason: `EventStoreDB said ${message || name}` }
  }
}
